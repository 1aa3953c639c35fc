package shrinker

import (
	"benign/impl/evict"
	"benign/impl/kernel"
)

// run is the state of one run.
type run struct {
	budget int64 // how many extent maps it may look at
	at     place // where it goes on
	report Report
}

// Run looks at up to budget extent maps, from where the run before has stopped.
// It goes to the last root and then once through all of them from the first,
// so that it sees no root more than twice, and ends there even if there is
// budget left. It holds at most one reference to an inode at a time. It is what
// the worker does, and may not run concurrently with another run unless callers
// run.
func (s *Shrinker) Run(t *kernel.Task, budget int64) Report {
	r := &run{budget: budget, at: s.resume(t)}
	s.walk(t, r)
	s.leave(t, r.at)
	return r.report
}

// walk goes from root to root.
func (s *Shrinker) walk(t *kernel.Task, r *run) {
	start, cycled := r.at.root, false
	for next := start; !s.enough(t, r); {
		t.Resched()
		number, root, found := s.mount.NextRoot(t, next)
		switch {
		case found:
			next = number + 1
		case start > 0 && !cycled:
			cycled = true
			next = 0
			r.at = place{}
		default:
			return
		}
		if root == nil {
			continue
		}
		if root.FileTree() {
			s.scanRoot(t, root, r)
		}
		root.Put(t)
	}
}

// scanRoot looks at the inodes of a root, from the inode cursor on.
func (s *Shrinker) scanRoot(t *kernel.Task, root *evict.Root, r *run) {
	for {
		inode := s.findFirst(t, root, r.at.inode+1)
		if inode == nil {
			r.at = place{root: root.Number() + 1}
			return
		}
		s.steps.scan(s, t, inode, r)
		inode.Maps.Lock.Unlock(t)
		r.at.inode = inode.Number(t)
		// This may be the last reference: the inode is not touched any more.
		s.steps.put(t, inode)
		if s.enough(t, r) {
			r.at.root = root.Number()
			return
		}
		t.Resched()
	}
}

// enough reports whether the run has used its budget up or has to make way for
// the teardown.
func (s *Shrinker) enough(t *kernel.Task, r *run) bool {
	return r.report.Scanned >= r.budget || s.closing.Load(t, kernel.Once) != 0
}
