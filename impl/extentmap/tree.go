package extentmap

import (
	"errors"

	"benign/impl/kernel"
)

var (
	// ErrExists means that a byte of the range is mapped already.
	ErrExists = errors.New("extentmap: range is mapped already")
	// ErrNotFound means that no entry lies in the range.
	ErrNotFound = errors.New("extentmap: no entry in the range")
	// ErrCorrupt means that the entry in the range is not the one that the
	// caller's own bookkeeping says must be there.
	ErrCorrupt = errors.New("extentmap: unexpected entry in the range")
	// ErrNoMemory means that an allocation failed and nothing was changed.
	ErrNoMemory = errors.New("extentmap: out of memory")
)

// Filesystem is what the trees of all inodes share.
type Filesystem struct {
	kernel.Object
	// Evictable counts the entries in trees of counted inodes. While operations
	// run it may be off by their merges in progress, and even negative.
	Evictable kernel.Word[int64]
	// Generation is the running transaction.
	Generation kernel.Word[uint64]
}

// NewFilesystem returns a filesystem in the given running transaction.
func NewFilesystem(t *kernel.Task, generation uint64) *Filesystem {
	fs := &Filesystem{}
	fs.Object.Init(t, "fs", fs)
	fs.Evictable.InitAtomic(&fs.Object, "evictable", 0)
	fs.Generation.Init(&fs.Object, "generation", generation)
	return fs
}

// Tree is the extent map tree of one inode, with those parts of the inode that
// it has rules about. Embed it in the inode and call Init.
//
// Lock order: InodeLock, MmapLock, Lock. The reverse is only legal as a try.
type Tree struct {
	// Lock protects the entries in the tree, their flags, generations and list
	// links, and the modified list.
	Lock kernel.RWLock
	// MmapLock (i_mmap_lock) keeps page faults, held shared, away from fsync.
	MmapLock kernel.RWSem
	// InodeLock (i_rwsem) keeps writers, truncates and fsyncs apart.
	InodeLock kernel.RWSem
	// FullSync is 1 if the next fsync must not rely on the modified list. It is
	// set with the tree lock held for writing, before the entry that it stands
	// for leaves the list.
	FullSync kernel.Word[uint8]
	// FileSize is the size of the file in bytes (i_size); marked accesses. It is
	// MaxOffset until the owner sets it.
	FileSize kernel.Word[uint64]

	fs       *Filesystem
	counted  bool
	root     kernel.Pointer[Entry] // written under Lock, one store for each change
	modified kernel.List[Entry]    // most recently added first
	contents kernel.Region         // the nodes, the lists, flags and generations
}

// Init makes an empty tree inside of the owner, before anybody else can see it.
// Counted says that the inode belongs to a file tree, so that its entries count
// as evictable.
func (tr *Tree) Init(t *kernel.Task, owner *kernel.Object, fs *Filesystem, counted bool) {
	tr.Lock.Init(owner, "tree lock")
	tr.MmapLock.Init(owner, "mmap lock")
	tr.InodeLock.Init(owner, "inode lock")
	tr.FullSync.Init(owner, "full sync", 0)
	tr.FileSize.Init(owner, "size", MaxOffset)
	tr.root.Init(owner, "root", nil)
	tr.contents.Init(owner, "extent maps")
	tr.modified = kernel.List[Entry]{}
	tr.fs, tr.counted = fs, counted
	tr.contents.Write(t)
}

// EmptyUnlocked reads the root word without the tree lock and reports whether
// it was nil. The answer may be out of date either way. Order says how the read
// is marked and site why the race is harmless where it is called.
func (tr *Tree) EmptyUnlocked(t *kernel.Task, order kernel.Order, site *kernel.RaceSite) bool {
	return tr.root.LoadRacy(t, order, site) == nil
}

// Empty reports whether there is no entry. Needs the lock.
func (tr *Tree) Empty(t *kernel.Task) bool {
	tr.reading(t)
	return tr.root.Load(t, kernel.Once) == nil
}

// First returns the entry with the lowest range, or nil. It takes no reference.
// Needs the lock.
func (tr *Tree) First(t *kernel.Task) *Entry {
	tr.reading(t)
	root := tr.root.Load(t, kernel.Once)
	if root == nil {
		return nil
	}
	return outermost(root, left)
}

// Next returns the entry after e, or nil. It takes no reference. Needs the lock.
func (tr *Tree) Next(t *kernel.Task, e *Entry) *Entry {
	tr.reading(t)
	return neighbour(e, right)
}

// Lookup returns the first entry that maps any byte of [start, start+length),
// with a reference, or nil. Several may; callers check which bytes they got.
// Needs the lock.
//
// Kernel label: btrfs_lookup_extent_mapping.
func (tr *Tree) Lookup(t *kernel.Task, start, length uint64) *Entry {
	e := tr.candidate(t, start)
	if e == nil || !e.Intersects(start, saturatingAdd(start, length)) {
		return nil
	}
	e.Get(t)
	return e
}

// Search returns an entry in or near the place: the one that contains start,
// else the next one, else the one before; nil only if the tree is empty. It
// comes with a reference. Needs the lock.
//
// Kernel label: btrfs_search_extent_mapping.
func (tr *Tree) Search(t *kernel.Task, start uint64) *Entry {
	e := tr.candidate(t, start)
	if e != nil {
		e.Get(t)
	}
	return e
}

