package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/verdict"
	"benign/impl/catalogue"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// ran is what a command line did.
type ran struct {
	exit           int
	stdout, stderr string
}

// runCounter runs the command on a catalogue of one race.
func runCounter(predicted scenario.Class, stdin string, args ...string) ran {
	return runRaces([]scenario.Race{counterRace(predicted)}, stdin, args...)
}

func runRaces(races []scenario.Race, stdin string, args ...string) ran {
	var stdout, stderr bytes.Buffer
	exit := runOn(races, args, strings.NewReader(stdin), &stdout, &stderr)
	return ran{exit, stdout.String(), stderr.String()}
}

// mustHave fails unless the text has every part.
func mustHave(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}

func TestAnswerThatIsNotPredicted(t *testing.T) {
	r := runCounter(scenario.Indistinguishable, "")
	if r.exit != exitHarmful || r.stderr != "" {
		t.Errorf("exit %d, stderr %q", r.exit, r.stderr)
	}
	mustHave(t, r.stdout,
		"HARMFUL, expected INDISTINGUISHABLE",
		"UNEXPECTED: counter/twice, variant unlocked under kernel: expected INDISTINGUISHABLE, got HARMFUL",
		"once load of counter#1.value = 0",
		"broken: assertion: 2 were counted, and the counter says 1",
		"verify race counter/twice --variant unlocked --model kernel\n",
		"2 answers not as expected")
}

func TestAnswerThatIsPredicted(t *testing.T) {
	r := runCounter(scenario.Harmful, "", "--model", "sc", "--no-planted")
	if r.exit != exitHarmless {
		t.Errorf("exit %d:\n%s", r.exit, r.stdout)
	}
	mustHave(t, r.stdout, "1 answer, all as expected")
}

func TestPlantedFaultThatIsMissed(t *testing.T) {
	race := counterRace(scenario.Indistinguishable)
	variants := race.Scenarios[0].Variants
	variants[1].Build, variants[2].Build = variants[0].Build, variants[0].Build
	race.Scenarios[0].Racing, race.Sites = false, nil
	r := runRaces([]scenario.Race{race}, "")
	if r.exit != exitHarmful {
		t.Errorf("exit %d", r.exit)
	}
	mustHave(t, r.stdout, "0/1", "variant forgotten under sc: expected HARMFUL, got INDISTINGUISHABLE")
	if r := runRaces([]scenario.Race{race}, "", "race", "counter"); r.exit != exitUnknown {
		t.Errorf("verify race exits with %d, although a fault was missed", r.exit)
	}
	if r := runRaces([]scenario.Race{race}, "", "race", "counter", "--no-planted"); r.exit != exitHarmless {
		t.Errorf("verify race exits with %d, although no fault was planted", r.exit)
	}
}

