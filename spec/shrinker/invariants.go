package shrinker

import (
	"errors"
	"fmt"
	"slices"

	"benign/spec/extentmap"
)

// The checks SH-1, SH-2, SH-3 and SH-5 compare the states around a run during which nobody else did anything. For runs among
// others there are [CheckRun] and, inode by inode, [StepRelaxed].

// CheckSH1 holds when no pinned entry was removed.
func CheckSH1(before, after State, r Result) error {
	for _, at := range before.Positions() {
		old, _ := before.Inode(at)
		now, _ := after.Inode(at)
		for _, n := range old.Map.Tree {
			if n.Flags.Has(extentmap.Pinned) && (r.removes(at, n) || !has(now.Map, n.Entry)) {
				return fmt.Errorf("SH-1: inode %v: pinned %v was removed or changed", at, n.Entry)
			}
		}
	}
	return nil
}

// has reports whether the map has exactly this entry in its tree.
func has(m extentmap.State, e extentmap.Entry) bool {
	return slices.ContainsFunc(m.Tree, func(n extentmap.Node) bool { return n.Entry == e })
}

// removes reports whether the run claims to have removed the node.
func (r Result) removes(at Position, n extentmap.Node) bool {
	return slices.ContainsFunc(r.Visits, func(v RunVisit) bool {
		return v.At == at && slices.ContainsFunc(v.Removed, n.Range().Intersects)
	})
}

// CheckSH2 holds when nothing was done to the map of an inode that is being freed.
func CheckSH2(before, after State, r Result) error {
	for _, at := range before.Positions() {
		old, _ := before.Inode(at)
		if !old.Freeing {
			continue
		}
		now, _ := after.Inode(at)
		visited := slices.ContainsFunc(r.Visits, func(v RunVisit) bool { return v.At == at })
		if visited || !old.Map.Equal(now.Map) {
			return fmt.Errorf("SH-2: inode %v is being freed, but was touched", at)
		}
	}
	return nil
}

// CheckSH3 holds when the full-sync flag is set wherever an entry has gone that the next fast fsync would have logged. That
// the fsync was kept out meanwhile cannot be seen in states.
func CheckSH3(before, after State, _ Result) error {
	for _, at := range before.Positions() {
		old, _ := before.Inode(at)
		now, _ := after.Inode(at)
		for _, n := range old.Map.Tree {
			if !has(now.Map, n.Entry) && neededByFsync(old.Map, n) && !now.Map.FullSync {
				return fmt.Errorf("SH-3: inode %v: %v, which a fsync needs, was removed without the full-sync flag", at, n.Entry)
			}
		}
	}
	return nil
}

// CheckSH5 holds when the count of evictable entries has gone down by what was removed.
func CheckSH5(before, after State, r Result) error {
	if got, want := after.Evictable(), before.Evictable()-r.Removed(); got != want {
		return fmt.Errorf("SH-5: %d evictable entries are counted after %d were removed of %d", got, r.Removed(), before.Evictable())
	}
	return nil
}

// CheckSH6 holds when a request that is pending has a run that will see to it. It is for states in which no run is in progress.
func CheckSH6(s State) error {
	if s.Pending != 0 && !s.Queued {
		return fmt.Errorf("SH-6: %d entries are pending, but no run is queued: every later request will be dropped", s.Pending)
	}
	return nil
}

// CheckSH7 holds when the run has come to an end soon enough: no root was scanned more than twice.
func CheckSH7(_, _ State, r Result) error {
	times := make(map[uint64]int)
	for _, id := range r.Roots {
		if times[id]++; times[id] > 2 {
			return fmt.Errorf("SH-7: root %d was scanned more than twice in one run", id)
		}
	}
	return nil
}

// CheckSH8 holds when the run has kept to its budget.
func CheckSH8(_, _ State, r Result) error {
	sum := uint64(0)
	for _, v := range r.Visits {
		sum += v.Scanned
	}
	if sum != r.Scanned || sum > r.Budget {
		return fmt.Errorf("SH-8: looked at %d entries and counted %d, with a budget of %d", sum, r.Scanned, r.Budget)
	}
	return nil
}