// candidate is the entry that lookup and search consider.
func (tr *Tree) candidate(t *kernel.Task, start uint64) *Entry {
	tr.reading(t)
	var before, after *Entry
	for e := tr.root.Load(t, kernel.Once); e != nil; {
		switch {
		case start < e.Start:
			after, e = e, e.child[left]
		case start >= e.End():
			before, e = e, e.child[right]
		default:
			return e
		}
	}
	if after != nil {
		return after
	}
	return before
}

// Insert puts an entry into the tree, which takes a reference of its own. If a
// byte of the range is mapped already it changes nothing and returns ErrExists.
// A modified entry goes to the front of the modified list; any other is merged
// with its neighbours where possible. Needs the write lock.
//
// Kernel label: add_extent_mapping.
func (tr *Tree) Insert(t *kernel.Task, e *Entry, modified bool) error {
	tr.writing(t)
	t.Assert(e.tree == nil && !e.list.Linked(), "%s is inserted, but is in a tree or on a list", e.Name())
	var parent *Entry
	at := left
	for below := tr.root.Load(t, kernel.Once); below != nil; below = parent.child[at] {
		switch parent = below; {
		case e.End() <= below.Start:
			at = left
		case e.Start >= below.End():
			at = right
		default:
			return ErrExists
		}
	}
	var s surgery
	s.link(e, parent, at)
	tr.enter(t, e)
	tr.publish(t, &s)
	tr.listOrMerge(t, e, modified)
	tr.count(t, +1)
	return nil
}

// Remove takes an entry out of the tree and off its list. The tree's reference
// is left to the caller, who must drop it. The link of an entry that is being
// logged belongs to the fsync and stays. Needs the write lock.
//
// Kernel label: remove_extent_mapping.
func (tr *Tree) Remove(t *kernel.Task, e *Entry) {
	tr.writing(t)
	tr.leaving(t, e)
	tr.erase(t, e)
}

// Replace puts an entry into the place of another one, whose range it must not
// exceed into a neighbour's. The number of entries stays the same, unless the
// new one merges. The tree's reference on the old one is left to the caller.
// Needs the write lock.
//
// Kernel label: replace_extent_mapping.
func (tr *Tree) Replace(t *kernel.Task, old, e *Entry, modified bool) {
	tr.writing(t)
	t.Assert(e.tree == nil && !e.list.Linked(), "%s is inserted, but is in a tree or on a list", e.Name())
	tr.leaving(t, old)
	var s surgery
	s.replace(old, e)
	tr.exit(t, old)
	tr.enter(t, e)
	tr.publish(t, &s)
	tr.listOrMerge(t, e, modified)
}

// leaving is what remove and replace do before an entry goes.
func (tr *Tree) leaving(t *kernel.Task, e *Entry) {
	t.Assert(e.tree == tr, "%s is taken out of a tree that it is not in", e.Name())
	t.Assert(!e.Flags.Has(Pinned), "%s is taken out of the tree while it is pinned", e.Name())
	if !e.Flags.Has(Logging) {
		e.list.Unlink()
	}
}

// erase takes an entry out of the search tree.
func (tr *Tree) erase(t *kernel.Task, e *Entry) {
	var s surgery
	s.erase(e)
	tr.exit(t, e)
	tr.publish(t, &s)
	tr.count(t, -1)
}

// enter gives the tree its reference on an entry that has just been linked.
func (tr *Tree) enter(t *kernel.Task, e *Entry) {
	tr.wellFormed(t, e)
	e.Get(t)
	e.tree = tr
	e.current.Store(t, kernel.Once, 1)
}

// exit marks an entry that is not linked any more.
func (tr *Tree) exit(t *kernel.Task, e *Entry) {
	e.tree = nil
	e.current.Store(t, kernel.Once, 0)
}

// publish installs the root that a finished change of the tree has given it,
// with the one store that readers without the lock can see.
func (tr *Tree) publish(t *kernel.Task, s *surgery) {
	if s.rootMoved {
		tr.root.Store(t, kernel.Once, s.root)
	}
}

func (tr *Tree) listOrMerge(t *kernel.Task, e *Entry, modified bool) {
	if modified {
		tr.modified.PushFront(&e.list, e)
	} else {
		tr.tryMerge(t, e)
	}
}

func (tr *Tree) count(t *kernel.Task, delta int64) {
	if tr.counted {
		tr.fs.Evictable.Add(t, kernel.Once, delta)
	}
}

func (tr *Tree) wellFormed(t *kernel.Task, e *Entry) {
	if err := e.WellFormed(); err != nil {
		t.Violate(kernel.Assertion, "%s is not well-formed: %v: %v", e.Name(), err, e.Mapping)
	}
}

// reading is the beginning of everything that needs the lock in any mode.
func (tr *Tree) reading(t *kernel.Task) {
	if !tr.Lock.HeldSharedBy(t) {
		t.Violate(kernel.MissingLock, "%s is read without its lock", tr.contents.Name())
	}
	tr.contents.Read(t)
}

// writing is the beginning of everything that needs the lock for writing.
func (tr *Tree) writing(t *kernel.Task) {
	if !tr.Lock.HeldBy(t) {
		t.Violate(kernel.MissingLock, "%s is written without its lock", tr.contents.Name())
	}
	tr.contents.Write(t)
}
