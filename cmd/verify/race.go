package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"benign/checkers/explore"
	"benign/checkers/verdict"
	"benign/impl/scenario"
)

// raceCommand answers one question with all evidence.
type raceCommand struct {
	asking
	drawing
	Name    string `arg:"" placeholder:"NAME" help:"The race, or one of its scenarios as race/scenario."`
	Variant string `placeholder:"NAME" help:"Ask about this variant, in every scenario that has it, and not about the candidate."`
	JSON    bool   `name:"json" help:"Print the answer as JSON. The same question gets the same bytes."`
	Trace   string `placeholder:"FILE" help:"Write the shortest harmful execution to FILE, for verify replay."`

	AllSteps bool `help:"Draw every step of an execution, also those on memory that no other task touches."`
}

// Validate checks both parts of the command line.
func (c *raceCommand) Validate() error {
	if err := c.asking.Validate(); err != nil {
		return err
	}
	if c.Strategy == preemption && c.Checkpoint != "" {
		return fmt.Errorf("--checkpoint cannot keep what --strategy preemption explores")
	}
	return c.drawing.Validate()
}

func (c *raceCommand) run(e *environment) (exit int, err error) {
	race, err := selectRace(e.races, c.Name)
	if err != nil {
		return 0, err
	}
	if err := checkTarget(c.Trace); err != nil {
		return 0, err
	}
	var line *progress
	if !c.JSON {
		line = c.progress(e.stderr)
	}
	o, err := c.options(line)
	if err == nil {
		err = c.apply(&o, c.Model)
	}
	if err != nil {
		return 0, err
	}
	kept, err := c.keep(e.stderr, c.question())
	if err != nil {
		return 0, err
	}
	kept.apply(&o)
	q, err := ask(race, c.Variant, o)
	line.clear()
	if err == nil {
		err = c.write(e, q)
	}
	return exitOf(q), kept.close(err)
}

// question is the command line as far as the answer depends on it.
func (c *raceCommand) question() string {
	text := c.asking.question("verify race " + c.Name)
	if c.Variant != "" {
		text += " --variant " + c.Variant
	}
	if c.Strategy != "" {
		text += fmt.Sprintf(" --strategy %s --depth %d --samples %d --seed %d", c.Strategy,
			given(c.Depth, defaultDepth), given(c.Samples, explore.DefaultSamples), given(c.Seed, defaultSeed))
	}
	return text
}

// write writes the answer, and the trace if one is wanted.
func (c *raceCommand) write(e *environment, q *verdict.Question) error {
	if c.JSON {
		if err := writeJSON(e.stdout, q); err != nil {
			return err
		}
	} else {
		writeQuestion(e.stdout, q, c.maxExecutions(), c.AllSteps)
	}
	if err := e.flush(); err != nil || c.Trace == "" {
		return err
	}
	return saveTrace(e.stderr, c.Trace, q.Verdicts)
}

// exitOf tells what the worst answer says. Planted faults that were missed make
// a harmless one worthless.
func exitOf(q *verdict.Question) int {
	if q == nil {
		return exitUnknown
	}
	exit := worse(exitOfClass(q.Class), exitOfReached(q.Reached))
	if exit == exitHarmless && missed(q.Planted) > 0 {
		return exitUnknown
	}
	return exit
}

func exitOfClass(c scenario.Class) int {
	switch c {
	case scenario.Harmful:
		return exitHarmful
	case scenario.Indistinguishable, scenario.Defers:
		return exitHarmless
	}
	return exitUnknown
}

// missed counts the planted faults that did not get the class that they must
// get.
func missed(planted []*verdict.Verdict) int {
	n := 0
	for _, v := range planted {
		if !v.AsExpected() {
			n++
		}
	}
	return n
}

// writeJSON writes an answer for programs to read. Its fields are in the
// order of their types, and map keys sorted, so that equal answers are equal
// bytes.
func writeJSON(w io.Writer, report any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(report); err != nil {
		return misuse("write the answer: %w", err)
	}
	return nil
}

// shortestFinding returns the answer with the shortest harmful execution, or
// nil if there is none.
func shortestFinding(answers []*verdict.Verdict) *verdict.Verdict {
	var shortest *verdict.Verdict
	for _, v := range answers {
		if v.Finding != nil && (shortest == nil || len(v.Finding.Steps) < len(shortest.Finding.Steps)) {
			shortest = v
		}
	}
	return shortest
}

// saveTrace writes the shortest harmful execution to a file.
func saveTrace(stderr io.Writer, file string, answers []*verdict.Verdict) error {
	v := shortestFinding(answers)
	if v == nil {
		fmt.Fprintf(stderr, "verify: nothing is broken, so there is no trace, and %s is left as it is\n", file)
		return nil
	}
	if err := replaceFile(file, v.Finding.Trace); err != nil {
		return misuse("write the trace: %w", err)
	}
	return nil
}

// checkTarget finds out before a long exploration whether a trace can be
// written after it.
func checkTarget(file string) error {
	if file == "" {
		return nil
	}
	directory := filepath.Dir(file)
	if info, err := os.Stat(directory); err != nil || !info.IsDir() {
		return misuse("--trace %s: there is no directory %s", file, directory)
	}
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return misuse("--trace %s: it is there, and is not a file", file)
	}
	return nil
}

// replaceFile writes a file whole or not at all: under a temporary name, which
// then takes the place of what was there.
func replaceFile(name, text string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".verify-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	return err
}