// Interference is what others did during a run.
type Interference struct {
	Touched map[Position]bool // they used these inodes, whose maps or locks may therefore have been in any state
	Closed  bool              // they began to unmount the filesystem, after which a run may end anywhere
}

// CheckSH9 holds when the run went through the inodes in the order of the cursors, passed over none that it could have visited
// undisturbed, and left the cursors where the next run has to go on. By induction, then, successive runs
// cover all inodes, and what was passed over comes up again after the wrap.
func CheckSH9(before, after State, r Result, i Interference) error {
	predicted, _, err := replay(before, after, r, i)
	if err != nil || i.Closed {
		return err
	}
	if predicted.LastRoot != after.LastRoot || predicted.LastIno != after.LastIno {
		return fmt.Errorf("SH-9: the cursor stands at %d/%d instead of %d/%d",
			after.LastRoot, after.LastIno, predicted.LastRoot, predicted.LastIno)
	}
	return nil
}

// CheckRun is the relaxed specification of a whole run among others: SH-7 to SH-9 hold, every inode that nobody touched was
// treated as by an undisturbed run, and the worker is idle again. What happened inside of a touched inode is for
// [StepRelaxed] to judge. Inodes and roots that appeared during the run have to be in before, touched.
func CheckRun(before, after State, r Result, i Interference) error {
	errs := []error{CheckSH7(before, after, r), CheckSH8(before, after, r), CheckSH9(before, after, r, i)}
	predicted, walked, _ := replay(before, after, r, i)
	for _, at := range before.Positions() {
		want, _ := predicted.Inode(at)
		got, found := after.Inode(at)
		if !i.Touched[at] && (!found || !got.equal(want)) {
			errs = append(errs, fmt.Errorf("inode %v: the run left\n%vinstead of\n%v", at, got.Map, want.Map))
		}
	}
	if !i.Closed && !slices.Equal(walked.Roots, r.Roots) {
		errs = append(errs, fmt.Errorf("the run scanned the roots %v instead of %v", r.Roots, walked.Roots))
	}
	if after.Pending != 0 {
		errs = append(errs, fmt.Errorf("SH-6: the run has ended, but %d entries are pending", after.Pending))
	}
	return errors.Join(errs...)
}

// replay walks as the worker does, but takes its visits from the result of a run instead of making them. The maps of touched
// inodes are taken from the state after that run. The error says where such a walk is impossible.
func replay(before, after State, r Result, i Interference) (State, Result, error) {
	s := before.Clone()
	claims := r.Visits
	var errs []error
	w := worker{state: &s, result: Result{Budget: r.Budget}}
	w.attend = func(at Position, inode *Inode) (Visit, bool) {
		touched := i.Touched[at]
		if len(claims) == 0 || claims[0].At != at {
			w.stopped = i.Closed && len(claims) == 0
			if !touched && !inode.busy() && !w.stopped {
				errs = append(errs, fmt.Errorf("SH-9: inode %v was passed over", at))
			}
			return Visit{}, true
		}
		claim := claims[0].Visit
		claims = claims[1:]
		errs = append(errs, inode.accept(at, claim, w.left(), i, after))
		return claim, false
	}
	w.run()
	if len(claims) > 0 {
		errs = append(errs, fmt.Errorf("SH-9: the visit to inode %v is out of order or out of budget", claims[0].At))
	}
	return s, w.result, errors.Join(errs...)
}

// accept brings the inode into the state that the visit must have left it in.
func (i *Inode) accept(at Position, claim Visit, left uint64, others Interference, after State) error {
	switch {
	case i.Freeing:
		return fmt.Errorf("SH-2: inode %v is being freed, but was visited", at)
	case others.Touched[at]:
		if now, found := after.Inode(at); found {
			i.Map = now.Map
		}
		return nil
	case i.busy():
		return fmt.Errorf("SH-9: inode %v was visited, although it has no entries", at)
	}
	// Unmounting makes a scan stop between two entries, too.
	next, ok := allowed(i.Map, left, others.Closed, claim)
	if !ok {
		return fmt.Errorf("inode %v: nobody interfered, yet the visit was %+v", at, claim)
	}
	i.Map = next
	return nil
}