// A fault is written down, broken again, mended, and found gone.
func TestTraceOutlivesTheFault(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lost.trace")
	if r := runCounter(scenario.Harmful, "", "race", "counter", "--trace", file); r.exit != exitHarmful || r.stderr != "" {
		t.Fatalf("exit %d, stderr %q", r.exit, r.stderr)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	broken := runCounter(scenario.Harmful, "", "replay", file)
	if broken.exit != exitHarmful {
		t.Errorf("exit %d", broken.exit)
	}
	mustHave(t, broken.stdout, "broken: assertion: 2 were counted, and the counter says 1")
	if again := runCounter(scenario.Harmful, string(text), "replay", "-"); again != broken {
		t.Errorf("from the standard input it is another answer:\n%s", again.stdout)
	}

	mended := counterRace(scenario.Harmful)
	for i := range mended.Scenarios[0].Variants {
		v := &mended.Scenarios[0].Variants[i]
		build := v.Build
		v.Build = func(setup *kernel.Task) *scenario.Instance {
			instance := build(setup)
			instance.Check, instance.Observe = nil, nil
			return instance
		}
	}
	clean := runRaces([]scenario.Race{mended}, "", "replay", file)
	if clean.exit != exitHarmless {
		t.Errorf("exit %d", clean.exit)
	}
	mustHave(t, clean.stdout, "once load of counter#1.value = 0", "clean: nothing is broken")

	locked := counterRace(scenario.Harmful)
	variants := locked.Scenarios[0].Variants
	variants[1].Build = variants[0].Build
	diverged := runRaces([]scenario.Race{locked}, "", "replay", file)
	if diverged.exit != exitUsage || diverged.stdout != "" || strings.Count(diverged.stderr, "\n") != 1 {
		t.Errorf("exit %d, stdout %q, stderr %q", diverged.exit, diverged.stdout, diverged.stderr)
	}
	mustHave(t, diverged.stderr, file+": the execution does not fit the code")
}

// Every fault that is planted in the catalogue is found, written down, and found
// again, with the same steps to the same end.
func TestEveryPlantedFaultCanBeReplayed(t *testing.T) {
	races := catalogue.All()
	for _, race := range races {
		for _, s := range race.Scenarios {
			for _, v := range s.Variants {
				if v.Role != scenario.Planted || underRaceDetector && strings.HasSuffix(s.Name, "-wide") {
					continue
				}
				t.Run(race.Name+"/"+s.Name+"/"+v.Name, func(t *testing.T) {
					file := filepath.Join(t.TempDir(), "trace")
					found := runRaces(races, "", "race", race.Name+"/"+s.Name, "--variant", v.Name, "--trace", file, "--model", "sc")
					again := runRaces(races, "", "replay", file)
					if found.exit != exitHarmful || again.exit != exitHarmful || again.stderr != "" {
						t.Fatalf("exit %d, then %d, stderr %q", found.exit, again.exit, again.stderr)
					}
					_, drawing, _ := strings.Cut(again.stdout, "\n\n")
					mustHave(t, found.stdout, drawing)
				})
			}
		}
	}
}

func TestNoFindingLeavesTheTraceAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept.trace")
	if err := os.WriteFile(file, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := runCounter(scenario.Harmful, "", "race", "counter", "--variant", "locked", "--trace", file)
	if r.exit != exitHarmless {
		t.Errorf("exit %d", r.exit)
	}
	mustHave(t, r.stderr, "nothing is broken, so there is no trace")
	if text, err := os.ReadFile(file); err != nil || string(text) != "kept" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

func TestTraceFilesAreReplacedWhole(t *testing.T) {
	directory := t.TempDir()
	file := filepath.Join(directory, "trace")
	for _, text := range []string{"first", "second"} {
		if err := replaceFile(file, text); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("the file holds %q, %v", got, err)
		}
	}
	if err := os.Mkdir(filepath.Join(directory, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(filepath.Join(directory, "taken"), "text"); err == nil {
		t.Error("a directory was replaced")
	}
	if left, err := filepath.Glob(filepath.Join(directory, ".verify-*")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// failing is an output that is full.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestAnswerThatCannotBeWritten(t *testing.T) {
	for _, args := range [][]string{nil, {"list"}, {"race", "counter", "--json"}, {"race", "counter"}} {
		var stderr bytes.Buffer
		exit := runOn([]scenario.Race{counterRace(scenario.Harmful)}, args, nil, failing{}, &stderr)
		if exit != exitUsage || stderr.String() != "verify: write the answer: no space left\n" {
			t.Errorf("%v: exit %d, stderr %q", args, exit, stderr.String())
		}
	}
}

func TestProgress(t *testing.T) {
	var quiet *progress
	if quiet.callback() != nil {
		t.Error("without a line to show it on, there is progress")
	}
	quiet.clear()
	if newProgress(&bytes.Buffer{}) != nil {
		t.Error("a buffer is a terminal")
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if newProgress(file) != nil {
		t.Error("a file is a terminal")
	}

	var line bytes.Buffer
	p := progressOn(&line)
	race := counterRace(scenario.Harmful)
	if _, err := ask(&race, "", verdict.Options{Models: []string{"sc"}, Progress: p.callback()}); err != nil {
		t.Fatal(err)
	}
	p.callback()(verdict.Progress{Race: "counter", Scenario: "twice", Variant: "locked", Model: "sc", Stats: explore.Stats{Complete: 7, Share: 0.4}})
	p.clear()
	mustHave(t, line.String(), "counter/twice: unlocked under sc, 0 executions", "locked under sc, 7 executions, about 40% explored")
	if strings.Contains(line.String(), "\n") {
		t.Errorf("progress takes more than a line: %q", line.String())
	}
}

func TestManualIsThePackageComment(t *testing.T) {
	text := manual()
	if strings.Contains(text, "//") || strings.Contains(text, "package main") || strings.Contains(text, "\t") {
		t.Errorf("the manual shows its source:\n%s", text)
	}
	mustHave(t, text, "Verify decides whether a race is harmless.\n\n", "\nExit status\n\n    0  harmless")
}

// TestReadmeShowsTheRealOutput holds the first screen of the README to what the
// command prints; lines with three dots stand for what is left out.
func TestReadmeShowsTheRealOutput(t *testing.T) {
	if testing.Short() || underRaceDetector {
		t.Skip("explores the whole catalogue, which the race detector makes ten times as long; go test ./... does it")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	r := runRaces(catalogue.All(), "")
	_, block, _ := strings.Cut(string(readme), "```text\n")
	block, _, found := strings.Cut(block, "```\n")
	if !found {
		t.Fatal("the README shows no output")
	}
	rest := r.stdout
	for i, part := range regexp.MustCompile(`(?m)^ *\.\.\.\n`).Split(block, -1) {
		before, after, found := strings.Cut(rest, part)
		if !found || i == 0 && before != "" {
			t.Fatalf("the command does not print, in this place:\n%s\nIt prints:\n%s", part, r.stdout)
		}
		rest = after
	}
	if rest != "" {
		t.Errorf("the README does not show the end:\n%s", rest)
	}
}
