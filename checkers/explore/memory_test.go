package explore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"benign/checkers/graph"
	"benign/impl/kernel"
)

// sections returns the tasks that held the lock, in the order in which they
// did, as the graph of an execution has it.
func sections(g *graph.Graph, lock string) []string {
	var tasks []string
	for at, l := range g.Locations {
		if l.Name == lock && l.Strand == 0 {
			for _, id := range g.Coherence[at] {
				tasks = append(tasks, g.Tasks[g.Events[id].Task].Name)
			}
		}
	}
	return tasks
}

// TestPlainMemoryFollowsTheLock keeps state where the explorer does not see
// it: a list under a lock. The list must tell the order of the sections of its
// execution, whatever was run before and taken back, and every order must be
// told by exactly one execution.
func TestPlainMemoryFollowsTheLock(t *testing.T) {
	for n, want := range []int{1, 1, 2, 6, 24, 120, 720} {
		for _, model := range []string{"sc", "kernel"} {
			told := map[string]int{}
			for _, e := range exhausted(t, scene(times(n, locked)), model) {
				order := strings.Join(sections(e.Graph, "rig#1.sleep"), ",")
				if want := "x=0 y=0 list=" + order; e.State != want {
					t.Fatalf("the lock was held by %s, and the list says %s", order, e.State)
				}
				told[e.State]++
			}
			if len(told) != want {
				t.Errorf("%d tasks under %s tell %d orders, want %d", n, model, len(told), want)
			}
			for order, times := range told {
				if times != 1 {
					t.Errorf("%s is told by %d executions", order, times)
				}
			}
		}
	}
}

// TestPlainMemoryFollowsTwoSections lets every task come back: (2n)!/2^n orders.
func TestPlainMemoryFollowsTwoSections(t *testing.T) {
	twice := func(t *kernel.Task, r *rig) string { return locked(t, r) + locked(t, r) }
	for n, want := range []int{1, 1, 6, 90} {
		told := map[string]bool{}
		for _, e := range exhausted(t, scene(times(n, twice)), "kernel") {
			order := strings.Join(sections(e.Graph, "rig#1.sleep"), ",")
			if e.State != "x=0 y=0 list="+order {
				t.Fatalf("the lock was held by %s, and the list says %s", order, e.State)
			}
			told[order] = true
		}
		if len(told) != want {
			t.Errorf("%d tasks tell %d orders, want %d", n, len(told), want)
		}
	}
}

// TestPlainMemoryFollowsTries has tries among the tasks: the list has exactly
// those that took the lock, in order.
func TestPlainMemoryFollowsTries(t *testing.T) {
	for _, model := range []string{"sc", "kernel"} {
		told := map[string]bool{}
		for _, e := range exhausted(t, scene([]step{try, locked, try, locked}), model) {
			order := sections(e.Graph, "rig#1.sleep")
			if e.State != "x=0 y=0 list="+strings.Join(order, ",") {
				t.Fatalf("the lock was held by %v, and the list says %s", order, e.State)
			}
			for _, op := range e.Operations {
				if got := slices.Contains(order, op.TaskName); got != (op.Result.Value != "busy") {
					t.Errorf("task %s says %q, and the lock was held by %v", op.TaskName, op.Result.Value, order)
				}
			}
			told[e.State] = true
		}
		// Both B and D, with neither, one or both of A and C in any place. A try
		// alone fails only if somebody is in its way, which all these orders allow.
		if want := 2 + 2*6 + 24; len(told) != want {
			t.Errorf("%d lists under %s, want %d", len(told), model, want)
		}
	}
}

// TestPlainMemoryFollowsReaders has tasks that share the lock and look at the
// list: what they see is what the writers before them left.
func TestPlainMemoryFollowsReaders(t *testing.T) {
	look := func(t *kernel.Task, r *rig) string {
		r.rw.RLock(t)
		r.region.Read(t)
		seen := len(r.list)
		r.rw.RUnlock(t)
		return fmt.Sprint(seen)
	}
	write := func(t *kernel.Task, r *rig) string {
		r.rw.Lock(t)
		r.note(t)
		r.rw.Unlock(t)
		return ""
	}
	told := map[string]int{}
	for _, e := range exhausted(t, scene([]step{look, write, look, write}), "kernel") {
		told[e.Outcome()]++
	}
	// Each reader comes before, between or after the writers, which come in
	// either order; readers among themselves are in no order.
	if len(told) != 2*3*3 {
		t.Errorf("%d outcomes, want 18: %v", len(told), told)
	}
	for outcome, times := range told {
		if times != 1 {
			t.Errorf("%d executions show %s", times, outcome)
		}
	}
}

// TestPlainMemoryOfRaces runs no code in an order that the race detector would
// have to forgive: a list without a lock is a violation.
func TestPlainMemoryOfRaces(t *testing.T) {
	bare := func(t *kernel.Task, r *rig) string {
		r.x.Load(t, kernel.Once)
		r.note(t)
		return ""
	}
	for _, e := range exhausted(t, scene([]step{bare, locked}), "sc") {
		if e.Violation == nil || e.Violation.Kind != kernel.DataRace {
			t.Errorf("got %s", shown(e))
		}
	}
}

// TestWordsAreSettled reads, after the tasks, what coherence ends with.
func TestWordsAreSettled(t *testing.T) {
	put := func(value int) step {
		return func(t *kernel.Task, r *rig) string { r.x.Store(t, kernel.Once, value); return "" }
	}
	ends := map[string]bool{}
	for _, e := range exhausted(t, scene([]step{put(1), put(2), put(3)}), "kernel") {
		list := e.Graph.Coherence[0]
		if want := fmt.Sprintf("x=%d y=0 list=", e.Graph.Events[list[len(list)-1]].Value); e.State != want {
			t.Errorf("it ends with %s, want %s", e.State, want)
		}
		ends[e.State] = true
	}
	if len(ends) != 3 {
		t.Errorf("ends: %v", ends)
	}
}
