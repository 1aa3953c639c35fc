package kernel_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"benign/impl/kernel"
)

// waitRig owns one of every object that waits.
type waitRig struct {
	kernel.Object
	room, filled kernel.WaitQueue
	level        kernel.Word[int]
	completed    kernel.Completion
	mutex        kernel.Mutex
	condition    kernel.Condition
	once         kernel.OnceOnly
	rcu          kernel.RCU
	current      kernel.Pointer[version]
}

// version is what readers find through a pointer: two words of plain memory that
// are always equal, until they are cleared when nobody may look any more.
type version struct {
	kernel.Object
	a, b int
}

func newVersion(t *kernel.Task, n int) *version {
	v := &version{a: n, b: n}
	v.Init(t, "version", v)
	return v
}

func nativeWaiting() (*kernel.Task, *waitRig) {
	t := kernel.NewWorld(kernel.Options{}).NewTask("test")
	r := &waitRig{}
	r.Init(t, "rig", r)
	r.room.Init(&r.Object, "room")
	r.filled.Init(&r.Object, "filled")
	r.level.Init(&r.Object, "level", 0)
	r.completed.Init(&r.Object, "completed")
	r.mutex.Init(&r.Object, "mutex")
	r.condition.Init(&r.Object, "condition")
	r.once.Init(&r.Object, "once")
	r.rcu.Init(&r.Object, "rcu")
	r.current.Init(&r.Object, "current", newVersion(t, 0))
	return t, r
}

// TestWaitQueue moves tokens through one word that holds one, so that both sides
// sleep again and again.
func TestWaitQueue(t *testing.T) {
	task, r := nativeWaiting()
	live := task.World().LiveObjects()
	change := func(task *kernel.Task, from, to int, wait, wake *kernel.WaitQueue) {
		wait.Wait(task, func() bool { return r.level.CompareAndSwap(task, kernel.Full, from, to) })
		wake.WakeAll(task)
	}
	producer := task.Go("producer", func(t *kernel.Task) {
		for range rounds {
			change(t, 0, 1, &r.room, &r.filled)
		}
	})
	for range rounds {
		change(task, 1, 0, &r.filled, &r.room)
	}
	task.Join(producer)
	if left := task.World().LiveObjects(); left != live {
		t.Errorf("%d waiters are left", left-live)
	}
	if r.room.WakeOne(task) || r.room.WakeAll(task) != 0 {
		t.Error("somebody is left in the queue")
	}
}

func TestWakeOneWakesTheOldest(t *testing.T) {
	task, r := nativeWaiting()
	var waiters [3]kernel.Waiter
	for i := range waiters {
		waiters[i].Init(task)
		r.room.Prepare(task, &waiters[i])
	}
	r.room.Prepare(task, &waiters[0]) // keeps its place
	r.room.Finish(task, &waiters[1])
	if !r.room.WakeOne(task) {
		t.Error("nobody is in the queue")
	}
	waiters[0].Sleep(task)
	if n := r.room.WakeAll(task); n != 1 {
		t.Errorf("%d are left in the queue", n)
	}
	waiters[2].Sleep(task)
}

// A task that owes a wake-up settles it, as often as it owes it, and not at the end.
func TestOwedWakeUps(t *testing.T) {
	task, r := nativeWaiting()
	task.Owe(&r.room)
	task.Owe(&r.completed)
	task.Owe(&r.room)
	task.Settle(&r.room)
	task.Settle(&r.completed)
	if !task.Owes(&r.room) || task.Owes(&r.completed) || task.Owes(&r.filled) {
		t.Error("the task owes the room one more wake-up, and nothing else")
	}
	wantViolation(t, kernel.UnlockByStranger, func() { task.Settle(&r.filled) })
	wantViolation(t, kernel.HeldAtExit, task.CheckExit)
	task.Settle(&r.room)
	task.CheckExit()
	if task.SleepsIn() != nil {
		t.Error("a task that runs sleeps")
	}
}

func TestCompletion(t *testing.T) {
	task, r := nativeWaiting()
	data, got := 0, atomic.Int32{}
	if r.completed.TryWait(task) {
		t.Error("complete from the beginning")
	}
	for range crowd {
		task.Go("waiter", func(t *kernel.Task) {
			r.completed.Wait(t)
			got.Add(int32(data))
			r.level.Add(t, kernel.Release, 1)
		})
	}
	data = 1
	for range crowd {
		r.completed.Complete(task)
	}
	r.level.Await(task, kernel.Acquire, func(n int) bool { return n == crowd })
	if got.Load() != crowd || r.completed.TryWait(task) {
		t.Errorf("%d of %d were let go on", got.Load(), crowd)
	}
	r.completed.CompleteAll(task)
	r.completed.Complete(task)
	spawn(task, crowd, func(t *kernel.Task) { r.completed.Wait(t) })
	for range 2 {
		if !r.completed.TryWait(task) {
			t.Error("not everybody is let go on")
		}
	}
	r.completed.Reset(task)
	if r.completed.TryWait(task) {
		t.Error("complete after the reset")
	}
}

