package kernel_test

import (
	"strings"
	"testing"

	"benign/impl/kernel"
)

// nativeViolations have each a twin that does the same thing right.
var nativeViolations = []struct {
	name          string
	kind          kernel.ViolationKind
	wrong, proper func(t *kernel.Task, r *rig)
}{
	{"unlock of a free lock", kernel.UnlockByStranger,
		func(t *kernel.Task, r *rig) { r.spin.Unlock(t) },
		func(t *kernel.Task, r *rig) { r.spin.Lock(t); r.spin.Unlock(t) }},
	{"unlock by another task", kernel.UnlockByStranger,
		func(t *kernel.Task, r *rig) { r.mutex.Lock(t.World().NewTask("other")); r.mutex.Unlock(t) },
		func(t *kernel.Task, r *rig) {
			other := t.World().NewTask("other")
			r.mutex.Lock(other)
			r.mutex.Unlock(other)
			r.mutex.Lock(t)
			r.mutex.Unlock(t)
		}},
	{"unlock twice", kernel.UnlockByStranger,
		func(t *kernel.Task, r *rig) { r.rw.RLock(t); r.rw.RUnlock(t); r.rw.RUnlock(t) },
		func(t *kernel.Task, r *rig) { r.rw.RLock(t); r.rw.RUnlock(t); r.rw.RLock(t); r.rw.RUnlock(t) }},
	{"unlock in the other mode", kernel.UnlockByStranger,
		func(t *kernel.Task, r *rig) { r.rw.Lock(t); r.rw.RUnlock(t) },
		func(t *kernel.Task, r *rig) { r.rw.Lock(t); r.rw.Unlock(t) }},
	{"recursion", kernel.RecursiveLock,
		func(t *kernel.Task, r *rig) { r.spin.Lock(t); r.spin.Lock(t) },
		func(t *kernel.Task, r *rig) { r.spin.Lock(t); r.second.Lock(t); r.second.Unlock(t); r.spin.Unlock(t) }},
	{"recursion of a reader", kernel.RecursiveLock,
		func(t *kernel.Task, r *rig) { r.rw.RLock(t); r.rw.RLock(t) },
		func(t *kernel.Task, r *rig) { r.rw.RLock(t); r.rw.RUnlock(t); r.rw.RLock(t); r.rw.RUnlock(t) }},
	{"a try for a lock that is held already", kernel.RecursiveLock,
		func(t *kernel.Task, r *rig) { r.mutex.Lock(t); r.mutex.TryLock(t) },
		func(t *kernel.Task, r *rig) {
			if r.mutex.TryLock(t) {
				r.mutex.Unlock(t)
			}
		}},
	{"sleeping lock under a spinning one", kernel.SleepWhileSpinning,
		func(t *kernel.Task, r *rig) { r.spin.Lock(t); r.mutex.Lock(t) },
		func(t *kernel.Task, r *rig) { r.mutex.Lock(t); r.spin.Lock(t); r.spin.Unlock(t); r.mutex.Unlock(t) }},
	{"semaphore under a read lock", kernel.SleepWhileSpinning,
		func(t *kernel.Task, r *rig) { r.rw.RLock(t); r.sem.RLock(t) },
		func(t *kernel.Task, r *rig) {
			r.rw.RLock(t)
			if r.sem.TryRLock(t) { // a try does not sleep
				r.sem.RUnlock(t)
			}
			r.rw.RUnlock(t)
		}},
	{"reschedule under a spinning lock", kernel.SleepWhileSpinning,
		func(t *kernel.Task, r *rig) { r.spin.Lock(t); t.Resched() },
		func(t *kernel.Task, r *rig) { r.mutex.Lock(t); t.Resched(); r.mutex.Unlock(t) }},
	{"join under a spinning lock", kernel.SleepWhileSpinning,
		func(t *kernel.Task, r *rig) {
			child := t.Go("child", func(*kernel.Task) {})
			r.spin.Lock(t)
			t.Join(child)
		},
		func(t *kernel.Task, r *rig) {
			child := t.Go("child", func(*kernel.Task) {})
			r.mutex.Lock(t)
			t.Join(child)
			r.mutex.Unlock(t)
		}},
	{"work flushed under a spinning lock", kernel.SleepWhileSpinning,
		func(t *kernel.Task, r *rig) { r.work.Queue(t); r.spin.Lock(t); r.work.Flush(t) },
		func(t *kernel.Task, r *rig) { r.spin.Lock(t); r.work.Queue(t); r.spin.Unlock(t); r.work.Flush(t) }},
	{"two locks in both orders", kernel.LockOrderCycle,
		func(t *kernel.Task, r *rig) { nest(t, &r.spin, &r.second); nest(t, &r.second, &r.spin) },
		func(t *kernel.Task, r *rig) { nest(t, &r.spin, &r.second); nest(t, &r.spin, &r.second) }},
	{"three locks in a ring", kernel.LockOrderCycle,
		func(t *kernel.Task, r *rig) {
			nest(t, &r.spin, &r.second)
			nest(t, &r.second, &r.third)
			nest(t, &r.third, &r.spin)
		},
		func(t *kernel.Task, r *rig) {
			nest(t, &r.spin, &r.second)
			nest(t, &r.second, &r.third)
			nest(t, &r.spin, &r.third)
		}},
	{"two locks of one class", kernel.LockOrderCycle,
		func(t *kernel.Task, r *rig) { nest(t, &r.spin, &newRig(t, "rig").spin) },
		func(t *kernel.Task, r *rig) { nest(t, &r.spin, &newRig(t, "other").spin) }},
	{"the inner lock is waited for under the outer", kernel.LockOrderCycle,
		func(t *kernel.Task, r *rig) {
			nest(t, &r.spin, &r.second)
			r.second.Lock(t)
			r.third.Lock(t)
			r.spin.Lock(t)
		},
		func(t *kernel.Task, r *rig) {
			nest(t, &r.spin, &r.second)
			r.second.Lock(t)
			if r.spin.TryLock(t) { // a try does not wait, and closes no ring
				r.spin.Unlock(t)
			}
			r.second.Unlock(t)
		}},
	{"put below zero", kernel.ReferenceUnderflow,
		func(t *kernel.Task, r *rig) { r.count.Put(t); r.count.Put(t) },
		func(t *kernel.Task, r *rig) {
			r.count.Get(t)
			if r.count.Put(t) || !r.count.Put(t) {
				panic("the last put is the second")
			}
		}},
	{"resurrection", kernel.ReferenceUnderflow,
		func(t *kernel.Task, r *rig) { r.count.Put(t); r.count.Get(t) },
		func(t *kernel.Task, r *rig) {
			r.count.Put(t)
			if r.count.GetUnlessZero(t) || r.count.Count(t) != 0 {
				panic("a reference to nothing")
			}
		}},
	{"get on a negative count", kernel.ReferenceUnderflow,
		func(t *kernel.Task, r *rig) { r.count.Init(&r.Object, "count", -1); r.count.Get(t) },
		func(t *kernel.Task, r *rig) {
			r.count.Init(&r.Object, "count", -1)
			if r.count.GetUnlessZero(t) {
				panic("a reference to less than nothing")
			}
		}},
	{"use after free", kernel.UseAfterFree,
		func(t *kernel.Task, r *rig) { r.Free(t); r.Use(t) },
		func(t *kernel.Task, r *rig) { r.Use(t); r.Free(t) }},
	{"load after free", kernel.UseAfterFree,
		func(t *kernel.Task, r *rig) { r.Free(t); r.word.Load(t, kernel.Once) },
		func(t *kernel.Task, r *rig) { r.word.Load(t, kernel.Once); r.Free(t) }},
	{"store after free", kernel.UseAfterFree,
		func(t *kernel.Task, r *rig) { r.Free(t); r.word.Store(t, kernel.Once, 1) },
		func(t *kernel.Task, r *rig) { r.word.Store(t, kernel.Once, 1); r.Free(t) }},
	{"update after free", kernel.UseAfterFree,
		func(t *kernel.Task, r *rig) { r.Free(t); r.word.Add(t, kernel.Once, 1) },
		func(t *kernel.Task, r *rig) { r.word.Add(t, kernel.Once, 1); r.Free(t) }},
	{"pointer load after free", kernel.UseAfterFree,
		func(t *kernel.Task, r *rig) { r.Free(t); r.next.Load(t, kernel.Once) },
		func(t *kernel.Task, r *rig) { r.next.Load(t, kernel.Once); r.Free(t) }},
	{"lock after free", kernel.UseAfterFree,
		func(t *kernel.Task, r *rig) { r.Free(t); r.spin.Lock(t) },
		func(t *kernel.Task, r *rig) { r.spin.Lock(t); r.spin.Unlock(t); r.Free(t) }},
	{"try after free", kernel.UseAfterFree,
		func(t *kernel.Task, r *rig) { r.Free(t); r.spin.TryLock(t) },
		func(t *kernel.Task, r *rig) { r.spin.TryLock(t); r.spin.Unlock(t); r.Free(t) }},
	{"unlock after free", kernel.UseAfterFree,
		func(t *kernel.Task, r *rig) { r.spin.Lock(t); r.Free(t); r.spin.Unlock(t) },
		func(t *kernel.Task, r *rig) { r.spin.Lock(t); r.spin.Unlock(t); r.Free(t) }},
	{"put after free", kernel.UseAfterFree,
		func(t *kernel.Task, r *rig) { r.Free(t); r.count.Put(t) },
		func(t *kernel.Task, r *rig) {
			if r.count.Put(t) {
				r.Free(t)
			}
		}},
	{"double free", kernel.DoubleFree,
		func(t *kernel.Task, r *rig) { r.Free(t); r.Free(t) },
		func(t *kernel.Task, r *rig) { r.Free(t); newRig(t, "rig").Free(t) }},
	{"index without its lock", kernel.MissingLock,
		func(t *kernel.Task, r *rig) { r.index.Store(t, 1, new(int)) },
		func(t *kernel.Task, r *rig) { r.index.Lock(t); r.index.Store(t, 1, new(int)); r.index.Unlock(t) }},
	{"index read without its lock", kernel.MissingLock,
		func(t *kernel.Task, r *rig) { r.index.Load(t, 1) },
		func(t *kernel.Task, r *rig) { r.index.Lock(t); r.index.Load(t, 1); r.index.Unlock(t) }},
	{"index erased without its lock", kernel.MissingLock,
		func(t *kernel.Task, r *rig) { r.index.EraseIf(t, 1, nil) },
		func(t *kernel.Task, r *rig) { r.index.Lock(t); r.index.EraseIf(t, 1, nil); r.index.Unlock(t) }},
	{"index counted under another lock", kernel.MissingLock,
		func(t *kernel.Task, r *rig) { r.spin.Lock(t); r.index.Len(t) },
		func(t *kernel.Task, r *rig) { r.index.Lock(t); r.index.Len(t); r.index.Unlock(t) }},
	{"index lock of another task", kernel.MissingLock,
		func(t *kernel.Task, r *rig) { r.index.Lock(t.World().NewTask("other")); r.index.From(t, 0) },
		func(t *kernel.Task, r *rig) { r.index.Lock(t); r.index.From(t, 0); r.index.Unlock(t) }},
	{"assertion", kernel.Assertion,
		func(t *kernel.Task, r *rig) { t.Assert(r.word.Load(t, kernel.Once) == 1, "the word is %d", 0) },
		func(t *kernel.Task, r *rig) { t.Assert(r.word.Load(t, kernel.Once) == 0, "the word is not zero") }},
	{"held at exit", kernel.HeldAtExit,
		func(t *kernel.Task, r *rig) { r.spin.Lock(t); t.CheckExit() },
		func(t *kernel.Task, r *rig) { r.spin.Lock(t); r.spin.Unlock(t); t.CheckExit() }},
	{"read lock held at exit", kernel.HeldAtExit,
		func(t *kernel.Task, r *rig) { r.sem.RLock(t); t.CheckExit() },
		func(t *kernel.Task, r *rig) { r.sem.RLock(t); r.sem.RUnlock(t); t.CheckExit() }},
}

