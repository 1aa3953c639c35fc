package kernel

// Refcount counts references (refcount_t). A get may not resurrect: taking a
// reference on a count of zero is a violation, as is a put below zero.
type Refcount struct{ word Word[int] }

// Init names the count within its owner and sets it.
func (r *Refcount) Init(owner *Object, name string, count int) { r.word.Init(owner, name, count) }

// Get takes one more reference. The caller holds one already, or the lock
// that keeps the count above zero.
func (r *Refcount) Get(t *Task) {
	if after := r.word.Add(t, Once, 1); after <= 1 {
		t.Violate(ReferenceUnderflow, "%s is taken after it had dropped to %d", r.word.Name(), after-1)
	}
}

// GetUnlessZero takes a reference unless none is left and reports whether it
// did.
func (r *Refcount) GetUnlessZero(t *Task) bool {
	_, took := r.word.Update(t, Once, func(old int) (int, bool) { return old + 1, old > 0 })
	return took
}

// Put drops a reference and reports whether it was the last. Everything done
// under other references happens before the last put returns true.
func (r *Refcount) Put(t *Task) (last bool) {
	after := r.word.Add(t, AcquireRelease, -1)
	if after < 0 {
		t.Violate(ReferenceUnderflow, "%s is put below zero", r.word.Name())
	}
	return after == 0
}

// PutAbove drops a reference if there are more than so many, and reports whether it
// did. Dropping the last ones may take a lock that this spares
// (refcount_dec_not_one is PutAbove one).
func (r *Refcount) PutAbove(t *Task, floor int) bool {
	if t.engine != nil {
		_, dropped := r.word.Update(t, AcquireRelease, func(old int) (int, bool) { return old - 1, old > floor })
		return dropped
	}
	for {
		old := r.word.Load(t, Once)
		if old <= floor {
			return false
		}
		if r.word.CompareAndSwap(t, AcquireRelease, old, old-1) {
			return true
		}
	}
}

// Count reads the count. It is a hint unless something keeps it stable.
func (r *Refcount) Count(t *Task) int { return r.word.Load(t, Once) }
