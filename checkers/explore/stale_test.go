package explore_test

import (
	"fmt"
	"slices"
	"testing"

	"benign/checkers/explore"
	"benign/impl/kernel"
)

// message writes data and then a flag; receive reads the flag and then the
// data. Without barriers the data may be stale.
func message(t *kernel.Task, r *rig) string {
	r.x.Store(t, kernel.Once, 1)
	r.y.Store(t, kernel.Once, 1)
	return ""
}

func receive(t *kernel.Task, r *rig) string {
	flag := r.y.Load(t, kernel.Once)
	return fmt.Sprint(flag, r.x.Load(t, kernel.Once))
}

// outcomes returns the results of the task, without repetition, in order.
func outcomes(t *testing.T, model string, task int, steps ...step) []string {
	t.Helper()
	var found []string
	for _, e := range exhausted(t, scene(steps), model) {
		if e.Violation != nil {
			t.Fatal(e.Violation)
		}
		found = append(found, e.Operations[task].Result.Value)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// TestStaleLoads runs the code: what a stale load returned is what the
// operation's result says.
func TestStaleLoads(t *testing.T) {
	released := func(t *kernel.Task, r *rig) string {
		r.x.Store(t, kernel.Once, 1)
		r.y.Store(t, kernel.Release, 1)
		return ""
	}
	acquired := func(t *kernel.Task, r *rig) string {
		flag := r.y.Load(t, kernel.Acquire)
		return fmt.Sprint(flag, r.x.Load(t, kernel.Once))
	}
	fenced := func(t *kernel.Task, r *rig) string {
		flag := r.y.Load(t, kernel.Once)
		t.Barrier(kernel.ReadBarrier)
		return fmt.Sprint(flag, r.x.Load(t, kernel.Once))
	}
	fresh, stale := []string{"0 0", "0 1", "1 1"}, []string{"0 0", "0 1", "1 0", "1 1"}
	for _, c := range []struct {
		name      string
		send, get step
		sc, weak  []string
	}{
		{"no order", message, receive, fresh, stale},
		{"the sender's only", released, receive, fresh, stale},
		{"the receiver's only", message, acquired, fresh, stale},
		{"release and acquire", released, acquired, fresh, fresh},
		{"release and read barrier", released, fenced, fresh, fresh},
	} {
		for model, want := range map[string][]string{"sc": c.sc, "tso": c.sc, "ra": c.sc, "rc11": c.weak, "kernel": c.weak} {
			if got := outcomes(t, model, 1, c.send, c.get); !slices.Equal(got, want) {
				t.Errorf("%s under %s: %q, want %q", c.name, model, got, want)
			}
		}
	}
}

// TestStaleStepsAreNoted replays a stale load: the reader is told what it missed.
func TestStaleStepsAreNoted(t *testing.T) {
	s := scene([]step{message, receive})
	for _, e := range exhausted(t, s, "kernel") {
		_, steps, err := explore.ReplayGraph(configure(s, "kernel"), e.Graph)
		if err != nil {
			t.Fatal(err)
		}
		noted := slices.ContainsFunc(steps, func(s explore.Step) bool { return s.Note == "stale: the newest value was 1" })
		if want := e.Operations[1].Result.Value == "1 0"; noted != want {
			t.Errorf("%s: noted %v, want %v", e.Outcome(), noted, want)
		}
	}
}

// TestStaleTriesAreNoted replays a try that fails because of a section that has
// ended: a weak machine need not know yet.
func TestStaleTriesAreNoted(t *testing.T) {
	later := func(t *kernel.Task, r *rig) string {
		seen := r.x.Load(t, kernel.Once)
		return fmt.Sprint(seen) + try(t, r)
	}
	before := func(t *kernel.Task, r *rig) string {
		locked(t, r)
		r.x.Store(t, kernel.Once, 1)
		return ""
	}
	for model, want := range map[string]int{"sc": 0, "kernel": 1} {
		s, noted := scene([]step{before, later}), 0
		for _, e := range exhausted(t, s, model) {
			_, steps, err := explore.ReplayGraph(configure(s, model), e.Graph)
			if err != nil {
				t.Fatal(err)
			}
			if e.Operations[1].Result.Value != "1busy" {
				continue
			}
			for _, s := range steps {
				if s.What == "trylock rig#1.sleep fails" && s.Note == "stale: the holder had already let go" {
					noted++
				}
			}
		}
		if noted != want {
			t.Errorf("under %s %d tries are stale, want %d", model, noted, want)
		}
	}
}
