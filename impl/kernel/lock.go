package kernel

import (
	"strings"
	"sync"
	"sync/atomic"
)

// lock is what every lock of the machine is made of. A spinning lock may not
// be held across a sleep; a sleeping lock may not be waited for under a
// spinning one.
type lock struct {
	Location
	class    int // in the world's lock order
	sleeping bool
	shares   bool         // has shared forms; natively it is a sync.RWMutex then
	mutex    sync.Mutex   // natively, of a lock without shared forms
	rw       sync.RWMutex // natively, of a lock with shared forms
	waiters  atomic.Int32 // natively: tasks that found the lock busy
}

// held is one entry of the list of locks that a task holds.
type held struct {
	lock  *lock
	mode  LockMode
	epoch uint32 // natively, of a section of an RCU domain, see epochs
}

func (l *lock) initLock(owner *Object, name string, sleeping, shares bool) {
	l.Location.init(owner, name, nil)
	l.sleeping, l.shares = sleeping, shares
	l.class = owner.world.options.LockOrder.class(owner.class, name)
}

// unchecked reports that there is nothing to check or to count when the task
// waits for the lock: it runs natively, holds nothing, and nobody asks who waits.
func (l *lock) unchecked(t *Task) bool {
	return t.engine == nil && len(t.held) == 0 && !t.world.options.Reschedule && !l.owner.freed.Load()
}

// acquire waits for the lock.
func (l *lock) acquire(t *Task, mode LockMode) {
	l.owner.Use(t)
	l.checkAcquire(t, true)
	if t.engine != nil {
		t.perform(Op{Kind: OpAcquire, Location: &l.Location, Mode: mode})
	} else {
		l.acquireNative(mode)
	}
	l.hold(t, mode)
}

// try takes the lock if nobody is in the way and reports whether it did.
func (l *lock) try(t *Task, mode LockMode) bool {
	l.owner.Use(t)
	l.checkAcquire(t, false)
	var ok bool
	if t.engine != nil {
		ok = t.perform(Op{Kind: OpAcquire, Location: &l.Location, Mode: mode, Try: true}).OK
	} else {
		ok = l.tryNative(mode)
	}
	if ok {
		l.hold(t, mode)
	}
	return ok
}

// release drops the lock.
func (l *lock) release(t *Task, mode LockMode) {
	l.drop(t, mode)
	l.owner.Use(t)
	switch {
	case t.engine != nil:
		t.perform(Op{Kind: OpRelease, Location: &l.Location, Mode: mode})
	case !l.shares:
		l.mutex.Unlock()
	case mode == Exclusive:
		l.rw.Unlock()
	default:
		l.rw.RUnlock()
	}
}

func (l *lock) tryNative(mode LockMode) bool {
	switch {
	case !l.shares:
		return l.mutex.TryLock()
	case mode == Exclusive:
		return l.rw.TryLock()
	}
	return l.rw.TryRLock()
}

func (l *lock) acquireNative(mode LockMode) {
	if l.tryNative(mode) {
		return
	}
	l.waiters.Add(1)
	switch {
	case !l.shares:
		l.mutex.Lock()
	case mode == Exclusive:
		l.rw.Lock()
	default:
		l.rw.RLock()
	}
	l.waiters.Add(-1)
}

// checkAcquire reports what lockdep would: recursion, a sleep under a spinning
// lock, a lock-order cycle. A try never waits, so only recursion concerns it.
func (l *lock) checkAcquire(t *Task, waits bool) {
	for _, h := range t.held {
		if h.lock == l {
			t.Violate(RecursiveLock, "%s is acquired by the task that holds it", l.Name())
		}
	}
	if !waits {
		return
	}
	if l.sleeping && t.spinning > 0 {
		t.mayPotentiallySleep("waiting for " + l.Name()) // named only if it is one
	}
	for _, h := range t.held {
		t.world.options.LockOrder.observe(t, h.lock.class, l.class)
	}
}

func (l *lock) hold(t *Task, mode LockMode) {
	t.held = append(t.held, held{lock: l, mode: mode})
	if !l.sleeping {
		t.spinning++
	}
}

func (l *lock) drop(t *Task, mode LockMode) held {
	last := len(t.held) - 1
	at := last
	for at >= 0 && (t.held[at].lock != l || t.held[at].mode != mode) {
		at--
	}
	if at < 0 {
		t.Violate(UnlockByStranger, "%s (%s) is released by a task that does not hold it", l.Name(), mode)
	}
	dropped := t.held[at]
	if at < last {
		copy(t.held[at:], t.held[at+1:])
	}
	t.held = t.held[:last]
	if !l.sleeping {
		t.spinning--
	}
	return dropped
}

// dropLast is drop for a task that runs natively and releases what it took last;
// it reports whether that is so.
func (l *lock) dropLast(t *Task, mode LockMode) bool {
	last := len(t.held) - 1
	if last < 0 || t.engine != nil || t.held[last] != (held{lock: l, mode: mode}) || l.owner.freed.Load() {
		return false
	}
	t.held = t.held[:last]
	if !l.sleeping {
		t.spinning--
	}
	return true
}

func (l *lock) heldBy(t *Task, mode LockMode) bool {
	for _, h := range t.held {
		if h.lock == l && (h.mode == mode || h.mode == Exclusive) {
			return true
		}
	}
	return false
}

// needBreak reports whether a holder should let go for a moment: explored it
// is a choice, natively whether somebody waits.
func (l *lock) needBreak(t *Task) bool {
	switch {
	case !t.world.options.Reschedule:
		return false
	case t.engine != nil:
		return t.Choose("break at "+l.name, 2) == 1
	default:
		return l.waiters.Load() > 0
	}
}

func (t *Task) heldNames() string {
	names := make([]string, len(t.held))
	for i, h := range t.held {
		names[i] = h.lock.Name()
	}
	return strings.Join(names, ", ")
}
