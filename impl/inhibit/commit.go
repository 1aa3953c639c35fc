package inhibit

import "benign/impl/kernel"

// Commit ends the handle, which must have begun only once, and makes its transaction
// durable, or waits for who does. It waits for all other handles, so the task may not
// hold what they need. It returns what it has looked at. The error is that of an abort.
func (h *Handle) Commit(t *kernel.Task) ([]Look, error) {
	h.check(t)
	fs, tr := h.fs, h.transaction
	t.Assert(h.uses == 1, "a handle is committed that has begun %d times", h.uses)
	fs.enter(t)
	if tr.state != Running {
		tr.users.Get(t)
		fs.lock.Unlock(t)
		h.End(t)
		tr.completed.Wait(t)
		return nil, fs.outcome(t, tr)
	}
	tr.state = Starting
	before := fs.writing
	if before != nil {
		before.users.Get(t)
	}
	fs.lock.Unlock(t)
	if before != nil { // what it writes is part of what will be committed here
		before.completed.Wait(t)
		before.put(t)
	}
	if h.kind == Start {
		h.kind = Join
		tr.external.Add(t, kernel.Release, -1)
	}
	tr.changed.Wait(t, func() bool { return tr.external.Load(t, kernel.Acquire) == 0 })
	fs.enter(t)
	tr.state = Doing
	fs.lock.Unlock(t)
	tr.changed.Wait(t, func() bool { return tr.writers.Load(t, kernel.Acquire) == 1 })

	roots := fs.roots(t)
	fs.enter(t)
	tr.failed = fs.aborted
	tr.state, fs.writing, fs.current = Unblocked, tr, nil
	tr.unblocked.CompleteAll(t)
	fs.lock.Unlock(t)

	var looks []Look
	if tr.failed == nil {
		fs.steps.unblocked(t, h)
		looks = fs.writeAll(t, &tr.blocks)
		fs.refer(t, roots)
	} else {
		fs.steps.failed(t, h)
		fs.discard(t, &tr.blocks)
	}
	h.uses = 0
	tr.users.Get(t)
	h.leave(t)
	fs.enter(t)
	tr.state, fs.writing = Completed, nil
	fs.lock.Unlock(t)
	tr.completed.CompleteAll(t)
	tr.put(t) // it is not the current one any more
	return looks, fs.outcome(t, tr)
}

// outcome drops a reference to a completed transaction, and returns why it has failed.
func (fs *Filesystem) outcome(t *kernel.Task, tr *Transaction) error {
	fs.enter(t)
	err := tr.failed
	fs.lock.Unlock(t)
	tr.put(t)
	return err
}

// roots returns where the committed trees begin. Nobody changes one.
func (fs *Filesystem) roots(t *kernel.Task) map[*Tree]Block {
	roots := make(map[*Tree]Block)
	for _, tree := range fs.trees {
		if tree.kind != Log {
			roots[tree] = tree.root.Load(t, kernel.Once).block
		}
	}
	return roots
}

// discard throws away the changes of a transaction that has failed.
func (fs *Filesystem) discard(t *kernel.Task, list *[]Block) {
	for _, b := range fs.listed(t, list) {
		b.lock.Lock(t)
		b.waitForWrite(t)
		b.set(t, 0, flagDirty)
		b.lock.Unlock(t)
		b.put(t)
	}
}
