package inhibit

import "benign/impl/kernel"

// Mode says how much a write is wanted. The zero value is invalid.
type Mode uint8

const (
	// Background writes what can be written: memory is short (WB_SYNC_NONE).
	Background Mode = iota + 1
	// Integrity writes everything: somebody relies on it (WB_SYNC_ALL).
	Integrity
)

// Look is what writeback has done about one block.
type Look struct {
	Block Block  // which one
	Place string // in which tree, and where
	Wrote bool   // it was dirty, and is on disk now
}

// WriteBack is one pass of background writeback over all blocks that are dirty. It
// returns what it has looked at.
func (fs *Filesystem) WriteBack(t *kernel.Task) []Look { return fs.write(t, fs.dirty(t), Background) }

// Sync makes a log durable, with everything that the task has changed in it: a handle
// may keep its blocks meanwhile. It returns what it has looked at.
func (fs *Filesystem) Sync(t *kernel.Task, log *Tree) []Look {
	log.mutex.Lock(t)
	defer log.mutex.Unlock(t)
	looks := fs.writeAll(t, &log.logged)
	fs.refer(t, map[*Tree]Block{log: log.root.Load(t, kernel.Once).block})
	return looks
}

// writeAll writes those blocks of a list that are in memory, and returns when they are
// on disk.
func (fs *Filesystem) writeAll(t *kernel.Task, list *[]Block) []Look {
	return fs.write(t, fs.listed(t, list), Integrity)
}

// write writes blocks one after the other, and drops the references.
func (fs *Filesystem) write(t *kernel.Task, batch []*Buffer, m Mode) []Look {
	var looks []Look
	for _, b := range batch {
		image, started := b.lockForWrite(t, m)
		if started {
			b.complete(t, image)
		}
		looks = append(looks, Look{b.block, b.place, started})
		b.put(t)
	}
	return looks
}

// lockForWrite takes the block from dirty to being written, if it is dirty and the mode
// allows it, and returns what to write. A block that is being written already is waited
// for where integrity is wanted, and left alone otherwise.
func (b *Buffer) lockForWrite(t *kernel.Task, m Mode) (i image, started bool) {
	b.lock.Lock(t)
	if m == Integrity {
		b.fs.steps.wait(t, b)
	} else if b.busy(t) {
		b.lock.Unlock(t)
		return image{}, false
	}
	b.refsLock.Lock(t)
	if b.fs.steps.may(t, b, m) {
		_, started = b.flags.Update(t, kernel.Once, func(old uint32) (uint32, bool) {
			return old&^flagDirty | flagWriteback, old&flagDirty != 0
		})
	}
	b.refsLock.Unlock(t)
	if started {
		b.contents.Write(t)
		b.written = true
		i = b.image()
	}
	b.lock.Unlock(t)
	return i, started
}

// mayWrite reports whether the block may be written. The caller holds both its locks:
// whoever takes the block into a set holds the outer one, so that none is missed.
func mayWrite(t *kernel.Task, b *Buffer, m Mode) bool {
	return m == Integrity || b.inhibitors.LoadRacy(t, kernel.Once, InhibitorsSite) == 0
}

// waitForWrite returns when the block is not being written. The caller holds its lock
// for writing, which is dropped meanwhile.
func (b *Buffer) waitForWrite(t *kernel.Task) {
	for b.busy(t) {
		b.lock.Unlock(t)
		b.flags.Await(t, kernel.Acquire, func(flags uint32) bool { return flags&flagWriteback == 0 })
		b.lock.Lock(t)
	}
}

func (b *Buffer) busy(t *kernel.Task) bool { return b.flags.Load(t, kernel.Acquire)&flagWriteback != 0 }

// complete is the end of a write: what was to be written is on disk.
func (b *Buffer) complete(t *kernel.Task, i image) {
	b.sector.contents.Write(t)
	b.sector.complete, b.sector.image = true, i
	b.flags.Update(t, kernel.Release, func(old uint32) (uint32, bool) { return old &^ flagWriteback, true })
}
