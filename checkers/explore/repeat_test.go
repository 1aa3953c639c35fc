package explore_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"benign/checkers/explore"
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

func writerOfY(t *kernel.Task, r *rig) string {
	r.rw.Lock(t)
	r.rw.Unlock(t)
	return ""
}
