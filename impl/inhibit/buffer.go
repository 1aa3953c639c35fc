package inhibit

import (
	"fmt"

	"benign/impl/kernel"
)

// Block is the number of a block on disk. None is used twice.
type Block uint64

// Buffer is a block in memory (struct extent_buffer).
//
// It has a reference for the cache, as long as it is there, one for being the root of
// a tree, one for each task that has it in hand, and one for each handle that keeps it.
// The reference that leaves only the cache's drops that too, if a copy has taken the
// block's place: who frees blocks in the middle of a tree needs no other sign.
type Buffer struct {
	kernel.Object
	fs     *Filesystem
	block  Block
	place  string // in which tree, and where
	level  int    // above the leaves
	refs   kernel.Refcount
	sector *sector

	// lock protects the contents. Sets take a block in, in either mode.
	lock kernel.RWSem
	// refsLock makes one step of what is seen of the flags, the counter and the last
	// references.
	refsLock   kernel.SpinLock
	inhibitors kernel.Word[int] // in how many sets the block is; up only under lock
	flags      kernel.Word[uint32]

	contents   kernel.Region // what follows, under lock
	generation uint64        // the transaction that it was made in
	written    bool          // it has been written since
	relocated  bool          // it is being moved: to be copied in any case
	children   []*Buffer     // of a node; they have no reference here, but the cache's
	value      int           // of a leaf
}

// Flags of a buffer.
const (
	flagCached    uint32 = 1 << iota // the cache has its reference (TREE_REF)
	flagDirty                        // it has to be written
	flagWriteback                    // it is being written
	flagStale                        // a copy has taken its place
)

// newBuffer makes the next block, of a transaction and of a place in a tree. The
// references are the cache's and the caller's.
func (fs *Filesystem) newBuffer(t *kernel.Task, generation uint64, place string, level int, list *[]Block) *Buffer {
	b := &Buffer{fs: fs, place: place, level: level, generation: generation}
	b.Object.Init(t, "buffer", b)
	b.refs.Init(&b.Object, "refs", 2)
	b.lock.Init(&b.Object, lockNames[level])
	b.refsLock.Init(&b.Object, "refs lock")
	b.inhibitors.Init(&b.Object, "inhibitors", 0)
	b.flags.Init(&b.Object, "flags", flagCached)
	b.contents.Init(&b.Object, "contents")
	b.contents.Write(t)
	b.sector = newSector(fs)
	fs.insert(t, b, list)
	return b
}

// MaxHeight is the most levels that a tree may have, as each has a class of locks.
const MaxHeight = 8

var lockNames [MaxHeight]string

func init() {
	for level := range lockNames {
		lockNames[level] = fmt.Sprintf("level %d lock", level)
	}
}

// put drops a reference that the caller has.
func (b *Buffer) put(t *kernel.Task) {
	if b.refs.PutAbove(t, 2) {
		return
	}
	b.refsLock.Lock(t)
	flags := b.flags.Load(t, kernel.Once)
	if flags&(flagStale|flagCached|flagDirty|flagWriteback) == flagStale|flagCached && b.refs.Count(t) == 2 {
		b.set(t, 0, flagCached)
		b.refs.Put(t)
	}
	last := b.refs.Put(t)
	b.refsLock.Unlock(t)
	if last {
		b.fs.forget(t, b)
		b.Object.Free(t)
	}
}

// set raises and lowers flags in one step.
func (b *Buffer) set(t *kernel.Task, raised, lowered uint32) {
	b.flags.Update(t, kernel.Once, func(old uint32) (uint32, bool) {
		updated := old&^lowered | raised
		return updated, updated != old
	})
}

// countUp is what a set does when it takes a block in. The caller holds the block's
// lock, and a reference.
func countUp(t *kernel.Task, b *Buffer) {
	b.refs.Get(t)
	b.inhibitors.Add(t, kernel.Once, 1)
}

// letGo is what a set does when it lets a block go, without any lock.
func letGo(t *kernel.Task, b *Buffer) {
	b.countDown(t)
	b.put(t)
}

// letGoLocked is letGo under the lock that writeback looks under.
func letGoLocked(t *kernel.Task, b *Buffer) {
	b.refsLock.Lock(t)
	b.countDown(t)
	b.refsLock.Unlock(t)
	b.put(t)
}

func (b *Buffer) countDown(t *kernel.Task) {
	after := b.inhibitors.Add(t, kernel.Once, -1)
	if after < 0 {
		t.Violate(kernel.Assertion, "%s has %d inhibitors", b.Name(), after)
	}
}
