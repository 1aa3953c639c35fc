package extentmap

// splitForOrdered cuts an entry in two because its write was cut in two, the first part now going to another
// place on disk. It takes two allocations, made beforehand.
//
// Kernel label: btrfs_split_extent_map.
func (s *State) splitForOrdered(in Input) Output {
	index, found := s.at(in.Start)
	if !found || !s.Tree[index].splittable(in) {
		return Output{Status: Misuse}
	}
	if in.Spares < 2 {
		return Output{Status: NoMemory}
	}
	old := s.Tree[index].Entry
	half := func(start, length, disk uint64) addition {
		return addition{modified: true, entry: Entry{
			Start: start, Len: length,
			DiskBytenr: disk, DiskNumBytes: length, RAMBytes: length,
			Generation: old.Generation, Flags: old.Flags,
		}}
	}
	s.Tree[index].Flags &^= Pinned
	s.replace(index, half(old.Start, in.Pre, in.NewLogical))
	s.insert(half(old.Start+in.Pre, old.Len-in.Pre, old.BlockStart()+in.Pre))
	return Output{Status: Done}
}

// splittable reports whether the split that was asked for may be done to this node.
func (n Node) splittable(in Input) bool {
	return n.Start == in.Start && n.Len == in.Len &&
		0 < in.Pre && in.Pre < in.Len && aligned(in.Pre, in.NewLogical) &&
		n.List == OnModified && n.Real() && n.Flags.Has(Pinned) &&
		!n.Flags.Compressed() && !n.Flags.Has(Logging)
}

// unpin records that the write of an entry has completed, in the given transaction. Once no fsync has to log the entry
// any more it may merge; most often it is still on the modified list and does not.
//
// Kernel label: btrfs_unpin_extent_cache.
func (s *State) unpin(r Range, generation uint64) Output {
	index, found := s.lookup(r)
	if !found {
		return Output{Status: NotFound}
	}
	if s.Tree[index].Start != r.Start {
		return Output{Status: Corrupt}
	}
	s.Tree[index].Generation = generation
	s.Tree[index].Flags &^= Pinned
	s.tryMerge(index, 0)
	return Output{Status: Done}
}
