package shrinker

import (
	"benign/impl/evict"
	"benign/impl/extentmap"
	"benign/impl/kernel"
)

// Shrinker is the extent map shrinker of one filesystem. It has one worker,
// which never runs concurrently with itself.
type Shrinker struct {
	kernel.Object

	mount    *evict.Mount
	steps    steps
	toScan   kernel.Word[int64] // entries to look at; 0 means that nobody asks
	closing  kernel.Word[uint8] // 1 from the beginning of the teardown
	work     kernel.Work
	cursors  kernel.Region // the two below, which only the worker touches
	lastRoot uint64        // where the next run goes on: the root
	lastIno  uint64        // and the inode before
}

// Report says what one run did.
type Report struct {
	// Scanned is how many extent maps the run looked at.
	Scanned int64
	// Visits are the inodes whose maps it looked at, in order.
	Visits []Visit
}

// Dropped returns how many extent maps the run removed.
func (r Report) Dropped() int {
	dropped := 0
	for _, v := range r.Visits {
		dropped += len(v.Dropped)
	}
	return dropped
}

// Visit says what a run did to one inode that it grabbed.
type Visit struct {
	// Root and Inode are the numbers of the inode and its root.
	Root, Inode uint64
	// Scanned is how many extent maps the run looked at; none if somebody held
	// i_mmap_lock.
	Scanned int64
	// Dropped are the removed maps, in file order.
	Dropped []extentmap.Mapping
	// FullSync means that the next fsync was told not to rely on the list of
	// modified maps.
	FullSync bool
}

// New makes a shrinker for a mounted filesystem. It panics on an invalid
// policy.
func New(t *kernel.Task, m *evict.Mount, p Policy) *Shrinker {
	s := &Shrinker{mount: m, steps: p.steps(m)}
	s.Object.Init(t, "shrinker", s)
	s.toScan.InitAtomic(&s.Object, "to scan", 0)
	s.closing.Init(&s.Object, "closing", 0)
	s.work.Init(&s.Object, "shrinker work", s.worker)
	s.cursors.Init(&s.Object, "cursors")
	return s
}

// Count returns how many extent maps could be freed, about. It never returns
// less than zero, though the counter behind it may be there for a moment.
func (s *Shrinker) Count(t *kernel.Task) int64 {
	return max(0, s.mount.Filesystem.Evictable.Load(t, kernel.Once))
}

// Request asks for a run that looks at n > 0 extent maps and reports whether
// it will come. It will not if another request is being served: whoever needs
// memory asks again.
func (s *Shrinker) Request(t *kernel.Task, n int64) bool {
	t.Assert(n > 0, "a request for %d extent maps", n)
	if !s.toScan.CompareAndSwap(t, kernel.Full, 0, n) {
		return false
	}
	s.work.Queue(t)
	return true
}

// Close forbids further runs and waits for a running one. Whoever calls it has
// seen to it that nobody makes a request any more.
func (s *Shrinker) Close(t *kernel.Task) {
	s.closing.Store(t, kernel.Once, 1)
	s.work.Cancel(t)
}

// Idle reports whether no request waits or is being served.
func (s *Shrinker) Idle(t *kernel.Task) bool {
	return s.toScan.Load(t, kernel.Once) == 0 && s.work.Idle(t)
}

// Cursors returns the root and the inode after which the next run goes on. No
// run may be on.
func (s *Shrinker) Cursors(t *kernel.Task) (root, inode uint64) {
	s.cursors.Read(t)
	return s.lastRoot, s.lastIno
}

// worker serves a request. Resetting toScan is the last thing it does: requests
// until then are dropped, a later one queues another run.
func (s *Shrinker) worker(t *kernel.Task) {
	s.Run(t, s.toScan.Load(t, kernel.Once))
	s.toScan.Store(t, kernel.Once, 0)
}
