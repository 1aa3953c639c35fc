package kernel

// SpinLock is a spinning mutual-exclusion lock (spinlock_t).
type SpinLock struct{ lock }

// Init names the lock within its owner.
func (l *SpinLock) Init(owner *Object, name string) { l.initLock(owner, name, false, false) }

// Lock spins until the lock is free and takes it.
func (l *SpinLock) Lock(t *Task) {
	if !l.unchecked(t) {
		l.acquire(t, Exclusive)
		return
	}
	l.mutex.Lock()
	l.hold(t, Exclusive)
}

// TryLock takes the lock if it is free and reports whether it did.
func (l *SpinLock) TryLock(t *Task) bool { return l.try(t, Exclusive) }

// Unlock drops the lock.
func (l *SpinLock) Unlock(t *Task) {
	if !l.dropLast(t, Exclusive) {
		l.release(t, Exclusive)
		return
	}
	l.mutex.Unlock()
}

// HeldBy reports whether the task holds the lock.
func (l *SpinLock) HeldBy(t *Task) bool { return l.heldBy(t, Exclusive) }

// NeedBreak reports whether the holder should drop and retake the lock because
// a reschedule is due or somebody waits.
func (l *SpinLock) NeedBreak(t *Task) bool { return l.needBreak(t) }

// Mutex is a sleeping mutual-exclusion lock (struct mutex).
type Mutex struct{ lock }

// Init names the lock within its owner.
func (l *Mutex) Init(owner *Object, name string) { l.initLock(owner, name, true, false) }

// Lock sleeps until the lock is free and takes it.
func (l *Mutex) Lock(t *Task) {
	if !l.unchecked(t) {
		l.acquire(t, Exclusive)
		return
	}
	l.mutex.Lock()
	l.hold(t, Exclusive)
}

// TryLock takes the lock if it is free and reports whether it did.
func (l *Mutex) TryLock(t *Task) bool { return l.try(t, Exclusive) }

// Unlock drops the lock.
func (l *Mutex) Unlock(t *Task) {
	if !l.dropLast(t, Exclusive) {
		l.release(t, Exclusive)
		return
	}
	l.mutex.Unlock()
}

// HeldBy reports whether the task holds the lock.
func (l *Mutex) HeldBy(t *Task) bool { return l.heldBy(t, Exclusive) }

// sharedLock adds the shared forms; RWLock spins and RWSem sleeps.
type sharedLock struct{ lock }

// Lock waits until nobody holds the lock and takes it for writing.
func (l *sharedLock) Lock(t *Task) {
	if !l.unchecked(t) {
		l.acquire(t, Exclusive)
		return
	}
	l.rw.Lock()
	l.hold(t, Exclusive)
}

// LockNew takes the lock of an object that nobody else can know yet. It does not
// wait, so that it may be taken under another lock of its class.
func (l *sharedLock) LockNew(t *Task) {
	l.owner.Use(t)
	l.checkAcquire(t, false)
	if t.engine != nil {
		t.perform(Op{Kind: OpAcquire, Location: &l.Location, Mode: Exclusive})
	} else {
		l.acquireNative(Exclusive)
	}
	l.hold(t, Exclusive)
}

// TryLock takes the lock for writing if nobody holds it and reports whether
// it did.
func (l *sharedLock) TryLock(t *Task) bool { return l.try(t, Exclusive) }

// Unlock drops the lock held for writing.
func (l *sharedLock) Unlock(t *Task) {
	if !l.dropLast(t, Exclusive) {
		l.release(t, Exclusive)
		return
	}
	l.rw.Unlock()
}

// RLock waits until no writer holds the lock and takes it for reading.
func (l *sharedLock) RLock(t *Task) {
	if !l.unchecked(t) {
		l.acquire(t, Shared)
		return
	}
	l.rw.RLock()
	l.hold(t, Shared)
}

// TryRLock takes the lock for reading if no writer holds it and reports
// whether it did.
func (l *sharedLock) TryRLock(t *Task) bool { return l.try(t, Shared) }

// RUnlock drops the lock held for reading.
func (l *sharedLock) RUnlock(t *Task) {
	if !l.dropLast(t, Shared) {
		l.release(t, Shared)
		return
	}
	l.rw.RUnlock()
}

// HeldBy reports whether the task holds the lock for writing.
func (l *sharedLock) HeldBy(t *Task) bool { return l.heldBy(t, Exclusive) }

// HeldSharedBy reports whether the task holds the lock in either mode.
func (l *sharedLock) HeldSharedBy(t *Task) bool { return l.heldBy(t, Shared) }

// NeedBreak reports whether the holder should drop and retake the lock because
// a reschedule is due or somebody waits.
func (l *sharedLock) NeedBreak(t *Task) bool { return l.needBreak(t) }

// RWLock is a spinning reader/writer lock (rwlock_t).
type RWLock struct{ sharedLock }

// Init names the lock within its owner.
func (l *RWLock) Init(owner *Object, name string) { l.initLock(owner, name, false, true) }

// RWSem is a sleeping reader/writer lock (struct rw_semaphore).
type RWSem struct{ sharedLock }

// Init names the lock within its owner.
func (l *RWSem) Init(owner *Object, name string) { l.initLock(owner, name, true, true) }
