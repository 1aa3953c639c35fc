package extentmap

import "benign/impl/kernel"

// Entry is one mapping in a tree, or on its way in or out.
//
// The tree holds one reference on each of its entries; every other holder has
// its own. The range and disk fields (Start, Len, DiskBytenr, DiskNumBytes,
// Offset, RAMBytes) may be read under the tree lock or, through [Entry.Stable],
// by whoever holds a reference. Generation, Flags and list membership may only
// be read under the lock.
type Entry struct {
	kernel.Object
	Mapping

	node                       // place in the red-black tree
	tree    *Tree              // the tree it is in, or nil; needs the tree lock
	list    kernel.Link[Entry] // on the modified list, a fast fsync's private list, or none
	refs    kernel.Refcount
	current kernel.Word[uint8] // 1 iff tree is set, for readers without the lock
	stable  kernel.Region      // the range and disk fields
}

// New returns an entry that is in no tree, with one reference, the caller's.
//
// Kernel label: alloc_extent_map.
func New(t *kernel.Task, m Mapping) *Entry {
	e := &Entry{Mapping: m}
	e.Object.Init(t, "extent map", e)
	e.refs.Init(&e.Object, "references", 1)
	e.current.Init(&e.Object, "in tree", 0)
	e.stable.Init(&e.Object, "range")
	return e
}

// Get takes another reference. The caller holds one already, or the tree lock
// while the entry is in the tree.
func (e *Entry) Get(t *kernel.Task) { e.refs.Get(t) }

// Put drops a reference; the last one frees the entry, which must be out of the
// tree and on no list by then.
//
// Kernel label: free_extent_map.
func (e *Entry) Put(t *kernel.Task) {
	if !e.refs.Put(t) {
		return
	}
	t.Assert(e.tree == nil, "%s is freed while it is in the tree", e.Name())
	t.Assert(!e.list.Linked(), "%s is freed while it is on a list", e.Name())
	e.Object.Free(t)
}

// Stable returns the range and disk fields to the holder of a reference, which
// needs no lock. Generation and Flags are not stable and left zero.
func (e *Entry) Stable(t *kernel.Task) Mapping {
	e.Use(t)
	e.stable.Read(t)
	return Mapping{
		Start: e.Start, Len: e.Len,
		DiskBytenr: e.DiskBytenr, DiskNumBytes: e.DiskNumBytes,
		Offset: e.Offset, RAMBytes: e.RAMBytes,
	}
}

// InTreeUnlocked reports, to a holder of a reference without the lock, whether
// the entry was in its tree a moment ago. It is a hint: the answer may be old.
func (e *Entry) InTreeUnlocked(t *kernel.Task, order kernel.Order, site *kernel.RaceSite) bool {
	return e.current.LoadRacy(t, order, site) != 0
}

// Listed reports whether the entry is on any list: the modified list, or the
// private list of a running fast fsync. Needs the tree lock.
func (e *Entry) Listed() bool { return e.list.Linked() }
