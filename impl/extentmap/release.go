package extentmap

import "benign/impl/kernel"

// RangeLocked reports whether any byte of [start, end) of the file is locked for
// IO. It is called with the tree lock held and may take spinning locks that nest
// inside. Nil stands for "nothing is locked".
type RangeLocked func(t *kernel.Task, start, end uint64) bool

// ReleaseFolio lets go of the entries that map [start, start+length), a folio
// that memory pressure wants to drop, and returns how many went. Each entry has
// a critical section of its own. The walk ends at an entry that is pinned or
// does not begin where the previous one ended.
//
// Kernel label: try_release_extent_mapping.
func (tr *Tree) ReleaseFolio(t *kernel.Task, start, length uint64, locked RangeLocked) (removed int) {
	end := saturatingAdd(start, length)
	for start < end {
		tr.Lock.Lock(t)
		next, went := tr.releaseFirst(t, start, end, locked)
		tr.Lock.Unlock(t)
		if next == start {
			break
		}
		if went {
			removed++
		}
		start = next
		t.Resched()
	}
	return removed
}

// releaseFirst deals with the entry at start and returns where the walk goes
// on; next == start ends it.
func (tr *Tree) releaseFirst(t *kernel.Task, start, end uint64, locked RangeLocked) (next uint64, removed bool) {
	tr.writing(t)
	e := tr.Lookup(t, start, end-start)
	if e == nil {
		return start, false
	}
	next = start
	if e.Start == start && !e.Flags.Has(Pinned) {
		next = e.End()
		busy := locked != nil && locked(t, e.Start, e.End())
		if removed = !busy && !tr.neededByFsync(t, e); removed {
			tr.Remove(t, e)
			e.Put(t) // the tree's
		}
	}
	e.Put(t) // the lookup's
	return next, removed
}

// neededByFsync reports whether a fast fsync that has not begun to collect
// would miss the entry: it is on the modified list and its transaction may
// still be the running one.
func (tr *Tree) neededByFsync(t *kernel.Task, e *Entry) bool {
	return e.list.Linked() && !e.Flags.Has(Logging) && e.Generation >= tr.fs.Generation.Load(t, kernel.Once)
}
