package extentmap

// Mergeable reports whether the entry, by itself, may take part in a merge: no write of it is in flight, it is not
// compressed, and nothing will log it (no list, no fast fsync).
func (n Node) Mergeable() bool {
	return n.List == Unlisted && !n.Flags.Compressed() && n.Flags&(Pinned|Logging) == 0
}

// MergeablePair reports whether one entry could stand for both: right follows left in the file, they have the same flags
// (whether either was merged before does not matter), and right follows left on disk too, or both are
// holes. They may belong to two extents that happen to be neighbours.
func MergeablePair(left, right Entry) bool {
	if left.End() != right.Start || left.Flags&^Merged != right.Flags&^Merged {
		return false
	}
	if right.Real() {
		return right.BlockStart() == left.BlockEnd()
	}
	return left.DiskBytenr == right.DiskBytenr
}

// join returns what becomes of survivor, which is one of the two, when it takes over the range of both. An extent of the
// result is the smallest one around both extents.
func join(survivor, left, right Entry) Entry {
	joined := survivor
	joined.Start = left.Start
	joined.Len = left.Len + right.Len
	joined.Generation = max(left.Generation, right.Generation)
	joined.Flags |= Merged
	if !joined.Real() {
		return joined
	}
	first := min(left.DiskBytenr, right.DiskBytenr)
	last := max(left.DiskBytenr+left.DiskNumBytes, right.DiskBytenr+right.DiskNumBytes)
	joined.DiskBytenr = first
	joined.DiskNumBytes = last - first
	joined.RAMBytes = last - first
	joined.Offset = left.DiskBytenr + left.Offset - first
	return joined
}

// tryMerge lets the node at index absorb its neighbours where that is possible, the left one first, and returns where it is
// afterwards. The node always survives; an absorbed one leaves the tree unchanged, so that whoever holds a
// reference on it goes on seeing a consistent, old copy. Nobody but the caller, known by the name of its own
// reference (if it keeps one), may hold a reference on the survivor, since its range is edited in place.
//
// Kernel label: try_merge_map.
func (s *State) tryMerge(index int, caller Hold) int {
	n := s.Tree[index]
	if n.Holders&^HoldersOf(caller) != 0 || n.Fsync || !n.Mergeable() {
		return index
	}
	if index > 0 && s.Tree[index-1].Mergeable() && MergeablePair(s.Tree[index-1].Entry, s.Tree[index].Entry) {
		left := s.Tree[index-1].Entry
		s.Tree[index].Entry = join(s.Tree[index].Entry, left, s.Tree[index].Entry)
		s.absorb(index - 1)
		index--
	}
	if index+1 < len(s.Tree) && s.Tree[index+1].Mergeable() && MergeablePair(s.Tree[index].Entry, s.Tree[index+1].Entry) {
		right := s.Tree[index+1].Entry
		s.Tree[index].Entry = join(s.Tree[index].Entry, s.Tree[index].Entry, right)
		s.absorb(index + 1)
	}
	return index
}

// absorb takes the node at index, whose range its neighbour has just taken over, out of the tree.
func (s *State) absorb(index int) {
	s.detach(index)
	s.count(-1)
}
