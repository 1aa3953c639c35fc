package explore_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/graph"
	"benign/impl/kernel"
)

// findings is what an exploration saw, in a form that does not depend on the
// order of visits.
type findings struct {
	stats explore.Stats
	shown map[string]string // what each execution shows, by its key
	twice int
}

func explored(t *testing.T, config explore.Config) findings {
	t.Helper()
	var mutex sync.Mutex
	f := findings{shown: map[string]string{}}
	config.Visit = func(e *explore.Execution) {
		mutex.Lock()
		defer mutex.Unlock()
		if _, met := f.shown[e.Graph.Key()]; met {
			f.twice++
		}
		f.shown[e.Graph.Key()] = shown(e)
	}
	config.Restart = func() { f.shown, f.twice = map[string]string{}, 0 }
	var err error
	if f.stats, err = explore.Explore(config); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestExplorationsAreRepeatable explores each sample several times, with one
// worker and with more.
func TestExplorationsAreRepeatable(t *testing.T) {
	for _, p := range samples() {
		for _, model := range []string{"sc", "kernel"} {
			t.Run(p.name+" under "+model, func(t *testing.T) {
				config := configure(scene(p.steps, withCheck), model)
				first := explored(t, config)
				if first.twice > 0 {
					t.Errorf("%d executions were met twice", first.twice)
				}
				for _, workers := range []int{0, 1, 2, 4} {
					config.Workers = workers
					again := explored(t, config)
					if again.stats != first.stats {
						t.Errorf("with %d workers %+v, with one %+v", workers, again.stats, first.stats)
					}
					if !maps.Equal(again.shown, first.shown) {
						t.Errorf("with %d workers other executions are seen", workers)
					}
				}
			})
		}
	}
}

// TestVisitsOfOneWorker come in the same order every time.
func TestVisitsOfOneWorker(t *testing.T) {
	order := func() []string {
		var keys []string
		for _, e := range exhausted(t, scene(times(3, locked)), "kernel") {
			keys = append(keys, e.Graph.Key())
		}
		return keys
	}
	if !slices.Equal(order(), order()) {
		t.Error("the order of visits is not the same twice")
	}
}

// TestCodeThatDoesNotRepeatItself depends on something that no execution
// starts with afresh. That is an error of the scenario, and no answer.
func TestCodeThatDoesNotRepeatItself(t *testing.T) {
	for name, erratic := range map[string]func(calls int) step{
		"another operation": func(calls int) step {
			return func(t *kernel.Task, r *rig) string {
				if calls%3 == 2 {
					return fmt.Sprint(r.y.Load(t, kernel.Once))
				}
				return fmt.Sprint(r.x.Load(t, kernel.Once))
			}
		},
		"another order": func(calls int) step {
			return func(t *kernel.Task, r *rig) string {
				return fmt.Sprint(r.x.Load(t, []kernel.Order{kernel.Once, kernel.Acquire}[calls%2]))
			}
		},
		"an end before its time": func(calls int) step {
			return func(t *kernel.Task, r *rig) string {
				if calls > 1 {
					return ""
				}
				return fmt.Sprint(r.x.Load(t, kernel.Once))
			}
		},
		"another lock": func(calls int) step {
			return func(t *kernel.Task, r *rig) string {
				if calls%2 == 1 {
					return locked(t, r)
				}
				return writer(t, r)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			s := scene([]step{storeThenLoad, locked, func(t *kernel.Task, r *rig) string {
				calls++
				return erratic(calls)(t, r)
			}, writer})
			config := configure(s, "sc")
			_, err := explore.Explore(config)
			var diverged *explore.DivergenceError
			if !errors.As(err, &diverged) {
				t.Fatalf("got %v", err)
			}
			if want := "scenario rig, variant only, model sc: the execution does not fit the code: " + diverged.Detail; err.Error() != want {
				t.Errorf("got %q, want %q", err, want)
			}
		})
	}
}

func TestUnknownModel(t *testing.T) {
	config := configure(scene(times(1, locked)), "x86")
	if _, err := explore.Explore(config); err == nil || err.Error() != `memory model "x86": want one of sc, tso, ra, rc11, kernel` {
		t.Errorf("got %v", err)
	}
}

// TestRestart has a lock that a task is seen to share late. What was visited
// before is void, and what is visited after it is the whole story.
func TestRestart(t *testing.T) {
	late := func(t *kernel.Task, r *rig) string {
		if r.x.Load(t, kernel.Once) == 0 {
			return reader(t, r)
		}
		return "not yet"
	}
	s := scene([]step{updates, updates, writerOfY, late})
	for _, workers := range []int{1, 4} {
		config := configure(s, "sc")
		config.Workers = workers
		restarts, visits, void := 0, 0, 0
		var mutex sync.Mutex
		seen := map[string]int{}
		config.Visit = func(e *explore.Execution) {
			mutex.Lock()
			defer mutex.Unlock()
			visits++
			seen[e.Graph.Key()]++
		}
		config.Restart = func() {
			restarts++
			visits, void = 0, void+visits
			clear(seen)
		}
		stats, err := explore.Explore(config)
		if err != nil {
			t.Fatal(err)
		}
		if restarts != 1 || void == 0 {
			t.Errorf("%d restarts, %d visits before", restarts, void)
		}
		if visits != stats.Executions() || len(seen) != visits || !stats.Exhaustive {
			t.Errorf("%d visits of %d executions, and %+v", visits, len(seen), stats)
		}
	}
}

// TestSharersOfTheFirstRun: an exploration need not begin anew for tasks that share
// a lock which nobody takes from them before they do, and finds the same whether it
// does or not.
func TestSharersOfTheFirstRun(t *testing.T) {
	shares := func(t *kernel.Task, r *rig) string {
		r.rw.RLock(t)
		defer r.rw.RUnlock(t)
		return fmt.Sprint(r.x.Load(t, kernel.Once))
	}
	late := func(t *kernel.Task, r *rig) string {
		r.x.Store(t, kernel.Once, 1)
		return shares(t, r)
	}
	twice := func(t *kernel.Task, r *rig) string { return writerOfY(t, r) + shares(t, r) }
	for _, c := range []struct {
		name     string
		steps    []step
		restarts int
	}{
		{"readers", []step{shares, late, shares}, 0},
		{"a writer comes later", []step{shares, shares, writerOfY}, 0},
		{"a writer that reads", []step{twice}, 0},
		{"a writer waits", []step{writerOfY, shares}, 1},
		{"a writer was there", []step{writerOfY, late}, 1},
		{"and both", []step{shares, writerOfY, late}, 1},
	} {
		config := configure(scene(c.steps), "kernel")
		var seen [2]map[string]string
		var restarts [2]int
		for i := range seen {
			seen[i] = map[string]string{}
			config.Visit = func(e *explore.Execution) { seen[i][e.Graph.Key()] = shown(e) }
			config.Restart = func() { restarts[i]++; clear(seen[i]) }
			if i == 1 { // its first run is not the first
				config.Resume = &explore.Snapshot{Scenario: config.Scenario.Name, Variant: config.Variant.Name, Model: config.Model, Arch: explore.Arch64,
					MaxEvents: explore.DefaultMaxEvents, MaxRounds: explore.DefaultMaxRounds, Stats: explore.Stats{Exhaustive: true},
					Waiting: []graph.Record{graph.New().Record()}}
			}
			if stats, err := explore.Explore(config); err != nil || stats.Executions() != len(seen[i]) {
				t.Fatalf("%s: %v, %+v", c.name, err, stats)
			}
		}
		if restarts[0] != c.restarts || restarts[1] < max(1, c.restarts) {
			t.Errorf("%s: %d restarts, want %d; and %d, where the first run is not the first", c.name, restarts[0], c.restarts, restarts[1])
		}
		if len(seen[0]) == 0 || !maps.Equal(seen[0], seen[1]) {
			t.Errorf("%s: with restarts, other executions are found", c.name)
		}
	}
}

func writerOfY(t *kernel.Task, r *rig) string {
	r.rw.Lock(t)
	r.rw.Unlock(t)
	return ""
}
