package explore_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"benign/checkers/explore"
	"benign/impl/kernel"
)

// TestViolationsBesideTries has a task that breaks something while another is
// about to try a lock, or has tried it: what is broken is broken.
func TestViolationsBesideTries(t *testing.T) {
	fails := func(t *kernel.Task, r *rig) string {
		r.x.Store(t, kernel.Once, 1)
		t.Assert(false, "always")
		return ""
	}
	for name, steps := range map[string][]step{
		"at once":         {func(t *kernel.Task, _ *rig) string { t.Assert(false, "always"); return "" }, try},
		"before a try":    {fails, try},
		"after a try":     {try, fails},
		"shared":          {fails, tryReader},
		"of many strands": {fails, tryWriter, reader},
		"amid everything": {tryWriter, reader, fails, tryReader, writer, try},
	} {
		t.Run(name, func(t *testing.T) {
			all := exhausted(t, scene(steps), "kernel")
			if len(all) == 0 {
				t.Fatal("no execution is seen")
			}
			for _, e := range all {
				if e.Violation == nil || e.Violation.Message != "always" {
					t.Errorf("got %s", shown(e))
				}
			}
		})
	}
}

// TestUnwindingHasNoEffects abandons tasks whose deferred functions complain.
func TestUnwindingHasNoEffects(t *testing.T) {
	short := scene(times(1, func(t *kernel.Task, r *rig) string { r.x.Load(t, kernel.Once); return "" }))
	for name, unwound := range map[string]func(t *kernel.Task, r *rig){
		"assertion": func(t *kernel.Task, r *rig) { t.Assert(r.list != nil, "left early") },
		"crash":     func(t *kernel.Task, r *rig) { panic(r.list[0]) },
		"unlock":    func(t *kernel.Task, r *rig) { r.spin.Unlock(t) },
		"region":    func(t *kernel.Task, r *rig) { r.note(t); panic("the region let it pass") },
	} {
		t.Run(name, func(t *testing.T) {
			longer := scene(times(1, func(t *kernel.Task, r *rig) string {
				defer unwound(t, r)
				r.x.Load(t, kernel.Once)
				r.y.Load(t, kernel.Once)
				r.list = []string{"done"}
				r.spin.Lock(t)
				return ""
			}))
			for _, e := range exhausted(t, short, "sc") {
				again, _, err := explore.Replay(configure(longer, "sc"), parsed(t, e))
				if err != nil || again.Ended || again.Violation != nil {
					t.Errorf("got %v, %v", again, err)
				}
			}
		})
	}
}

// TestReplayChecksEveryField replays traces of code that differs in the
// number of alternatives, the task that is joined, or the kind of acquisition.
func TestReplayChecksEveryField(t *testing.T) {
	choice := func(n int) step {
		return func(t *kernel.Task, r *rig) string { t.Choose("which", n); return "" }
	}
	joined := func(n int) step {
		return func(t *kernel.Task, r *rig) string {
			children := []*kernel.Task{t.Go("p", func(*kernel.Task) {}), t.Go("q", func(*kernel.Task) {})}
			t.Join(children[n])
			return ""
		}
	}
	tried := func(t *kernel.Task, r *rig) string {
		if r.sleep.TryLock(t) {
			r.note(t)
			r.sleep.Unlock(t)
		}
		return ""
	}
	for name, c := range map[string]struct {
		was, is step
		want    string
	}{
		"alternatives": {choice(3), choice(2), "event 0 of task A (choice of alternative 2): the task has 2 alternatives"},
		"join":         {joined(0), joined(1), "event 2 of task A (join p): the task is at: join q"},
		"try":          {locked, tried, "event 0 of task A (lock rig#1.sleep): the task is at: trylock rig#1.sleep"},
	} {
		t.Run(name, func(t *testing.T) {
			diverged := 0
			for _, e := range exhausted(t, scene([]step{c.was}), "sc") {
				var d *explore.DivergenceError
				if _, _, err := explore.Replay(configure(scene([]step{c.is}), "sc"), parsed(t, e)); errors.As(err, &d) && d.Detail == c.want {
					diverged++
				} else if err != nil {
					t.Error(err)
				}
			}
			if diverged != 1 {
				t.Errorf("%d executions do not fit, want 1", diverged)
			}
		})
	}
}

// TestExitOfATask ends a task the way FailNow of package testing does. That
// ends its goroutine, which no execution can go on without.
func TestExitOfATask(t *testing.T) {
	exits := func(t *kernel.Task, r *rig) string {
		r.x.Load(t, kernel.Once)
		runtime.Goexit()
		return ""
	}
	for _, workers := range []int{1, 3} {
		config := configure(scene([]step{exits, stubborn}), "sc")
		config.Workers = workers
		if _, err := explore.Explore(config); err == nil || !strings.Contains(err.Error(), "the code ended its goroutine") {
			t.Errorf("got %v", err)
		}
	}
}

// TestPanicOfAnUpdate has a function that panics for one of the values that
// it may be asked about.
func TestPanicOfAnUpdate(t *testing.T) {
	update := func(t *kernel.Task, r *rig) string {
		r.x.Update(t, kernel.Once, func(old int) (int, bool) {
			if old == 1 {
				panic("one is too many")
			}
			return old + 10, true
		})
		return ""
	}
	put := func(t *kernel.Task, r *rig) string { r.x.Store(t, kernel.Once, 1); return "" }
	for _, steps := range [][]step{{update, put}, {put, update}} {
		crashed, ended := 0, 0
		for _, e := range exhausted(t, scene(steps), "sc") {
			if e.Violation == nil {
				ended++
			} else if strings.HasPrefix(e.Violation.Message, "one is too many at explore/broken_test.go:") {
				crashed++
			}
		}
		if crashed != 1 || ended != 1 {
			t.Errorf("%d crashed and %d ended, want 1 and 1", crashed, ended)
		}
	}
}

// TestEvidenceOfSynchronizingRaces has a racy load that acquires what it finds.
// It races all the same, until it has.
func TestEvidenceOfSynchronizingRaces(t *testing.T) {
	site := kernel.DataRaceSite("peek", "it synchronizes")
	put := func(t *kernel.Task, r *rig) string { r.x.Store(t, kernel.Release, 1); return "" }
	look := func(t *kernel.Task, r *rig) string { r.x.LoadRacy(t, kernel.Acquire, site); return "" }
	first, last := 0, 0
	for _, e := range exhausted(t, scene([]step{put, look}), "kernel") {
		for _, seen := range e.Evidence {
			first, last = first+seen.ReadFirst, last+seen.WriterFirst
		}
	}
	if first != 1 || last != 1 {
		t.Errorf("%d times the read came first and %d times the write, want 1 and 1", first, last)
	}
}

// TestBudgetOfManyWorkers is met exactly when there are more executions than
// it allows, however many workers share them.
func TestBudgetOfManyWorkers(t *testing.T) {
	for range 20 {
		for workers := 1; workers <= 4; workers++ {
			for _, steps := range [][]step{times(1, locked), times(3, locked)} {
				config := configure(scene(steps), "sc")
				_, all := executions(t, config)
				config.Workers = workers
				for _, budget := range []int{all.Complete - 1, all.Complete, all.Complete + 1} {
					if config.MaxExecutions = budget; budget == 0 {
						continue
					}
					stats, err := explore.Explore(config)
					if err != nil || stats.Exhaustive != (budget >= all.Complete) {
						t.Fatalf("%d workers with a budget of %d for %d executions: %+v, %v", workers, budget, all.Complete, stats, err)
					}
				}
			}
		}
	}
}
