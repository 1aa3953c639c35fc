package extentmap

import (
	"cmp"
	"slices"
)

// addition is an entry about to be put into the tree and what goes with it.
type addition struct {
	entry    Entry
	modified bool    // put it on the modified list; otherwise try to merge it
	hold     Hold    // the creator's own reference, if it keeps it
	others   Holders // references that others have on the entry already
}

func (a addition) node() Node {
	return Node{Entry: a.entry, List: Unlisted, Holders: a.others | HoldersOf(a.hold)}
}

// intersects reports whether any entry shares a byte with the range.
func (s *State) intersects(r Range) bool {
	return slices.ContainsFunc(s.Tree, func(n Node) bool { return n.Range().Intersects(r) })
}

// link puts the node at its place in the tree, then on the modified list or through a merge, and returns where it
// ends up. Nothing may be mapped in its range.
func (s *State) link(a addition) int {
	index, _ := slices.BinarySearchFunc(s.Tree, a.entry.Start, func(n Node, start uint64) int {
		return cmp.Compare(n.Start, start)
	})
	s.Tree = slices.Insert(s.Tree, index, a.node())
	if a.modified {
		s.pushFront(index)
		return index
	}
	return s.tryMerge(index, a.hold)
}

// insert adds an entry, or changes nothing and says so if any byte of its range is already mapped.
//
// Kernel label: add_extent_mapping.
func (s *State) insert(a addition) (index int, ok bool) {
	if s.intersects(a.entry.Range()) {
		return 0, false
	}
	index = s.link(a)
	s.count(+1)
	return index, true
}

// remove takes the node at index out of the tree and drops the tree's reference. A node that a fast fsync is logging
// stays linked, because its link belongs to the fsync.
//
// Kernel label: remove_extent_mapping.
func (s *State) remove(index int) {
	if !s.Tree[index].Flags.Has(Logging) {
		s.unlink(index)
	}
	s.detach(index)
	s.count(-1)
}

// replace puts a new node at the place of the one at index. The number of entries stays the same, unless the new
// one merges.
//
// Kernel label: replace_extent_mapping.
func (s *State) replace(index int, a addition) {
	if !s.Tree[index].Flags.Has(Logging) {
		s.unlink(index)
	}
	s.detach(index)
	s.link(a)
}

// removeAt is [OpRemove]. Whoever removes a pinned entry has a bug, which is reported and does not stop it.
func (s *State) removeAt(start uint64) Output {
	index, found := s.at(start)
	if !found {
		return Output{Status: NotFound}
	}
	warned := s.Tree[index].Flags.Has(Pinned)
	s.remove(index)
	return Output{Status: Done, Warned: warned}
}

// replaceAt is [OpReplace]. The new entry must fit into the gap that the old one leaves.
func (s *State) replaceAt(start uint64, a addition) Output {
	index, found := s.at(start)
	if !found {
		return Output{Status: NotFound}
	}
	for i, n := range s.Tree {
		if i != index && n.Range().Intersects(a.entry.Range()) {
			return Output{Status: Misuse}
		}
	}
	if s.Tree[index].Flags.Has(Pinned) {
		return Output{Status: Misuse}
	}
	s.replace(index, a)
	return Output{Status: Done}
}

// insertOrAdopt caches an entry that was built from the on-disk item. Somebody else may have been faster: then the caller
// gets the entry that is there if it contains start, and otherwise as much of its own as fits around start.
// The resulting entry is part of the answer and carries the caller's reference.
//
// Kernel label: btrfs_add_extent_mapping.
func (s *State) insertOrAdopt(a addition, start uint64) Output {
	if index, ok := s.insert(a); ok {
		return Output{Status: Done, Entry: s.Tree[index].Entry, InTree: true}
	}
	index, _ := s.candidate(start)
	if s.Tree[index].Contains(start) {
		return s.find(index, true, a.hold)
	}
	a.entry = s.trimAround(a.entry, start)
	index, _ = s.insert(a) // cannot fail any more
	return Output{Status: Done, Entry: s.Tree[index].Entry, InTree: true}
}

// trimAround shrinks an entry to the unmapped gap around start. Moving its start moves its place in the extent by as
// much, and this is so for compressed extents too, since the offset counts decompressed bytes.
func (s *State) trimAround(e Entry, start uint64) Entry {
	first, end := e.Start, e.End()
	for _, n := range s.Tree {
		if n.End() <= start {
			first = max(first, n.End())
		} else {
			end = min(end, n.Start)
		}
	}
	if e.Real() {
		e.Offset += first - e.Start
	}
	e.Start, e.Len = first, end-first
	return e
}
