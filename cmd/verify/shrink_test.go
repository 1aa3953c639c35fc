package main

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/linear"
	"benign/checkers/memmodel"
	"benign/checkers/verdict"
	"benign/impl/catalogue"
	"benign/impl/scenario"
)

// shrunk is a fault of the catalogue with its smallest scenario.
type shrunk struct {
	race     scenario.Race
	scenario scenario.Scenario
	variant  string
	model    string
	finding  *verdict.Finding
	without  []scenario.Omitted
}

// TestShrunkFaultsAreMinimal: in what is shown of a planted fault, no task, no
// operation, no switch between tasks and no event can be left out; the explorer
// is asked about each.
func TestShrunkFaultsAreMinimal(t *testing.T) {
	faults := 0
	for _, race := range catalogue.All() {
		for _, s := range race.Scenarios {
			for _, v := range s.Variants {
				if v.Expect != scenario.Harmful || (testing.Short() || underRaceDetector) && strings.HasSuffix(s.Name, "-wide") {
					continue
				}
				faults++
				models := verdict.DefaultModels()
				if strings.HasSuffix(s.Name, "-wide") {
					models = models[:1] // they take seconds each
				}
				for _, model := range models {
					t.Run(fmt.Sprintf("%s/%s/%s/%s", race.Name, s.Name, v.Name, model), func(t *testing.T) {
						f := &shrunk{race: race, scenario: s, variant: v.Name, model: model}
						f.shrink(t)
						f.checkOperations(t)
						f.checkSwitches(t)
						f.checkEvents(t)
					})
				}
			}
		}
	}
	if faults < 10 {
		t.Errorf("only %d faults are planted", faults)
	}
}

// shrink asks about the fault, and takes its trace for what is left.
func (f *shrunk) shrink(t *testing.T) {
	t.Helper()
	v := f.scenario.VariantNamed(f.variant)
	answer, err := verdict.Judge(&f.race, &f.scenario, v, f.model, verdict.Options{Shrink: true})
	if err != nil || answer.Finding == nil {
		t.Fatalf("%+v, %v", answer, err)
	}
	f.finding = answer.Finding
	_, trace, err := explore.ParseTrace("trace", []byte(f.finding.Trace))
	if err != nil {
		t.Fatal(err)
	}
	f.without = trace.Without
	if len(f.finding.LeftOut) != len(f.without) {
		t.Errorf("%q is said to be left out, and %v is", f.finding.LeftOut, f.without)
	}
}

// exploring is how the variant is explored without what is left out, and more.
func (f *shrunk) exploring(variant *scenario.Variant, more ...scenario.Omitted) explore.Config {
	return explore.Config{Scenario: &f.scenario, Variant: variant, Model: f.model, Workers: 2, Without: append(more, f.without...)}
}

// shows reports whether the fault is there without more operations, and nothing
// is wrong with the baseline. A nil bound is none.
func (f *shrunk) shows(t *testing.T, bound *explore.Bound, more ...scenario.Omitted) bool {
	t.Helper()
	broken := func(variant *scenario.Variant, is func(*explore.Execution) bool) bool {
		found := atomic.Bool{}
		config := f.exploring(variant, more...)
		config.Visit = func(e *explore.Execution) {
			if is(e) {
				found.Store(true)
			}
		}
		var stats explore.Stats
		var err error
		if bound == nil {
			stats, err = explore.Explore(config)
		} else {
			stats, err = explore.ExploreBounded(config, *bound)
		}
		if err != nil || bound == nil && !stats.Exhaustive && stats.Violating == 0 {
			t.Fatalf("%+v, %v", stats, err)
		}
		return found.Load()
	}
	same := func(e *explore.Execution) bool { return e.Violation != nil && f.finding.Is(e.Violation) }
	if f.finding.Kind == "work lost" { // which is no violation of the execution's own
		same = loses
	}
	if f.finding.Kind == verdict.KindHistory {
		same = unexplained
	}
	return broken(f.scenario.VariantNamed(f.variant), same) &&
		!broken(f.scenario.Variant(scenario.Baseline), func(e *explore.Execution) bool { return e.Violation != nil || loses(e) })
}

