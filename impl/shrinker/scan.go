package shrinker

import (
	"benign/impl/evict"
	"benign/impl/extentmap"
	"benign/impl/kernel"
)

// scanInode removes the extent maps of an inode that nobody needs, within the
// budget. The caller holds a reference and has the tree locked for writing, and
// has seen under that lock that there is at least one map. The lock stays held
// throughout.
//
// An fsync holds i_mmap_lock from the moment at which it reads the full-sync
// flag until it has logged the last map, and takes the tree lock inside. Here
// the order is the other way round, so the lock is only tried.
func (s *Shrinker) scanInode(t *kernel.Task, inode *evict.Inode, r *run) {
	tree := &inode.Maps
	visit := Visit{Root: inode.Root(t).Number(), Inode: inode.Number(t)}
	generation := s.mount.Filesystem.Generation.Load(t, kernel.Once)
	if s.steps.lockMmap(t, tree) {
		s.scanTree(t, tree, generation, r, &visit)
		tree.MmapLock.RUnlock(t)
	}
	r.report.Visits = append(r.report.Visits, visit)
}

// scanTree looks at the entries from the first on. That there is one is the
// promise of find-first, and not tested again.
func (s *Shrinker) scanTree(t *kernel.Task, tree *extentmap.Tree, generation uint64, r *run, visit *Visit) {
	e := tree.First(t)
	for more := true; more; {
		mapping, next := e.Mapping, tree.Next(t, e)
		r.report.Scanned++
		visit.Scanned++
		if !s.steps.keep(e) {
			visit.FullSync = s.steps.announce(t, tree, e, generation) || visit.FullSync
			tree.Remove(t, e)
			e.Put(t)
			visit.Dropped = append(visit.Dropped, mapping)
		}
		more = next != nil && !s.enough(t, r) && !tree.Lock.NeedBreak(t)
		e = next
	}
}

// isPinned keeps maps whose write is in flight: nothing on disk says yet what
// they say.
func isPinned(e *extentmap.Entry) bool { return e.Flags.Has(extentmap.Pinned) }

// announceLoss makes sure, before a map goes, that an fsync which would have
// logged it does not rely on the list any more. A map of an older transaction is
// committed: no fsync asks for it. It reports whether there was a need.
func announceLoss(t *kernel.Task, tree *extentmap.Tree, e *extentmap.Entry, generation uint64) bool {
	needed := e.Listed() && e.Generation >= generation
	if needed {
		tree.FullSync.Store(t, kernel.Once, 1)
	}
	return needed
}
