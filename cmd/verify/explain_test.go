package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"benign/checkers/explain"
	"benign/checkers/patch"
	"benign/checkers/review"
	"benign/checkers/verdict"
	"benign/impl/scenario"
)

// explained runs the command and returns what it writes.
func explained(t *testing.T, exit int, args ...string) string {
	t.Helper()
	var out, errors bytes.Buffer
	if got := run(append([]string{"explain", "--quiet"}, args...), strings.NewReader(""), &out, &errors); got != exit || errors.Len() > 0 {
		t.Fatalf("verify explain %q exits with %d, want %d\n%s", args, got, exit, errors.String())
	}
	return out.String()
}

// lineNumber is what changes in a place whenever its file does.
var lineNumber = regexp.MustCompile(`\.go:\d+`)

func TestExplainGolden(t *testing.T) {
	for _, format := range []string{"changelog", "markdown"} {
		text := explained(t, exitHarmless, "rb-empty/remove", "--format", format)
		golden(t, "explain-"+format, lineNumber.ReplaceAllString(text, ".go:LINE"))
	}
}

// What goes into a commit message fits there, whatever the answer is.
func TestExplanationsFitIntoChangelogs(t *testing.T) {
	texts := map[string]string{
		"harmless":   explained(t, exitHarmless, "rb-empty/insert-remove"),
		"deferring":  explained(t, exitHarmless, "head-count"),
		"harmful":    explained(t, exitHarmful, "drop-range-one-spare"),
		"unknown":    explained(t, exitUnknown, "rb-empty/insert", "--max-executions", "2", "--model", "sc"),
		"of a patch": changelog(patchStory()),
		"of a bad patch": changelog(&story{title: "bad", class: scenario.Harmful, exit: exitHarmful, review: patchStory().review,
			verdicts: []*verdict.Verdict{crowded()}}),
		"of nothing": changelog(&story{title: "nothing", class: scenario.Unknown, exit: exitUnknown,
			review: &review.Report{Patch: &patch.Patch{}, Reason: "the patch touches nothing that any scenario runs, so nothing is known about it"}}),
	}
	for name, text := range texts {
		for n, line := range strings.Split(text, "\n") {
			if utf8.RuneCountInString(line) > changelogColumns || strings.TrimRight(line, " ") != line {
				t.Errorf("%s: line %d is %d columns wide, or ends in blanks: %q", name, n+1, utf8.RuneCountInString(line), line)
			}
		}
	}
	for name, want := range map[string][]string{
		"harmless":       {"The race is harmless within the bounds below", "Suggested comment", "noticed as crash", "verify bench rb-empty"},
		"deferring":      {"it leaves work for later, and all of it is done", "DEFERS in head-count/run", "at most 1 undone (before: 0), which the commit does in at most 1 round"},
		"harmful":        {"The race is not harmless", "shortest interleaving", "not confirmed on a kernel"},
		"unknown":        {"It is not known whether the race is harmless", "No comment is suggested", "NOT exhaustively"},
		"of a patch":     {"debt 0→1", "Faults are planted beside questions of the catalogue", "verify race rb-empty", "ns per inode, median"},
		"of a bad patch": {"The patch is not harmless", "four: step", "NOT exhaustively"},
		"of nothing":     {"It is not known whether the patch is harmless", "UNKNOWN as a whole: The patch touches nothing"},
	} {
		text := strings.Join(strings.Fields(texts[name]), " ")
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %q in\n%s", name, w, texts[name])
			}
		}
	}
	for _, name := range []string{"harmful", "unknown", "of a bad patch", "of nothing"} {
		if text := texts[name]; strings.Contains(text, "is harmless within") || strings.Contains(text, "Suggested comment") {
			t.Errorf("%s: it is called harmless:\n%s", name, text)
		}
	}
}

func changelog(s *story) string {
	return rendered(func(b *bytes.Buffer) { s.document().writeChangelog(b) })
}

