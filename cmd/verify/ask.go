package main

import (
	"fmt"
	"io"
	"time"

	"benign/checkers/explore"
	"benign/checkers/verdict"
	"benign/impl/scenario"
)

// asking is the part of the command line that says how questions are asked.
type asking struct {
	Model         []string `placeholder:"NAME" help:"Memory model: ${models}. Repeat it for several. Without it: ${defaults}."`
	Arch          *int     `placeholder:"BITS" help:"The machine's words have 32 or 64 bits. With 32, a word of 64 bits is read and written in two halves. Without it: 64, and 32 too where a scenario shares such words."`
	Workers       int      `default:"${processors}" placeholder:"N" help:"Explore with N goroutines (${default})."`
	MaxExecutions int      `default:"${executions}" placeholder:"N" help:"Give up on a variant after N executions; the answer is UNKNOWN then, unless harm was found (${default})."`
	Budget        budget   `placeholder:"TIME|N" help:"Give up after this time, such as 2s or 10m, or on a variant after N executions; what was not explored by then is UNKNOWN, unless harm was found."`
	Checkpoint    string   `placeholder:"FILE" help:"Keep what was explored in FILE every half second, and go on from there if FILE is there: a run that was killed, interrupted, or out of budget goes on when the same command is given again. FILE is removed when all is explored."`
	Quiet         bool     `help:"Show no progress, even on a terminal."`
	Strict        bool     `help:"Run each schedule twice, and refuse to answer if the code does not do the same both times."`
	NoShrink      bool     `help:"Show what is broken in the scenario as it is, and do not leave out the tasks and operations that are not needed."`
	NoPlanted     bool     `help:"Leave the planted faults and the alternatives out."`
}

// Validate refuses bounds that allow nothing.
func (a *asking) Validate() error {
	if a.Arch != nil && *a.Arch != explore.Arch32 && *a.Arch != explore.Arch64 {
		return fmt.Errorf("--arch %d: want %d or %d", *a.Arch, explore.Arch32, explore.Arch64)
	}
	if a.Workers < 1 {
		return fmt.Errorf("--workers %d: want at least 1", a.Workers)
	}
	if a.MaxExecutions < 1 {
		return fmt.Errorf("--max-executions %d: want at least 1", a.MaxExecutions)
	}
	if a.Budget.executions > 0 && a.MaxExecutions != explore.DefaultMaxExecutions {
		return fmt.Errorf("--budget %d and --max-executions %d: want one of them", a.Budget.executions, a.MaxExecutions)
	}
	return nil
}

// maxExecutions is the bound on the executions of a variant.
func (a *asking) maxExecutions() int {
	if a.Budget.executions > 0 {
		return a.Budget.executions
	}
	return a.MaxExecutions
}

// arch is the machine that the command line names, or 0.
func (a *asking) arch() int {
	if a.Arch == nil {
		return 0
	}
	return *a.Arch
}

// progress returns the progress line that the answer is given with.
func (a *asking) progress(w io.Writer) *progress {
	if a.Quiet {
		return nil
	}
	return newProgress(w)
}

// options turns the command line into what the judge takes.
func (a *asking) options(p *progress) (verdict.Options, error) {
	names, err := models(a.Model)
	deadline := time.Time{}
	if a.Budget.time > 0 {
		deadline = time.Now().Add(a.Budget.time)
	}
	return verdict.Options{
		Deadline:      deadline,
		Models:        names,
		Arch:          a.arch(),
		Workers:       a.Workers,
		MaxExecutions: a.maxExecutions(),
		Planted:       !a.NoPlanted,
		Shrink:        !a.NoShrink,
		Strict:        a.Strict,
		Progress:      p.callback(),
	}, err
}

// ask puts the question: about the candidate of every scenario or, if a variant
// is named, about that variant in every scenario that has it.
func ask(race *scenario.Race, variant string, o verdict.Options) (*verdict.Question, error) {
	if variant == "" {
		return verdict.Ask(race, o)
	}
	if err := known("variant of "+race.Name, variant, variantNames(race.Scenarios)); err != nil {
		return nil, err
	}
	q := &verdict.Question{Race: race, Name: race.Name, Title: race.Title, Class: scenario.Indistinguishable}
	for i := range race.Scenarios {
		s := &race.Scenarios[i]
		v := s.VariantNamed(variant)
		if v == nil {
			continue
		}
		for _, model := range o.Models {
			for _, arch := range o.Machines(s) {
				on := o
				on.Arch = arch
				answer, err := verdict.Judge(race, s, v, model, on)
				if err != nil {
					return nil, err
				}
				q.Verdicts = append(q.Verdicts, answer)
				q.Class = q.Class.Worse(answer.Class)
				if !answer.AsExpected() {
					q.Surprises = append(q.Surprises, answer)
				}
			}
		}
	}
	return q, nil
}
