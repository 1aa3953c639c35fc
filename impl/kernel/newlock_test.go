package kernel_test

import (
	"testing"

	"benign/impl/kernel"
)

// A parent is locked before its child, but what has just been made may be locked
// under another one of its class.
func TestLockNew(t *testing.T) {
	task, r := native(kernel.Options{})
	fresh := newRig(task, "rig")
	r.sem.Lock(task)
	if v := violation(t, func() { fresh.sem.LockNew(task) }); v != nil || !fresh.sem.HeldBy(task) {
		t.Errorf("%v, held %v", v, fresh.sem.HeldBy(task))
	}
	fresh.sem.Unlock(task)
	wantViolation(t, kernel.LockOrderCycle, func() { fresh.sem.Lock(task) })
	wantViolation(t, kernel.RecursiveLock, func() { r.sem.LockNew(task) })
}

func TestPutAbove(t *testing.T) {
	task, r := native(kernel.Options{})
	r.count.Get(task)
	r.count.Get(task) // three
	for i, want := range []bool{true, false, false} {
		if got := r.count.PutAbove(task, 2); got != want || r.count.Count(task) != 2 {
			t.Errorf("put %d: dropped %v, and there are %d; want %v and 2", i, got, r.count.Count(task), want)
		}
	}
	const many = crowd * rounds
	for range many {
		r.count.Get(task)
	}
	spawn(task, crowd, func(task *kernel.Task) {
		for r.count.PutAbove(task, 2) {
		}
	})
	if left := r.count.Count(task); left != 2 {
		t.Errorf("%d references are left, want 2", left)
	}
}
