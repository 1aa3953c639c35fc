package extentmap

import "slices"

// candidate returns the entry that a lookup of start considers: the one that contains start; else the next one; else
// the last one before. There is none only if the tree is empty.
func (s *State) candidate(start uint64) (index int, found bool) {
	if len(s.Tree) == 0 {
		return 0, false
	}
	// The first entry that ends after start contains it or is the next one.
	index = slices.IndexFunc(s.Tree, func(n Node) bool { return n.End() > start })
	if index < 0 {
		index = len(s.Tree) - 1
	}
	return index, true
}

// lookup returns the candidate for start, if it shares a byte with the given range. Several entries may do so; only the
// first is found.
func (s *State) lookup(r Range) (index int, found bool) {
	index, found = s.candidate(r.Start)
	return index, found && s.Tree[index].Range().Intersects(r)
}

// find is what [OpLookup] and [OpSearch] do with the entry that was found: keep a reference on it, if so asked, and
// return a copy.
func (s *State) find(index int, found bool, hold Hold) Output {
	if !found {
		return Output{Status: NotFound}
	}
	s.Tree[index].Holders |= HoldersOf(hold)
	return Output{Status: Done, Entry: s.Tree[index].Entry, InTree: true}
}

// share takes another reference on a node that the caller already holds, which needs no lock.
func (s *State) share(held, hold Hold) Output {
	node, inTree := s.held(held)
	if node == nil || hold == 0 {
		return Output{Status: Misuse}
	}
	if inTree {
		node.Holders |= HoldersOf(hold)
		return Output{Status: Done}
	}
	gone := *node
	s.Gone = slices.DeleteFunc(s.Gone, func(n Node) bool { return n == gone })
	gone.Holders |= HoldersOf(hold)
	s.keepGone(gone)
	return Output{Status: Done}
}

// put drops a named reference, which needs no lock.
func (s *State) put(hold Hold) Output {
	node, inTree := s.held(hold)
	switch {
	case node == nil:
		return Output{Status: Misuse}
	case inTree:
		node.Holders &^= HoldersOf(hold)
	default:
		s.dropReferences(slices.Index(s.Gone, *node), HoldersOf(hold), false)
	}
	return Output{Status: Done}
}

// read is what the holder of a reference may see without the lock: the range and the disk fields, which nobody may
// change under it, and whether the entry is still the current one. The generation and the flags are not stable
// and therefore not part of the answer.
func (s *State) read(hold Hold) Output {
	node, inTree := s.held(hold)
	if node == nil {
		return Output{Status: Misuse}
	}
	return Output{Status: Done, Entry: node.stable(), InTree: inTree}
}

// stable returns the entry without the fields that only the lock keeps still.
func (e Entry) stable() Entry {
	e.Generation, e.Flags = 0, 0
	return e
}
