package explore_test

import (
	"errors"
	"iter"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"benign/checkers/explore"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// only returns the one execution that there is.
func only(t *testing.T, s *scenario.Scenario) *explore.Execution {
	t.Helper()
	all := exhausted(t, s, "sc")
	if len(all) != 1 {
		t.Fatalf("%d executions", len(all))
	}
	return all[0]
}

// TestPanicsOfTasks are violations of the code, and say where it is.
func TestPanicsOfTasks(t *testing.T) {
	var missing *rig
	for name, c := range map[string]struct {
		run  step
		want string
	}{
		"panic": {func(*kernel.Task, *rig) string { panic("no way on") }, "no way on at explore/faults_test.go:"},
		"nil dereference": {func(t *kernel.Task, _ *rig) string { return missing.list[0] },
			"invalid memory address or nil pointer dereference at explore/faults_test.go:"},
		"out of range": {func(t *kernel.Task, r *rig) string { return r.list[t.ID()] }, "index out of range [1] with length 0 at explore/faults_test.go:"},
		"in a child": {func(t *kernel.Task, r *rig) string {
			t.Join(t.Go("child", func(t *kernel.Task) { panic("no way on") }))
			return ""
		}, "no way on at explore/faults_test.go:"},
		"an error": {func(*kernel.Task, *rig) string { panic(errors.New("no way on")) }, "no way on at explore/faults_test.go:"},
	} {
		t.Run(name, func(t *testing.T) {
			e := only(t, scene([]step{func(t *kernel.Task, r *rig) string {
				r.x.Load(t, kernel.Once)
				return c.run(t, r)
			}}))
			if e.Ended || e.Violation == nil || e.Violation.Kind != kernel.Crash || !strings.Contains(e.Violation.Message, c.want) {
				t.Errorf("got %v, want a crash with %q", e.Violation, c.want)
			}
		})
	}
}

// TestFaultsBeforeAndAfterTheTasks breaks each function of a scenario that runs
// alone.
func TestFaultsBeforeAndAfterTheTasks(t *testing.T) {
	boom := func() { panic("boom") }
	for name, c := range map[string]struct {
		change func(*scenario.Instance, *rig)
		kind   kernel.ViolationKind
		want   string
		ended  bool
	}{
		"build": {func(*scenario.Instance, *rig) { boom() }, kernel.Crash, "boom at explore/faults_test.go:", false},
		"check that panics": {func(i *scenario.Instance, _ *rig) { i.Check = func(*kernel.Task) error { boom(); return nil } },
			kernel.Crash, "boom at explore/faults_test.go:", true},
		"check that finds something": {func(i *scenario.Instance, _ *rig) { i.Check = func(*kernel.Task) error { return errors.New("odd") } },
			kernel.Assertion, "odd (when the tasks had ended)", true},
		"check that finds something later": {func(i *scenario.Instance, _ *rig) {
			rested := false
			i.Check = func(*kernel.Task) error {
				if rested {
					return errors.New("odd")
				}
				return nil
			}
			i.Quiesce = func(*kernel.Task) bool { rested = true; return false }
		}, kernel.Assertion, "odd (after quiescence)", true},
		"debt":    {func(i *scenario.Instance, _ *rig) { i.Debt = func(*kernel.Task) int { boom(); return 0 } }, kernel.Crash, "boom", true},
		"quiesce": {func(i *scenario.Instance, _ *rig) { i.Quiesce = func(*kernel.Task) bool { boom(); return false } }, kernel.Crash, "boom", true},
		"observe": {func(i *scenario.Instance, _ *rig) { i.Observe = func(*kernel.Task) string { boom(); return "" } }, kernel.Crash, "boom", true},
		"observe of a nil pointer": {func(i *scenario.Instance, _ *rig) { i.Observe = (*rig)(nil).state },
			kernel.Crash, "nil pointer dereference", true},
		"teardown": {func(i *scenario.Instance, _ *rig) { i.Teardown = func(*kernel.Task) { boom() } }, kernel.Crash, "boom", true},
		"teardown that forgets": {func(i *scenario.Instance, _ *rig) { i.Teardown = func(*kernel.Task) {} },
			kernel.Leak, "rig#1 outlived the scenario", true},
		"teardown that frees twice": {func(i *scenario.Instance, r *rig) { i.Teardown = func(t *kernel.Task) { r.Free(t); r.Free(t) } },
			kernel.DoubleFree, "rig#1 is freed twice", true},
		"observe that asserts": {func(i *scenario.Instance, _ *rig) {
			i.Observe = func(t *kernel.Task) string { t.Assert(false, "unseemly"); return "" }
		}, kernel.Assertion, "unseemly", true},
	} {
		t.Run(name, func(t *testing.T) {
			e := only(t, scene(times(1, locked), c.change))
			if e.Violation == nil || e.Violation.Kind != c.kind || !strings.Contains(e.Violation.Message, c.want) {
				t.Errorf("got %v, want %v: %s", e.Violation, c.kind, c.want)
			}
			if e.Ended != c.ended {
				t.Errorf("ended: %v", e.Ended)
			}
			again, _, err := explore.Replay(configure(scene(times(1, locked), c.change), "sc"), parsed(t, e))
			if err != nil || shown(again) != shown(e) {
				t.Errorf("replayed: %v, %v", again, err)
			}
		})
	}
}

func TestScenarioWithoutInstance(t *testing.T) {
	s := scene(nil)
	s.Variants[0].Build = func(*kernel.Task) *scenario.Instance { return nil }
	if e := only(t, s); e.Violation == nil || e.Violation.Kind != kernel.Crash {
		t.Errorf("got %v", e.Violation)
	}
	if e := only(t, scene(nil)); !e.Ended || e.Violation != nil {
		t.Errorf("no tasks at all: %s", shown(e))
	}
}

// TestMachineViolations come out with the task that committed them.
func TestMachineViolations(t *testing.T) {
	for name, c := range map[string]struct {
		run  step
		want string
	}{
		"unlock by stranger":   {func(t *kernel.Task, r *rig) string { r.spin.Unlock(t); return "" }, "unlock by stranger: rig#1.spin (exclusive) is released by a task that does not hold it (task A)"},
		"recursion":            {func(t *kernel.Task, r *rig) string { r.spin.Lock(t); r.spin.Lock(t); return "" }, "recursive lock: rig#1.spin is acquired by the task that holds it (task A)"},
		"sleep while spinning": {func(t *kernel.Task, r *rig) string { r.spin.Lock(t); r.sleep.Lock(t); return "" }, "sleep while spinning: waiting for rig#1.sleep while holding rig#1.spin (task A)"},
		"held at exit":         {func(t *kernel.Task, r *rig) string { r.spin.Lock(t); return "" }, "lock held at exit: rig#1.spin is still held (task A)"},
		"use after free":       {func(t *kernel.Task, r *rig) string { r.Free(t); r.x.Load(t, kernel.Once); return "" }, "use after free: rig#1 is used after it was freed (task A)"},
	} {
		t.Run(name, func(t *testing.T) {
			if e := only(t, scene([]step{c.run})); e.Violation == nil || e.Violation.Error() != c.want {
				t.Errorf("got %v, want %s", e.Violation, c.want)
			}
		})
	}
}

// stubborn recovers from everything and tries to go on.
func stubborn(t *kernel.Task, r *rig) string {
	for range 3 {
		func() {
			defer func() { _ = recover() }()
			r.sleep.Lock(t)
			defer r.sleep.Unlock(t)
			r.x.Add(t, kernel.Once, 1)
			r.y.Load(t, kernel.Once)
		}()
	}
	return "went on"
}

// TestRecoveringTasks end with the execution, although they recover from what
// unwinds them: a violation of their own, one of another task, a deadlock.
func TestRecoveringTasks(t *testing.T) {
	recovers := func(t *kernel.Task, r *rig) string {
		defer func() { _ = recover() }()
		r.x.Load(t, kernel.Once)
		panic("recovered by the code itself")
	}
	if e := only(t, scene([]step{recovers})); !e.Ended || e.Violation != nil {
		t.Errorf("code that recovers from its own panic: %s", shown(e))
	}
	own := func(t *kernel.Task, r *rig) string {
		defer func() { _ = recover() }()
		t.Assert(false, "once and for all")
		return ""
	}
	if e := only(t, scene([]step{own})); e.Violation == nil || e.Violation.Kind != kernel.Assertion {
		t.Errorf("code that recovers from its violation: %s", shown(e))
	}
	others := 0
	for _, e := range exhausted(t, scene([]step{stubborn, assertX, deadlock}), "sc") {
		if e.Violation != nil && !e.Ended {
			others++
		}
	}
	if others == 0 {
		t.Error("no execution is abandoned")
	}
}

// TestNothingIsLeftRunning looks for goroutines after explorations that end in
// every way that they can.
func TestNothingIsLeftRunning(t *testing.T) {
	before := goleak.IgnoreCurrent()
	calls := 0
	for name, c := range map[string]struct {
		steps []step
		bound func(*explore.Config)
	}{
		"complete":           {times(3, locked), nil},
		"deadlock":           {[]step{deadlock, locked, stubborn}, nil},
		"violation":          {[]step{assertX, storeThenLoad, stubborn}, nil},
		"stopped":            {[]step{assertX, storeThenLoad, stubborn}, func(c *explore.Config) { c.StopAtViolation = true }},
		"executions cut":     {[]step{stubborn, stubborn, stubborn}, func(c *explore.Config) { c.MaxExecutions = 3 }},
		"events cut":         {[]step{stubborn, stubborn}, func(c *explore.Config) { c.MaxEvents = 11 }},
		"tries and readers":  {[]step{tryWriter, reader, tryReader, writer}, nil},
		"restarted":          {[]step{writer, stubborn, reader}, nil},
		"panic in the midst": {[]step{stubborn, func(*kernel.Task, *rig) string { panic("boom") }, stubborn}, nil},
		"not repeatable": {[]step{stubborn, func(t *kernel.Task, r *rig) string {
			if calls++; calls%2 == 0 {
				return locked(t, r)
			}
			return storeThenLoad(t, r)
		}}, nil},
	} {
		for _, workers := range []int{1, 3} {
			config := configure(scene(c.steps), "sc")
			config.Workers = workers
			if name == "not repeatable" {
				config.Workers = 1
			}
			if c.bound != nil {
				c.bound(&config)
			}
			_, err := explore.Explore(config)
			if (err != nil) != (name == "not repeatable") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := goleak.Find(before); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLeftCoroutinesAreSeen makes sure that the test above can fail.
func TestLeftCoroutinesAreSeen(t *testing.T) {
	before := goleak.IgnoreCurrent()
	next, stop := iter.Pull(func(yield func(int) bool) { yield(1) })
	defer stop()
	next()
	if goleak.Find(before) == nil {
		t.Error("a coroutine that is left is not seen")
	}
}
