package shrinker

import (
	"benign/impl/evict"
	"benign/impl/kernel"
)

// run is the state of one run.
type run struct {
	budget int64 // how many extent maps it may look at
	report Report
}

// Run looks at up to budget extent maps, from where the run before has stopped.
// It goes to the last root and then once through all of them from the first,
// so that it sees no root more than twice, and ends there even if there is
// budget left. It holds at most one reference to an inode at a time. It is what
// the worker does, and like the worker it may not run concurrently with
// another run.
func (s *Shrinker) Run(t *kernel.Task, budget int64) Report {
	r := &run{budget: budget}
	s.cursors.Read(t)
	start := s.lastRoot
	cycled := false
	for next := start; !s.enough(t, r); {
		t.Resched()
		number, root, found := s.mount.NextRoot(t, next)
		switch {
		case found:
			next = number + 1
		case start > 0 && !cycled:
			cycled = true
			next = 0
			s.moveTo(t, 0, 0)
		default:
			return r.report
		}
		if root == nil {
			continue
		}
		if root.FileTree() {
			s.scanRoot(t, root, r)
		}
		root.Put(t)
	}
	return r.report
}

// scanRoot looks at the inodes of a root, from the inode cursor on.
func (s *Shrinker) scanRoot(t *kernel.Task, root *evict.Root, r *run) {
	for {
		s.cursors.Read(t)
		inode := s.findFirst(t, root, s.lastIno+1)
		if inode == nil {
			s.moveTo(t, root.Number()+1, 0)
			return
		}
		s.steps.scan(s, t, inode, r)
		inode.Maps.Lock.Unlock(t)
		s.moveTo(t, s.lastRoot, inode.Number(t))
		// This may be the last reference: the inode is not touched any more.
		s.steps.put(t, inode)
		if s.enough(t, r) {
			s.moveTo(t, root.Number(), s.lastIno)
			return
		}
		t.Resched()
	}
}

// moveTo sets both cursors.
func (s *Shrinker) moveTo(t *kernel.Task, root, inode uint64) {
	s.cursors.Write(t)
	s.lastRoot, s.lastIno = root, inode
}

// enough reports whether the run has used its budget up or has to make way for
// the teardown.
func (s *Shrinker) enough(t *kernel.Task, r *run) bool {
	return r.report.Scanned >= r.budget || s.closing.Load(t, kernel.Once) != 0
}
