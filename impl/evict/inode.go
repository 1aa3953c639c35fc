package evict

import (
	"benign/impl/extentmap"
	"benign/impl/kernel"
)

// State is a set of flags that say where an inode is in its life. They are
// read and written under i_lock.
type State uint8

const (
	// New is set until the inode's creator has filled it in.
	New State = 1 << iota
	// WillFree is set while an idle inode is written out for the last time,
	// without i_lock.
	WillFree
	// Freeing is set, once and for ever, by the task that tears the inode
	// down.
	Freeing
)

// going are the flags of an inode that nobody may take a new reference to.
const going = WillFree | Freeing

// Inode is one file in memory.
type Inode struct {
	kernel.Object
	// Maps is the cache of where the file's ranges live on disk.
	Maps extentmap.Tree

	root   *Root
	number uint64

	lock   kernel.SpinLock // i_lock
	life   kernel.Region   // state, linked and cached, under lock
	state  State
	linked bool // some directory names it
	cached bool // one reference belongs to the cache (GrabByCount only)
	hashed bool // it is found by its number; set before anybody can see it

	count   kernel.Word[int] // references (i_count)
	delayed kernel.Link[Inode]
}

// Create makes an inode with a name and one reference, which is the caller's,
// and publishes it in the root's index. Its tree of extent maps is complete,
// and empty, before anybody can find it. The caller keeps the root alive. Nobody
// else asks for the number: see [Get].
func Create(t *kernel.Task, root *Root, number uint64) *Inode {
	i := newInode(t, root, number)
	i.publish(t)
	return i
}

// newInode makes an inode that nobody can see yet.
func newInode(t *kernel.Task, root *Root, number uint64) *Inode {
	i := &Inode{root: root, number: number, state: New, linked: true}
	i.Object.Init(t, "inode", i)
	i.Maps.Init(t, &i.Object, root.mount.Filesystem, root.fileTree)
	i.lock.Init(&i.Object, "i_lock")
	i.life.Init(&i.Object, "life")
	i.count.Init(&i.Object, "i_count", 1)
	root.references.Get(t)
	return i
}

// publish puts a new inode into the root's index, and it is new no longer.
func (i *Inode) publish(t *kernel.Task) {
	root := i.root
	root.Inodes.Lock(t)
	root.Inodes.Store(t, i.number, i)
	root.Inodes.Unlock(t)

	i.lock.Lock(t)
	i.life.Write(t)
	i.state &^= New
	i.lock.Unlock(t)
}

// Number returns the inode's number. The inode must be alive.
func (i *Inode) Number(t *kernel.Task) uint64 {
	i.Use(t)
	return i.number
}

// Root returns the root that the inode belongs to. The inode must be alive.
func (i *Inode) Root(t *kernel.Task) *Root {
	i.Use(t)
	return i.root
}

// State returns the flags as they are now.
func (i *Inode) State(t *kernel.Task) State {
	i.lock.Lock(t)
	i.life.Read(t)
	state := i.state
	i.lock.Unlock(t)
	return state
}

// Grab takes a reference unless the inode is going away, and reports whether
// it did (igrab). The caller holds a reference or the lock of the index in
// which it found the inode.
func (i *Inode) Grab(t *kernel.Task) bool { return i.root.mount.counting.grab(t, i) }

// Put drops a reference (iput). The last one evicts the inode if it has no
// name or the filesystem is being unmounted, so the caller must be able to
// sleep, and may not touch the inode afterwards.
func (i *Inode) Put(t *kernel.Task) {
	t.Resched()
	if i.root.mount.counting.put(t, i) {
		i.finish(t)
	}
}

// Unlink takes the inode's name away. The caller holds a reference.
func (i *Inode) Unlink(t *kernel.Task) {
	i.lock.Lock(t)
	i.life.Write(t)
	i.linked = false
	i.lock.Unlock(t)
}

// worthKeeping reports whether the inode stays in memory when nobody refers to
// it. The caller holds i_lock.
func (i *Inode) worthKeeping(t *kernel.Task) bool {
	i.life.Read(t)
	return i.linked && i.root.mount.active.Load(t, kernel.Once) != 0
}
