package review

import (
	"slices"
	"strings"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/patch"
	"benign/checkers/verdict"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// answer is one of a report.
func answer(class scenario.Class, kind string, steps, executions int) *verdict.Verdict {
	v := &verdict.Verdict{Race: "counter", Scenario: "three", Class: class, Reason: "so it is", Cost: &verdict.CostChange{
		Before: verdict.Cost{Executions: 2, Events: 10, Locks: 4}, After: verdict.Cost{Executions: 1, Events: 6, Locks: 2}}}
	v.Scope.Candidate = explore.Stats{Complete: executions}
	if kind != "" {
		v.Finding = &verdict.Finding{Kind: kind, Steps: make([]verdict.Step, steps), After: 3, Kinds: map[string]int{kind: 1}}
	}
	return v
}

// What a patch got is held against what its header says: everything that is not
// as it says is found.
func TestJudgedByItsHeader(t *testing.T) {
	harmful := patch.Header{Expect: scenario.Harmful, Violation: "data race", Trace: 4}
	harmless := answer(scenario.Indistinguishable, "", 0, 10)
	lossy := answer(scenario.Indistinguishable, "", 0, 10)
	lossy.Outcomes.Lost = []string{"gone"}
	for name, c := range map[string]struct {
		header   patch.Header
		answers  []*verdict.Verdict
		wrong    string
		by       string
		checkers []string
		after    int
	}{
		"as expected": {harmful, []*verdict.Verdict{harmless, answer(scenario.Harmful, "data race", 4, 7)}, "", byRace, []string{byRace}, 13},
		"survives":    {harmful, []*verdict.Verdict{harmless}, "got INDISTINGUISHABLE, expected HARMFUL", "", nil, 0},
		"another violation": {harmful, []*verdict.Verdict{answer(scenario.Harmful, "leak", 2, 7)}, `found "leak", expected "data race"`, byLeak,
			[]string{byLeak}, 3},
		"found in spite of another one": {harmful, []*verdict.Verdict{answer(scenario.Harmful, "leak", 2, 7), answer(scenario.Harmful, "data race", 3, 7)},
			"", byRace, []string{byRace, byLeak}, 10},
		"too long": {harmful, []*verdict.Verdict{answer(scenario.Harmful, "data race", 5, 7)}, "5 steps, expected at most 4", byRace, []string{byRace}, 3},
		"unknown":  {harmful, []*verdict.Verdict{answer(scenario.Unknown, "", 0, 7)}, "got UNKNOWN, expected HARMFUL: so it is", "", nil, 0},
		"harm that is not expected": {patch.Header{Expect: scenario.Defers}, []*verdict.Verdict{answer(scenario.Harmful, "deadlock", 2, 7)},
			"got HARMFUL, expected DEFERS", byProgress, []string{byProgress}, 3},
		"deferral":              {patch.Header{Expect: scenario.Defers}, []*verdict.Verdict{answer(scenario.Defers, "", 0, 7), harmless}, "", "", []string{byOutcome}, 0},
		"equivalent":            {patch.Header{Expect: scenario.Indistinguishable, Equivalent: "why"}, []*verdict.Verdict{harmless}, "", "", nil, 0},
		"not equivalent at all": {patch.Header{Expect: scenario.Indistinguishable, Equivalent: "why"}, []*verdict.Verdict{lossy}, "loses outcomes", "", nil, 0},
		"dearer":                {patch.Header{Expect: scenario.Indistinguishable, Cost: []string{"events"}}, []*verdict.Verdict{harmless}, "", "", []string{byCost}, 0},
		"no dearer": {patch.Header{Expect: scenario.Indistinguishable, Cost: []string{"events", "locks"}}, []*verdict.Verdict{harmless},
			"takes no more locks", "", []string{byCost}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Report{Class: scenario.Indistinguishable, Verdicts: c.answers}
			for _, v := range c.answers {
				r.Class = r.Class.Worse(v.Class)
			}
			j := &Judged{Patch: &patch.Patch{Header: c.header}}
			j.conclude(r)
			if (j.Wrong == "") != (c.wrong == "") || !strings.Contains(j.Wrong, c.wrong) {
				t.Errorf("wrong: %q, want %q", j.Wrong, c.wrong)
			}
			if j.By != c.by || !slices.Equal(j.Checkers, c.checkers) || j.Executions != c.after {
				t.Errorf("found by %q of %q after %d executions, want %q of %q after %d", j.By, j.Checkers, j.Executions, c.by, c.checkers, c.after)
			}
		})
	}
}

// Every kind of finding has a checker that a kill matrix shows.
func TestEveryKindHasAChecker(t *testing.T) {
	var names []string
	for _, c := range Checkers() {
		names = append(names, c[0])
	}
	for kind := kernel.UseAfterFree; kind <= kernel.Livelock; kind++ {
		if !slices.Contains(names, Checker(kind.String())) {
			t.Errorf("nothing notices %v", kind)
		}
	}
	for kind, want := range map[string]string{verdict.KindHistory: byHistory, verdict.KindLost: byProgress, verdict.KindState: byState,
		"assertion": byAssertion, "leak": byLeak, "crash": byMemory, "sleep while spinning": byLocks} {
		if got := Checker(kind); got != want {
			t.Errorf("%s is noticed by %s, want %s", kind, got, want)
		}
	}
}

func TestReadCorpus(t *testing.T) {
	directory := t.TempDir()
	if _, err := ReadCorpus(directory); err == nil {
		t.Error("a corpus without a patch is taken for one")
	}
	write(t, directory+"/a.patch", "Title: x\n\n"+mending)
	write(t, directory+"/b.patch", "nothing\n")
	_, err := ReadCorpus(directory)
	if err == nil || !strings.Contains(err.Error(), "a: the header has no") || !strings.Contains(err.Error(), "b: no change") {
		t.Errorf("the error is %v", err)
	}
}

func TestAsked(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  bool
	}{{nil, true}, {[]string{"counter"}, true}, {[]string{"counter/three"}, true}, {[]string{"counter/two"}, false}, {[]string{"other", "counter"}, true}, {[]string{"count"}, false}} {
		if got := Asked(c.names, "counter", "three"); got != c.want {
			t.Errorf("%q asks: %v", c.names, got)
		}
	}
}

// The execution that is shown has to break the same when it is run again.
func TestWhatDoesNotReplay(t *testing.T) {
	s := builds(t, counting(locked, locked), counting(locked, unlocked))
	if err := s.compare(t.Context(), form("racy")); err != nil {
		t.Fatal(err)
	}
	v := s.report.Verdicts[0]
	if err := (&Judged{Deciding: v}).replay(s.new); err != nil {
		t.Error(err)
	}
	if err := (&Judged{Deciding: v}).replay(s.old); err == nil || !strings.Contains(err.Error(), "does not replay") {
		t.Errorf("in another build: %v", err)
	}
	v.Finding.Kind = "deadlock"
	if err := (&Judged{Deciding: v}).replay(s.new); err == nil || !strings.Contains(err.Error(), `not "deadlock"`) {
		t.Errorf("as another finding: %v", err)
	}
	if err := (&Judged{}).replay(nil); err != nil {
		t.Error(err)
	}
}