// patchStory is about a patch that brings a race, and that was measured.
func patchStory() *story {
	v := &verdict.Verdict{Race: "rb-empty", Scenario: "insert", Variant: "base", Baseline: "base without the patch", Model: "sc", Class: scenario.Defers,
		Scope: verdict.Scope{Arch: 64, Tasks: []string{"a", "b"}, Operations: 3, Exhaustive: true},
		Cost:  &verdict.CostChange{}, Deferral: verdict.Deferral{LargestDebt: 1, MostRounds: 1}, Outcomes: verdict.Outcomes{Baseline: 1, Candidate: 2, New: []string{"x"}}}
	same := *v
	same.Class, same.Deferral, same.Outcomes, same.Scenario = scenario.Indistinguishable, verdict.Deferral{}, verdict.Outcomes{}, "idle"
	r := explain.Race{Site: "rb-empty", Reason: "it is *tested* again */ later", Executions: 2, Racing: 1, Behind: 1,
		Accesses: []explain.Access{{What: "plain load of inode.root", Seen: 2, Racing: 1}},
		Values:   []explain.Value{{Of: "plain load of inode.root, under no lock", Text: "nil", Behind: 1, Continuations: []explain.Continuation{{Seen: 2, Stale: 1, Ways: 1}}}}}
	return &story{title: "a patch", class: scenario.Defers, verdicts: []*verdict.Verdict{v, &same}, races: []explain.Race{r},
		review: &review.Report{Patch: &patch.Patch{}, Touched: []string{"f"}, Compared: []string{"rb-empty/insert"}, Untouched: 3,
			Missing: []string{"rb-empty/gone is not there with the patch"}, Unjudged: []string{"README.md"}},
		related: []string{"rb-empty"}, benchmark: benchmarkOf("rb-empty"), gain: madeUpReport()}
}

// crowded is broken by as many tasks as do not stand beside each other.
func crowded() *verdict.Verdict {
	f := &verdict.Finding{Kind: "crash", Message: "it crashes", Count: 1, Tasks: []string{"one", "two", "three", "four"}}
	for task := range f.Tasks {
		f.Steps = append(f.Steps, verdict.Step{Task: task, What: "step " + strings.Repeat("x", 90), Place: "a/b.go:1 a.f", Note: "stale"}, verdict.Step{Task: task, What: "private", Private: true})
	}
	return &verdict.Verdict{Race: "r", Scenario: "s", Variant: "v", Model: "sc", Class: scenario.Harmful, Reason: "it crashes", Finding: f}
}

