package extentmap

import (
	"cmp"
	"slices"

	"benign/impl/kernel"
)

// maxLogged is how many entries a fast fsync is willing to log; with more, a
// commit of the transaction is cheaper.
const maxLogged = 32768

// FastSync makes the file durable in the log of the running transaction,
// transid. Data was written back before: the caller starts that.
//
// The ordinary way is to log the entries of the modified list, and nothing but
// them; they are returned in file order. The long way, full, is taken when the
// full-sync flag is set, or when there are too many: everything is then made
// durable without the help of the list, from the on-disk index or by a commit of
// the transaction, and nothing is returned.
//
// Both sleeping locks are held exclusively from before the flag is read until
// the last entry is logged, so that nobody can take an entry away unseen by
// setting the flag too late.
func (tr *Tree) FastSync(t *kernel.Task, transid uint64) (logged []Mapping, full bool) {
	tr.InodeLock.Lock(t)
	tr.MmapLock.Lock(t)
	logged, full = tr.FastSyncLocked(t, transid)
	tr.MmapLock.Unlock(t)
	tr.InodeLock.Unlock(t)
	return logged, full
}

// FastSyncLocked is [Tree.FastSync] for a caller that holds both sleeping locks
// exclusively, and so can tell what was written before from what comes after.
func (tr *Tree) FastSyncLocked(t *kernel.Task, transid uint64) (logged []Mapping, full bool) {
	if !tr.InodeLock.HeldBy(t) || !tr.MmapLock.HeldBy(t) {
		t.Violate(kernel.MissingLock, "%s is logged without its sleeping locks", tr.contents.Name())
	}
	if full = tr.FullSync.Load(t, kernel.Once) != 0; full {
		tr.ForgetModified(t)
	} else {
		logged, full = tr.LogModified(t, transid)
	}
	return logged, full
}

// ForgetModified empties the modified list for a full fsync, which answers the
// full-sync flag. It merges nothing. The caller is an fsync and holds both
// sleeping locks.
func (tr *Tree) ForgetModified(t *kernel.Task) {
	tr.Lock.Lock(t)
	tr.writing(t)
	for e := range tr.modified.All() {
		e.list.Unlink()
	}
	tr.FullSync.Store(t, kernel.Once, 0)
	tr.Lock.Unlock(t)
}

// LogModified logs the modified list and returns what it has logged. It reports
// gaveUp if there is too much to log; then the long way is left. The caller is an
// fsync and holds both sleeping locks.
func (tr *Tree) LogModified(t *kernel.Task, transid uint64) (logged []Mapping, gaveUp bool) {
	var private kernel.List[Entry]
	tr.Lock.Lock(t)
	gaveUp = !tr.collect(t, transid, &private)
	for e := tr.takeFirst(t, &private); e != nil; e = tr.takeFirst(t, &private) {
		if !gaveUp {
			m := e.Mapping
			tr.Lock.Unlock(t)
			logged = append(logged, e.writeToLog(t, m))
			tr.Lock.Lock(t)
		}
		tr.ClearLogging(t, e)
		e.Put(t)
	}
	tr.Lock.Unlock(t)
	return logged, gaveUp
}

// collect moves those entries from the modified list to the private one that
// have to be logged, in file order, with a reference and the Logging flag. What
// an older transaction made is on disk, and preallocated space behind the end
// of the file holds nothing: both are forgotten. It reports false if there are
// too many; the rest is then left where it is.
func (tr *Tree) collect(t *kernel.Task, transid uint64, private *kernel.List[Entry]) bool {
	tr.writing(t)
	var wanted []*Entry
	complete := true
	for e := range tr.modified.All() {
		behindEnd := e.Flags.Has(Prealloc) && e.Start >= tr.FileSize.Load(t, kernel.Once)
		if e.Generation < transid || behindEnd {
			e.list.Unlink()
			continue
		}
		if complete = len(wanted) < maxLogged; !complete {
			break
		}
		e.list.Unlink()
		e.Get(t)
		e.Flags |= Logging
		wanted = append(wanted, e)
	}
	slices.SortFunc(wanted, func(a, b *Entry) int { return cmp.Compare(a.Start, b.Start) })
	for _, e := range wanted {
		private.PushBack(&e.list, e)
	}
	return complete
}

// takeFirst unlinks the first entry of the private list and returns it, or nil.
// The list may have become shorter while the lock was dropped.
func (tr *Tree) takeFirst(t *kernel.Task, private *kernel.List[Entry]) *Entry {
	tr.writing(t)
	e := private.Front()
	if e != nil {
		e.list.Unlink()
	}
	return e
}

// writeToLog copies an entry into the log, which sleeps; so the tree lock is
// not held, and what keeps the entry as it is are the reference and the Logging
// flag. Flags and generation are not stable without the lock, so they are those
// of when the entry was taken. It returns what was written.
func (e *Entry) writeToLog(t *kernel.Task, taken Mapping) Mapping {
	t.Resched()
	item := e.Stable(t)
	item.Generation = taken.Generation
	item.Flags = taken.Flags &^ Logging
	return item
}

// ClearLogging ends the logging of an entry and merges it, if it is still in
// the tree, where possible. The caller holds a reference. Needs the write lock.
//
// Kernel label: clear_em_logging.
func (tr *Tree) ClearLogging(t *kernel.Task, e *Entry) {
	tr.writing(t)
	e.Flags &^= Logging
	if e.tree == tr {
		tr.tryMerge(t, e)
	}
}
