package inhibit

import (
	"cmp"
	"slices"

	"benign/impl/kernel"
)

// Filesystem is some trees of blocks, of which some are in memory, and the transaction
// that changes them.
type Filesystem struct {
	kernel.Object
	policy Policy
	steps  steps
	trees  []*Tree // those that are committed; they do not change

	cacheLock kernel.SpinLock
	cache     kernel.Region // what follows, and the lists of blocks, under cacheLock
	buffers   []*Buffer     // in memory, in the order of their numbers
	next      Block         // the number of the next block
	disk      disk

	lock    kernel.SpinLock
	memory  kernel.Region // what follows, and the states of transactions, under lock
	current *Transaction  // what handles may join, or wait for; or nil
	writing *Transaction  // what is unblocked and not completed, or nil
	last    uint64        // the number of the transaction that began last
	aborted error         // nothing is committed any more
}

// New returns a filesystem without trees. It panics on an invalid policy.
func New(t *kernel.Task, p Policy) *Filesystem {
	fs := &Filesystem{policy: p, steps: p.steps(), last: 6, next: 1, disk: newDisk()}
	fs.Object.Init(t, "filesystem", fs)
	fs.cacheLock.Init(&fs.Object, "cache lock")
	fs.cache.Init(&fs.Object, "cache")
	fs.lock.Init(&fs.Object, "transaction lock")
	fs.memory.Init(&fs.Object, "transactions")
	return fs
}

// Unmount commits what is running and frees everything. Nobody has anything in hand. The
// error is that of an abort.
func (fs *Filesystem) Unmount(t *kernel.Task) error {
	h, err := fs.Begin(t, Join)
	switch {
	case err == nil:
		_, err = h.Commit(t)
	case fs.current != nil:
		fs.discard(t, &fs.current.blocks)
		fs.current.put(t)
	}
	for _, tree := range fs.trees {
		fs.discard(t, &tree.logged)
		tree.root.Load(t, kernel.Once).put(t)
		tree.Object.Free(t)
	}
	for _, b := range slices.Clone(fs.buffers) {
		b.set(t, 0, flagCached)
		b.put(t)
	}
	fs.Object.Free(t)
	return err
}

// insert gives the buffer its number, and puts it into the cache and on a list.
func (fs *Filesystem) insert(t *kernel.Task, b *Buffer, list *[]Block) {
	fs.cacheLock.Lock(t)
	fs.cache.Write(t)
	b.block = fs.next
	fs.next++
	fs.buffers = append(fs.buffers, b)
	fs.disk.sectors[b.block] = b.sector
	if list != nil {
		*list = append(*list, b.block)
	}
	fs.cacheLock.Unlock(t)
}

// forget takes a buffer without references out of the cache.
func (fs *Filesystem) forget(t *kernel.Task, b *Buffer) {
	fs.cacheLock.Lock(t)
	fs.cache.Write(t)
	if at, found := fs.find(b.block); found {
		fs.buffers = slices.Delete(fs.buffers, at, at+1)
	}
	fs.cacheLock.Unlock(t)
}

// find returns where a block is in the cache, or would be.
func (fs *Filesystem) find(block Block) (at int, found bool) {
	return slices.BinarySearchFunc(fs.buffers, block, func(b *Buffer, block Block) int { return cmp.Compare(b.block, block) })
}

// dirty returns, with a reference each, the blocks that have to be written.
func (fs *Filesystem) dirty(t *kernel.Task) []*Buffer {
	var batch []*Buffer
	fs.cacheLock.Lock(t)
	fs.cache.Read(t)
	for _, b := range fs.buffers {
		if b.flags.Load(t, kernel.Once)&flagDirty != 0 && b.refs.GetUnlessZero(t) {
			batch = append(batch, b)
		}
	}
	fs.cacheLock.Unlock(t)
	return batch
}

// listed returns, with a reference each, the blocks of a list that are in memory.
func (fs *Filesystem) listed(t *kernel.Task, list *[]Block) []*Buffer {
	var batch []*Buffer
	fs.cacheLock.Lock(t)
	fs.cache.Read(t)
	for _, block := range *list {
		if at, found := fs.find(block); found && fs.buffers[at].refs.GetUnlessZero(t) {
			batch = append(batch, fs.buffers[at])
		}
	}
	fs.cacheLock.Unlock(t)
	return batch
}
