package extentmap

import "benign/impl/kernel"

// Unpin records that the write of an entry has completed in the given
// transaction. The entry must be the first one in [start, start+length) and
// begin at start: there is ErrNotFound if there is none, ErrCorrupt if it
// begins elsewhere. If no fsync has to log it any more it may merge.
//
// Kernel label: btrfs_unpin_extent_cache.
func (tr *Tree) Unpin(t *kernel.Task, start, length, generation uint64) error {
	tr.Lock.Lock(t)
	err := tr.unpin(t, start, length, generation)
	tr.Lock.Unlock(t)
	return err
}

func (tr *Tree) unpin(t *kernel.Task, start, length, generation uint64) (err error) {
	tr.writing(t)
	e := tr.Lookup(t, start, length)
	if e == nil {
		return ErrNotFound
	}
	if e.Start == start {
		e.Generation = generation
		e.Flags &^= Pinned
		tr.tryMerge(t, e)
	} else {
		err = ErrCorrupt
	}
	e.Put(t)
	return err
}

// SplitForOrdered cuts an entry in two because its write is cut in two: the
// first pre bytes go to newLogical on disk, the rest stays where it is. The
// entry must have exactly the given range, be pinned, on the modified list,
// uncompressed and not being logged; otherwise nothing changes and the error is
// ErrNotFound or ErrCorrupt. Without memory for the halves it is ErrNoMemory.
// The caller holds the file range locked.
//
// Kernel label: btrfs_split_extent_map.
func (tr *Tree) SplitForOrdered(t *kernel.Task, start, length, pre, newLogical uint64) error {
	t.Assert(0 < pre && pre < length, "a range of %#x bytes cannot be split after %#x", length, pre)
	halves := allocateSpares(t)
	err := ErrNoMemory
	if len(halves) == 2 {
		tr.Lock.Lock(t)
		err = tr.split(t, start, length, pre, newLogical, &halves)
		tr.Lock.Unlock(t)
	}
	halves.free(t)
	return err
}

func (tr *Tree) split(t *kernel.Task, start, length, pre, newLogical uint64, halves *spares) error {
	tr.writing(t)
	e := tr.Lookup(t, start, length)
	if e == nil {
		return ErrNotFound
	}
	old := e.Mapping
	if old.Start != start || old.Len != length || !tr.splittable(e) {
		e.Put(t)
		return ErrCorrupt
	}
	half := func(start, length, disk uint64) *Entry {
		return halves.take(Mapping{
			Start: start, Len: length,
			DiskBytenr: disk, DiskNumBytes: length, RAMBytes: length,
			Generation: old.Generation, Flags: old.Flags,
		})
	}
	first := half(start, pre, newLogical)
	second := half(start+pre, length-pre, old.BlockStart()+pre)

	e.Flags &^= Pinned
	tr.Replace(t, e, first, true)
	err := tr.Insert(t, second, true)
	t.Assert(err == nil, "no room for the second half of %s: %v", e.Name(), err)
	first.Put(t)
	second.Put(t)
	e.Put(t) // the tree's
	e.Put(t) // the lookup's
	return nil
}

func (tr *Tree) splittable(e *Entry) bool {
	return e.Flags.Has(Pinned) && !e.Flags.Has(Logging) && !e.Flags.Compressed() &&
		e.Real() && e.list.On(&tr.modified)
}
