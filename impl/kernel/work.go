package kernel

// Work is a work item: a function that a worker task runs some time after it
// was queued, never concurrently with itself. Queueing it while it runs makes
// it run once more (Documentation/core-api/workqueue.rst).
type Work struct {
	lock    SpinLock
	state   Region
	name    string
	run     func(*Task)
	pending bool
	running bool
	worker  *Task // the last worker that was started
}

// Init names the work item within its owner and says what it runs.
func (w *Work) Init(owner *Object, name string, run func(*Task)) {
	w.lock.Init(owner, name+" lock")
	w.state.Init(owner, name)
	w.name, w.run, w.pending, w.running, w.worker = name, run, false, false, nil
}

// Queue makes the item run; false means that it was already waiting to.
func (w *Work) Queue(t *Task) bool {
	w.lock.Lock(t)
	w.state.Write(t)
	fresh, start := !w.pending, !w.pending && !w.running
	w.pending = true
	if start {
		w.running = true
		w.worker = t.Go(w.name, w.work)
	}
	w.lock.Unlock(t)
	return fresh
}

// work is the worker's body: run until nobody has queued the item again.
func (w *Work) work(t *Task) {
	for {
		w.lock.Lock(t)
		w.state.Write(t)
		again := w.pending
		w.pending, w.running = false, again
		w.lock.Unlock(t)
		if !again {
			return
		}
		w.run(t)
	}
}

// Flush waits until the item neither waits nor runs, provided nobody queues it
// meanwhile.
func (w *Work) Flush(t *Task) {
	w.lock.Lock(t)
	w.state.Read(t)
	worker := w.worker
	w.lock.Unlock(t)
	if worker != nil {
		t.Join(worker)
	}
}

// Cancel forbids a queued run that has not begun and waits for a running one.
// It reports whether a run was forbidden.
func (w *Work) Cancel(t *Task) bool {
	w.lock.Lock(t)
	w.state.Write(t)
	cancelled := w.pending
	w.pending = false
	worker := w.worker
	w.lock.Unlock(t)
	if worker != nil {
		t.Join(worker)
	}
	return cancelled
}

// Idle reports whether the item neither waits nor runs.
func (w *Work) Idle(t *Task) bool {
	w.lock.Lock(t)
	w.state.Read(t)
	idle := !w.pending && !w.running
	w.lock.Unlock(t)
	return idle
}
