package shrinker

import (
	"benign/impl/evict"
	"benign/impl/extentmap"
	"benign/impl/kernel"
)

// Shrinker is the extent map shrinker of one filesystem. It has one worker,
// which never runs concurrently with itself, unless its policy lets callers run.
type Shrinker struct {
	kernel.Object

	mount      *evict.Mount
	steps      steps
	toScan     kernel.Word[int64] // entries to look at; 0 means that nobody asks
	closing    kernel.Word[uint8] // 1 from the beginning of the teardown
	work       kernel.Work
	cursors    kernel.Region // where the next run goes on; only the worker touches it,
	last       place         // or it is under cursorLock
	cursorLock kernel.SpinLock
}

// place is where a run goes on: at a root, after an inode.
type place struct{ root, inode uint64 }

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
	s.cursorLock.Init(&s.Object, "cursor lock")
	return s
}

// Count returns how many extent maps could be freed, about. It never returns
// less than zero, though the counter behind it may be there for a moment.
func (s *Shrinker) Count(t *kernel.Task) int64 {
	return max(0, s.mount.Filesystem.Evictable.Load(t, kernel.Once))
}

// Request asks for a run that looks at n > 0 extent maps and reports whether
// there is one: it will come, or if callers run, it has been. There is none if
// another request is being served: whoever needs memory asks again.
func (s *Shrinker) Request(t *kernel.Task, n int64) bool {
	t.Assert(n > 0, "a request for %d extent maps", n)
	return s.steps.serve(s, t, n)
}

// queue lets the worker run, unless it is at it.
func (s *Shrinker) queue(t *kernel.Task, n int64) bool {
	accepted := s.accept(t, n)
	if accepted {
		s.work.Queue(t)
	}
	return accepted
}

// accept makes the request the one that is served, unless there is one.
func (s *Shrinker) accept(t *kernel.Task, n int64) bool {
	return s.toScan.CompareAndSwap(t, kernel.Full, 0, n)
}

// runHere runs in the task that asks, with whatever that holds.
func (s *Shrinker) runHere(t *kernel.Task, n int64) bool {
	s.Run(t, n)
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
	return s.last.root, s.last.inode
}

// worker serves a request. Resetting toScan is the last thing it does: requests
// until then are dropped, a later one queues another run.
func (s *Shrinker) worker(t *kernel.Task) {
	s.Run(t, s.toScan.Load(t, kernel.Once))
	s.steps.done(s, t)
}

// reset lets requests in again.
func (s *Shrinker) reset(t *kernel.Task) { s.toScan.Store(t, kernel.Once, 0) }

// resume returns where a run begins.
func (s *Shrinker) resume(t *kernel.Task) place {
	unlock := s.steps.lockCursors(s, t)
	s.cursors.Read(t)
	at := s.last
	unlock(t)
	return at
}

// leave notes where a run has ended.
func (s *Shrinker) leave(t *kernel.Task, at place) {
	unlock := s.steps.lockCursors(s, t)
	s.cursors.Write(t)
	s.last = at
	unlock(t)
}

// lockCursors keeps other runs away from the cursors.
func (s *Shrinker) lockCursors(t *kernel.Task) (unlock func(*kernel.Task)) {
	s.cursorLock.Lock(t)
	return s.cursorLock.Unlock
}

// oneRun needs no lock, since there is no other.
func oneRun(*Shrinker, *kernel.Task) (unlock func(*kernel.Task)) { return func(*kernel.Task) {} }
