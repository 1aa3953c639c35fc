package explore_test

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"benign/checkers/explore"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// TestStrictAgrees: code that repeats itself gets the same answer, whoever asks.
func TestStrictAgrees(t *testing.T) {
	for _, sample := range samples() {
		for _, model := range []string{"sc", "kernel"} {
			config := configure(scene(sample.steps, withCheck), model)
			relaxed := explored(t, config)
			config.Strict = true
			for _, workers := range []int{1, 3} {
				config.Workers = workers
				strict := explored(t, config)
				if strict.stats != relaxed.stats || !maps.Equal(strict.shown, relaxed.shown) {
					t.Errorf("%s under %s with %d workers: strictly %+v, otherwise %+v", sample.name, model, workers, strict.stats, relaxed.stats)
				}
			}
		}
		config := configure(scene(sample.steps), "sc")
		config.Strict = true
		bounded(t, config, explore.Bound{Most: 2})
	}
	config := configure(scene(times(2, locked)), "sc")
	config.Strict = true
	sampled(t, config, explore.POS{}, 20, 1)
}

// TestStrictRunsTwice each schedule, and explores nothing more for that.
func TestStrictRunsTwice(t *testing.T) {
	for _, strict := range []bool{false, true} {
		var runs atomic.Int64
		s := scene(times(1, updates))
		build := s.Variants[0].Build
		s.Variants[0].Build = func(setup *kernel.Task) *scenario.Instance {
			runs.Add(1)
			return build(setup)
		}
		config := configure(s, "sc")
		config.Strict = strict
		stats, err := explore.Explore(config)
		if want := map[bool]int64{false: 1, true: 2}[strict]; err != nil || stats.Complete != 1 || runs.Load() != want {
			t.Errorf("strict %v: %d runs, want %d; %+v, %v", strict, runs.Load(), want, stats, err)
		}
	}
}

// erratic are tasks that do not repeat themselves, each alone in a scenario with
// one execution. Nothing but running that twice can show it.
var erratic = map[string]struct {
	step step
	want string // in the error
}{
	"map order": {func(t *kernel.Task, r *rig) string {
		m := map[int]bool{}
		for i := range 64 {
			m[i] = true
		}
		for range 3 {
			for i := range m {
				r.x.Store(t, kernel.Once, i)
			}
		}
		return ""
	}, `step \d+ of task A was: once store to rig#1\.x = \d+; and in the same schedule again: once store to rig#1\.x = \d+`},
	"a clock": {func(t *kernel.Task, r *rig) string {
		r.x.Store(t, kernel.Once, int(time.Now().UnixNano()))
		return ""
	}, `step 1 of task A was: once store to rig#1\.x = \d+; and in the same schedule again: once store to rig#1\.x = \d+`},
	"another word": {alternating(func(t *kernel.Task, r *rig) string { r.x.Load(t, kernel.Once); return "" },
		func(t *kernel.Task, r *rig) string { r.y.Load(t, kernel.Once); return "" }),
		`step 1 of task A was: once load of rig#1\.x; and in the same schedule again: once load of rig#1\.y`},
	"another region": {alternating(func(t *kernel.Task, r *rig) string { r.region.Read(t); return "" },
		func(t *kernel.Task, r *rig) string { r.region.Write(t); return "" }),
		`step 1 of task A was: read of rig#1\.list; and in the same schedule again: write of rig#1\.list`},
	"less": {alternating(func(t *kernel.Task, r *rig) string { r.x.Load(t, kernel.Once); return "" }, nothing),
		`step 1 of task A was: once load of rig#1\.x; and in the same schedule again: end`},
	"more": {alternating(nothing, func(t *kernel.Task, r *rig) string { r.spin.Lock(t); r.spin.Unlock(t); return "" }),
		`step 1 of task A was: end; and in the same schedule again: lock rig#1\.spin`},
	"another update": {func(t *kernel.Task, r *rig) string {
		r.x.Add(t, kernel.Once, int(time.Now().UnixNano()))
		return ""
	}, `an update of rig#1\.x by task A was to \d+, and in the same schedule again to \d+`},
	"another result": {func(*kernel.Task, *rig) string { return fmt.Sprint(time.Now().UnixNano()) },
		`run of task A returned "\d+", and in the same schedule again run returned "\d+"`},
	"a fault": {alternating(nothing, func(t *kernel.Task, _ *rig) string { t.Assert(false, "the second time"); return "" }),
		`the execution broke nothing, and in the same schedule again assertion: the second time \(task A\)`},
	"a goroutine that counts": {counting(func(n int64) string { return fmt.Sprint(n) }),
		`run of task A returned "\d", and in the same schedule again run returned "\d"`},
	"a goroutine that uses the task": {func(t *kernel.Task, r *rig) string {
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.x.Load(t, kernel.Once)
		}()
		<-done
		return ""
	}, `a goroutine that is not task A does this in its name: use rig#1`},
}

