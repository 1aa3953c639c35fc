package extentmap

import "benign/impl/kernel"

// InsertOrAdopt caches a mapping that was built from the on-disk item and
// contains start, and returns the entry that maps start from now on, with a
// reference. If somebody else was faster, that is the entry that they have
// inserted or, where theirs do not contain start, as much of m as fits between
// them.
//
// Kernel label: btrfs_add_extent_mapping.
func (tr *Tree) InsertOrAdopt(t *kernel.Task, m Mapping, start uint64) *Entry {
	t.Assert(m.Contains(start), "%v is cached for %#x, which it does not contain", m, start)
	e := New(t, m)
	tr.Lock.Lock(t)
	adopted := tr.insertOrAdopt(t, e, start)
	tr.Lock.Unlock(t)
	if adopted != e {
		e.Put(t)
	}
	return adopted
}

func (tr *Tree) insertOrAdopt(t *kernel.Task, e *Entry, start uint64) *Entry {
	if tr.Insert(t, e, false) == nil {
		return e
	}
	found := tr.Search(t, start)
	if found.Contains(start) {
		return found
	}
	e.Mapping = e.trimmed(gap(found, start))
	err := tr.Insert(t, e, false)
	t.Assert(err == nil, "no room around %#x: %v", start, err)
	found.Put(t)
	return e
}

// gap returns the unmapped range around start, given an entry next to it.
func gap(near *Entry, start uint64) (from, to uint64) {
	before, after := near, neighbour(near, right)
	if near.Start > start {
		before, after = neighbour(near, left), near
	}
	to = MaxOffset
	if before != nil {
		from = before.End()
	}
	if after != nil {
		to = after.Start
	}
	return from, to
}
