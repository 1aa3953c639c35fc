package explore_test

import (
	"errors"
	"slices"
	"testing"

	"benign/checkers/explore"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// nothing is a step that does nothing.
func nothing(*kernel.Task, *rig) string { return "" }

// TestWithout an operation there are as many executions as if it did nothing,
// scripted or not, and its trace says what is left out.
func TestWithout(t *testing.T) {
	for _, sample := range samples() {
		for left := range sample.steps {
			idling := slices.Clone(sample.steps)
			idling[left] = nothing
			want := len(exhausted(t, scene(idling), "kernel"))
			config := configure(scene(sample.steps), "kernel")
			config.Without = []scenario.Omitted{{Task: left, Operation: 0, Name: "run"}}
			all, _ := executions(t, config)
			if len(all) != want {
				t.Errorf("%s without task %d: %d executions, want %d", sample.name, left, len(all), want)
			}
			for _, e := range all {
				checkOmission(t, config, e)
			}
		}
	}
	bare := func(i *scenario.Instance, _ *rig) { i.Observe, i.Teardown = nil, nil }
	s := scene(times(3, updates), bare)
	s.WordsOnly = true
	config := configure(s, "sc")
	config.Without = []scenario.Omitted{{Task: 1, Operation: 0, Name: "run"}}
	if all, _ := executions(t, config); len(all) != len(exhausted(t, scene(times(2, updates), bare), "sc")) {
		t.Errorf("scripted there are %d executions", len(all))
	}
}

// checkOmission takes an execution through its text.
func checkOmission(t *testing.T, config explore.Config, e *explore.Execution) {
	t.Helper()
	text := explore.FormatTrace(header, e.Graph, config.Without...)
	h, trace, err := explore.ParseTrace("trace", []byte(text))
	if err != nil || !slices.Equal(trace.Without, config.Without) {
		t.Fatalf("%v is read as %v, %v", config.Without, trace, err)
	}
	if again := explore.FormatTrace(h, trace.Graph(), trace.Without...); again != text {
		t.Errorf("got\n%s\nwant\n%s", again, text)
	}
	config.Without = nil // the trace says it
	again, _, err := explore.Replay(config, trace)
	if err != nil || again.Outcome() != e.Outcome() || (again.Violation == nil) != (e.Violation == nil) {
		t.Errorf("%s, and replayed %v, %v", shown(e), again, err)
	}
}

// TestWithoutWhatIsNotThere does not fit the code, however it is asked.
func TestWithoutWhatIsNotThere(t *testing.T) {
	for _, scripted := range []bool{false, true} {
		s := scene(times(2, updates), func(i *scenario.Instance, _ *rig) { i.Observe, i.Teardown = nil, nil })
		config := configure(s, "sc")
		all := exhausted(t, s, "sc")
		s.WordsOnly = scripted
		config.Without = []scenario.Omitted{{Task: 1, Operation: 0, Name: "walk"}}
		const want = `the execution does not fit the code: "walk" is left out of task B at position 0, where "run" is`
		_, explored := explore.Explore(config)
		_, within := explore.ExploreBounded(config, explore.Bound{Most: 1})
		_, trace, err := explore.ParseTrace("trace", []byte(explore.FormatTrace(header, all[0].Graph, config.Without...)))
		if err != nil {
			t.Fatal(err)
		}
		_, _, replayed := explore.Replay(config, trace)
		_, listed := explore.Tasks(config)
		for _, err := range []error{explored, within, replayed, listed} {
			var diverged *explore.DivergenceError
			if !errors.As(err, &diverged) || diverged.Error() != want {
				t.Errorf("scripted %v: got %v", scripted, err)
			}
		}
	}
}

// TestTasks lists them without running any, and says so if even that fails.
func TestTasks(t *testing.T) {
	s := scene([]step{func(*kernel.Task, *rig) string { panic("runs") }, nothing})
	config := configure(s, "sc")
	config.Without = []scenario.Omitted{{Task: 1, Operation: 0, Name: "run"}}
	tasks, err := explore.Tasks(config)
	if err != nil || len(tasks) != 2 || tasks[0].Name != "A" || len(tasks[0].Operations) != 1 || len(tasks[1].Operations) != 0 {
		t.Errorf("%+v, %v", tasks, err)
	}
	s.Variants[0].Build = func(*kernel.Task) *scenario.Instance { panic("no set-up") }
	if _, err := explore.Tasks(configure(s, "sc")); err == nil || err.Error() != "the set-up of variant only breaks: no set-up" {
		t.Error(err)
	}
}
