package extentmap

import (
	"errors"
	"fmt"
	"slices"
)

// Check returns every invariant that the state by itself breaks, joined, or nil.
func Check(s State) error {
	return errors.Join(CheckEM1(s), CheckWellFormed(s), CheckEM2(s), CheckEM3(s), CheckEM5(s))
}

// CheckStep returns every invariant that one operation breaks on its way from one state to the next, joined, or
// nil. Together with [Check] on both states these are all but EM-6, which needs to know what was written.
func CheckStep(before State, in Input, out Output, after State) error {
	return errors.Join(
		CheckEM4(before, in, after),
		CheckEM7(before, after),
		CheckEM8(in, out),
		CheckEM9(before, after, mayRemap(before, in)...),
	)
}

// CheckWellFormed holds when each entry in the tree is well-formed by itself.
func CheckWellFormed(s State) error {
	for _, n := range s.Tree {
		if err := n.WellFormed(); err != nil {
			return err
		}
	}
	return nil
}

// CheckEM1 holds when the entries in the tree are in order and no byte of the file is mapped twice.
func CheckEM1(s State) error {
	for i := 1; i < len(s.Tree); i++ {
		left, right := s.Tree[i-1], s.Tree[i]
		if left.Start >= right.Start {
			return fmt.Errorf("EM-1: entries out of order: %v before %v", left.Range(), right.Range())
		}
		if left.Range().Intersects(right.Range()) {
			return fmt.Errorf("EM-1: entries overlap: %v and %v", left.Range(), right.Range())
		}
	}
	return nil
}

// CheckEM2 holds when the references add up, as far as a model without memory can tell: what has left the tree is
// remembered if and only if somebody still holds it, and each named reference is on one entry.
func CheckEM2(s State) error {
	for _, n := range s.Gone {
		if n.references() == 0 {
			return fmt.Errorf("EM-2: nobody holds %v, which is out of the tree, yet it was not freed", n.Range())
		}
	}
	var seen Holders
	for _, n := range slices.Concat(s.Tree, s.Gone) {
		if twice := seen & n.Holders; twice != 0 {
			return fmt.Errorf("EM-2: the references %v are on two entries, one of them %v", twice, n.Range())
		}
		seen |= n.Holders
	}
	return nil
}

// CheckEM3 holds when the lists and the tree agree: what is on the modified list is in the tree and not being logged; what
// is on a private list is being logged; what is being logged is held by a running fast fsync; and
// the positions on the modified list are 0, 1, 2, and so on.
func CheckEM3(s State) error {
	for _, n := range s.Gone {
		if n.List == OnModified {
			return fmt.Errorf("EM-3: %v is on the modified list, but not in the tree", n.Range())
		}
	}
	ranks := make(map[int]bool)
	for _, n := range slices.Concat(s.Tree, s.Gone) {
		if err := n.checkList(s.Fsyncing); err != nil {
			return err
		}
		if n.List == OnModified {
			ranks[n.Rank] = true
		}
	}
	for rank := range s.Modified() {
		if !ranks[rank] {
			return fmt.Errorf("EM-3: the modified list has %d entries, but none at position %d", len(s.Modified()), rank)
		}
	}
	return nil
}

// checkList is the part of EM-3 that concerns one node.
func (n Node) checkList(fsyncing bool) error {
	logging := n.Flags.Has(Logging)
	switch {
	case n.List != Unlisted && n.List != OnModified && n.List != OnPrivate:
		return fmt.Errorf("EM-3: %v: %v", n.Range(), n.List)
	case n.List == OnModified && logging:
		return fmt.Errorf("EM-3: %v is being logged and on the modified list", n.Range())
	case n.List == OnPrivate && !logging:
		return fmt.Errorf("EM-3: %v is on a private list, but not marked as being logged", n.Range())
	case (logging || n.List == OnPrivate) && !(n.Fsync && fsyncing):
		return fmt.Errorf("EM-3: %v is being logged, but no fast fsync holds it", n.Range())
	}
	return nil
}

// CheckEM4 holds when a pinned entry has survived every operation that must leave it alone, in particular a release, a
// drop that skips pinned entries, and a removal or replacement, which must never meet one.
func CheckEM4(before State, in Input, after State) error {
	ends := mayUnpin(before, in)
	for _, n := range before.Tree {
		if !n.Flags.Has(Pinned) || slices.ContainsFunc(ends, n.Range().Intersects) {
			continue
		}
		i, found := after.at(n.Start)
		if !found || after.Tree[i].stable() != n.stable() || !after.Tree[i].Flags.Has(Pinned) {
			return fmt.Errorf("EM-4: pinned %v did not survive: %v", n.Entry, in)
		}
	}
	return nil
}

// mayUnpin returns the ranges whose pinned entries the operation may end, rightly.
func mayUnpin(s State, in Input) []Range {
	switch in.Op {
	case OpDropAll, OpDropFirst:
		return []Range{{0, MaxOffset}}
	case OpDropRange:
		if !in.SkipPinned {
			return []Range{{in.Start, saturatingAdd(in.End, 1)}}
		}
	case OpReplaceRange:
		return []Range{in.New.Range()}
	case OpUnpin, OpSplit:
		if i, found := s.at(in.Start); found {
			return []Range{s.Tree[i].Range()}
		}
	}
	return nil
}

