package evict

import "benign/impl/kernel"

// Get returns the inode with the number and a reference to it (iget): the one
// that is in memory or, if there is none, a new one. An inode that is on its way
// out is waited for until its number is free. The caller keeps the root alive and
// may sleep.
//
// The new inode is in the index of its root when Get returns. Its predecessor,
// which has given its number up, may be in there until then.
func Get(t *kernel.Task, root *Root, number uint64) *Inode {
	var i *Inode
	var fresh bool
	root.hashChanged.Wait(t, func() bool {
		i, fresh = root.tryGet(t, number)
		return i != nil
	})
	if fresh {
		i.publish(t)
		root.hashChanged.WakeAll(t)
		t.Settle(&root.hashChanged)
		return i
	}
	root.hashChanged.Wait(t, func() bool { return i.State(t)&New == 0 })
	return i
}

// tryGet grabs the inode with the number, or makes one if there is none, and says
// which. It returns nil if there is one that cannot be grabbed any more.
func (r *Root) tryGet(t *kernel.Task, number uint64) (i *Inode, fresh bool) {
	r.hash.Lock(t)
	i = r.hash.Load(t, number)
	switch {
	case i == nil:
		i, fresh = newInode(t, r, number), true
		i.hashed = true
		r.hash.Store(t, number, i)
		t.Owe(&r.hashChanged)
	case !i.Grab(t):
		i = nil
	}
	r.hash.Unlock(t)
	return i, fresh
}

// unhash gives the inode's number up and wakes those who wait for it.
func (i *Inode) unhash(t *kernel.Task) {
	if !i.hashed {
		return
	}
	root := i.root
	root.hash.Lock(t)
	root.hash.EraseIf(t, i.number, i)
	root.hash.Unlock(t)
	root.hashChanged.WakeAll(t)
}

// erase takes the inode out of the index. Another inode may have been created
// under the same number meanwhile: only our own entry goes.
func (i *Inode) erase(t *kernel.Task) {
	root := i.root
	root.Inodes.Lock(t)
	root.Inodes.EraseIf(t, i.number, i)
	root.Inodes.Unlock(t)
}

// unhashFirst lets go of the number before the inode leaves the index: for a
// while two inodes may have it. It is what the kernel does.
func unhashFirst(t *kernel.Task, i *Inode) {
	i.unhash(t)
	i.erase(t)
}

// eraseFirst keeps the number until the inode has left the index.
func eraseFirst(t *kernel.Task, i *Inode) {
	i.erase(t)
	i.unhash(t)
}
