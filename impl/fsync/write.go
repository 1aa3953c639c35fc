package fsync

import (
	"slices"

	"benign/impl/extentmap"
	"benign/impl/kernel"
)

// ordered is an ordered extent: a write from when it is submitted until its
// completion has run.
type ordered struct {
	kernel.Object
	extentmap.Mapping
	direct  bool // past the pages: its user waits, and may be told that it has failed
	refs    kernel.Refcount
	written kernel.Completion // the data is on disk, or never will be
	failed  bool              // it never will be; stable once written is complete
	done    kernel.Completion // the completion has run
}

// newOrdered returns a write that is about to be submitted, with a reference for
// the file's list, which it is put on, and one for the caller. The caller holds
// the file's lock.
func (f *File) newOrdered(t *kernel.Task, m extentmap.Mapping, direct bool) *ordered {
	o := &ordered{Mapping: m, direct: direct}
	o.Object.Init(t, "ordered extent", o)
	o.refs.Init(&o.Object, "references", 2)
	o.written.Init(&o.Object, "written")
	o.done.Init(&o.Object, "done")
	f.ordered = append(f.ordered, o)
	return o
}

func (o *ordered) put(t *kernel.Task) {
	if o.refs.Put(t) {
		o.Object.Free(t)
	}
}

// inFlight returns all writes that have not completed, with a reference each.
func (f *File) inFlight(t *kernel.Task) (all []*ordered) {
	f.with(t, func() {
		for _, o := range f.ordered {
			o.refs.Get(t)
			all = append(all, o)
		}
	})
	return all
}

// Write writes to pages. Their data will go where the mapping says.
func (f *File) Write(t *kernel.Task, m extentmap.Mapping) {
	f.Maps.InodeLock.Lock(t)
	f.dirtyPages(t, m)
	f.Maps.InodeLock.Unlock(t)
}

// MmapWrite writes to pages that are mapped into memory. The page fault that
// makes them writable knows nothing of the inode lock; holding the other one
// keeps it out of an fsync.
func (f *File) MmapWrite(t *kernel.Task, m extentmap.Mapping) {
	f.Maps.MmapLock.RLock(t)
	f.dirtyPages(t, m)
	f.Maps.MmapLock.RUnlock(t)
}

func (f *File) dirtyPages(t *kernel.Task, m extentmap.Mapping) {
	f.with(t, func() {
		f.dirty = extentmap.Overlay(f.dirty, m)
		f.disk.Write(m)
	})
}

// Writeback brings every dirty page to disk. A page that another task is writing
// back is dirty no more: whoever needs its data on disk waits for it.
func (f *File) Writeback(t *kernel.Task) {
	var mine []*ordered
	f.with(t, func() {
		for _, m := range f.dirty {
			mine = append(mine, f.newOrdered(t, m, false))
		}
		f.dirty = nil
	})
	for _, o := range mine {
		f.submit(t, o, false)
	}
}

// DirectWrite writes past the pages, and reports whether that succeeded. With
// mayFail, the disk may refuse.
func (f *File) DirectWrite(t *kernel.Task, m extentmap.Mapping, mayFail bool) (ok bool) {
	f.Maps.InodeLock.Lock(t)
	var o *ordered
	f.with(t, func() { o = f.newOrdered(t, m, true) })
	ok = f.submit(t, o, mayFail)
	f.Maps.InodeLock.Unlock(t)
	return ok
}

// submit maps the range anew, writes the data, and queues the completion. It
// drops the caller's reference on the write.
func (f *File) submit(t *kernel.Task, o *ordered, mayFail bool) (ok bool) {
	pinned := o.Mapping
	pinned.Generation, pinned.Flags = extentmap.InFlight, pinned.Flags|extentmap.Pinned
	f.Maps.ReplaceRange(t, pinned, true)

	// The end of IO. That a write has failed is known before it is known to be over.
	ok = !mayFail || t.Choose("the disk refuses", 2) == 0
	if ok {
		f.with(t, func() {
			if f.disk.Store(o.Mapping); o.direct {
				f.disk.Write(o.Mapping)
			}
		})
	} else {
		o.failed = true
		f.writeFailed.Store(t, kernel.Once, 1)
	}
	o.written.CompleteAll(t)
	t.Go("completion", func(t *kernel.Task) { f.complete(t, o) })
	return ok
}

// complete runs after the end of IO. Only now the write has an item in the
// index, or its extent map goes.
func (f *File) complete(t *kernel.Task, o *ordered) {
	if o.failed {
		f.Maps.DropRange(t, o.Start, o.End()-1, false)
	} else {
		f.with(t, func() { f.items = extentmap.Overlay(f.items, o.Mapping) })
		err := f.Maps.Unpin(t, o.Start, o.Len, transaction)
		t.Assert(err == nil, "%v is unpinned: %v", o.Mapping, err)
	}
	f.with(t, func() {
		f.ordered = slices.DeleteFunc(f.ordered, func(other *ordered) bool { return other == o })
	})
	o.done.CompleteAll(t)
	o.put(t) // the list's
	o.put(t) // the submitter's
}
