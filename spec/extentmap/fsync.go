package extentmap

import "slices"

// MaxLogged is how many entries a fast fsync is willing to log. With more it gives up, and the caller commits the transaction
// instead.
const MaxLogged = 32768

// collect takes every entry off the modified list, front first, and keeps those for logging that need it. What an older
// transaction made is on disk already, and preallocated space behind the end of the file, at size, holds no
// data. The order in which the private list is worked off is left open.
//
// With more than limit entries to log it gives up: those taken so far are let go unlogged, the rest stays listed, and
// only the commit that the caller must do next makes the data safe.
func (s *State) collect(transaction, size uint64, limit int) Output {
	if s.Fsyncing {
		return Output{Status: Misuse}
	}
	s.Fsyncing = true
	taken := 0
	for rank, start := range s.modifiedStarts() {
		index, _ := s.at(start)
		n := &s.Tree[index]
		wanted := n.Generation >= transaction && !(n.Flags.Has(Prealloc) && n.Start >= size)
		if wanted && taken == limit {
			s.giveUp(rank)
			return Output{Status: TooBig}
		}
		n.List, n.Rank = Unlisted, 0
		if wanted {
			n.Flags |= Logging
			n.List, n.Fsync = OnPrivate, true
			taken++
		}
	}
	return Output{Status: Done, Taken: taken}
}

// modifiedStarts returns where the entries on the modified list start, front first.
func (s *State) modifiedStarts() []uint64 {
	var starts []uint64
	for _, e := range s.Modified() {
		starts = append(starts, e.Start)
	}
	return starts
}

// giveUp ends a fast fsync that has taken the first entries, as many as done says, off the modified list.
func (s *State) giveUp(done int) {
	var private []uint64
	for i := range s.Tree {
		switch n := &s.Tree[i]; n.List {
		case OnModified:
			n.Rank -= done
		case OnPrivate:
			n.List = Unlisted
			private = append(private, n.Start)
		}
	}
	for _, start := range private {
		index, _ := s.at(start)
		s.clearLogging(index)
	}
	s.Fsyncing = false
}

// take unlinks the entry that starts at start from the private list. From here until [OpFsyncLogged] the tree lock is free
// and the entry, still marked as being logged, is on no list.
func (s *State) take(start uint64) Output {
	for _, nodes := range [][]Node{s.Tree, s.Gone} {
		for i := range nodes {
			if n := &nodes[i]; n.List == OnPrivate && n.Start == start {
				n.List = Unlisted
				return Output{Status: Done, Entry: n.Entry}
			}
		}
	}
	return Output{Status: NotFound}
}

// logged ends what take began: the entry has been written to the log, its mark is cleared and the fsync's reference
// dropped.
func (s *State) logged(start uint64) Output {
	inHand := func(n Node) bool { return n.Fsync && n.List == Unlisted && n.Start == start }
	if i := slices.IndexFunc(s.Tree, inHand); i >= 0 {
		s.clearLogging(i)
		return Output{Status: Done}
	}
	if i := slices.IndexFunc(s.Gone, inHand); i >= 0 {
		s.Gone[i].Flags &^= Logging
		s.dropReferences(i, 0, true)
		return Output{Status: Done}
	}
	return Output{Status: NotFound}
}

// clearLogging takes the mark and the fsync's reference off the node at index, which may merge now. The reference is the
// caller's own, so it does not stand in the way of that.
//
// Kernel label: clear_em_logging.
func (s *State) clearLogging(index int) {
	s.Tree[index].Flags &^= Logging
	s.Tree[index].Fsync = false
	s.tryMerge(index, 0)
}

// finish ends a fast fsync. It must have logged all that it collected.
func (s *State) finish() Output {
	holds := func(n Node) bool { return n.Fsync }
	if !s.Fsyncing || slices.ContainsFunc(s.Tree, holds) || slices.ContainsFunc(s.Gone, holds) {
		return Output{Status: Misuse}
	}
	s.Fsyncing = false
	return Output{Status: Done}
}

// fastFsync is collect, take and log for each entry in file order, finish: what a fast fsync does when nobody else gets
// in between.
func (s *State) fastFsync(transaction, size uint64) Output {
	out := s.collect(transaction, size, MaxLogged)
	if out.Status != Done {
		return out
	}
	var private []uint64
	for _, n := range s.Tree {
		if n.List == OnPrivate {
			private = append(private, n.Start)
		}
	}
	for _, start := range private {
		s.take(start)
		s.logged(start)
	}
	s.finish()
	return out
}

// fullFsync logs from the on-disk index instead of from the tree. All it does here is to empty the modified list, without
// merging, and to honour the full-sync flag.
func (s *State) fullFsync() Output {
	if s.Fsyncing {
		return Output{Status: Misuse}
	}
	for i := range s.Tree {
		if n := &s.Tree[i]; n.List == OnModified {
			n.List, n.Rank = Unlisted, 0
		}
	}
	s.FullSync = false
	return Output{Status: Done}
}

// commit says that a newer transaction has become the running one.
func (s *State) commit(generation uint64) Output {
	if generation <= s.Generation || generation == InFlight {
		return Output{Status: Misuse}
	}
	s.Generation = generation
	return Output{Status: Done}
}
