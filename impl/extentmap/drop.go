package extentmap

import "benign/impl/kernel"

// spares are entries that were allocated before the tree lock was taken, since
// an allocation may sleep. Cutting a hole into an entry leaves two pieces.
type spares []*Entry

func allocateSpares(t *kernel.Task) spares {
	var s spares
	for range 2 {
		if !t.AllocationFails("spare") {
			s = append(s, New(t, Mapping{}))
		}
	}
	return s
}

// take returns a spare that says what m says, or nil if none is left.
func (s *spares) take(m Mapping) *Entry {
	if len(*s) == 0 {
		return nil
	}
	e := (*s)[0]
	*s = (*s)[1:]
	e.Mapping = m
	return e
}

// free frees what was not needed, which nobody else has ever seen.
func (s spares) free(t *kernel.Task) {
	for _, e := range s {
		e.Object.Free(t)
	}
}

// DropRange unmaps the bytes from start to end, end included. An entry that
// reaches out of the range is cut, and its remaining pieces take its place on
// the modified list, if it was on a list. When there is no memory for a piece,
// the whole entry goes; if an fsync would have logged it, the full-sync flag is
// set. SkipPinned leaves entries alone whose write is in flight. The caller
// holds the file range locked, and no lock of the tree.
//
// Kernel label: btrfs_drop_extent_map_range.
func (tr *Tree) DropRange(t *kernel.Task, start, end uint64, skipPinned bool) {
	t.Assert(start <= end, "the range to drop ends at %#x before its start %#x", end, start)
	if start == 0 && end == MaxOffset && !skipPinned {
		tr.DropAll(t)
		return
	}
	spare := allocateSpares(t)
	from, to := start, saturatingAdd(end, 1)
	tr.Lock.Lock(t)
	for e := tr.Lookup(t, from, to-from); e != nil; {
		next := tr.nextBefore(t, e, to)
		if skipPinned && e.Flags.Has(Pinned) {
			// Only the start moves. The end must stay what was asked for.
			from = e.End()
		} else {
			tr.cut(t, e, from, to, &spare)
		}
		e.Put(t)
		e = next
	}
	tr.Lock.Unlock(t)
	spare.free(t)
}

// nextBefore returns the entry after e if it starts before the end of the range,
// with a reference that keeps it while e is dealt with. An entry that reaches
// the end of the range itself has no such successor.
func (tr *Tree) nextBefore(t *kernel.Task, e *Entry, end uint64) *Entry {
	if e.End() >= end {
		return nil
	}
	next := tr.Next(t, e)
	if next == nil || next.Start >= end {
		return nil
	}
	next.Get(t)
	return next
}

// cut unmaps that part of an entry that lies in [from, to) and drops the tree's
// reference on it. The pieces inherit every flag but Logging, which stays with
// the entry, because an fsync that has it on its private list goes on to log it.
//
// There is a gap here on purpose, which the described kernel code has as well:
// when the entry is on a list, reaches out on both sides, and there is memory
// for the left piece only, then the right piece is lost and the full-sync flag
// is not set, because the entry is not in the tree any more at the end.
func (tr *Tree) cut(t *kernel.Task, e *Entry, from, to uint64, spare *spares) {
	tr.writing(t)
	original, listed := e.Mapping, e.list.Linked()
	e.Flags &^= Pinned

	pieces := make([]Mapping, 0, 2)
	if original.Start < from {
		pieces = append(pieces, original.piece(original.Start, from))
	}
	if original.End() > to {
		pieces = append(pieces, original.piece(to, original.End()))
	}
	for _, m := range pieces {
		piece := spare.take(m)
		if piece == nil {
			break
		}
		if e.tree == tr {
			tr.Replace(t, e, piece, listed)
		} else {
			err := tr.Insert(t, piece, listed)
			t.Assert(err == nil, "no room for what is left of %s: %v", e.Name(), err)
		}
		piece.Put(t)
	}
	if e.tree == tr {
		if len(pieces) > 0 && listed {
			tr.FullSync.Store(t, kernel.Once, 1)
		}
		tr.Remove(t, e)
	}
	e.Put(t)
}

// DropAll empties the tree. It lets go of the lock between two entries if
// somebody waits for it, and ends when it sees the tree empty under the lock.
// No fsync of the inode may run: entries are taken off its private list too.
//
// Kernel label: drop_all_extent_maps_fast.
func (tr *Tree) DropAll(t *kernel.Task) {
	tr.Lock.Lock(t)
	for e := tr.First(t); e != nil; e = tr.First(t) {
		tr.writing(t)
		e.Flags &^= Pinned | Logging
		tr.Remove(t, e)
		e.Put(t)
		if tr.Lock.NeedBreak(t) {
			tr.Lock.Unlock(t)
			t.Resched()
			tr.Lock.Lock(t)
		}
	}
	tr.Lock.Unlock(t)
}

// ReplaceRange maps a range anew, whatever is mapped there. Dropping the old
// entries and inserting the new one are two critical sections; in between the
// tree can be seen without any entry of the range. If somebody else fills it in
// that moment, both are done again.
//
// Kernel label: btrfs_replace_extent_map_range.
func (tr *Tree) ReplaceRange(t *kernel.Task, m Mapping, modified bool) {
	e := New(t, m)
	for inserted := false; !inserted; {
		tr.DropRange(t, m.Start, m.End()-1, false)
		tr.Lock.Lock(t)
		inserted = tr.Insert(t, e, modified) == nil
		tr.Lock.Unlock(t)
	}
	e.Put(t)
}
