package explore

import (
	"strings"
	"testing"

	"benign/impl/kernel"
)

// nested takes one lock under another.
func nested(t *kernel.Task, m *machine, outer, inner int) {
	m.locks[outer].Lock(t)
	m.locks[inner].Lock(t)
	m.locks[inner].Unlock(t)
	m.locks[outer].Unlock(t)
}

// TestLockOrderCycleIsReplayed: both orders occur in one execution, which is
// the violation's, on every run.
func TestLockOrderCycleIsReplayed(t *testing.T) {
	s, v := program(0, 2, 0,
		func(t *kernel.Task, m *machine) { nested(t, m, 0, 1) },
		func(t *kernel.Task, m *machine) { nested(t, m, 1, 0) })
	for range 2 {
		found := 0
		config := Config{Scenario: s, Variant: v, Model: "sc"}
		config.Restart = func() { found = 0 }
		config.Visit = func(e *Execution) {
			if e.Violation == nil || e.Violation.Kind != kernel.LockOrderCycle {
				return
			}
			found++
			again, _, err := ReplayGraph(config, e.Graph)
			if err != nil || again.Violation == nil || again.Violation.Kind != kernel.LockOrderCycle {
				t.Errorf("replayed: %v, %v", again, err)
			}
		}
		if _, err := Explore(config); err != nil {
			t.Fatal(err)
		}
		if found != 2 {
			t.Errorf("%d executions have the cycle, want 2: either task may be second", found)
		}
	}
}

// TestLockOrderCycleAcrossExecutions: one task takes the locks in either order,
// as the environment chooses, so that no execution has both.
func TestLockOrderCycleAcrossExecutions(t *testing.T) {
	s, v := program(0, 2, 0, func(t *kernel.Task, m *machine) {
		first := t.Choose("which lock first", 2)
		nested(t, m, first, 1-first)
	})
	stats, err := Explore(Config{Scenario: s, Variant: v, Model: "sc"})
	if err != nil {
		t.Fatal(err)
	}
	if stats.Exhaustive || !strings.Contains(stats.Cut, "the other way round") {
		t.Errorf("%+v", stats)
	}
}
