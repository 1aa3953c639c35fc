package inhibit

import "benign/impl/kernel"

// Handle is the right of one task to change blocks in a transaction, which is not
// committed without it, and the set of blocks that the task keeps from being written
// back meanwhile.
type Handle struct {
	fs          *Filesystem
	transaction *Transaction
	kind        Kind
	uses        int // begins that have not been ended
	set         set

	trail  []Decision // see Tree.Change
	clears int        // the most bits that a clock has cleared for one block
	drops  int        // how many blocks were let go at the end
}

// Again begins once more what has begun: it ends with the last End.
func (h *Handle) Again() { h.uses++ }

// End gives the handle back, if it is the last one of those that were begun. First the
// set is emptied: a commit waits for the writers of its transaction, and who is none has
// nothing in hand.
func (h *Handle) End(t *kernel.Task) {
	h.check(t)
	if h.uses--; h.uses == 0 {
		h.fs.steps.leave(t, h)
	}
}

// emptyAndLeave is the end of a handle.
func emptyAndLeave(t *kernel.Task, h *Handle) {
	h.empty(t)
	h.leave(t)
}

// empty lets everything go that the handle keeps.
func (h *Handle) empty(t *kernel.Task) { h.drops += h.set.empty(t) }

// leave takes the handle out of its transaction, and tells a commit.
func (h *Handle) leave(t *kernel.Task) {
	tr := h.transaction
	kept := len(h.set.members())
	t.Assert(kept == 0, "a handle that keeps %d blocks is no writer any more", kept)
	tr.writers.Add(t, kernel.Release, -1)
	if h.kind == Start {
		tr.external.Add(t, kernel.Release, -1)
	}
	tr.changed.WakeAll(t)
	tr.put(t)
}

// check reports a handle that has been ended.
func (h *Handle) check(t *kernel.Task) { t.Assert(h.uses > 0, "a handle is used after its end") }

// Abort gives the filesystem up: nothing that is not durable by now ever will be. The
// handle is to be ended all the same. The first error counts.
func (h *Handle) Abort(t *kernel.Task, err error) {
	h.check(t)
	h.fs.enter(t)
	if h.fs.aborted == nil {
		h.fs.aborted = err
	}
	h.fs.lock.Unlock(t)
}

// keep keeps a block that the handle changes. The caller holds the block's lock.
func keep(t *kernel.Task, h *Handle, b *Buffer) claim {
	c := h.set.keep(t, b)
	h.clears = max(h.clears, c.clears)
	return c
}
