package evict

import "benign/impl/kernel"

// counting is how the references to an inode are kept.
type counting interface {
	// grab takes a reference unless the inode is going away. The caller keeps
	// the inode's memory alive.
	grab(t *kernel.Task, i *Inode) bool
	// put drops a reference. It returns true, with i_lock held, if nobody has
	// one any more and the inode is to be evicted.
	put(t *kernel.Task, i *Inode) bool
	// putUnlessLast drops a reference if somebody else has one too, and
	// reports whether it did.
	putUnlessLast(t *kernel.Task, i *Inode) bool
	// claimIdle reports whether nobody but the cache refers to the inode, and
	// takes the cache's reference if there is one. The caller holds i_lock.
	claimIdle(t *kernel.Task, i *Inode) bool
}

// countingFor panics on an invalid mode.
func countingFor(mode GrabMode) counting {
	switch mode {
	case GrabByFlags:
		return byFlags{}
	case GrabByCount:
		return byCount{}
	}
	panic("evict: invalid grab mode")
}

// byFlags counts users only. An idle inode has the count zero and may be
// revived, under i_lock, as long as no flag says that it is going.
type byFlags struct{}

func (byFlags) grab(t *kernel.Task, i *Inode) bool {
	i.lock.Lock(t)
	i.life.Read(t)
	ok := i.state&going == 0
	if ok {
		i.count.Add(t, kernel.Once, 1)
	}
	i.lock.Unlock(t)
	return ok
}

func (byFlags) putUnlessLast(t *kernel.Task, i *Inode) bool {
	_, dropped := i.dropAbove(t, 1)
	return dropped
}

func (c byFlags) put(t *kernel.Task, i *Inode) bool {
	if c.putUnlessLast(t, i) {
		return false
	}
	i.lock.Lock(t)
	left := i.count.Add(t, kernel.AcquireRelease, -1)
	i.checkUsers(t, left)
	if left > 0 || i.worthKeeping(t) {
		i.lock.Unlock(t)
		return false
	}
	return true
}

func (byFlags) claimIdle(t *kernel.Task, i *Inode) bool { return i.count.Load(t, kernel.Once) == 0 }

// byCount counts the cache as a user, so that zero means "going" and nothing
// else. The cache's reference is the one that the last user leaves behind.
// References come without i_lock but go only under it.
type byCount struct{}

func (byCount) grab(t *kernel.Task, i *Inode) bool {
	_, took := i.count.Update(t, kernel.Once, func(old int) (int, bool) { return old + 1, old > 0 })
	return took
}

func (byCount) putUnlessLast(t *kernel.Task, i *Inode) bool {
	i.lock.Lock(t)
	_, dropped := i.dropAbove(t, 1+i.cacheReferences(t))
	i.lock.Unlock(t)
	return dropped
}

func (byCount) put(t *kernel.Task, i *Inode) bool {
	i.lock.Lock(t)
	cache := i.cacheReferences(t)
	held, dropped := i.dropAbove(t, 1+cache)
	i.checkUsers(t, held-1-cache)
	keep := dropped || i.worthKeeping(t)
	if !keep && i.count.CompareAndSwap(t, kernel.AcquireRelease, 1+cache, 0) {
		i.life.Write(t)
		i.cached = false
		return true
	}
	switch {
	case dropped:
	case keep && cache == 0:
		i.life.Write(t)
		i.cached = true
	default: // the cache has its reference, or somebody has just grabbed the inode
		i.count.Add(t, kernel.AcquireRelease, -1)
	}
	i.lock.Unlock(t)
	return false
}

func (byCount) claimIdle(t *kernel.Task, i *Inode) bool {
	i.life.Write(t)
	if !i.cached || !i.count.CompareAndSwap(t, kernel.AcquireRelease, 1, 0) {
		return false
	}
	i.cached = false
	return true
}

// dropAbove drops a reference if more than floor are held. It returns how many
// were held, and whether it dropped one.
func (i *Inode) dropAbove(t *kernel.Task, floor int) (held int, dropped bool) {
	return i.count.Update(t, kernel.AcquireRelease, func(old int) (int, bool) { return old - 1, old > floor })
}

// cacheReferences returns how many references belong to the cache, 0 or 1.
// The caller holds i_lock.
func (i *Inode) cacheReferences(t *kernel.Task) int {
	i.life.Read(t)
	if i.cached {
		return 1
	}
	return 0
}

// checkUsers reports a put of a reference that nobody had: users is how many
// are left.
func (i *Inode) checkUsers(t *kernel.Task, users int) {
	if users < 0 {
		t.Violate(kernel.ReferenceUnderflow, "%s is put more often than it was grabbed", i.Name())
	}
}
