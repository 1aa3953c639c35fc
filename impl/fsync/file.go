package fsync

import (
	"errors"
	"fmt"
	"slices"

	"benign/impl/extentmap"
	"benign/impl/kernel"
)

// transaction is the running transaction.
const transaction = 7

// File is an inode with its pages, its part of the index, and the disk.
type File struct {
	kernel.Object
	// Maps is its extent map tree, which has the locks that everybody shares.
	Maps extentmap.Tree

	fs *extentmap.Filesystem
	// writeFailed is 1 from a failed write until an fsync has waited for all
	// completions (BTRFS_INODE_COW_WRITE_ERROR).
	writeFailed kernel.Word[uint8]

	// lock protects what follows. It is held for moments only, and stands for
	// the locks of the page cache, of the ordered extents, and of the index.
	lock    kernel.SpinLock
	state   kernel.Region
	dirty   []extentmap.Mapping // pages that the disk does not have, and where they will go
	ordered []*ordered          // writes that have not completed
	items   []extentmap.Mapping // the index of the running transaction
	disk    extentmap.Disk
}

// NewFile returns a file that consists of the given committed items, with
// nothing cached. It runs before the tasks.
func NewFile(t *kernel.Task, committed ...extentmap.Mapping) *File {
	f := &File{fs: extentmap.NewFilesystem(t, transaction)}
	f.Object.Init(t, "file", f)
	f.Maps.Init(t, &f.Object, f.fs, true)
	f.writeFailed.Init(&f.Object, "write failed", 0)
	f.lock.Init(&f.Object, "file lock")
	f.state.Init(&f.Object, "pages and items")
	for _, m := range committed {
		f.items = extentmap.Overlay(f.items, m)
		f.disk.Commit(m)
	}
	return f
}

// Written is a write of the running transaction that has completed, and that no
// fsync has seen. It runs before the tasks.
func (f *File) Written(t *kernel.Task, m extentmap.Mapping) {
	f.Maps.ReplaceRange(t, m, true)
	f.with(t, func() {
		f.items = extentmap.Overlay(f.items, m)
		f.disk.Write(m)
		f.disk.Store(m)
	})
}

// with runs a function under the file's lock.
func (f *File) with(t *kernel.Task, do func()) {
	f.lock.Lock(t)
	f.state.Write(t)
	do()
	f.lock.Unlock(t)
}

// Check returns what is wrong when nothing runs any more: with the tree, with
// what a crash would leave now, or with what one would leave after one more
// fsync.
func (f *File) Check(t *kernel.Task) error {
	f.settle(t)
	faults := []error{f.Maps.CheckAtRest(t)}
	if evictable, entries := f.fs.Evictable.Load(t, kernel.Once), len(f.Maps.Snapshot(t)); evictable != int64(entries) {
		faults = append(faults, fmt.Errorf("%d extent maps are evictable, but there are %d", evictable, entries))
	}
	toLog := f.Maps.Modified(t)
	if f.Maps.FullSync.Load(t, kernel.Once) != 0 {
		toLog = f.items
	}
	return errors.Join(append(faults, f.disk.Check(), f.disk.CheckNext(f.dirty, slices.Concat(toLog, f.dirty)))...)
}

// AfterCrash describes what a crash would leave now.
func (f *File) AfterCrash(t *kernel.Task) string {
	f.settle(t)
	return f.disk.Describe()
}

// Free frees the file, which nobody uses any more.
func (f *File) Free(t *kernel.Task) {
	f.settle(t)
	f.Maps.DropAll(t)
	f.Object.Free(t)
	f.fs.Free(t)
}

// settle waits for completions, which natively may still run when those who
// wrote have ended.
func (f *File) settle(t *kernel.Task) {
	for _, o := range f.inFlight(t) {
		o.done.Wait(t)
		o.put(t)
	}
}
