package kernel_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"benign/impl/kernel"
)

// fixed is how many tasks the tests below run at once, and how often.
const (
	crowd  = 8
	rounds = 500
)

// spawn runs the body in several tasks at once and waits for them.
func spawn(t *kernel.Task, n int, body func(t *kernel.Task)) {
	children := make([]*kernel.Task, n)
	for i := range children {
		children[i] = t.Go(fmt.Sprintf("T%d", i+1), body)
	}
	for _, child := range children {
		t.Join(child)
	}
}

// TestLocksExclude counts in plain memory under every lock; the Go race detector
// would see two holders.
func TestLocksExclude(t *testing.T) {
	task, r := native(kernel.Options{})
	for name, lock := range map[string]interface {
		locker
		TryLock(t *kernel.Task) bool
		HeldBy(t *kernel.Task) bool
	}{"SpinLock": &r.spin, "Mutex": &r.mutex, "RWLock": &r.rw, "RWSem": &r.sem} {
		t.Run(name, func(t *testing.T) {
			count, taken := 0, atomic.Int32{}
			spawn(task, crowd, func(task *kernel.Task) {
				for i := range rounds {
					if i%2 == 0 {
						lock.Lock(task)
					} else if !lock.TryLock(task) {
						continue
					}
					if !lock.HeldBy(task) {
						t.Error("the holder does not hold the lock")
					}
					count++
					taken.Add(1)
					lock.Unlock(task)
				}
			})
			if count != int(taken.Load()) || count < crowd*rounds/2 {
				t.Errorf("%d sections counted %d", taken.Load(), count)
			}
			if lock.HeldBy(task) {
				t.Error("somebody else holds the lock")
			}
		})
	}
}

func TestReadersShare(t *testing.T) {
	task, r := native(kernel.Options{})
	for name, lock := range map[string]interface {
		locker
		TryLock(t *kernel.Task) bool
		RLock(t *kernel.Task)
		RUnlock(t *kernel.Task)
		TryRLock(t *kernel.Task) bool
		HeldBy(t *kernel.Task) bool
		HeldSharedBy(t *kernel.Task) bool
	}{"RWLock": &r.rw, "RWSem": &r.sem} {
		t.Run(name, func(t *testing.T) {
			first, second := task.World().NewTask("first"), task.World().NewTask("second")
			lock.RLock(first)
			if !lock.TryRLock(second) {
				t.Fatal("a reader keeps another out")
			}
			if lock.HeldBy(first) || !lock.HeldSharedBy(first) || !lock.HeldSharedBy(second) || lock.HeldSharedBy(task) {
				t.Error("who holds the lock, and how, is wrong")
			}
			if lock.TryLock(task) {
				t.Error("a writer gets in beside readers")
			}
			lock.RUnlock(second)
			if lock.TryLock(task) {
				t.Error("a writer gets in beside the last reader")
			}
			lock.RUnlock(first)
			if !lock.TryLock(task) || !lock.HeldBy(task) || !lock.HeldSharedBy(task) {
				t.Fatal("a writer does not get in when all readers have left")
			}
			if lock.TryRLock(first) {
				t.Error("a reader gets in beside a writer")
			}
			lock.Unlock(task)

			pair := [2]int{}
			spawn(task, crowd, func(task *kernel.Task) {
				for i := range rounds {
					if i%4 == 0 {
						lock.Lock(task)
						pair[0]++
						pair[1]++
						lock.Unlock(task)
						continue
					}
					lock.RLock(task)
					if pair[0] != pair[1] {
						t.Error("a reader sees half of what a writer did")
					}
					lock.RUnlock(task)
				}
			})
			if want := crowd * rounds / 4; pair[0] != want {
				t.Errorf("writers counted %d, want %d", pair[0], want)
			}
		})
	}
}

// TestNeedBreak: natively a holder should let go when somebody waits, if the
// world has reschedule points at all.
func TestNeedBreak(t *testing.T) {
	for _, c := range []struct{ reschedule, shared bool }{{false, false}, {true, false}, {true, true}} {
		task, r := native(kernel.Options{Reschedule: c.reschedule})
		r.rw.Lock(task)
		if r.rw.NeedBreak(task) {
			t.Error("a break is needed although nobody waits")
		}
		waiter := task.Go("waiter", func(task *kernel.Task) {
			if c.shared {
				r.rw.RLock(task)
				r.rw.RUnlock(task)
			} else {
				r.rw.Lock(task)
				r.rw.Unlock(task)
			}
		})
		if c.reschedule {
			for deadline := time.Now().Add(10 * time.Second); !r.rw.NeedBreak(task); time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("nobody is seen waiting")
				}
			}
		}
		r.rw.Unlock(task)
		task.Join(waiter)
		r.rw.Lock(task)
		if r.rw.NeedBreak(task) {
			t.Error("a break is needed although the waiter is gone")
		}
		r.rw.Unlock(task)
		r.spin.Lock(task)
		if r.spin.NeedBreak(task) {
			t.Error("a break is needed at a lock of which nobody knows")
		}
		r.spin.Unlock(task)
	}
}

// TestLockOrderIsSharedByWorlds: what one execution did warns another, whoever
// its objects are.
func TestLockOrderIsSharedByWorlds(t *testing.T) {
	order := kernel.NewLockOrder()
	task, r := native(kernel.Options{LockOrder: order})
	nest(task, &r.spin, &r.second)
	task, r = native(kernel.Options{LockOrder: order})
	wantViolation(t, kernel.LockOrderCycle, func() { nest(task, &r.second, &r.spin) })
	task, r = native(kernel.Options{})
	if v := violation(t, func() { nest(task, &r.second, &r.spin) }); v != nil {
		t.Errorf("in a world of its own: %v", v)
	}
}

// TestLockOrderOfManyTasks has tasks add edges at once; every one of them is
// remembered.
func TestLockOrderOfManyTasks(t *testing.T) {
	order := kernel.NewLockOrder()
	var all sync.WaitGroup
	const classes = 20
	locks := func() (*kernel.Task, *ladder) {
		task := kernel.NewWorld(kernel.Options{LockOrder: order}).NewTask("test")
		return task, newLadder(task, "ladder", classes)
	}
	for outer := range classes - 1 {
		all.Go(func() {
			task, l := locks()
			nest(task, &l.rungs[outer], &l.rungs[outer+1])
		})
	}
	all.Wait()
	for inner := range classes - 1 {
		task, l := locks()
		wantViolation(t, kernel.LockOrderCycle, func() { nest(task, &l.rungs[classes-1], &l.rungs[inner]) })
	}
}

// ladder is an object of many lock classes.
type ladder struct {
	kernel.Object
	rungs []kernel.SpinLock
}

func newLadder(t *kernel.Task, class string, n int) *ladder {
	l := &ladder{rungs: make([]kernel.SpinLock, n)}
	l.Init(t, class, l)
	for i := range l.rungs {
		l.rungs[i].Init(&l.Object, fmt.Sprintf("rung%d", i))
	}
	return l
}

// TestTooManyLockClasses: the bound is on classes, not on locks.
func TestTooManyLockClasses(t *testing.T) {
	task := kernel.NewWorld(kernel.Options{}).NewTask("test")
	newLadder(task, "ladder", 64)
	newLadder(task, "ladder", 64)
	defer func() {
		if problem := recover(); problem == nil {
			t.Error("a class more than can be told apart is taken")
		}
	}()
	newLadder(task, "other", 1)
}
