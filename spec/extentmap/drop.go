package extentmap

// dropRange unmaps the bytes from first to last, which is inclusive. An entry that sticks out of the range is cut, and
// each piece that remains needs one of the spares that were allocated beforehand, at most two. Without a spare
// the whole entry goes; if a fsync would have logged it, the next one is told not to trust the list.
// With skipPinned, entries whose write is in flight stay as they are.
//
// A known hole, kept on purpose because the code that this describes has it: when an entry on a list sticks out on
// both sides and there is exactly one spare, the right remainder goes and nobody is told (see [CheckEM6]).
//
// Kernel label: btrfs_drop_extent_map_range.
func (s *State) dropRange(first, last uint64, skipPinned bool, spares int) {
	if first == 0 && last == MaxOffset && !skipPinned {
		s.dropAll()
		return
	}
	hit := Range{first, saturatingAdd(last, 1)}
	index, found := s.lookup(hit)
	for found {
		n := s.Tree[index]
		next, more := s.nextInside(index, hit)
		if skipPinned && n.Flags.Has(Pinned) {
			// Only the start moves: the range must not get longer or shorter at its other end.
			hit.Start = n.End()
		} else {
			spares -= s.cut(index, hit, spares)
		}
		if !more {
			return
		}
		index, found = s.at(next)
	}
}

// nextInside returns where the entry after the one at index starts, if that is inside of the range.
func (s *State) nextInside(index int, hit Range) (start uint64, found bool) {
	if index+1 == len(s.Tree) || s.Tree[index+1].Start >= hit.End {
		return 0, false
	}
	return s.Tree[index+1].Start, true
}

// cut unmaps the part of the node at index that lies in the range and returns how many spares it used. The pieces keep
// all flags but Logging: what is being logged is the original, which keeps it.
func (s *State) cut(index int, hit Range, spares int) (used int) {
	original := s.Tree[index]
	listed := original.List != Unlisted
	s.Tree[index].Flags &^= Pinned

	sticksLeft, sticksRight := original.Start < hit.Start, original.End() > hit.End
	inTree := true
	put := func(from, to uint64) {
		if used == spares {
			return
		}
		used++
		piece := addition{entry: original.piece(from, to), modified: listed}
		if inTree {
			s.replace(index, piece)
			inTree = false
			return
		}
		s.insert(piece)
	}
	if sticksLeft {
		put(original.Start, hit.Start)
	}
	if sticksRight {
		put(hit.End, original.End())
	}
	if inTree {
		if (sticksLeft || sticksRight) && listed {
			s.FullSync = true
		}
		s.remove(index)
	}
	return used
}

// piece returns the part [from, to) of an entry as an entry of its own.
func (e Entry) piece(from, to uint64) Entry {
	p := Entry{Start: from, Len: to - from, DiskBytenr: e.DiskBytenr, Generation: e.Generation, Flags: e.Flags &^ Logging}
	if !e.Real() {
		p.RAMBytes = p.Len
		return p
	}
	p.DiskNumBytes, p.RAMBytes = e.DiskNumBytes, e.RAMBytes
	p.Offset = e.Offset + (from - e.Start)
	return p
}

// dropFirst is one round of drop-all. It reports false when the tree is empty. Nothing is spared, so both the pin and the
// fast fsync's claim are cleared first.
//
// Kernel label: drop_all_extent_maps_fast.
func (s *State) dropFirst() bool {
	if len(s.Tree) == 0 {
		return false
	}
	s.Tree[0].Flags &^= Pinned | Logging
	s.remove(0)
	return true
}

// dropAll empties the tree.
func (s *State) dropAll() {
	for s.dropFirst() {
	}
}

// replaceRange unmaps the range of an entry and then inserts the entry, which cannot fail here. In concurrent code the two are
// separate critical sections, repeated until the range was still free at the second.
//
// Kernel label: btrfs_replace_extent_map_range.
func (s *State) replaceRange(a addition, spares int) {
	s.dropRange(a.entry.Start, a.entry.End()-1, false, spares)
	s.insert(a)
}
