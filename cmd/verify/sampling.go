package main

import (
	"fmt"
	"io"
	"slices"

	"benign/checkers/explore"
	"benign/checkers/verdict"
)

// drawing is the part of the command line that asks for less than everything.
type drawing struct {
	Strategy    string  `placeholder:"NAME" help:"Do not explore every execution, but draw samples: ${strategies}; or explore the schedules with few preemptions: preemption. The model is sc then, and the answer HARMFUL or UNKNOWN, unless no schedule is left out."`
	Samples     *int    `placeholder:"N" help:"Draw N samples of each variant (${samples})."`
	Depth       *int    `placeholder:"D" help:"With pct: look for faults that need D operations in a certain order (${depth})."`
	Preemptions *int    `placeholder:"N" help:"With preemption: explore the schedules with at most N preemptions (${preemptions})."`
	Seed        *uint64 `placeholder:"S" help:"The seed of the first sample; the next ones have the next seeds (${seed})."`
}

// preemption is the strategy that draws nothing.
const preemption = "preemption"

// What is drawn if the command line does not say.
const (
	defaultDepth = 3
	defaultSeed  = 1
)

// Validate refuses flags that do not go together, and bounds that allow nothing.
func (d *drawing) Validate() error {
	switch {
	case d.Strategy == "" && (d.Samples != nil || d.Depth != nil || d.Seed != nil):
		return fmt.Errorf("--samples, --depth and --seed want a --strategy")
	case d.Depth != nil && d.Strategy != "pct":
		return fmt.Errorf("--depth is for --strategy pct")
	case d.Preemptions != nil && d.Strategy != preemption:
		return fmt.Errorf("--preemptions is for --strategy preemption")
	case d.Strategy == preemption && (d.Samples != nil || d.Seed != nil):
		return fmt.Errorf("--samples and --seed are for strategies that draw samples")
	case d.Preemptions != nil && *d.Preemptions < 0:
		return fmt.Errorf("--preemptions %d: want at least 0", *d.Preemptions)
	case d.Samples != nil && *d.Samples < 1:
		return fmt.Errorf("--samples %d: want at least 1", *d.Samples)
	case d.Depth != nil && *d.Depth < 1:
		return fmt.Errorf("--depth %d: want at least 1", *d.Depth)
	case d.Seed != nil && *d.Seed < 1:
		return fmt.Errorf("--seed %d: want at least 1", *d.Seed)
	}
	return nil
}

// apply adds the strategy to the options, if there is one. Samples and
// schedules are interleavings, so that no other model than sc can be meant.
func (d *drawing) apply(o *verdict.Options, named []string) error {
	if d.Strategy == "" {
		return nil
	}
	if err := known("strategy", d.Strategy, append(explore.StrategyNames(), preemption)); err != nil {
		return err
	}
	if at := slices.IndexFunc(named, func(model string) bool { return model != "sc" }); at >= 0 {
		return misuse("--strategy %s --model %s: only the model sc can be meant", d.Strategy, named[at])
	}
	o.Models = []string{"sc"}
	if d.Strategy == preemption {
		o.Bound = &explore.Bound{Most: given(d.Preemptions, explore.DefaultPreemptions)}
		return nil
	}
	strategy, err := explore.NewStrategy(d.Strategy, given(d.Depth, defaultDepth))
	o.Strategy = strategy
	o.Samples, o.Seed = given(d.Samples, explore.DefaultSamples), given(d.Seed, defaultSeed)
	return err
}

// given is the value of a flag, or what it is without one.
func given[T any](flag *T, otherwise T) T {
	if flag == nil {
		return otherwise
	}
	return *flag
}

// sampleFlags are those that draw the same samples again: with a seed of 0 all
// of them, with another one the sample that has it.
func sampleFlags(s *explore.SampleStats, seed uint64) string {
	flags := " --strategy " + s.Strategy
	if s.Depth > 0 {
		flags += fmt.Sprintf(" --depth %d", s.Depth)
	}
	if seed > 0 {
		return flags + fmt.Sprintf(" --samples 1 --seed %d", seed)
	}
	return flags + fmt.Sprintf(" --samples %d --seed %d", s.Samples, s.Seed)
}

// describeSample says what was drawn, and how much of the scenario it covers.
func describeSample(s *explore.SampleStats) string {
	strategy := s.Strategy
	if s.Depth > 0 {
		strategy += fmt.Sprintf(" of depth %d", s.Depth)
	}
	return fmt.Sprintf("%s, %s with the seeds from %d on, at most %s\n%s", strategy, count(s.Samples, "sample"), s.Seed, count(s.Steps, "step"), s)
}

// writeAgain writes what to paste to draw the samples again.
func writeAgain(w io.Writer, v *verdict.Verdict) {
	fmt.Fprintf(w, "draw the same samples again with\n\n  %s%s\n\n", variantLine(v), sampleFlags(v.Scope.Sample, 0))
	if v.Finding != nil {
		fmt.Fprintf(w, "and the one that this was found in, alone, with\n\n  %s%s\n\n", variantLine(v), sampleFlags(v.Scope.Sample, v.Finding.Seed))
	}
}
