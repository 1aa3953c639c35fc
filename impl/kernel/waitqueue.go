package kernel

import (
	"math"
	"slices"
)

// WaitQueue is where tasks sleep until another task wakes them
// (wait_queue_head_t). A wake-up reaches those that are in the queue at that time
// and nobody else, so that a task enters the queue first, looks whether it has to
// sleep at all, and only then sleeps: [WaitQueue.Wait] does.
type WaitQueue struct {
	lock   SpinLock
	region Region
	queue  []*Waiter // in the order in which they came
}

// Init names the queue within its owner; it is empty.
func (q *WaitQueue) Init(owner *Object, name string) {
	q.lock.Init(owner, name+" lock")
	q.region.Init(owner, name)
	q.queue = nil
}

// Waiter is one task's entry in a queue (struct wait_queue_entry). The task that
// sleeps makes it, and frees it when it is in no queue any more.
type Waiter struct {
	Object
	awake Word[int]  // 0 from Prepare until somebody wakes it
	queue *WaitQueue // where it was prepared last
}

// Init brings the waiter to life.
func (w *Waiter) Init(t *Task) {
	w.Object.Init(t, "waiter", w)
	w.awake.Init(&w.Object, "awake", 1)
}

// Prepare puts the waiter into the queue, at its end unless it is there already
// (prepare_to_wait). What somebody does before they wake the queue is seen by the
// task after Prepare, unless the wake-up comes later and reaches the waiter.
func (q *WaitQueue) Prepare(t *Task, w *Waiter) {
	q.lock.Lock(t)
	q.region.Write(t)
	if !slices.Contains(q.queue, w) {
		q.queue = append(q.queue, w)
	}
	w.queue = q
	w.awake.Store(t, Once, 0)
	q.lock.Unlock(t)
}

// Sleep waits until the waiter has been woken since it was prepared (schedule).
// It may not be called with a spinning lock held.
func (w *Waiter) Sleep(t *Task) {
	t.maySleepFor(&w.awake.Location)
	t.sleepsIn = w.queue
	w.awake.await(t, Acquire, func(awake int) bool { return awake == 1 }, true)
	t.sleepsIn = nil
}

// Finish takes the waiter out of the queue, if nobody has woken it (finish_wait).
func (q *WaitQueue) Finish(t *Task, w *Waiter) {
	q.lock.Lock(t)
	q.region.Write(t)
	if at := slices.Index(q.queue, w); at >= 0 {
		q.queue = slices.Delete(q.queue, at, at+1)
	}
	q.lock.Unlock(t)
}

// WakeOne wakes the task that has been in the queue for longest, and reports
// whether there was one.
func (q *WaitQueue) WakeOne(t *Task) bool { return q.wake(t, 1) > 0 }

// WakeAll wakes every task in the queue and returns how many there were.
func (q *WaitQueue) WakeAll(t *Task) int { return q.wake(t, math.MaxInt) }

// wake wakes so many tasks, or all if there are fewer, and returns how many.
func (q *WaitQueue) wake(t *Task, most int) int {
	q.lock.Lock(t)
	q.region.Write(t)
	n := min(most, len(q.queue))
	for _, w := range q.queue[:n] {
		w.awake.Store(t, Release, 1)
	}
	q.queue = slices.Delete(q.queue, 0, n)
	q.lock.Unlock(t)
	return n
}

// Wait returns once the condition holds, and sleeps until then (wait_event). The
// condition is looked at in the waiting task; whoever makes it true wakes the
// queue after that.
func (q *WaitQueue) Wait(t *Task, condition func() bool) {
	t.mayPotentiallySleep("waiting for an event")
	if condition() {
		return
	}
	w := &Waiter{}
	w.Init(t)
	for q.Prepare(t, w); !condition(); q.Prepare(t, w) {
		w.Sleep(t)
	}
	q.Finish(t, w)
	w.Free(t)
}
