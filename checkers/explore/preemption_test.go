package explore_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/memmodel"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// bounded explores within a bound and returns what was visited, by key.
func bounded(t testing.TB, config explore.Config, bound explore.Bound) (map[string]*explore.Execution, explore.Stats) {
	t.Helper()
	var mutex sync.Mutex
	all, visits := map[string]*explore.Execution{}, 0
	config.Visit = func(e *explore.Execution) {
		mutex.Lock()
		defer mutex.Unlock()
		visits++
		all[e.Graph.Key()] = e
	}
	config.Restart = func() { all, visits = map[string]*explore.Execution{}, 0 }
	stats, err := explore.ExploreBounded(config, bound)
	if err != nil {
		t.Fatal(err)
	}
	if visits != stats.Executions() || stats.Violating == 0 && len(all) != visits {
		t.Fatalf("%d visits of %d executions, %d counted", visits, len(all), stats.Executions())
	}
	return all, stats
}

// enough is a bound that no schedule of these tests meets.
const enough = 40

// TestBoundedAgreesWithTheExplorer once the bound is large enough: another
// algorithm finds the same executions.
func TestBoundedAgreesWithTheExplorer(t *testing.T) {
	for _, sample := range samples() {
		if sample.name == "an assertion" {
			continue // how long an execution is when it is broken depends on the schedule
		}
		t.Run(sample.name, func(t *testing.T) {
			s := scene(sample.steps)
			every := map[string]bool{}
			for _, e := range exhausted(t, s, "sc") {
				every[e.Graph.Key()] = true
			}
			for _, all := range []bool{false, true} {
				found, stats := bounded(t, configure(s, "sc"), explore.Bound{Most: enough, All: all})
				if !stats.Exhaustive || stats.Cut != "" {
					t.Errorf("cut: %s", stats.Cut)
				}
				if !maps.EqualFunc(every, found, func(bool, *explore.Execution) bool { return true }) {
					t.Errorf("%d executions, and the explorer has %d", len(found), len(every))
				}
			}
		})
	}
}

// TestBoundGrows: a larger bound finds what a smaller one does; what is not yet
// everything is not called exhaustive, and what is called so is everything.
func TestBoundGrows(t *testing.T) {
	for _, sample := range samples() {
		if sample.name == "an assertion" {
			continue
		}
		s := scene(sample.steps)
		every := len(exhausted(t, s, "sc"))
		var before map[string]*explore.Execution
		for most := range enough {
			found, stats := bounded(t, configure(s, "sc"), explore.Bound{Most: most})
			for key := range before {
				if found[key] == nil {
					t.Errorf("%s: an execution with %d preemptions is none with %d", sample.name, most-1, most)
				}
			}
			if stats.Exhaustive && len(found) != every {
				t.Errorf("%s: %d executions with %d preemptions are called exhaustive, and there are %d", sample.name, len(found), most, every)
			}
			if want := fmt.Sprintf("schedules with more than %s", explore.Bound{Most: most}); !stats.Exhaustive && stats.Cut != want {
				t.Errorf("%s: cut %q, want %q", sample.name, stats.Cut, want)
			}
			if before = found; stats.Exhaustive {
				break
			}
		}
	}
}

// TestSwitchesOfABound: an execution that takes so many switches is found with
// that bound, and not with a smaller one.
func TestSwitchesOfABound(t *testing.T) {
	for _, sample := range samples() {
		if sample.name == "an assertion" || sample.name == "waiting for ever" || sample.name == "awaits in vain" {
			continue // that somebody waits is an event, and no step
		}
		s := scene(sample.steps)
		needs := map[string]int{}
		for _, e := range exhausted(t, s, "sc") {
			_, needs[e.Graph.Key()] = memmodel.FewestSwitches(e.Graph)
		}
		for most := range 8 {
			found, _ := bounded(t, configure(s, "sc"), explore.Bound{Most: most, All: true})
			for key, n := range needs {
				if (n <= most) != (found[key] != nil) {
					t.Errorf("%s: an execution with %d switches is found with at most %d: %v", sample.name, n, most, found[key] != nil)
				}
			}
		}
	}
}