// locker is what the nesting of locks needs.
type locker interface {
	Lock(t *kernel.Task)
	Unlock(t *kernel.Task)
}

func nest(t *kernel.Task, outer, inner locker) {
	outer.Lock(t)
	inner.Lock(t)
	inner.Unlock(t)
	outer.Unlock(t)
}

func TestViolations(t *testing.T) {
	for _, c := range nativeViolations {
		t.Run(c.name, func(t *testing.T) {
			task, r := native(kernel.Options{})
			wantViolation(t, c.kind, func() { c.wrong(task, r) })
			task, r = native(kernel.Options{})
			if v := violation(t, func() { c.proper(task, r); task.CheckExit() }); v != nil {
				t.Errorf("done right: %v", v)
			}
		})
	}
}

// TestViolationMessages say what, where and by whom.
func TestViolationMessages(t *testing.T) {
	for _, c := range []struct {
		want string
		run  func(t *kernel.Task, r *rig)
	}{
		{"unlock by stranger: rig#1.rw (shared) is released by a task that does not hold it (task test)", func(t *kernel.Task, r *rig) { r.rw.RUnlock(t) }},
		{"sleep while spinning: reschedule point while holding rig#1.spin, rig#1.second (task test)", func(t *kernel.Task, r *rig) { r.spin.Lock(t); r.second.Lock(t); t.Resched() }},
		{"lock-order cycle: rig.spin is waited for under rig.second, and elsewhere the other way round (task test)", func(t *kernel.Task, r *rig) { nest(t, &r.spin, &r.second); nest(t, &r.second, &r.spin) }},
		{"missing lock: rig#1.index is used without its lock (task test)", func(t *kernel.Task, r *rig) { r.index.Len(t) }},
		{"use after free: rig#1 is used after it was freed (task test)", func(t *kernel.Task, r *rig) { r.Free(t); r.Use(t) }},
		{"assertion: 3 is not 4 (task test)", func(t *kernel.Task, r *rig) { t.Assert(false, "%d is not %d", 3, 4) }},
	} {
		task, r := native(kernel.Options{})
		if v := violation(t, func() { c.run(task, r) }); v == nil || v.Error() != c.want {
			t.Errorf("got %v, want %s", v, c.want)
		}
	}
	if got := (&kernel.Violation{Kind: kernel.Leak, Message: "inode#1"}).Error(); got != "leak: inode#1" {
		t.Errorf("without a task: %q", got)
	}
}