// A fault that is missed takes the answer's worth away, whatever the class is.
func TestMissedFaultsAreTold(t *testing.T) {
	race := &scenario.Race{Scenarios: []scenario.Scenario{{Name: "s", Variants: []scenario.Variant{{Name: "fault", About: "Forgets."}}}}}
	planted := []*verdict.Verdict{
		{Scenario: "s", Variant: "fault", Class: scenario.Indistinguishable, Expected: scenario.Harmful},
		{Scenario: "s", Variant: "fault", Class: scenario.Harmful, Expected: scenario.Harmful, Finding: &verdict.Finding{Kind: "crash"}},
	}
	text := changelog(&story{title: "it", class: scenario.Unknown, exit: exitUnknown, planted: faults(race, planted)})
	for _, want := range []string{"fault (in s): Forgets: NOT NOTICED in 1 answer", "a planted fault was not noticed"} {
		if !strings.Contains(strings.ToLower(strings.Join(strings.Fields(text), " ")), strings.ToLower(want)) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestPatchesAndRaces(t *testing.T) {
	directory := t.TempDir()
	t.Chdir(directory)
	for _, name := range []string{"change", "rb-empty"} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	races := []string{"rb-empty", "fsync"}
	for name, want := range map[string]bool{
		"-": true, "x.patch": true, "x.diff": true, "change": true, filepath.Join(directory, "change"): true, "a/b": true, "./rb-empty": true,
		"rb-empty": false, "rb-empty/remove": false, "rb-emtpy/remove": false, "nothing": false,
	} {
		if isPatch(name, races) != want {
			t.Errorf("isPatch(%q) = %v", name, !want)
		}
	}
}

func TestComments(t *testing.T) {
	for reason, want := range map[string]string{
		"nobody relies on it":                "/* Nobody relies on it. */",
		"Nobody does!":                       "/* Nobody does! */",
		"über":                               "/* Über. */",
		"it ends */ here":                    "/* It ends * / here. */",
		strings.Repeat("it is long and ", 9): "/*\n * It is long",
	} {
		got := comment(reason)
		if !strings.HasPrefix(strings.Join(got, "\n"), want) {
			t.Errorf("%q becomes %q, want %q", reason, got, want)
		}
		const tab = 8
		for _, line := range got {
			if tab+utf8.RuneCountInString(line) > 80 {
				t.Errorf("%q does not fit behind a tab", line)
			}
		}
	}
	for _, s := range patchStory().races {
		if text := []rune(sentence(s.Reason)); !unicode.IsUpper(text[0]) || text[len(text)-1] != '.' {
			t.Errorf("no sentence: %s", string(text))
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "- "},
		{"one two three four", "- one two|  three|  four"},
		{"abcdefghijklmnop q", "- abcdefgh|  ijklmnop|  q"},
		{"a abcdefghijkl", "- a|  abcdefgh|  ijkl"},
	} {
		if got := strings.Join(wrap(c.text, 10, "- ", "  "), "|"); got != c.want {
			t.Errorf("%q is wrapped as %q, want %q", c.text, got, c.want)
		}
	}
	if got := wrapDrawn("verify race " + strings.Repeat("x ", 40)); len(got) != 2 || !strings.HasSuffix(got[0], ` \`) || strings.HasSuffix(got[1], `\`) {
		t.Errorf("a long command line is %q", got)
	}
}

// Everything in a race that is not asked about by name is there to be read.
func TestChecksInWords(t *testing.T) {
	for want, c := range map[string]explain.Check{
		"No check was seen": {},
		"Check: a is read again under b, and is the same":              {Kind: explain.Reread, On: "a", Lock: "b"},
		"Check: a is read again under b, and is another value by then": {Kind: explain.Reread, On: "a", Lock: "b", Changed: true},
		"Check: trylock of a fails":                                    {Kind: explain.FailedTry, On: "a"},
		"Check: an update of a finds that it must not be":              {Kind: explain.FailedUpdate, On: "a"},
	} {
		if got := checkText(c); got != want {
			t.Errorf("%+v is %q, want %q", c, got, want)
		}
	}
	d := &document{}
	v := explain.Value{Text: "nil", Seen: 9, Stale: 9, Behind: 2, Broken: 1}
	for n := range maxChecks + 2 {
		v.Continuations = append(v.Continuations, explain.Continuation{Seen: n, Ways: n, More: true, Steps: []explain.Step{{What: "s", Place: "f.go:1 p.f"}}})
	}
	valueItems(d, v)
	text := rendered(func(b *bytes.Buffer) { d.writeMarkdown(b) })
	for _, want := range []string{"- nil: read 9 times, and may be out of date each time, by at most 2 writes; in 1 execution something breaks",
		"Next, in the most frequent of 3 ways: s (f.go:1); and so on.", "  - and 2 ways with other checks"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	many := []explain.Access{}
	for n := range maxPlaces + 1 {
		for caller := range maxCallers + 2 {
			many = append(many, explain.Access{What: fmt.Sprint("load ", n), Places: []string{"f.go:1 p.f", fmt.Sprintf("f.go:2 p.caller%d", caller)}})
		}
	}
	d = &document{}
	accessItems(d, many, true)
	text = rendered(func(b *bytes.Buffer) { d.writeMarkdown(b) })
	for _, want := range []string{"- and 1 more\n", "  - called by caller2\n  - and in 2 other ways\n", "it never raced"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
