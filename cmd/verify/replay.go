package main

import (
	"errors"
	"fmt"
	"io"
	"os"

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
	File string `arg:"" placeholder:"FILE" help:"A trace, as verify race --trace has written it; - stands for the standard input."`

	AllSteps bool `help:"Draw every step, also those on memory that no other task touches."`
}

func (c *replayCommand) run(e *environment) (exit int, err error) {
	name, text, err := c.read(e)
	if err != nil {
		return 0, usageError{err}
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
	machine := ""
	if header.Arch == explore.Arch32 {
		machine = " on a 32-bit machine"
	}
	fmt.Fprintf(e.stdout, "%s/%s, variant %s under %s%s\n\n", header.Race, header.Scenario, header.Variant, header.Model, machine)
	writeInterleaving(e.stdout, finding, c.AllSteps)
	if finding.Clean() {
		fmt.Fprintln(e.stdout, "\nclean: nothing is broken in this execution")
		return exitHarmless, nil
	}
	fmt.Fprintf(e.stdout, "\nbroken: %s\n", broken(finding))
	return exitHarmful, nil
}

// read returns the trace and the name that errors know it by.
func (c *replayCommand) read(e *environment) (name string, text []byte, err error) {
	name, r := "standard input", e.stdin
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return "", nil, err
		}
		defer f.Close()
		name, r = c.File, f
	}
	text, err = io.ReadAll(io.LimitReader(r, maxTraceBytes+1))
	if err == nil && len(text) > maxTraceBytes {
		err = fmt.Errorf("%s: larger than a trace can be (%d bytes)", name, maxTraceBytes)
	}
	return name, text, err
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