// TestNames: the closed lists have one name for each member and none for what
// is not a member.
func TestNames(t *testing.T) {
	check := func(what string, first, last int, name func(int) string) {
		seen := map[string]bool{}
		for i := first; i <= last; i++ {
			n := name(i)
			if n == "" || n == "invalid" || seen[n] || strings.ToLower(n) != n {
				t.Errorf("%s %d is called %q", what, i, n)
			}
			seen[n] = true
		}
		for _, i := range []int{0, last + 1, 255} {
			if n := name(i); n != "invalid" {
				t.Errorf("%s %d is called %q", what, i, n)
			}
		}
	}
	check("violation", int(kernel.UseAfterFree), int(kernel.Livelock), func(i int) string { return kernel.ViolationKind(i).String() })
	check("order", int(kernel.Plain), int(kernel.Sequential), func(i int) string { return kernel.Order(i).String() })
	check("barrier", int(kernel.FullBarrier), int(kernel.WriteBarrier), func(i int) string { return kernel.Barrier(i).String() })
	check("mode", int(kernel.Exclusive), int(kernel.Shared), func(i int) string { return kernel.LockMode(i).String() })
	check("operation", int(kernel.OpLoad), int(kernel.OpJoin), func(i int) string { return kernel.OpKind(i).String() })
	if names := kernel.OrderNames(); len(names) != int(kernel.Sequential)+1 || names[kernel.Full] != kernel.Full.String() {
		t.Errorf("the orders are %v", names)
	}
}

func TestOrders(t *testing.T) {
	for order, want := range map[kernel.Order][2]bool{
		kernel.Plain: {false, false}, kernel.Once: {false, false}, kernel.Acquire: {true, false},
		kernel.Release: {false, true}, kernel.AcquireRelease: {true, true}, kernel.Full: {true, true},
		kernel.Sequential: {true, true},
	} {
		if got := [2]bool{order.Acquires(), order.Releases()}; got != want {
			t.Errorf("%v acquires and releases: %v, want %v", order, got, want)
		}
	}
}
