package shrinker

import (
	"benign/impl/evict"
	"benign/impl/extentmap"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// What happens when one of the checks is missing. Each form below differs from
// the patch in one step, and stands in the scenario that shows it.

// noRecheck believes the unlocked read.
var noRecheck = form{
	name: "no-recheck", role: scenario.Planted, expect: scenario.Harmful,
	about:  "does not look again under the tree lock; scan-inode takes a first extent map for granted, and crashes",
	policy: Policy{Read: ReadUnlockedOnly, Iput: IputPlain, Run: RunByWorker},
}

// tolerantScan believes the unlocked read, but looks before it scans.
var tolerantScan = form{
	name: "no-recheck-tolerant", role: scenario.Alternative, expect: scenario.Indistinguishable,
	about:  "does not look again before it grabs the inode, but scan-inode does: a grab and a put are wasted, nothing else",
	policy: Policy{Read: ReadUnlockedOnly, Iput: IputPlain, Run: RunByWorker},
	plant: func(s *steps) {
		s.scan = func(s *Shrinker, t *kernel.Task, inode *evict.Inode, r *run) {
			if !inode.Maps.Empty(t) {
				s.scanInode(t, inode, r)
			}
		}
	},
}

// plainRead leaves the marking away, and the annotation.
var plainRead = form{
	name: "plain-read", role: scenario.Planted, expect: scenario.Harmful,
	about:  "reads the root with a plain access, and nothing says that it is meant: a data race",
	policy: Patched,
	plant: func(s *steps) {
		s.looksEmpty = func(t *kernel.Task, tree *extentmap.Tree) bool {
			return tree.EmptyUnlocked(t, kernel.Plain, nil)
		}
	},
}

// dataRaceRead leaves the marking away, but not the annotation.
var dataRaceRead = form{
	name: "data-race-read", role: scenario.Alternative, expect: scenario.Indistinguishable,
	about: "reads the root with a plain access that is annotated, as by data_race(): a pointer is read in one piece, " +
		"and the value is used once, so that reading it again changes nothing",
	policy: Patched,
	plant: func(s *steps) {
		s.looksEmpty = func(t *kernel.Task, tree *extentmap.Tree) bool {
			return tree.EmptyUnlocked(t, kernel.Plain, EmptyRootSite)
		}
	},
}

// waitForTree waits for a busy tree.
var waitForTree = form{
	name: "wait-for-tree-lock", role: scenario.Alternative, expect: scenario.Indistinguishable,
	about: "waits for a busy tree under the lock of the index: nobody waits the other way round, so it only takes " +
		"longer, and everybody who creates or deletes an inode with it",
	policy: Patched,
	plant: func(s *steps) {
		s.lockTree = func(t *kernel.Task, tree *extentmap.Tree) bool {
			tree.Lock.Lock(t)
			return true
		}
	},
}

// waitForMmap waits for a sleeping lock with spinning locks held.
var waitForMmap = form{
	name: "wait-for-mmap-lock", role: scenario.Planted, expect: scenario.Harmful,
	about:  "waits for i_mmap_lock with the tree locked: it sleeps under a spinning lock, and fsync takes the two the other way round",
	policy: Patched,
	plant: func(s *steps) {
		s.lockMmap = func(t *kernel.Task, tree *extentmap.Tree) bool {
			tree.MmapLock.RLock(t)
			return true
		}
	},
}

// noGrab relies on the lock of the index for longer than it is held.
var noGrab = form{
	name: "no-igrab", role: scenario.Planted, expect: scenario.Harmful,
	about:  "takes no reference: the inode is freed as soon as its tree is unlocked, and used after that",
	policy: Patched,
	plant: func(s *steps) {
		s.grab = func(*kernel.Task, *evict.Inode) bool { return true }
		s.put = func(*kernel.Task, *evict.Inode) {}
	},
}

// keptPointer goes on from an inode that may be gone.
var keptPointer = form{
	name: "pointer-kept-over-break", role: scenario.Planted, expect: scenario.Harmful,
	about:  "asks the inode for its number after it has let go of the index: the inode may have been freed",
	policy: Patched,
	plant: func(s *steps) {
		s.next = func(t *kernel.Task, root *evict.Root, inode *evict.Inode) uint64 {
			if root.Inodes.NeedBreak(t) {
				root.Inodes.Unlock(t)
				t.Resched()
				root.Inodes.Lock(t)
			}
			return inode.Number(t) + 1
		}
	},
}

// noPinnedCheck removes maps whose write is in flight.
var noPinnedCheck = form{
	name: "no-pinned-check", role: scenario.Planted, expect: scenario.Harmful,
	about:  "removes a pinned extent map: the write that completes next does not find it",
	policy: Patched,
	plant: func(s *steps) {
		s.keep = func(*extentmap.Entry) bool { return false }
	},
}

// noFullSync removes what an fsync needs without a word.
var noFullSync = form{
	name: "no-full-sync", role: scenario.Planted, expect: scenario.Harmful,
	about:  "does not set the full-sync flag: the next fast fsync misses the data",
	policy: Patched,
	plant: func(s *steps) {
		s.announce = func(*kernel.Task, *extentmap.Tree, *extentmap.Entry, uint64) bool { return false }
	},
}

// lateFullSync tells the fsync too late.
var lateFullSync = form{
	name: "late-full-sync", role: scenario.Planted, expect: scenario.Harmful,
	about:  "sets the full-sync flag after i_mmap_lock is released: an fsync has read it by then, and finds an empty list",
	policy: Patched,
	plant: func(s *steps) {
		s.announce = func(_ *kernel.Task, _ *extentmap.Tree, e *extentmap.Entry, generation uint64) bool {
			return e.Listed() && e.Generation >= generation
		}
		s.scan = func(s *Shrinker, t *kernel.Task, inode *evict.Inode, r *run) {
			s.scanInode(t, inode, r)
			if r.report.Visits[len(r.report.Visits)-1].FullSync {
				inode.Maps.FullSync.Store(t, kernel.Once, 1)
			}
		}
	},
}
