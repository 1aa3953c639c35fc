package shrinker

import (
	"benign/impl/evict"
	"benign/impl/extentmap"
	"benign/impl/kernel"
)

// findFirst returns the first inode of the root, from a number on, that has
// extent maps and is neither busy nor going away, or nil. The inode comes with
// a reference and with its tree locked for writing.
//
// Until the inode is grabbed, nothing but the lock of the index keeps its
// memory. That lock is wanted by whoever creates or deletes an inode, so it is
// never waited under: a busy tree is skipped, and somebody is about to use its
// maps anyway.
func (s *Shrinker) findFirst(t *kernel.Task, root *evict.Root, from uint64) *evict.Inode {
	root.Inodes.Lock(t)
	_, inode, found := root.Inodes.From(t, from)
	for found && !s.claim(t, inode) {
		_, inode, found = root.Inodes.From(t, s.steps.next(t, root, inode))
	}
	root.Inodes.Unlock(t)
	return inode
}

// claim locks the inode's tree and takes a reference, or does neither and
// reports false.
func (s *Shrinker) claim(t *kernel.Task, inode *evict.Inode) bool {
	tree := &inode.Maps
	if s.steps.looksEmpty(t, tree) || !s.steps.lockTree(t, tree) {
		return false
	}
	if !s.steps.isEmpty(t, tree) && s.steps.grab(t, inode) {
		return true
	}
	tree.Lock.Unlock(t)
	return false
}

// nextAfter returns the number at which the walk goes on after an inode. On the
// way it lets go of the index for a moment if somebody waits for it; only the
// number outlives that.
func nextAfter(t *kernel.Task, root *evict.Root, inode *evict.Inode) uint64 {
	next := inode.Number(t) + 1
	if root.Inodes.NeedBreak(t) {
		root.Inodes.Unlock(t)
		t.Resched()
		root.Inodes.Lock(t)
	}
	return next
}

// emptyLocked looks for maps. The caller holds the tree lock.
func emptyLocked(t *kernel.Task, tree *extentmap.Tree) bool { return tree.Empty(t) }

// emptyUnlocked looks for maps without the tree lock, and so may be wrong
// either way.
func emptyUnlocked(t *kernel.Task, tree *extentmap.Tree) bool {
	return tree.EmptyUnlocked(t, kernel.Once, EmptyRootSite)
}

// cannotTell leaves the question open.
func cannotTell(*kernel.Task, *extentmap.Tree) bool { return false }
