package shrinker

import (
	"benign/impl/evict"
	"benign/impl/extentmap"
	"benign/impl/kernel"
)

// EmptyRootSite is the read of a tree's root without the tree's lock.
var EmptyRootSite = kernel.DataRaceSite("rb-empty",
	"a stale nil skips an inode that the next cycle visits, as a busy lock does; "+
		"a stale root is never followed, and emptiness is tested again under the lock")

// Read says how find-first learns that an inode has no extent maps. The zero
// value is invalid.
type Read uint8

const (
	// ReadLocked tries the tree lock of every inode and looks under it: the
	// form before the patch.
	ReadLocked Read = iota + 1
	// ReadUnlocked skips an inode whose root reads nil without the lock, and
	// looks again under the lock: the patch.
	ReadUnlocked
	// ReadUnlockedOnly does not look again. Scan-inode then meets empty trees,
	// for which it is not made.
	ReadUnlockedOnly
)

// String returns the name that the variants of a scenario use.
func (r Read) String() string {
	switch r {
	case ReadLocked:
		return "base"
	case ReadUnlocked:
		return "patched"
	case ReadUnlockedOnly:
		return "patched without re-check"
	}
	return "invalid"
}

// Iput says how a run drops its reference to an inode. The zero value is invalid.
type Iput uint8

const (
	// IputPlain drops the reference at once. The run holds no lock by then, but if
	// the reference was the last one, it evicts the inode; that is no place for a
	// task in reclaim, which may have a handle of a transaction.
	IputPlain Iput = iota + 1
	// IputDelayed hands the reference to the cleaner.
	IputDelayed
)

// String returns the form in lower case.
func (i Iput) String() string {
	switch i {
	case IputPlain:
		return "plain"
	case IputDelayed:
		return "delayed"
	}
	return "invalid"
}

// Runner says who does the run that is asked for. The zero value is invalid.
type Runner uint8

const (
	// RunByWorker leaves it to the one work item: the present form. While a
	// request is served others are turned away.
	RunByWorker Runner = iota + 1
	// RunByCaller lets whoever asks run, as many at once as there are: the form
	// before. The runs share the cursors, under a lock.
	RunByCaller
)

// String returns the form in lower case.
func (r Runner) String() string {
	switch r {
	case RunByWorker:
		return "by the worker"
	case RunByCaller:
		return "by the caller"
	}
	return "invalid"
}

// Policy is chosen when a shrinker is made. How an inode is grabbed is chosen
// with the mount, because whoever drops references has to agree.
type Policy struct {
	Read Read   // how an inode without extent maps is told
	Iput Iput   // who drops a run's reference
	Run  Runner // who runs
}

// Patched is the policy of the patch under question.
var Patched = Policy{Read: ReadUnlocked, Iput: IputPlain, Run: RunByWorker}

// Base is the policy before the patch.
var Base = Policy{Read: ReadLocked, Iput: IputPlain, Run: RunByWorker}

// steps are those steps of the walk that come in more than one form, one
// function each. What can be chosen stands here; what must not be, in
// planted.go.
type steps struct {
	// find-first, with the lock of the root's index held
	looksEmpty func(*kernel.Task, *extentmap.Tree) bool             // before the tree lock is tried
	lockTree   func(*kernel.Task, *extentmap.Tree) bool             // without waiting
	isEmpty    func(*kernel.Task, *extentmap.Tree) bool             // with the tree lock held
	grab       func(*kernel.Task, *evict.Inode) bool                // take a reference
	next       func(*kernel.Task, *evict.Root, *evict.Inode) uint64 // where to go on

	// scan-inode, with the tree lock held
	scan     func(*Shrinker, *kernel.Task, *evict.Inode, *run)
	lockMmap func(*kernel.Task, *extentmap.Tree) bool // without waiting
	keep     func(*extentmap.Entry) bool
	announce func(*kernel.Task, *extentmap.Tree, *extentmap.Entry, uint64) bool // before an entry goes

	// scan-root, without any lock
	put func(*kernel.Task, *evict.Inode)

	// the beginning and the end of a run
	serve       func(*Shrinker, *kernel.Task, int64) bool // see to it that there is one
	lockCursors func(*Shrinker, *kernel.Task) (unlock func(*kernel.Task))
	done        func(*Shrinker, *kernel.Task) // the worker has served the request
}

// steps panics on an invalid policy.
func (p Policy) steps(m *evict.Mount) steps {
	s := steps{
		lockTree: func(t *kernel.Task, tree *extentmap.Tree) bool { return tree.Lock.TryLock(t) },
		grab:     func(t *kernel.Task, inode *evict.Inode) bool { return inode.Grab(t) },
		next:     nextAfter,
		scan:     (*Shrinker).scanInode,
		lockMmap: func(t *kernel.Task, tree *extentmap.Tree) bool { return tree.MmapLock.TryRLock(t) },
		keep:     isPinned,
		announce: announceLoss,
		done:     (*Shrinker).reset,
	}
	switch p.Read {
	case ReadLocked:
		s.looksEmpty, s.isEmpty = cannotTell, emptyLocked
	case ReadUnlocked:
		s.looksEmpty, s.isEmpty = emptyUnlocked, emptyLocked
	case ReadUnlockedOnly:
		s.looksEmpty, s.isEmpty = emptyUnlocked, cannotTell
	default:
		panic("shrinker: invalid read policy")
	}
	switch p.Iput {
	case IputPlain:
		s.put = func(t *kernel.Task, inode *evict.Inode) { inode.Put(t) }
	case IputDelayed:
		s.put = func(t *kernel.Task, inode *evict.Inode) { m.Cleaner.Put(t, inode) }
	default:
		panic("shrinker: invalid iput policy")
	}
	switch p.Run {
	case RunByWorker:
		s.serve, s.lockCursors = (*Shrinker).queue, oneRun
	case RunByCaller:
		s.serve, s.lockCursors = (*Shrinker).runHere, (*Shrinker).lockCursors
	default:
		panic("shrinker: invalid run policy")
	}
	return s
}
