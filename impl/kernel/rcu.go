package kernel

import (
	"sync"
	"sync/atomic"
)

// RCU is a domain of read-copy update (Documentation/RCU): readers never wait,
// and who has taken something out of their reach waits for a grace period, in
// which every section that might still see it ends, before it is freed.
//
// Explored, a section excludes the moment at which a grace period passes its task:
// it comes wholly before or wholly after it, and what one of the two did first is
// seen by the other.
type RCU struct {
	lock
	native epochs
}

// Init names the domain within its owner.
func (r *RCU) Init(owner *Object, name string) { r.initLock(owner, name, false, true) }

// ReadLock begins a section, in which the task may not sleep. Sections of a task
// may be nested; they end together.
func (r *RCU) ReadLock(t *Task) {
	r.owner.Use(t)
	nested := r.heldBy(t, Shared)
	epoch := uint32(0)
	switch {
	case nested:
	case t.engine != nil:
		t.perform(Op{Kind: OpAcquire, Location: &r.Location, Mode: Shared})
	default:
		epoch = r.native.enter()
	}
	r.hold(t, Shared)
	t.held[len(t.held)-1].epoch = epoch
}

// ReadUnlock ends what the latest ReadLock began.
func (r *RCU) ReadUnlock(t *Task) {
	epoch := r.drop(t, Shared).epoch
	r.owner.Use(t)
	switch {
	case r.heldBy(t, Shared):
	case t.engine != nil:
		t.perform(Op{Kind: OpRelease, Location: &r.Location, Mode: Shared})
	default:
		r.native.leave(epoch)
	}
}

// Reading reports whether the task is in a section.
func (r *RCU) Reading(t *Task) bool { return r.heldBy(t, Shared) }

// Synchronize waits until every section has ended that had begun before
// (synchronize_rcu). It is a full barrier. In a section it would wait for itself.
func (r *RCU) Synchronize(t *Task) {
	if r.Reading(t) {
		t.Violate(Deadlock, "%s waits in a section of %s for the end of that section", t.name, r.Name())
	}
	r.owner.Use(t)
	t.maySleepFor(&r.Location)
	if t.engine == nil {
		r.native.wait(t, &r.Location)
		return
	}
	t.Barrier(FullBarrier)
	t.perform(Op{Kind: OpAcquire, Location: &r.Location, Mode: Exclusive, Passes: true})
	t.Barrier(FullBarrier)
}

// Call has the function called after a grace period, in a task of its own, and
// returns that task so that it can be joined (call_rcu).
func (r *RCU) Call(t *Task, name string, f func(t *Task)) *Task {
	return t.Go(name, func(t *Task) {
		r.Synchronize(t)
		f(t)
	})
}

// Free frees the object after a grace period (kfree_rcu).
func (r *RCU) Free(t *Task, o *Object) *Task { return r.Call(t, "free "+o.Name(), o.Free) }

// epochs are how native grace periods know the sections that had begun before
// them: readers count in the current one of two epochs, and who waits ends each of
// them and waits for its readers (McKenney, "Sleepable RCU", LWN, 2006). Both,
// because a reader may have looked at the current epoch, and not have counted yet,
// when that ends.
type epochs struct {
	current atomic.Uint32
	readers [2]atomic.Int64
	waiting sync.Mutex
}

func (e *epochs) enter() (epoch uint32) {
	epoch = e.current.Load()
	e.readers[epoch].Add(1)
	return epoch
}

func (e *epochs) leave(epoch uint32) { e.readers[epoch].Add(-1) }

func (e *epochs) wait(t *Task, l *Location) {
	e.waiting.Lock()
	defer e.waiting.Unlock()
	for range e.readers {
		ending := e.current.Load()
		e.current.Store(1 - ending)
		for round := 0; e.readers[ending].Load() != 0; round++ {
			t.pause(round, l)
		}
	}
}