// TestCondition hands out turns under a mutex.
func TestCondition(t *testing.T) {
	task, r := nativeWaiting()
	turn := 0
	var children []*kernel.Task
	for n := range crowd {
		children = append(children, task.Go("T", func(t *kernel.Task) {
			for round := range rounds / 10 {
				r.mutex.Lock(t)
				for turn != round*crowd+n {
					r.condition.Wait(t, &r.mutex)
				}
				turn++
				r.condition.Broadcast(t)
				r.mutex.Unlock(t)
			}
		}))
	}
	for _, child := range children {
		task.Join(child)
	}
	if turn != crowd*(rounds/10) || r.condition.Signal(task) {
		t.Errorf("%d turns", turn)
	}
}

func TestOnceOnly(t *testing.T) {
	task, r := nativeWaiting()
	done := 0
	spawn(task, crowd, func(task *kernel.Task) {
		for range rounds {
			r.once.Do(task, func(*kernel.Task) { done++ })
			if done != 1 {
				t.Errorf("done %d times", done)
			}
		}
	})
}

// TestRCU has readers look at versions that a writer replaces, and clears after
// a grace period: a reader that still looks would see that, and so would the Go
// race detector.
func TestRCU(t *testing.T) {
	task, r := nativeWaiting()
	live := task.World().LiveObjects()
	stop := atomic.Bool{}
	var readers []*kernel.Task
	for range crowd {
		readers = append(readers, task.Go("reader", func(task *kernel.Task) {
			for !stop.Load() {
				r.rcu.ReadLock(task)
				r.rcu.ReadLock(task)
				v := r.current.Load(task, kernel.Acquire)
				r.rcu.ReadUnlock(task)
				v.Use(task)
				if v.a != v.b || v.a < 0 || !r.rcu.Reading(task) {
					t.Errorf("saw %d and %d", v.a, v.b)
				}
				r.rcu.ReadUnlock(task)
				runtime.Gosched()
			}
		}))
	}
	retire := func(v *version) func(t *kernel.Task) {
		return func(t *kernel.Task) {
			v.a, v.b = -1, -2
			v.Free(t)
		}
	}
	var callbacks []*kernel.Task
	for n := range rounds / 5 {
		old := r.current.Load(task, kernel.Once)
		r.current.Store(task, kernel.Release, newVersion(task, n))
		if n%2 == 0 {
			r.rcu.Synchronize(task)
			retire(old)(task)
		} else {
			callbacks = append(callbacks, r.rcu.Call(task, "retire", retire(old)))
		}
	}
	callbacks = append(callbacks, r.rcu.Free(task, &newVersion(task, 0).Object))
	for _, child := range callbacks {
		task.Join(child)
	}
	stop.Store(true)
	for _, child := range readers {
		task.Join(child)
	}
	if left := task.World().LiveObjects(); left != live {
		t.Errorf("%d versions are left", left-live)
	}
}

// TestMisuseOfWaiting: what may not be done in a section or under a spinning lock.
func TestMisuseOfWaiting(t *testing.T) {
	task, r := nativeWaiting()
	wantViolation(t, kernel.UnlockByStranger, func() { r.rcu.ReadUnlock(task) })
	for name, sleep := range map[string]func(){
		"wait queue": func() { r.room.Wait(task, func() bool { return true }) },
		"completion": func() { r.completed.Wait(task) },
		"once":       func() { r.once.Do(task, func(*kernel.Task) {}) },
		"mutex":      func() { r.mutex.Lock(task) },
	} {
		t.Run(name, func(t *testing.T) {
			r.rcu.ReadLock(task)
			defer r.rcu.ReadUnlock(task)
			wantViolation(t, kernel.SleepWhileSpinning, sleep)
		})
	}
	r.rcu.ReadLock(task)
	wantViolation(t, kernel.Deadlock, func() { r.rcu.Synchronize(task) })
	wantViolation(t, kernel.HeldAtExit, task.CheckExit)
	r.rcu.ReadUnlock(task)
	r.mutex.Lock(task)
	r.rcu.Synchronize(task)
	r.mutex.Unlock(task)
	r.rcu.ReadLock(task)
	wantViolation(t, kernel.SleepWhileSpinning, func() { r.mutex.Lock(task) })
	r.rcu.ReadUnlock(task)
}