// alternating does one thing and the other, in turn.
func alternating(one, other step) step {
	calls := 0
	return func(t *kernel.Task, r *rig) string {
		if calls++; calls%2 == 1 {
			return one(t, r)
		}
		return other(t, r)
	}
}

// counting has a goroutine of its own count how often it was called.
func counting(show func(int64) string) step {
	var calls atomic.Int64
	return func(*kernel.Task, *rig) string {
		n := make(chan int64)
		go func() { n <- calls.Add(1) }()
		return show(<-n)
	}
}

// TestStrictFindsErraticCode, also if it claims to have words only.
func TestStrictFindsErraticCode(t *testing.T) {
	for name, c := range erratic {
		for _, wordsOnly := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, words only %v", name, wordsOnly), func(t *testing.T) {
				s := scene([]step{c.step}, func(i *scenario.Instance, _ *rig) { i.Observe, i.Teardown = nil, nil })
				s.WordsOnly = wordsOnly
				config := configure(s, "sc")
				config.Strict = true
				_, err := explore.Explore(config)
				if _, sampled := explore.Sample(config, explore.POS{}, 5, 1); sampled == nil {
					t.Error("samples do not show it")
				}
				var diverged *explore.DivergenceError
				if !errors.As(err, &diverged) || !regexp.MustCompile("^"+c.want+"$").MatchString(diverged.Detail) {
					t.Errorf("got %v, want %s", err, c.want)
				}
			})
		}
	}
}

// TestStateOutsideOfBuild is left over from one execution to the next: only the
// final state tells.
func TestStateOutsideOfBuild(t *testing.T) {
	calls := 0
	s := scene([]step{nothing}, func(i *scenario.Instance, _ *rig) {
		calls++
		n := calls
		i.Observe = func(*kernel.Task) string { return fmt.Sprint("built ", n) }
	})
	config := configure(s, "sc")
	if _, err := explore.Explore(config); err != nil {
		t.Error(err)
	}
	config.Strict = true
	calls = 0
	_, err := explore.Explore(config)
	var diverged *explore.DivergenceError
	if !errors.As(err, &diverged) || diverged.Detail != "the execution ended with built 1 (debt []), and in the same schedule again with built 2 (debt [])" {
		t.Error(err)
	}
}

// TestScriptsFindErraticCode without being strict, as far as a task comes by a
// point again that it has passed before: here, with another result behind it.
func TestScriptsFindErraticCode(t *testing.T) {
	s := scene(times(2, func(t *kernel.Task, r *rig) string {
		erratic["a clock"].step(t, r)
		return fmt.Sprint(r.y.Add(t, kernel.Once, 1))
	}), func(i *scenario.Instance, _ *rig) { i.Observe, i.Teardown = nil, nil })
	s.WordsOnly = true
	_, err := explore.Explore(configure(s, "sc"))
	var diverged *explore.DivergenceError
	want := `^task [AB] is at: once store to rig#1\.x = \d+; before, it was at: once store to rig#1\.x = \d+$`
	if !errors.As(err, &diverged) || !regexp.MustCompile(want).MatchString(diverged.Detail) {
		t.Errorf("got %v", err)
	}
}
