package explore_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"benign/checkers/explore"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

var header = explore.TraceHeader{Race: "race", Scenario: "rig", Variant: "only", Model: "kernel"}

// parsed takes an execution through its text.
func parsed(t testing.TB, e *explore.Execution) *explore.Trace {
	t.Helper()
	text := explore.FormatTrace(header, e.Graph)
	h, trace, err := explore.ParseTrace("trace", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if h != header {
		t.Errorf("the header %v was read as %v", header, h)
	}
	if again := explore.FormatTrace(h, trace.Graph()); again != text {
		t.Fatalf("formatted again it is\n%s\nand it was\n%s", again, text)
	}
	return trace
}

// TestTracesAreReplayed takes every execution through its text and runs it
// again: it must show the same.
func TestTracesAreReplayed(t *testing.T) {
	for _, p := range samples() {
		for _, model := range []string{"sc", "tso", "ra", "rc11", "kernel"} {
			t.Run(p.name+" under "+model, func(t *testing.T) {
				s := scene(p.steps, withCheck)
				for _, e := range exhausted(t, s, model) {
					again, steps, err := explore.Replay(configure(s, model), parsed(t, e))
					if err != nil {
						t.Fatalf("%v\n%s", err, explore.FormatTrace(header, e.Graph))
					}
					if shown(again) != shown(e) {
						t.Errorf("replayed it shows %s\nand explored %s", shown(again), shown(e))
					}
					if again.Graph.Key() != e.Graph.Key() {
						t.Errorf("replayed it is another execution than\n%s", explore.FormatTrace(header, e.Graph))
					}
					if len(steps) == 0 && len(e.Graph.Events) > 1 {
						t.Error("no steps")
					}
				}
			})
		}
	}
}

// TestGraphsAreReplayed is the same without the text.
func TestGraphsAreReplayed(t *testing.T) {
	for _, p := range samples() {
		t.Run(p.name, func(t *testing.T) {
			s := scene(p.steps)
			for _, e := range exhausted(t, s, "sc") {
				again, _, err := explore.ReplayGraph(configure(s, "sc"), e.Graph)
				if err != nil {
					t.Fatal(err)
				}
				if shown(again) != shown(e) {
					t.Errorf("replayed it shows %s\nand explored %s", shown(again), shown(e))
				}
			}
		})
	}
}

// TestTracesOfOtherCode replays executions of code that has been edited since.
func TestTracesOfOtherCode(t *testing.T) {
	for _, p := range samples() {
		t.Run(p.name, func(t *testing.T) {
			changed := scene(p.changed)
			for _, e := range exhausted(t, scene(p.steps), "kernel") {
				again, _, err := explore.Replay(configure(changed, "kernel"), parsed(t, e))
				var diverged *explore.DivergenceError
				if !errors.As(err, &diverged) {
					t.Fatalf("got %v, %v for\n%s", again, err, explore.FormatTrace(header, e.Graph))
				}
			}
		})
	}
}

// TestCodeThatGoesOn replays executions of code that does more at its end.
func TestCodeThatGoesOn(t *testing.T) {
	s := scene([]step{storeThenLoad, loadThenStore})
	longer := scene([]step{storeThenLoad, func(t *kernel.Task, r *rig) string {
		defer r.x.Load(t, kernel.Once)
		return loadThenStore(t, r)
	}})
	for _, e := range exhausted(t, s, "kernel") {
		again, steps, err := explore.Replay(configure(longer, "kernel"), parsed(t, e))
		if err != nil {
			t.Fatal(err)
		}
		if again.Ended || again.Violation != nil {
			t.Errorf("code that has not come to its end shows %s", shown(again))
		}
		if len(steps) != len(e.Graph.Events) {
			t.Errorf("%d steps of %d events", len(steps), len(e.Graph.Events))
		}
	}
}

// TestOtherTasks replays an execution in scenarios with more or fewer tasks.
func TestOtherTasks(t *testing.T) {
	two := exhausted(t, scene([]step{spawn, storeThenLoad}), "sc")[0]
	for _, steps := range [][]step{{spawn}, {spawn, storeThenLoad, storeThenLoad}, times(6, spawn), {}} {
		_, _, err := explore.Replay(configure(scene(steps), "sc"), parsed(t, two))
		var diverged *explore.DivergenceError
		if !errors.As(err, &diverged) || !strings.Contains(diverged.Detail, "tasks") {
			t.Errorf("%d tasks: got %v", len(steps), err)
		}
	}
}

// TestFixedDeadlock makes sure that a trace of a deadlock is not taken for one
// of code that no longer has it.
func TestFixedDeadlock(t *testing.T) {
	fixed := scene([]step{func(t *kernel.Task, r *rig) string {
		child := t.Go("child", func(t *kernel.Task) { r.x.Load(t, kernel.Once) })
		r.sleep.Lock(t)
		t.Join(child)
		r.sleep.Unlock(t)
		return ""
	}, locked})
	found := 0
	for _, e := range exhausted(t, scene([]step{deadlock, locked}), "sc") {
		if e.Violation == nil {
			continue
		}
		found++
		again, _, err := explore.Replay(configure(fixed, "sc"), parsed(t, e))
		var diverged *explore.DivergenceError
		if !errors.As(err, &diverged) {
			t.Errorf("got %v, %v", again, err)
		}
	}
	if found == 0 {
		t.Error("there is no deadlock")
	}
}

// TestOneTraceFitsManyVariants replays one trace in two variants, in which the
// word has another place in its object, and in the first one again.
func TestOneTraceFitsManyVariants(t *testing.T) {
	variant := func(spare bool) *scenario.Scenario {
		return &scenario.Scenario{Name: "s", Variants: []scenario.Variant{{Name: "v", Role: scenario.Candidate, Build: func(setup *kernel.Task) *scenario.Instance {
			var o struct {
				kernel.Object
				spare, x kernel.Word[int]
			}
			o.Init(setup, "o", &o)
			if spare {
				o.spare.Init(&o.Object, "spare", 0)
			}
			o.x.Init(&o.Object, "x", 0)
			run := func(t *kernel.Task) scenario.Result { o.x.Store(t, kernel.Once, 1); return scenario.Result{} }
			return &scenario.Instance{Tasks: []scenario.Task{{Name: "A", Operations: []scenario.Operation{{Name: "run", Run: run}}}}}
		}}}}
	}
	trace := parsed(t, exhausted(t, variant(false), "sc")[0])
	for _, spare := range []bool{true, false, true} {
		if e, _, err := explore.Replay(configure(variant(spare), "sc"), trace); err != nil || !e.Ended {
			t.Errorf("with a spare word %v: %v", spare, err)
		}
	}
}

// TestForbiddenByTheModel replays, under a stronger model, the executions that
// only a weaker one has.
func TestForbiddenByTheModel(t *testing.T) {
	s := scene([]step{message, receive})
	var strong []string
	for _, e := range exhausted(t, s, "sc") {
		strong = append(strong, e.Graph.Key())
	}
	weak := 0
	for _, e := range exhausted(t, s, "kernel") {
		_, _, err := explore.Replay(configure(s, "sc"), parsed(t, e))
		if slices.Contains(strong, e.Graph.Key()) != (err == nil) {
			t.Errorf("%s: %v", e.Outcome(), err)
		}
		if err != nil {
			weak++
			if !strings.Contains(err.Error(), "the memory model sc does not allow it") {
				t.Error(err)
			}
		}
	}
	if weak == 0 {
		t.Error("kernel allows no more than sc")
	}
}

func TestReplayOfTooMuch(t *testing.T) {
	s := scene(times(2, locked))
	config := configure(s, "sc")
	trace := parsed(t, exhausted(t, s, "sc")[0])
	config.MaxEvents = 5
	if _, _, err := explore.Replay(config, trace); err == nil || !strings.Contains(err.Error(), "more events than the bound (5)") {
		t.Errorf("got %v", err)
	}
	config.Model = "x86"
	if _, _, err := explore.Replay(config, trace); err == nil || !strings.Contains(err.Error(), `memory model "x86"`) {
		t.Errorf("got %v", err)
	}
	if _, _, err := explore.ReplayGraph(config, trace.Graph()); err == nil || !strings.Contains(err.Error(), `memory model "x86"`) {
		t.Errorf("got %v", err)
	}
}
