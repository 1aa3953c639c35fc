package explore_test

import (
	"fmt"
	"slices"
	"testing"

	"benign/checkers/explore"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// TestBounds meets each bound, and just does not.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		name     string
		steps    []step
		bound    func(*explore.Config)
		complete int
		cut      string
	}{
		{"no bound", times(3, locked), func(*explore.Config) {}, 6, ""},
		{"one execution too many", times(3, locked), func(c *explore.Config) { c.MaxExecutions = 5 }, 5, "budget of 5 executions"},
		{"as many executions as allowed", times(3, locked), func(c *explore.Config) { c.MaxExecutions = 6 }, 6, ""},
		{"one event too many", times(3, locked), func(c *explore.Config) { c.MaxEvents = 8 }, 0, "an execution has more events than the bound (8)"},
		{"as many events as allowed", times(3, locked), func(c *explore.Config) { c.MaxEvents = 9 }, 6, ""},
		{"nonsense", times(3, locked), func(c *explore.Config) { c.MaxEvents, c.MaxExecutions, c.MaxRounds, c.Workers = -1, -1, -1, -1 }, 6, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := configure(scene(c.steps), "sc")
			c.bound(&config)
			_, stats := executions(t, config)
			if stats.Complete != c.complete || stats.Cut != c.cut || stats.Exhaustive != (c.cut == "") {
				t.Errorf("got %+v", stats)
			}
		})
	}
}

// TestBoundOfSomeExecutions cuts the long executions only.
func TestBoundOfSomeExecutions(t *testing.T) {
	s := scene([]step{func(t *kernel.Task, r *rig) string {
		for range 10 * t.Choose("how often", 3) {
			r.x.Load(t, kernel.Once)
		}
		return ""
	}})
	config := configure(s, "sc")
	config.MaxEvents = 11
	all, stats := executions(t, config)
	if len(all) != 2 || stats.Longest != 11 || stats.Events != 12 || stats.Exhaustive || stats.Cut != "an execution has more events than the bound (11)" {
		t.Errorf("got %+v", stats)
	}
}

func TestStopAtViolation(t *testing.T) {
	s := scene([]step{storeThenLoad, func(t *kernel.Task, r *rig) string {
		seen := r.x.Load(t, kernel.Once)
		t.Assert(seen == 0, "it is there")
		return fmt.Sprint(seen)
	}})
	config := configure(s, "sc")
	if _, stats := executions(t, config); stats.Violating != 1 || stats.Complete != 1 || stats.Exhaustive {
		t.Errorf("got %+v", stats)
	}
	config.StopAtViolation = true
	all, stats := executions(t, config)
	if stats.Violating != 1 || stats.Exhaustive || stats.Cut != "stopped at the first violation" || all[len(all)-1].Violation == nil {
		t.Errorf("got %+v", stats)
	}
}

// TestMaxRounds has a scenario that takes n rounds to come to rest.
func TestMaxRounds(t *testing.T) {
	for _, c := range []struct {
		needed, bound int
		settled       bool
		debt          []int
	}{
		{0, 3, true, []int{0}},
		{2, 3, true, []int{2, 1, 0}},
		{3, 3, false, []int{3, 2, 1, 0}},
		{5, 3, false, []int{5, 4, 3, 2}},
		{explore.DefaultMaxRounds - 1, 0, true, nil},
		{explore.DefaultMaxRounds, 0, false, nil},
	} {
		s := scene(times(1, locked), func(i *scenario.Instance, _ *rig) {
			left := c.needed
			i.Debt = func(*kernel.Task) int { return left }
			i.Quiesce = func(*kernel.Task) bool {
				changed := left > 0
				left = max(0, left-1)
				return changed
			}
		})
		config := configure(s, "sc")
		config.MaxRounds = c.bound
		all, _ := executions(t, config)
		e := all[0]
		if e.Settled != c.settled || c.debt != nil && !slices.Equal(e.Debt, c.debt) || e.Rounds != len(e.Debt)-1 {
			t.Errorf("%d rounds of %d: settled %v, debt %v, %d rounds", c.needed, c.bound, e.Settled, e.Debt, e.Rounds)
		}
	}
}

// TestProgress is told of the work now and then.
func TestProgress(t *testing.T) {
	config := configure(scene(times(7, locked)), "sc")
	var told []int
	config.Progress = func(s explore.Stats) { told = append(told, s.Executions()) }
	if _, stats := executions(t, config); stats.Complete != 5040 {
		t.Errorf("got %+v", stats)
	}
	if want := []int{1024, 2048, 3072, 4096}; !slices.Equal(told, want) {
		t.Errorf("told at %v, want %v", told, want)
	}
}