// CheckEM5 holds when the count of evictable entries is the number of entries, if they count. It assumes that the count
// began with an empty tree.
func CheckEM5(s State) error {
	want := 0
	if s.Counted {
		want = len(s.Tree)
	}
	if s.Evictable != want {
		return fmt.Errorf("EM-5: %d evictable entries are counted, there are %d", s.Evictable, want)
	}
	return nil
}

// Uncovered returns those of the written bytes that a fast fsync would miss: no entry of them is pinned, on the modified
// list, or in the hands of a running fast fsync; and the full-sync flag is not set, which would cover everything.
// What was committed, or has been logged, does not count as written any more; the caller has to leave it out.
func Uncovered(s State, written ...Range) []Range {
	if s.FullSync {
		return nil
	}
	var covered []Range
	for _, n := range s.Tree {
		if n.Flags.Has(Pinned) || n.List == OnModified || n.Fsync {
			covered = append(covered, n.Range())
		}
	}
	for _, n := range s.Gone { // a fast fsync logs what it has collected, wherever it is now
		if n.Fsync {
			covered = append(covered, n.Range())
		}
	}
	return Subtract(written, covered)
}

// CheckEM6 holds when a fast fsync at this moment would miss none of the written bytes, see [Uncovered].
func CheckEM6(s State, written ...Range) error {
	if missed := Uncovered(s, written...); len(missed) > 0 {
		return fmt.Errorf("EM-6: a fast fsync misses written data in %v", missed)
	}
	return nil
}

// CheckEM7 holds when nobody who holds a reference has seen the range or the disk fields of its entry change.
func CheckEM7(before, after State) error {
	for hold := Hold(1); hold <= MaxHold; hold++ {
		old, _, had := before.Held(hold)
		now, _, has := after.Held(hold)
		if had && has && old.stable() != now.stable() {
			return fmt.Errorf("EM-7: the entry held by %d changed from %v to %v", hold, old.Entry, now.Entry)
		}
	}
	return nil
}

// CheckEM8 holds when a lookup has found an entry in the range it was asked for, and insert-or-adopt has ended with an
// entry that contains the position it was asked for.
func CheckEM8(in Input, out Output) error {
	switch {
	case out.Status != Done:
		return nil
	case in.Op == OpLookup && !out.Entry.Range().Intersects(in.Range()):
		return fmt.Errorf("EM-8: lookup of %v found %v", in.Range(), out.Entry.Range())
	case in.Op == OpInsertOrAdopt && !out.Entry.Contains(in.Start):
		return fmt.Errorf("EM-8: insert-or-adopt at %s returned %v", size(in.Start), out.Entry.Range())
	}
	return nil
}

// CheckEM9 holds when every byte outside of the changed ranges lives where it lived before, or is unmapped as it was:
// merging and cutting move nothing. Within an entry the places are consecutive, so that looking at both ends
// of everything is exact.
func CheckEM9(before, after State, changed ...Range) error {
	var points []uint64
	for _, n := range slices.Concat(before.Tree, after.Tree) {
		points = append(points, n.Start, n.End()-1)
	}
	for _, r := range changed {
		points = append(points, r.Start-1, r.End) // out of range at the ends of the file, where nothing is mapped
	}
	for _, p := range points {
		if slices.ContainsFunc(changed, func(r Range) bool { return r.Contains(p) }) {
			continue
		}
		was, mapped := before.place(p)
		is, still := after.place(p)
		if was != is || mapped != still {
			return fmt.Errorf("EM-9: byte %d was at %v (mapped %v) and is at %v (mapped %v)", p, was, mapped, is, still)
		}
	}
	return nil
}

// place returns where the file byte at offset lives, if it is mapped.
func (s State) place(offset uint64) (Place, bool) {
	for _, n := range s.Tree {
		if n.Contains(offset) {
			return n.Place(offset), true
		}
	}
	return Place{}, false
}

// mayRemap returns the ranges in which the operation may change what is mapped, whatever its outcome. Without two
// spares a whole entry may go with the part of it that was to be dropped.
func mayRemap(s State, in Input) []Range {
	switch in.Op {
	case OpDropAll, OpDropFirst:
		return []Range{{0, MaxOffset}}
	case OpDropRange:
		return s.reach(Range{in.Start, saturatingAdd(in.End, 1)}, in.Spares < 2)
	case OpReplaceRange:
		return s.reach(in.New.Range(), in.Spares < 2)
	case OpInsert, OpInsertOrAdopt:
		return []Range{in.New.Range()}
	case OpReplace:
		return append(s.reach(Range{in.Start, in.Start + 1}, true), in.New.Range())
	case OpRemove, OpSplit:
		return s.reach(Range{in.Start, in.Start + 1}, true)
	case OpReleaseFolio, OpReleaseStep:
		return s.reach(in.Range(), true)
	}
	return nil
}

// reach returns the range and, if whole is set, the ranges of all entries that share a byte with it.
func (s State) reach(r Range, whole bool) []Range {
	reach := []Range{r}
	for _, n := range s.Tree {
		if whole && n.Range().Intersects(r) {
			reach = append(reach, n.Range())
		}
	}
	return reach
}
