package main

import (
	"errors"
	"fmt"

	"benign/checkers/explore"
	"benign/checkers/memmodel"
	"benign/checkers/verdict"
	"benign/impl/scenario"
)

// maxTraceBytes bounds a trace file. A trace is a line for each event of one
// execution, and executions are bounded to a thousand or so.
const maxTraceBytes = 4 << 20

// replayCommand runs one execution again.
type replayCommand struct {
	File  string `arg:"" placeholder:"FILE" help:"A trace, as verify race --trace has written it; - stands for the standard input."`
	Patch string `placeholder:"FILE" help:"Run it with this patch applied, for a trace that verify patch --trace has written."`

	AllSteps bool `help:"Draw every step, also those on memory that no other task touches."`
}

func (c *replayCommand) run(e *environment) (exit int, err error) {
	name, text, err := readInput(e, c.File, maxTraceBytes, "a trace")
	if err != nil {
		return 0, usageError{err}
	}
	if c.Patch != "" {
		return c.patched(e, name, text)
	}
	header, trace, err := explore.ParseTrace(name, text)
	if err != nil {
		return 0, usageError{err}
	}
	race, s, v, err := locate(e.races, header)
	if err != nil {
		return 0, misuse("%s: %w", name, err)
	}
	finding, _, err := verdict.Replay(race, s, v, header.Model, trace)
	if diverged := (*explore.DivergenceError)(nil); errors.As(err, &diverged) {
		return 0, misuse("%s: %w", name, err)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return c.report(e, verdict.Form{Race: header.Race, Scenario: header.Scenario, Variant: header.Variant, Model: header.Model, Arch: header.Arch}, finding), nil
}

// report writes what an execution breaks.
func (c *replayCommand) report(e *environment, f verdict.Form, finding *verdict.Finding) (exit int) {
	machine := ""
	if f.Arch == explore.Arch32 {
		machine = " on a 32-bit machine"
	}
	fmt.Fprintf(e.stdout, "%s/%s, variant %s under %s%s\n\n", f.Race, f.Scenario, f.Variant, f.Model, machine)
	writeInterleaving(e.stdout, finding, c.AllSteps)
	if finding.Clean() {
		fmt.Fprintln(e.stdout, "\nclean: nothing is broken in this execution")
		return exitHarmless
	}
	fmt.Fprintf(e.stdout, "\nbroken: %s\n", broken(finding))
	return exitHarmful
}

// patched runs the trace in a build with the patch.
func (c *replayCommand) patched(e *environment, name string, text []byte) (exit int, err error) {
	if c.Patch == "-" && c.File == "-" {
		return 0, misuse("the trace and the patch cannot both be the standard input")
	}
	p, err := readPatch(e, c.Patch)
	if err != nil {
		return 0, err
	}
	t, err := tree()
	if err != nil {
		return 0, err
	}
	ctx, stop := interruptible()
	defer stop()
	replayed, err := t.Replay(ctx, p, name, text)
	if err != nil {
		return 0, blame(ctx, err)
	}
	return c.report(e, replayed.Form, replayed.Finding), nil
}

// locate finds what the header of a trace names.
func locate(races []scenario.Race, h explore.TraceHeader) (*scenario.Race, *scenario.Scenario, *scenario.Variant, error) {
	race, err := selectRace(races, h.Race+"/"+h.Scenario)
	if err != nil {
		return nil, nil, nil, err
	}
	s := &race.Scenarios[0]
	if err := known("variant of "+h.Race+"/"+h.Scenario, h.Variant, variantNames(race.Scenarios)); err != nil {
		return nil, nil, nil, err
	}
	if err := known("memory model", h.Model, memmodel.Names()); err != nil {
		return nil, nil, nil, err
	}
	return race, s, s.VariantNamed(h.Variant), nil
}
