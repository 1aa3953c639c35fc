package explore_test

import (
	"errors"
	"fmt"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// A sample is a scenario for tests that want one of everything that an
// execution can contain.
type sample struct {
	name  string
	steps []step
	// changed is the same code after an edit that every execution of the
	// sample runs into.
	changed []step
}

func samples() []sample {
	return []sample{
		{"words", []step{storeThenLoad, loadThenStore}, []step{storeThenLoad, func(t *kernel.Task, r *rig) string {
			r.y.Load(t, kernel.Once)
			return loadThenStore(t, r)
		}}},
		{"updates", []step{updates, updates}, []step{updates, storeThenLoad}},
		{"locks", times(3, locked), append(times(2, locked), storeThenLoad)},
		{"tries", []step{try, try, locked}, []step{try, try, func(t *kernel.Task, r *rig) string {
			r.x.Load(t, kernel.Once)
			return locked(t, r)
		}}},
		{"readers", []step{writer, reader, reader}, []step{writer, reader, writer}},
		{"tried readers", []step{tryWriter, tryReader, writer}, []step{tryWriter, reader, tryReader}},
		{"choices", []step{choose, choose}, []step{choose, func(t *kernel.Task, r *rig) string {
			t.Barrier(kernel.FullBarrier)
			return choose(t, r)
		}}},
		{"spawn", []step{spawn, storeThenLoad}, []step{updates, storeThenLoad}},
		{"waiting for ever", []step{deadlock, locked}, []step{locked, locked}},
		{"awaits", []step{handOut, takeAndAwait}, []step{handOut, storeThenLoad}},
		{"awaits in vain", []step{awaitOne, addToX, addToX}, []step{storeThenLoad, addToX, addToX}},
		{"an assertion", []step{storeThenLoad, assertX}, []step{storeThenLoad, func(t *kernel.Task, r *rig) string {
			r.x.Load(t, kernel.Acquire)
			return ""
		}}},
	}
}

func storeThenLoad(t *kernel.Task, r *rig) string {
	r.x.Store(t, kernel.Release, 1)
	t.Barrier(kernel.WriteBarrier)
	return fmt.Sprint(r.y.Load(t, kernel.Acquire))
}

func loadThenStore(t *kernel.Task, r *rig) string {
	seen := r.x.Load(t, kernel.Once)
	r.x.Store(t, kernel.Once, 2)
	r.y.Store(t, kernel.Once, 1)
	return fmt.Sprint(seen)
}

func updates(t *kernel.Task, r *rig) string {
	sum := r.x.Add(t, kernel.Full, 1)
	swapped := r.y.CompareAndSwap(t, kernel.AcquireRelease, 0, sum)
	return fmt.Sprint(sum, swapped)
}

func locked(t *kernel.Task, r *rig) string {
	r.sleep.Lock(t)
	r.note(t)
	r.sleep.Unlock(t)
	return ""
}

func try(t *kernel.Task, r *rig) string {
	if !r.sleep.TryLock(t) {
		return "busy"
	}
	r.note(t)
	r.sleep.Unlock(t)
	return "free"
}

func writer(t *kernel.Task, r *rig) string {
	r.rw.Lock(t)
	r.x.Store(t, kernel.Once, 1)
	r.note(t)
	r.rw.Unlock(t)
	return ""
}

// reader does something else first, so that whoever takes the lock before
// does not know of it yet.
func reader(t *kernel.Task, r *rig) string {
	r.y.Load(t, kernel.Once)
	r.rw.RLock(t)
	seen := r.x.Load(t, kernel.Once)
	r.rw.RUnlock(t)
	return fmt.Sprint(seen)
}

func tryReader(t *kernel.Task, r *rig) string {
	r.y.Load(t, kernel.Once)
	if !r.rw.TryRLock(t) {
		return "busy"
	}
	r.rw.RUnlock(t)
	return "free"
}

func tryWriter(t *kernel.Task, r *rig) string {
	if !r.rw.TryLock(t) {
		return "busy"
	}
	r.note(t)
	r.rw.Unlock(t)
	return "free"
}

func choose(t *kernel.Task, r *rig) string {
	picked := []int{10, 20, 30}[t.Choose("which", 3)]
	return fmt.Sprint(r.x.Add(t, kernel.Once, picked))
}

func spawn(t *kernel.Task, r *rig) string {
	child := t.Go("child", func(t *kernel.Task) {
		r.y.Store(t, kernel.Once, 7)
		t.Join(t.Go("grandchild", func(t *kernel.Task) { locked(t, r) }))
	})
	locked(t, r)
	t.Join(child)
	return fmt.Sprint(r.y.Load(t, kernel.Once))
}

// deadlock waits under the lock for a task that wants the lock; if the other
// is quick enough the lock is free when it matters.
func deadlock(t *kernel.Task, r *rig) string {
	child := t.Go("child", func(t *kernel.Task) { locked(t, r) })
	r.sleep.Lock(t)
	t.Join(child)
	r.sleep.Unlock(t)
	return ""
}

// handOut waits until what it put into x has been taken.
func handOut(t *kernel.Task, r *rig) string {
	r.x.Store(t, kernel.Release, 1)
	return fmt.Sprint(r.x.Await(t, kernel.Acquire, func(x int) bool { return x != 1 }))
}

// takeAndAwait takes it, and waits for what nobody else will do.
func takeAndAwait(t *kernel.Task, r *rig) string {
	taken := r.x.AwaitUpdate(t, kernel.AcquireRelease, func(x int) bool { return x == 1 }, func(x int) (int, bool) { return x + 1, true })
	r.y.Store(t, kernel.Once, 1)
	return fmt.Sprint(taken, r.y.Await(t, kernel.Once, func(y int) bool { return y == 1 }))
}

// awaitOne is in time, or waits for ever.
func awaitOne(t *kernel.Task, r *rig) string {
	return fmt.Sprint(r.x.Await(t, kernel.Once, func(x int) bool { return x == 1 }))
}

func addToX(t *kernel.Task, r *rig) string { return fmt.Sprint(r.x.Add(t, kernel.Full, 1)) }

func assertX(t *kernel.Task, r *rig) string {
	r.y.Store(t, kernel.Once, 1)
	t.Assert(r.x.Load(t, kernel.Acquire) == 0, "x was written")
	return ""
}

// withCheck makes the scenario count debt and come to rest in one round.
func withCheck(i *scenario.Instance, r *rig) {
	rest := false
	i.Check = func(t *kernel.Task) error {
		if r.x.Load(t, kernel.Plain) < 0 {
			return errors.New("x is negative")
		}
		return nil
	}
	i.Debt = func(*kernel.Task) int { return map[bool]int{true: 0, false: 1}[rest] }
	i.Quiesce = func(*kernel.Task) bool {
		changed := !rest
		rest = true
		return changed
	}
}
