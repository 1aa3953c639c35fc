package extentmap

import (
	"cmp"
	"slices"
	"testing"
)

const (
	kib = 1 << 10
	mib = 1 << 20
)

// extent returns an uncompressed entry of generation 7; all sizes are in KiB.
func extent(start, end, disk, num, off uint64) Entry {
	return Entry{
		Start: start * kib, Len: (end - start) * kib,
		DiskBytenr: disk * kib, DiskNumBytes: num * kib, Offset: off * kib, RAMBytes: num * kib,
		Generation: 7,
	}
}

// hole returns a hole of generation 7; sizes are in KiB.
func hole(start, end uint64) Entry {
	return Entry{Start: start * kib, Len: (end - start) * kib, DiskBytenr: Hole, RAMBytes: (end - start) * kib, Generation: 7}
}

// with returns the entry with flags added.
func (e Entry) with(f Flags) Entry {
	e.Flags |= f
	return e
}

// gen returns the entry with another generation.
func (e Entry) gen(generation uint64) Entry {
	e.Generation = generation
	return e
}

// off returns the entry on no list, listed the one at the given position of the modified list.
func off(e Entry) Node { return Node{Entry: e, List: Unlisted} }

func listed(e Entry, rank int) Node { return Node{Entry: e, List: OnModified, Rank: rank} }

// private returns the entry as a running fast fsync has it on its private list.
func private(e Entry) Node { return Node{Entry: e.with(Logging), List: OnPrivate, Fsync: true} }

// heldBy returns the node with references on it.
func (n Node) heldBy(holds ...Hold) Node {
	n.Holders |= HoldersOf(holds...)
	return n
}

// tree returns a state in transaction 7 with the given nodes in the tree.
func tree(nodes ...Node) State {
	s := Init(7, true)
	s.Tree = slices.Clone(nodes)
	slices.SortFunc(s.Tree, func(a, b Node) int { return cmp.Compare(a.Start, b.Start) })
	s.Evictable = len(nodes)
	s.Fsyncing = slices.ContainsFunc(nodes, func(n Node) bool { return n.Fsync })
	return s
}

// edit returns a changed copy of the state.
func (s State) edit(change func(*State)) State {
	c := s.Clone()
	change(&c)
	return c
}

// apply runs operations one after the other; each must leave a valid state and be Done.
func apply(t *testing.T, s State, inputs ...Input) State {
	t.Helper()
	for _, in := range inputs {
		next, out := Apply(s, in)
		if out.Status != Done {
			t.Fatalf("%v: %v", in, out)
		}
		if err := Check(next); err != nil {
			t.Fatalf("%v: %v", in, err)
		}
		if err := CheckStep(s, in, out, next); err != nil {
			t.Fatalf("%v: %v", in, err)
		}
		s = next
	}
	return s
}

// wantEqual fails unless the states are equal.
func wantEqual(t *testing.T, got, want State) {
	t.Helper()
	if !got.Equal(want) {
		t.Errorf("got:\n%v\nwant:\n%v", got, want)
	}
}

// drop returns a drop-range of the KiB range [start, end) with two spares.
func drop(start, end uint64) Input {
	return Input{Op: OpDropRange, Start: start * kib, End: end*kib - 1, Spares: 2}
}
