package extentmap

import "benign/impl/kernel"

// mergeable reports whether the entry, for its own part, may become one with a
// neighbour: no write of it is in flight, it is not compressed, and no fsync
// has or will have anything to do with it.
func (e *Entry) mergeable() bool {
	return e.Flags&(Pinned|Logging) == 0 && !e.Flags.Compressed() && !e.list.Linked()
}

// mayMerge reports whether two entries, neither of which needs to exist, can
// become one.
func mayMerge(before, after *Entry) bool {
	return before != nil && after != nil && before.mergeable() && after.mergeable() &&
		after.continues(before.Mapping)
}

// tryMerge lets an entry take over its neighbours where that is possible. The
// entry survives and is edited in place. So it must have no other holder than
// the tree and the caller: anybody else may be reading its range without the
// lock. The neighbours are not written to, whoever holds them, so that a holder
// goes on seeing a consistent copy of how things were.
//
// No new holder can turn up after the count, because the lock is held. A former
// holder's last reads come before its put, and the edit comes after the count
// that has seen the put. In the kernel it is the branch on the count that keeps
// the edit behind it, a control dependency; nobody can see the branches of Go
// code, so a read barrier stands for it here. The references are only counted
// once there is something to merge, so that no count is read that decides
// nothing. Joining the left neighbour does not change whether the right one fits.
//
// Kernel label: try_merge_map.
func (tr *Tree) tryMerge(t *kernel.Task, e *Entry) {
	before, after := neighbour(e, left), neighbour(e, right)
	joinsBefore, joinsAfter := mayMerge(before, e), mayMerge(e, after)
	if !joinsBefore && !joinsAfter {
		return
	}
	const treeAndCaller = 2
	if e.refs.Count(t) > treeAndCaller {
		return
	}
	t.Barrier(kernel.ReadBarrier)
	if joinsBefore {
		tr.absorb(t, e, before)
	}
	if joinsAfter {
		tr.absorb(t, e, after)
	}
}

// absorb widens e over an entry beside it and takes that one out of the tree.
func (tr *Tree) absorb(t *kernel.Task, e, beside *Entry) {
	e.stable.Write(t)
	e.Mapping = e.mergedWith(beside.Mapping)
	tr.wellFormed(t, e)
	tr.erase(t, beside)
	beside.Put(t)
}
