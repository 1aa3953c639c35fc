package transaction

import "benign/impl/kernel"

// Handle is the right of one task to change things in a transaction, which is not
// committed without it. Every [Manager.Join] and [Manager.Start] is followed by an
// End or a Commit of the same task.
type Handle struct {
	manager     *Manager
	transaction *Transaction
	uses        int // joins of the task that have not been ended
	reserved    int // room that goes back at the end
	pinned      int // room that the task has freed
}

// Generation returns the number of the handle's transaction.
func (h *Handle) Generation(t *kernel.Task) uint64 {
	h.transaction.Use(t)
	return h.transaction.generation
}

// Pin says that the task has freed room, which can be used again once the
// transaction is durable.
func (h *Handle) Pin(t *kernel.Task, room int) {
	h.transaction.Use(t)
	h.pinned += room
}

// End gives the handle back, if the task has joined once. What the task has changed
// stays, and will be durable when the transaction is.
func (h *Handle) End(t *kernel.Task) {
	m, tr := h.manager, h.transaction
	m.enter(t, nil)
	h.check(t)
	if h.uses--; h.uses == 0 {
		h.leave(t)
		if tr.writers == 0 && m.aborted != nil && tr.state == Running {
			m.complete(t, tr) // nobody else will
		}
		tr.put(t)
	}
	m.lock.Unlock(t)
}

// leave takes the handle out of its transaction. The caller holds the lock and
// keeps the handle's reference.
func (h *Handle) leave(t *kernel.Task) {
	m, tr := h.manager, h.transaction
	delete(m.handles, t)
	m.room += h.reserved
	tr.pinned += h.pinned
	tr.writers--
	if tr.writers == 0 && tr.state == Committing {
		tr.quiet.Complete(t)
	}
	t.Settle(&tr.quiet)
}

// check reports a handle that is not the task's, or not any more. The caller holds
// the lock.
func (h *Handle) check(t *kernel.Task) {
	t.Assert(h.manager.handles[t] == h, "a handle is used by a task that does not have it")
}

// Abort gives the filesystem up: what its transactions have changed and is not
// durable never will be, and nobody joins another one. The handle is to be ended all
// the same.
func (h *Handle) Abort(t *kernel.Task, err error) {
	m := h.manager
	m.enter(t, nil)
	h.check(t)
	if m.aborted == nil {
		m.aborted = err
	}
	m.lock.Unlock(t)
}

// Commit gives the handle back and makes the transaction durable, or waits for who
// does. It waits for every other handle, so the task may not hold anything that
// their owners need, and has joined only once. The error is that of an abort.
func (h *Handle) Commit(t *kernel.Task) error {
	m, tr := h.manager, h.transaction
	m.enter(t, nil)
	h.check(t)
	t.Assert(h.uses == 1, "a handle is committed by a task that has joined %d times", h.uses)
	h.leave(t)
	if tr.state == Running {
		m.commit(t, tr)
	} else {
		m.lock.Unlock(t)
		tr.completed.Wait(t)
		m.enter(t, nil)
	}
	err := tr.failed
	tr.put(t)
	m.lock.Unlock(t)
	return err
}

// commit takes the transaction from Running to Completed. The caller holds the
// lock, which is dropped and taken again.
func (m *Manager) commit(t *kernel.Task, tr *Transaction) {
	t.Owe(&tr.unblocked)
	t.Owe(&tr.completed)
	tr.state = Committing
	if tr.writers > 0 {
		m.lock.Unlock(t)
		tr.quiet.Wait(t)
		m.enter(t, nil)
	}
	for m.writing != nil {
		before := m.writing.get()
		m.lock.Unlock(t)
		before.completed.Wait(t)
		m.enter(t, before)
	}
	tr.state, m.writing, m.current = Unblocked, tr, nil
	tr.unblocked.CompleteAll(t)
	m.lock.Unlock(t)
	t.Settle(&tr.unblocked)
	t.Resched() // everything is written out
	m.enter(t, nil)
	m.complete(t, tr)
	t.Settle(&tr.completed)
}

// complete ends a transaction. The caller holds the lock.
func (m *Manager) complete(t *kernel.Task, tr *Transaction) {
	if m.current == tr {
		m.current = nil
	}
	if m.writing == tr {
		m.writing = nil
	}
	tr.state = Completed
	if tr.failed = m.aborted; tr.failed == nil {
		m.room += tr.pinned
	}
	tr.unblocked.CompleteAll(t)
	tr.completed.CompleteAll(t)
	tr.put(t)
}
