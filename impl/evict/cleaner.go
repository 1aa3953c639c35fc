package evict

import "benign/impl/kernel"

// Cleaner is the list of inode references that wait to be dropped by a thread
// that may sleep and evict (delayed iput). A reference on the list keeps its
// inode alive; an inode is on the list at most once, because only the holder
// of the last reference puts it there.
type Cleaner struct {
	lock   kernel.SpinLock
	region kernel.Region // inodes and the links on it, under lock
	inodes kernel.List[Inode]
}

func (c *Cleaner) init(owner *kernel.Object) {
	c.lock.Init(owner, "cleaner lock")
	c.region.Init(owner, "cleaner")
}

// Put drops a reference without ever evicting: if it may be the last one, the
// cleaner gets it.
func (c *Cleaner) Put(t *kernel.Task, inode *Inode) {
	if inode.root.mount.counting.putUnlessLast(t, inode) {
		return
	}
	c.lock.Lock(t)
	c.region.Write(t)
	c.inodes.PushBack(&inode.delayed, inode)
	c.lock.Unlock(t)
}

// Run drops every reference on the list and returns how many those were. It
// may sleep and evict.
func (c *Cleaner) Run(t *kernel.Task) (dropped int) {
	for inode := c.take(t); inode != nil; inode = c.take(t) {
		inode.Put(t)
		dropped++
	}
	return dropped
}

// take removes the first inode from the list and hands its reference over.
func (c *Cleaner) take(t *kernel.Task) *Inode {
	c.lock.Lock(t)
	c.region.Write(t)
	inode := c.inodes.Front()
	if inode != nil {
		inode.delayed.Unlink()
	}
	c.lock.Unlock(t)
	return inode
}
