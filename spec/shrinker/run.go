package shrinker

import "slices"

// Result is what one run of the worker did.
type Result struct {
	Budget  uint64     // how many entries it was asked to look at
	Scanned uint64     // how many it looked at
	Roots   []uint64   // the roots that it scanned, in order; one that comes up again after the wrap is there twice
	Visits  []RunVisit // in order
}

// RunVisit is a visit At a place.
type RunVisit struct {
	At Position
	Visit
}

// Removed returns how many entries the run removed.
func (r Result) Removed() int {
	sum := 0
	for _, v := range r.Visits {
		sum += len(v.Removed)
	}
	return sum
}

// Trigger asks for n entries to be looked at. The request is dropped, and the state stays as it is, while an earlier one is not
// done: memory pressure will ask again. It reports whether a run has been queued.
//
// Kernel label: btrfs_free_extent_maps.
func Trigger(s State, n uint64) (State, bool) {
	if n == 0 || s.Pending != 0 {
		return s, false
	}
	s.Pending, s.Queued = n, true
	return s, true
}

// Run is one undisturbed run of the queued worker, with the budget that [Trigger] has left. This is the strict specification: it has
// exactly one outcome.
//
// Kernel label: btrfs_extent_map_shrinker_worker.
func Run(s State) (State, Result) {
	after := s.Clone()
	w := worker{state: &after, result: Result{Budget: s.Pending}}
	w.attend = func(_ Position, inode *Inode) (visit Visit, passed bool) {
		if inode.busy() {
			return Visit{}, true
		}
		inode.Map, visit = scan(inode.Map, w.left())
		return visit, false
	}
	w.run()
	return after, w.result
}

// worker is a run in progress.
type worker struct {
	state  *State
	result Result
	// attend does what the shrinker does when the walk comes to an inode: it visits it, or passes it by without taking a
	// reference on it.
	attend func(at Position, inode *Inode) (visit Visit, passed bool)
	// stopped ends the run early.
	stopped bool
}

// left returns how many more entries may be looked at.
func (w *worker) left() uint64 { return w.result.Budget - min(w.result.Scanned, w.result.Budget) }

// finished reports whether the run must not go on.
func (w *worker) finished() bool { return w.left() == 0 || w.state.Closing || w.stopped }

// run walks the roots from the cursor on. Having reached the last one it begins once more with the first, unless that is
// where it had started, so that it sees each root twice at most.
func (w *worker) run() {
	s := w.state
	s.Queued = false
	start, next, cycled := s.LastRoot, s.LastRoot, false
	for !w.finished() {
		i := slices.IndexFunc(s.Roots, func(r Root) bool { return r.ID >= next })
		if i < 0 {
			if start == 0 || cycled {
				break
			}
			next, s.LastRoot, s.LastIno, cycled = 0, 0, 0, true
			continue
		}
		next = s.Roots[i].ID + 1
		if s.Roots[i].FileTree && !s.Roots[i].Dying {
			w.scanRoot(&s.Roots[i])
		}
	}
	s.Pending = 0
}

// scanRoot visits the inodes of a root from the cursor on and leaves the cursors where the next run has to go on: behind the
// last visited inode if it had to stop, behind this root otherwise. The inode cursor applies to whichever root comes first, even
// if the one that it was meant for has gone.
//
// Kernel label: btrfs_scan_root.
func (w *worker) scanRoot(root *Root) {
	s := w.state
	w.result.Roots = append(w.result.Roots, root.ID)
	from := s.LastIno + 1
	for i := range root.Inodes {
		inode := &root.Inodes[i]
		if inode.Number < from {
			continue
		}
		at := Position{root.ID, inode.Number}
		visit, passed := w.attend(at, inode)
		if passed {
			continue
		}
		w.result.Visits = append(w.result.Visits, RunVisit{at, visit})
		w.result.Scanned += visit.Scanned
		s.LastIno = inode.Number
		if w.finished() {
			s.LastRoot = root.ID
			return
		}
	}
	s.LastIno, s.LastRoot = 0, root.ID+1
}
