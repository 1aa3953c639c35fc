package inhibit

import (
	"slices"

	"benign/impl/kernel"
)

// shouldCopy reports whether a block has to be copied before the handle may change it.
// If not, the handle keeps it. The caller holds the block's lock, in either mode.
func (fs *Filesystem) shouldCopy(t *kernel.Task, h *Handle, tree *Tree, b *Buffer) bool {
	b.contents.Read(t)
	d := Decision{Block: b.block, Copied: true}
	switch {
	case b.generation != h.transaction.id:
	case b.written && !fs.mayOverwrite(t, tree, b):
		d.Again = true
	case tree.shares(t):
	case tree.kind == Relocation:
		d.Copied = false
	case b.relocated:
	default:
		d.Copied = false
		d.note(fs.steps.reuse(t, h, b))
	}
	if !d.Copied {
		h.trail = append(h.trail, d)
	}
	return d.Copied
}

// mayOverwrite reports whether a block that the transaction has written may be changed
// where it is: nobody reads it there before the commit. A log is read after a crash.
func (fs *Filesystem) mayOverwrite(t *kernel.Task, tree *Tree, b *Buffer) bool {
	return fs.policy.OverwriteInPlace && tree.kind != Log && b.flags.Load(t, kernel.Acquire)&flagWriteback == 0
}

// shares reports whether a snapshot shares the blocks of the tree, those of the running
// transaction too. Who is about to share them says so first, and has them in hand later.
func (tree *Tree) shares(t *kernel.Task) bool {
	t.Barrier(kernel.FullBarrier)
	return tree.forceCopy.Load(t, kernel.Once) != 0
}

// note adds what keeping the block has come to.
func (d *Decision) note(c claim) {
	d.Kept, d.Clears = c.tracked, c.clears
	if c.evicted != nil {
		d.Evicted = c.evicted.block
	}
}

// copyBlock puts a copy in the place of the block, in its parent or at the root, and
// returns it. The caller has the block and its parent locked for writing; it has the
// copy then, in the place of the block, and keeps the parent.
func (tree *Tree) copyBlock(t *kernel.Task, h *Handle, b, parent *Buffer, slot int) *Buffer {
	fs := tree.fs
	list := &h.transaction.blocks
	if tree.kind == Log {
		list = &tree.logged
	}
	again := b.generation == h.transaction.id && b.written
	c := fs.newBuffer(t, h.transaction.id, b.place, b.level, list)
	c.lock.LockNew(t)
	c.children, c.value = slices.Clone(b.children), b.value
	if parent == nil {
		tree.setRoot(t, c)
	} else {
		parent.contents.Write(t)
		parent.children[slot] = c
		parent.dirty(t)
	}
	fs.steps.replaced(t, h, b)
	d := Decision{Block: b.block, Copied: true, Copy: c.block, Again: again}
	b.lock.Unlock(t)
	b.put(t)
	c.dirty(t)
	d.note(fs.steps.made(t, h, c))
	h.trail = append(h.trail, d)
	return c
}

// replace says that a copy has taken the block's place. If the block is of the same
// transaction nobody will need it on disk. An older one may still be waited for there:
// the transaction before this one is perhaps being committed.
func replace(t *kernel.Task, h *Handle, b *Buffer) {
	if b.generation == h.transaction.id {
		b.set(t, flagStale, flagDirty)
	} else {
		b.set(t, flagStale, 0)
	}
}

// dirty says that the block has to be written. The caller holds its lock for writing.
func (b *Buffer) dirty(t *kernel.Task) {
	if b.written { // and is changed in place
		b.sector.contents.Write(t)
		b.sector.complete = false
	}
	b.set(t, flagDirty, 0)
}
