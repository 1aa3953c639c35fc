package evict

import "benign/impl/kernel"

// finish ends an inode that nobody refers to any more. The caller holds
// i_lock, which is released here.
func (i *Inode) finish(t *kernel.Task) {
	i.life.Write(t)
	if i.linked {
		// What is on disk must be right before the memory goes. The flag
		// keeps everybody away while i_lock is not held.
		i.state |= WillFree
		i.lock.Unlock(t)
		t.Resched()
		i.lock.Lock(t)
		i.life.Write(t)
		i.state &^= WillFree
	}
	i.state |= Freeing
	i.lock.Unlock(t)
	i.evict(t)
}

// evict tears the inode down. The caller has set Freeing and is alone with the
// inode, but for walkers that found it in the index and will fail to grab it.
func (i *Inode) evict(t *kernel.Task) {
	root := i.root
	t.Owe(&root.hashChanged)
	i.Maps.DropAll(t)
	i.deleteItems(t)
	root.mount.forget(t, i)
	t.Settle(&root.hashChanged)
	// Nobody puts maps back once Freeing is set. The kernel looks again.
	i.Maps.DropAll(t)
	i.Free(t)
	root.Put(t)
}

// itemRoom is the room that it takes to delete an inode's items, and that they
// have occupied.
const itemRoom = 1

// deleteItems deletes what the filesystem keeps on disk of an inode without a name.
// Without room for that it is left to the next mount.
func (i *Inode) deleteItems(t *kernel.Task) {
	transactions := i.root.mount.Transactions
	if transactions == nil || i.named(t) {
		return
	}
	if h, err := transactions.Start(t, itemRoom); err == nil {
		h.Pin(t, itemRoom)
		h.End(t)
	}
}

// named reports whether some directory names the inode.
func (i *Inode) named(t *kernel.Task) bool {
	i.lock.Lock(t) // whoever looks for idle inodes still comes by
	i.life.Read(t)
	linked := i.linked
	i.lock.Unlock(t)
	return linked
}

// evictIdle evicts every inode of the root that nobody refers to, and returns how
// many those were.
func (r *Root) evictIdle(t *kernel.Task) (evicted int) {
	for from := uint64(0); ; evicted++ {
		inode := r.claimIdle(t, from)
		if inode == nil {
			return evicted
		}
		from = inode.number + 1
		inode.evict(t)
	}
}

// claimIdle finds the first inode from the number on that nobody refers to and
// nobody tears down, sets Freeing on it and returns it, or nil. The index
// stands in for the kernel's list of a superblock's inodes.
func (r *Root) claimIdle(t *kernel.Task, from uint64) *Inode {
	r.Inodes.Lock(t)
	number, inode, found := r.Inodes.From(t, from)
	for found && !inode.claim(t) {
		number, inode, found = r.Inodes.From(t, number+1)
	}
	r.Inodes.Unlock(t)
	return inode
}

// claim sets Freeing if the inode is idle and reports whether it did.
func (i *Inode) claim(t *kernel.Task) bool {
	i.lock.Lock(t)
	i.life.Write(t)
	claimed := i.state&(going|New) == 0 && i.root.mount.counting.claimIdle(t, i)
	if claimed {
		i.state |= Freeing
	}
	i.lock.Unlock(t)
	return claimed
}
