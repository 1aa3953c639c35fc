package kernel

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Await waits until the word has a value that satisfies the condition, and
// returns it: a loop that does nothing but look again (smp_cond_load_acquire).
// Order is Once, Acquire or Sequential, and until must be pure. Explored it is
// one load of a value that satisfies the condition. Such a value may be missed if
// it does not stay; if it does the task goes on, because the machine is fair.
func (w *Word[T]) Await(t *Task, order Order, until func(value T) bool) T {
	return w.await(t, order, until, false)
}

// await is Await, and says whether the task sleeps meanwhile.
func (w *Word[T]) await(t *Task, order Order, until func(value T) bool, sleeps bool) T {
	w.owner.Use(t)
	if t.engine != nil {
		r := t.perform(Op{Kind: OpLoad, Location: &w.Location, Order: order, Until: func(seen uint64) bool { return until(T(seen)) }, Sleeps: sleeps})
		return T(r.Value)
	}
	for round := 0; ; round++ {
		if value := T(atomic.LoadUint64(&w.value)); until(value) {
			return value
		}
		t.pause(round, &w.Location)
	}
}

// AwaitUpdate waits until the word has a value that satisfies the condition,
// applies a pure function to it in the same atomic step, and returns the old
// value. If the function asks for no write it orders nothing.
func (w *Word[T]) AwaitUpdate(t *Task, order Order, until func(old T) bool, f func(old T) (updated T, writes bool)) (old T) {
	return w.awaitUpdate(t, order, until, f, false)
}

func (w *Word[T]) awaitUpdate(t *Task, order Order, until func(old T) bool, f func(old T) (T, bool), sleeps bool) T {
	w.owner.Use(t)
	if t.engine != nil {
		r := t.perform(Op{Kind: OpUpdate, Location: &w.Location, Order: order, Sleeps: sleeps,
			Until: func(seen uint64) bool { return until(T(seen)) },
			Update: func(seen uint64) (uint64, bool) {
				updated, writes := f(T(seen))
				return uint64(updated), writes
			}})
		return T(r.Value)
	}
	for round := 0; ; {
		seen := atomic.LoadUint64(&w.value)
		if !until(T(seen)) {
			t.pause(round, &w.Location)
			round++
			continue
		}
		if updated, writes := f(T(seen)); !writes || atomic.CompareAndSwapUint64(&w.value, seen, uint64(updated)) {
			return T(seen)
		}
	}
}

// maySleepFor reports a sleep under a spinning lock. It names what is waited for
// only then.
func (t *Task) maySleepFor(l *Location) {
	if t.spinning > 0 {
		t.mayPotentiallySleep("waiting for " + l.Name())
	}
}

// How a native task waits: it lets others run for some rounds, and then sleeps
// for longer and longer.
const (
	activeRounds = 64
	shortestNap  = 10 * time.Microsecond
	longestNap   = time.Millisecond
)

// pause lets others run before the task looks at the location again. Before and
// after the tasks of an explored world there are no others.
func (t *Task) pause(round int, l *Location) {
	switch {
	case t.world.engine != nil:
		t.Violate(Livelock, "%s is waited for, and no other task runs", l.Name())
	case round < activeRounds:
		runtime.Gosched()
	default:
		time.Sleep(min(longestNap, time.Duration(round-activeRounds+1)*shortestNap))
	}
}
