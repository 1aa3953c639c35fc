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
	i.Maps.DropAll(t)
	i.destroy(t)
}

// destroy takes the inode out of the index and frees it. Another inode may
// have been created under the same number meanwhile: only our own entry goes.
func (i *Inode) destroy(t *kernel.Task) {
	root := i.root
	root.Inodes.Lock(t)
	root.Inodes.EraseIf(t, i.number, i)
	root.Inodes.Unlock(t)
	// Nobody puts maps back once Freeing is set. The kernel looks again.
	i.Maps.DropAll(t)
	i.Free(t)
	root.Put(t)
}

// evictIdle evicts every inode of the root that nobody refers to.
func (r *Root) evictIdle(t *kernel.Task) {
	for from := uint64(0); ; {
		inode := r.claimIdle(t, from)
		if inode == nil {
			return
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
