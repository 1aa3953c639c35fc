package explore_test

import (
	"fmt"
	"strings"
	"testing"

	"benign/checkers/explore"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// rig is what the tasks of the small scenarios in these tests share: words,
// locks, and a list in plain memory.
type rig struct {
	kernel.Object
	x, y        kernel.Word[int]
	spin, inner kernel.SpinLock
	sleep       kernel.Mutex
	rw          kernel.RWLock
	region      kernel.Region
	list        []string
}

func newRig(setup *kernel.Task) *rig {
	r := &rig{}
	r.Init(setup, "rig", r)
	r.x.Init(&r.Object, "x", 0)
	r.y.Init(&r.Object, "y", 0)
	r.spin.Init(&r.Object, "spin")
	r.inner.Init(&r.Object, "inner")
	r.sleep.Init(&r.Object, "sleep")
	r.rw.Init(&r.Object, "rw")
	r.region.Init(&r.Object, "list")
	return r
}

// note appends to the list, which wants a lock.
func (r *rig) note(t *kernel.Task) {
	r.region.Write(t)
	r.list = append(r.list, t.Name())
}

// state is what the rig looks like when nobody uses it any more.
func (r *rig) state(t *kernel.Task) string {
	return fmt.Sprintf("x=%d y=%d list=%s", r.x.Load(t, kernel.Plain), r.y.Load(t, kernel.Plain), strings.Join(r.list, ","))
}

// step is the one operation of a task; it returns the result.
type step func(t *kernel.Task, r *rig) string

// scene is a scenario whose tasks A, B, … run one step each. The functions
// may change the instance before it runs.
func scene(steps []step, change ...func(*scenario.Instance, *rig)) *scenario.Scenario {
	build := func(setup *kernel.Task) *scenario.Instance {
		r := newRig(setup)
		i := &scenario.Instance{Observe: r.state, Teardown: r.Free}
		for n, run := range steps {
			op := scenario.Operation{Name: "run", Run: func(t *kernel.Task) scenario.Result {
				return scenario.Result{Value: run(t, r)}
			}}
			i.Tasks = append(i.Tasks, scenario.Task{Name: string(rune('A' + n)), Operations: []scenario.Operation{op}})
		}
		for _, f := range change {
			f(i, r)
		}
		return i
	}
	return &scenario.Scenario{Name: "rig", Variants: []scenario.Variant{{Name: "only", Role: scenario.Candidate, Build: build}}}
}

func times(n int, s step) []step {
	steps := make([]step, n)
	for i := range steps {
		steps[i] = s
	}
	return steps
}

// configure asks about the only variant, with one worker.
func configure(s *scenario.Scenario, model string) explore.Config {
	return explore.Config{Scenario: s, Variant: &s.Variants[0], Model: model, Workers: 1, CheckDefaults: true}
}

// executions explores to the end and returns what was visited, in order.
func executions(t testing.TB, config explore.Config) ([]*explore.Execution, explore.Stats) {
	t.Helper()
	var all []*explore.Execution
	config.Visit = func(e *explore.Execution) { all = append(all, e) }
	config.Restart = func() { all = nil }
	stats, err := explore.Explore(config)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != stats.Executions() {
		t.Fatalf("%d executions were visited, and %d counted", len(all), stats.Executions())
	}
	return all, stats
}

// exhausted is executions for an exploration that must not be cut off.
func exhausted(t testing.TB, s *scenario.Scenario, model string) []*explore.Execution {
	t.Helper()
	all, stats := executions(t, configure(s, model))
	if !stats.Exhaustive && stats.Violating == 0 {
		t.Fatalf("cut off: %s", stats.Cut)
	}
	return all
}

// shown is all that one execution shows, in a line.
func shown(e *explore.Execution) string {
	return fmt.Sprintf("ended %v, violation %v, %s, debt %v, rounds %d", e.Ended, e.Violation, e.Outcome(), e.Debt, e.Rounds)
}
