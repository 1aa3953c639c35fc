// Package checkers is the front door for people who test their own concurrent
// code: build a scenario (package scenario) on the machine (package kernel), and
//
//	func TestCacheRace(t *testing.T) {
//		checkers.Verify(t, &cacheRace)
//	}
//
// explores every execution of its candidate and baseline and fails the test
// unless the verdict is the one that the scenario expects. [VerifyWithCheckpoint]
// is for scenarios that take long. [Replay] runs an
// execution that breaks something again, and [Explore] gives them all.
// docs/write-a-scenario.md is the guide.
package checkers

import (
	"fmt"
	"slices"
	"strings"

	"benign/checkers/explore"
	"benign/checkers/leak"
	"benign/checkers/verdict"
	"benign/impl/scenario"
)

// T is what Verify needs of a *testing.T: Helper and Errorf.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// Verify judges every variant of the scenario under each of the given memory
// models (none means sc and kernel) and fails the test for each verdict that
// differs from what the variant expects, for a vacuous one, and if goroutines are
// left, so that no test beside it may start any. The machine has 64 bits, see
// [VerifyOn]. Under the first model each
// schedule is run twice, and code that does something else the second time fails
// the test. A failure shows the verdict's
// reason and, if something is broken, the shortest interleaving that breaks it, of
// no more tasks and operations than are needed, and the call of [Replay] that runs it again. It returns the verdicts, model by
// model; those on the baseline are left out.
func Verify(t T, s *scenario.Scenario, models ...string) []*verdict.Verdict {
	t.Helper()
	return verify(t, explore.Arch64, s, models, nil)
}

// VerifyOn is Verify for a machine that is named by the bits of its words:
// explore.Arch32 has each [kernel.Word] of 64 bits in two halves.
func VerifyOn(t T, arch int, s *scenario.Scenario, models ...string) []*verdict.Verdict {
	t.Helper()
	return verify(t, arch, s, models, nil)
}

// VerifyWithCheckpoint is Verify for a scenario that takes long. It keeps what
// has been explored in the file every half second: when the test is run again
// after it was killed, or stopped by its timeout, it goes on from there. The file
// is removed when all is explored. It is of use to the same test binary only.
func VerifyWithCheckpoint(t T, file string, s *scenario.Scenario, models ...string) []*verdict.Verdict {
	t.Helper()
	if len(models) == 0 {
		models = verdict.DefaultModels()
	}
	c, err := verdict.OpenCheckpoint(file, fmt.Sprintf("scenario %q under %q", s.Name, models))
	if err != nil {
		t.Errorf("%v", err)
		return nil
	}
	all := verify(t, explore.Arch64, s, models, c)
	if c.Done() {
		err = c.Remove()
	} else {
		err = c.Save()
	}
	if err != nil {
		t.Errorf("%v", err)
	}
	return all
}

func verify(t T, arch int, s *scenario.Scenario, models []string, c *verdict.Checkpoint) []*verdict.Verdict {
	t.Helper()
	watch := leak.Watch()
	race := &scenario.Race{Name: s.Name, Scenarios: []scenario.Scenario{*s}}
	if len(models) == 0 {
		models = verdict.DefaultModels()
	}
	var all []*verdict.Verdict
	for i, model := range models {
		q, err := verdict.Ask(race, verdict.Options{Models: []string{model}, Arch: arch, Planted: true, Shrink: true, Strict: i == 0, Checkpoint: c})
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		for _, v := range q.Surprises {
			t.Errorf("%s", explain(v))
		}
		all = slices.Concat(all, q.Verdicts, q.Alternatives, q.Planted)
	}
	if err := watch.Check(); err != nil {
		t.Errorf("the exploration left goroutines: %v", err)
	}
	return all
}

// Replay runs one execution again: the one in the trace that a failure of Verify
// ends with. It fails the test if the execution still breaks something, and if
// the code no longer does what it did when the trace was written, so that it is a
// help while a fault is looked for, as under a debugger, and not a test to keep.
// It returns what it found, or nil if the trace could not be followed.
func Replay(t T, s *scenario.Scenario, trace string) *verdict.Finding {
	t.Helper()
	header, parsed, err := explore.ParseTrace("trace", []byte(trace))
	if err != nil {
		t.Errorf("%v", err)
		return nil
	}
	v := s.VariantNamed(header.Variant)
	if header.Scenario != s.Name || v == nil {
		t.Errorf("the trace is of scenario %s, variant %s, and scenario %s has no such thing", header.Scenario, header.Variant, s.Name)
		return nil
	}
	race := &scenario.Race{Name: s.Name, Scenarios: []scenario.Scenario{*s}}
	finding, _, err := verdict.Replay(race, s, v, header.Model, parsed)
	if err != nil {
		t.Errorf("%v", err)
		return nil
	}
	if !finding.Clean() {
		t.Errorf("%s, variant %s, under %s:%s", s.Name, v.Name, header.Model, interleaving(finding))
	}
	return finding
}

// explain renders an unexpected verdict for a test log.
func explain(v *verdict.Verdict) string {
	text := fmt.Sprintf("%s, variant %s, under %s: %s, expected %s: %s", v.Scenario, v.Variant, v.Model, v.Class, v.Expected, v.Reason)
	if v.Finding == nil {
		return text
	}
	return text + interleaving(v.Finding) + fmt.Sprintf("\n\tto run it again: checkers.Replay(t, s, %q)", v.Finding.Trace)
}

// interleaving lists the steps that others can see, and what they break.
func interleaving(f *verdict.Finding) string {
	var b strings.Builder
	if len(f.LeftOut) > 0 {
		fmt.Fprintf(&b, "\n\tnot needed, and left out: %s", strings.Join(f.LeftOut, "; "))
	}
	for _, step := range f.Steps {
		if !step.Private {
			fmt.Fprintf(&b, "\n\t%s: %s", f.Tasks[step.Task], step.What)
			if step.Note != "" {
				fmt.Fprintf(&b, " (%s)", step.Note)
			}
			if step.Place != "" {
				fmt.Fprintf(&b, "\t%s", step.Place)
			}
		}
	}
	fmt.Fprintf(&b, "\n\t%s: %s", f.Kind, f.Message)
	return b.String()
}

// Explore runs one variant of a scenario under every execution that a memory
// model allows and passes each to visit, once, from one goroutine. It explores
// twice: how often an exploration begins anew, because it learned of a lock that
// is shared, is known at its end only, and what it saw before that is void.
func Explore(s *scenario.Scenario, v *scenario.Variant, model string, visit func(*explore.Execution)) (explore.Stats, error) {
	restarts := 0
	config := explore.Config{Scenario: s, Variant: v, Model: model, Workers: 1, Restart: func() { restarts++ }}
	if stats, err := explore.Explore(config); err != nil {
		return stats, err
	}
	config.Restart = func() { restarts-- }
	config.Visit = func(e *explore.Execution) {
		if restarts == 0 {
			visit(e)
		}
	}
	return explore.Explore(config)
}