// TestBoundedFindsFaults as soon as the bound allows their preemptions.
func TestBoundedFindsFaults(t *testing.T) {
	for name, c := range map[string]struct {
		scenario *scenario.Scenario
		needs    int
	}{
		"lost update":         {scene(times(2, increment), mustEndWith(2)), 1},
		"question and answer": {scene([]step{ask, tell}), 2},
		"no preemption": {scene([]step{
			func(t *kernel.Task, r *rig) string { r.x.Store(t, kernel.Once, 1); return "" },
			func(t *kernel.Task, r *rig) string { t.Assert(r.x.Load(t, kernel.Once) == 0, "x is set"); return "" },
		}), 0},
		"a wait is no preemption": {scene([]step{
			func(t *kernel.Task, r *rig) string {
				r.sleep.Lock(t)
				r.x.Store(t, kernel.Once, 1)
				r.inner.Lock(t)
				r.inner.Unlock(t)
				r.sleep.Unlock(t)
				return ""
			},
			func(t *kernel.Task, r *rig) string {
				r.inner.Lock(t)
				t.Assert(r.x.Load(t, kernel.Once) == 0, "x is set")
				r.inner.Unlock(t)
				return ""
			},
		}), 0},
		"holder and waiter": {scene([]step{deadlock, locked}), 0},
	} {
		for most := range 4 {
			_, stats := bounded(t, configure(c.scenario, "sc"), explore.Bound{Most: most})
			if found := stats.Violating+stats.Blocked > 0 || broken(t, c.scenario, most); found != (most >= c.needs) {
				t.Errorf("%s: with at most %d preemptions it is found: %v", name, most, found)
			}
		}
	}
}

// broken reports whether an execution that ended breaks something.
func broken(t *testing.T, s *scenario.Scenario, most int) bool {
	found, _ := bounded(t, configure(s, "sc"), explore.Bound{Most: most})
	return slices.ContainsFunc(slices.Collect(maps.Values(found)), func(e *explore.Execution) bool { return e.Violation != nil })
}

// TestBoundedRepeats, with any number of workers.
func TestBoundedRepeats(t *testing.T) {
	for _, sample := range samples() {
		config := configure(scene(sample.steps), "sc")
		first, one := bounded(t, config, explore.Bound{Most: 2})
		for _, workers := range []int{1, 2, 4} {
			config.Workers = workers
			again, stats := bounded(t, config, explore.Bound{Most: 2})
			if stats != one || !maps.EqualFunc(first, again, func(a, b *explore.Execution) bool { return shown(a) == shown(b) }) {
				t.Errorf("%s: with one worker %+v, with %d %+v", sample.name, one, workers, stats)
			}
		}
	}
}

// TestBoundedRefuses what cannot be asked, and stops where it must.
func TestBoundedRefuses(t *testing.T) {
	s := scene(times(3, increment))
	if _, err := explore.ExploreBounded(configure(s, "kernel"), explore.Bound{Most: 1}); err == nil || !strings.Contains(err.Error(), "only the model sc") {
		t.Error(err)
	}
	if _, err := explore.ExploreBounded(configure(s, "sc"), explore.Bound{Most: -1}); err == nil || !strings.Contains(err.Error(), "at most -1 preemptions: want at least 0") {
		t.Error(err)
	}
	config := configure(s, "sc")
	config.MaxExecutions = 3
	if _, stats := bounded(t, config, explore.Bound{Most: 9}); stats.Exhaustive || stats.Cut != "budget of 3 executions" || stats.Complete != 3 {
		t.Errorf("%+v", stats)
	}
	config = configure(s, "sc")
	config.MaxEvents = 4
	if _, stats := bounded(t, config, explore.Bound{Most: 9}); stats.Exhaustive || !strings.Contains(stats.Cut, "more events than the bound") {
		t.Errorf("%+v", stats)
	}
}

// TestBoundedCodeThatDoesNotRepeatItself is an error where a schedule cannot be
// followed.
func TestBoundedCodeThatDoesNotRepeatItself(t *testing.T) {
	calls := 0
	s := scene([]step{increment, func(t *kernel.Task, r *rig) string {
		if calls++; calls > 1 {
			return ""
		}
		return increment(t, r)
	}})
	_, err := explore.ExploreBounded(configure(s, "sc"), explore.Bound{Most: 9})
	if err == nil || !strings.Contains(err.Error(), "does not fit the code: ") {
		t.Error(err)
	}
}
