package shrinker

import (
	"time"

	"benign/impl/evict"
	"benign/impl/extentmap"
	"benign/impl/kernel"
)

// LockUse is what walks did with the tree locks of inodes. What others did with
// them is not in it.
type LockUse struct {
	// Taken is how often a tree lock was taken for writing.
	Taken int
	// Busy is how often it was tried in vain.
	Busy int
	// Held is for how long tree locks were held in all, without the time that
	// it takes to read the clock.
	Held time.Duration
}

// lockMeter fills in a LockUse. It stands around the steps of a walk: the one
// that takes the tree lock, and the two of which one is the next step after the
// lock is dropped. So it changes nothing in a shrinker that it does not watch.
type lockMeter struct {
	use       *LockUse
	since     time.Time     // when the lock was taken; zero if none is held
	clockTime time.Duration // what two looks at the clock are apart at least
}

func newLockMeter(use *LockUse) *lockMeter {
	return &lockMeter{use: use, clockTime: clockTime()}
}

// clockTime returns the shortest time between two looks at the clock.
func clockTime() time.Duration {
	shortest := time.Second
	for range 1000 {
		shortest = min(shortest, time.Since(time.Now()))
	}
	return shortest
}

// watch puts the meter around the steps.
func (m *lockMeter) watch(s *steps) {
	lockTree, next, put := s.lockTree, s.next, s.put
	s.lockTree = func(t *kernel.Task, tree *extentmap.Tree) bool {
		if !lockTree(t, tree) {
			m.use.Busy++
			return false
		}
		m.use.Taken++
		m.since = time.Now()
		return true
	}
	s.next = func(t *kernel.Task, root *evict.Root, inode *evict.Inode) uint64 {
		m.dropped()
		return next(t, root, inode)
	}
	s.put = func(t *kernel.Task, inode *evict.Inode) {
		m.dropped()
		put(t, inode)
	}
}

// dropped ends a hold, if there is one.
func (m *lockMeter) dropped() {
	if m.since.IsZero() {
		return
	}
	m.use.Held += max(0, time.Since(m.since)-m.clockTime)
	m.since = time.Time{}
}
