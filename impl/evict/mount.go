package evict

import (
	"benign/impl/extentmap"
	"benign/impl/kernel"
	"benign/impl/transaction"
)

// GrabMode says how a walker tells an inode that it may take a reference to
// from one that is going away. The zero value is invalid.
type GrabMode uint8

const (
	// GrabByFlags looks at the state flags under i_lock: every inode that is
	// not marked as going can be grabbed, also one that nobody refers to.
	GrabByFlags GrabMode = iota + 1
	// GrabByCount increments the count unless it is zero, without a lock. An
	// idle inode that is worth keeping then has one reference that belongs to
	// the cache, or it could never be grabbed again.
	GrabByCount
)

// String returns the mode in lower case.
func (m GrabMode) String() string {
	switch m {
	case GrabByFlags:
		return "flags"
	case GrabByCount:
		return "count only"
	}
	return "invalid"
}

// Mount is a mounted filesystem: its roots and what its inodes share.
type Mount struct {
	kernel.Object
	// Filesystem is what the extent maps of all inodes share.
	Filesystem *extentmap.Filesystem
	// Roots holds the roots by number, under its own spinning lock.
	Roots kernel.Index[Root]
	// Cleaner drops references for those who must not.
	Cleaner Cleaner
	// Transactions make changes durable; nil in a filesystem that keeps nothing on
	// disk, see [Mount.StartTransactions].
	Transactions *transaction.Manager

	active   kernel.Word[uint8] // 1 until unmount begins (SB_ACTIVE)
	counting counting
	forget   func(*kernel.Task, *Inode) // how an inode leaves the hash and the index
}

// NewMount mounts an empty filesystem whose running transaction is the given
// one. It panics on an invalid mode.
func NewMount(t *kernel.Task, generation uint64, mode GrabMode) *Mount {
	m := &Mount{counting: countingFor(mode), forget: unhashFirst}
	m.Object.Init(t, "mount", m)
	m.Filesystem = extentmap.NewFilesystem(t, generation)
	m.Roots.Init(&m.Object, "roots")
	m.Cleaner.init(&m.Object)
	m.active.Init(&m.Object, "active", 1)
	return m
}

// StartTransactions gives the filesystem a disk with so much room, see
// [transaction.Manager.Reserve]. It is called once, before anything else.
func (m *Mount) StartTransactions(t *kernel.Task, room int) {
	m.Transactions = transaction.NewManager(t, &m.Filesystem.Generation, room)
}

// NextRoot finds the first root whose number is at least from and takes a
// reference to it; root is nil if that root is dying, and found is false if
// there is none.
func (m *Mount) NextRoot(t *kernel.Task, from uint64) (number uint64, root *Root, found bool) {
	m.Roots.Lock(t)
	number, root, found = m.Roots.From(t, from)
	if found && !root.references.GetUnlessZero(t) {
		root = nil
	}
	m.Roots.Unlock(t)
	return number, root, found
}

// Deactivate begins an unmount: from now on an inode whose last reference is
// dropped is evicted, linked or not. Every inode that nobody refers to is
// evicted at once; those in use are left to whoever drops them.
func (m *Mount) Deactivate(t *kernel.Task) {
	m.active.Store(t, kernel.Once, 0)
	for from := uint64(0); ; {
		number, root, found := m.NextRoot(t, from)
		if !found {
			return
		}
		from = number + 1
		if root != nil {
			root.evictIdle(t)
			root.Put(t)
		}
	}
}

// Destroy ends an unmount: the mount lets go of its roots and is freed. A root
// that an inode still refers to stays, and has leaked.
func (m *Mount) Destroy(t *kernel.Task) {
	for from := uint64(0); ; {
		number, root, found := m.NextRoot(t, from)
		if !found {
			break
		}
		from = number + 1
		if root != nil {
			root.Put(t)
			root.Put(t)
		}
	}
	if m.Transactions != nil {
		m.Transactions.Free(t)
	}
	m.Filesystem.Free(t)
	m.Free(t)
}

// Root is one tree of files.
type Root struct {
	kernel.Object
	// Inodes holds the root's inodes by number, under its own spinning lock.
	Inodes kernel.Index[Inode]

	mount      *Mount
	number     uint64
	fileTree   bool
	references kernel.Refcount

	hash        kernel.Index[Inode] // those that Get has made, until they give their number up
	hashChanged kernel.WaitQueue    // one of them is new no longer, or gone
}

// NewRoot adds a root to the mount, which holds the first reference. FileTree
// says whether it holds files, so that its extent maps count as evictable.
func (m *Mount) NewRoot(t *kernel.Task, number uint64, fileTree bool) *Root {
	r := &Root{mount: m, number: number, fileTree: fileTree}
	r.Object.Init(t, "root", r)
	r.Inodes.Init(&r.Object, "inodes")
	r.references.Init(&r.Object, "references", 1)
	r.hash.Init(&r.Object, "hash")
	r.hashChanged.Init(&r.Object, "hash changed")
	m.Roots.Lock(t)
	m.Roots.Store(t, number, r)
	m.Roots.Unlock(t)
	return r
}

// Number returns the root's number.
func (r *Root) Number() uint64 { return r.number }

// FileTree reports whether the root holds files.
func (r *Root) FileTree() bool { return r.fileTree }

// Put drops a reference. The last one takes the root out of the mount and
// frees it.
func (r *Root) Put(t *kernel.Task) {
	if !r.references.Put(t) {
		return
	}
	m := r.mount
	m.Roots.Lock(t)
	m.Roots.EraseIf(t, r.number, r)
	m.Roots.Unlock(t)
	r.Free(t)
}