// unexplained reports whether no order of the operations that keeps each task's explains
// what they returned.
func unexplained(e *explore.Execution) bool {
	if !e.Ended || e.Violation != nil {
		return false
	}
	var history []linear.Call
	for _, op := range e.Operations {
		history = append(history, linear.Call{Task: op.Task, Name: op.Name, Call: math.MinInt64, Return: math.MinInt64, Effects: op.Result.Effects})
	}
	_, err := linear.CheckProgramOrder(e.Spec, history)
	return err != nil
}

// loses reports whether an execution leaves work that no number of rounds does.
func loses(e *explore.Execution) bool {
	return e.Violation == nil && e.Ended && len(e.Debt) > 0 && e.Debt[len(e.Debt)-1] != 0
}

// checkOperations asks about the scenario as it is left, and then without each
// task and each operation.
func (f *shrunk) checkOperations(t *testing.T) {
	t.Helper()
	if !f.shows(t, nil) {
		t.Errorf("without %v, no %s shows", f.without, f.finding.Kind)
	}
	tasks, err := explore.Tasks(explore.Config{Scenario: &f.scenario, Variant: f.scenario.VariantNamed(f.variant)})
	if err != nil {
		t.Fatal(err)
	}
	gone := map[scenario.Omitted]bool{}
	for _, o := range f.without {
		gone[o] = true
	}
	for task := range tasks {
		var left []scenario.Omitted
		for operation, op := range tasks[task].Operations {
			if o := (scenario.Omitted{Task: task, Operation: operation, Name: op.Name}); !gone[o] {
				left = append(left, o)
				if f.shows(t, nil, o) {
					t.Errorf("%s of task %s is not needed", op.Name, tasks[task].Name)
				}
			}
		}
		if len(left) > 1 && f.shows(t, nil, left...) {
			t.Errorf("task %s is not needed", tasks[task].Name)
		}
	}
}

// checkSwitches explores every schedule with one switch less.
func (f *shrunk) checkSwitches(t *testing.T) {
	t.Helper()
	_, trace, err := explore.ParseTrace("trace", []byte(f.finding.Trace))
	if err != nil {
		t.Fatal(err)
	}
	_, e, err := verdict.Replay(&f.race, &f.scenario, f.scenario.VariantNamed(f.variant), f.model, trace)
	if err != nil {
		t.Fatal(err)
	}
	_, switches := memmodel.FewestSwitches(e.Graph)
	shown := 0
	for i := range f.finding.Steps {
		if i > 0 && f.finding.Steps[i].Task != f.finding.Steps[i-1].Task {
			shown++
		}
	}
	if shown != switches {
		t.Errorf("%d switches are shown, and %d are enough", shown, switches)
	}
	if f.model != "sc" {
		return
	}
	if !f.shows(t, &explore.Bound{Most: switches, All: true}) {
		t.Errorf("%d switches do not show the fault", switches)
	}
	if switches > 0 && f.shows(t, &explore.Bound{Most: switches - 1, All: true}) {
		t.Errorf("%d switches show the fault, and %d are enough", switches, switches-1)
	}
}

// checkEvents leaves each line of the trace out that can be left out.
func (f *shrunk) checkEvents(t *testing.T) {
	t.Helper()
	lines := strings.SplitAfter(f.finding.Trace, "\n")
	readable := 0
	for i, line := range lines {
		if !strings.ContainsAny(line, "=") {
			continue // of the header
		}
		name, _, _ := strings.Cut(line, " ")
		rest := strings.Join(lines[:i], "") + strings.Join(lines[i+1:], "")
		rest = strings.ReplaceAll(rest, " end="+name+"\n", "\n") // of the section that it ends
		_, trace, err := explore.ParseTrace("trace", []byte(rest))
		if err != nil {
			continue // something else depends on it
		}
		readable++
		finding, _, err := verdict.Replay(&f.race, &f.scenario, f.scenario.VariantNamed(f.variant), f.model, trace)
		if err == nil && finding.Kind == f.finding.Kind && finding.Message == f.finding.Message {
			t.Errorf("not needed: %s", line)
		}
	}
	if readable == 0 && len(f.finding.Steps) > 0 {
		t.Error("no event can be left out of the trace, not even the last one")
	}
}
