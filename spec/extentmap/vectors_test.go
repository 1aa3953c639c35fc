package extentmap

import "testing"

// x, y are the two neighbouring extents of vectors V5 to V7, xy is what they merge to.
var (
	x  = extent(0, 64, 1024, 64, 0)
	y  = extent(64, 128, 1024+64, 64, 0)
	xy = extent(0, 128, 1024, 128, 0).with(Merged)
)

// The conformance vectors: what every implementation of the tree has to agree on.
func TestConformanceVectors(t *testing.T) {
	v1 := extent(0, 64, 1024, 128, 16)
	left, right := extent(0, 16, 1024, 128, 16), extent(48, 64, 1024, 128, 64)
	pinned := extent(0, 16, 2048, 16, 0).gen(InFlight).with(Pinned)
	compressed := Entry{
		Start: 108 * kib, Len: 36 * kib, DiskBytenr: mib, DiskNumBytes: 16 * kib, RAMBytes: 64 * kib,
		Generation: 7, Flags: Zstd,
	}
	trimmed := compressed
	trimmed.Start, trimmed.Len, trimmed.Offset = 128*kib, 16*kib, 20*kib
	fullSync := func(s *State) { s.FullSync = true }

	tests := []struct {
		name      string
		before    State
		inputs    []Input
		after     State // its count of evictable entries is set from evictable
		evictable int   // change
	}{
		{"V1 drop the middle of an entry", tree(off(v1)), []Input{drop(16, 48)}, tree(off(left), off(right)), +1},
		{
			"V2 drop the front of a hole", tree(off(hole(0, 64))), []Input{drop(0, 16)},
			tree(off(hole(16, 64))), 0,
		},
		{
			"V3 no spare for a modified entry", tree(listed(v1, 0)),
			[]Input{{Op: OpDropRange, Start: 16 * kib, End: 48*kib - 1}},
			tree().edit(fullSync), -1,
		},
		{
			"V3b one spare for a modified entry (F-1)", tree(listed(v1, 0)),
			[]Input{{Op: OpDropRange, Start: 16 * kib, End: 48*kib - 1, Spares: 1}},
			tree(listed(left, 0)), 0,
		},
		{
			"V4 skip pinned", tree(off(pinned), off(extent(32, 48, 1024, 16, 0))),
			[]Input{{Op: OpDropRange, End: 36*kib - 1, SkipPinned: true, Spares: 2}},
			tree(off(pinned), off(extent(36, 48, 1024, 16, 4))), 0,
		},
		{"V5 insert merges", tree(off(x)), []Input{{Op: OpInsert, New: y}}, tree(off(xy)), 0},
		{
			"V6 a third reference on the new entry", tree(off(x)), []Input{{Op: OpInsert, New: y, Others: HoldersOf(3)}},
			tree(off(x), off(y).heldBy(3)), +1,
		},
		{
			"V7 a reference on the old entry", tree(off(x)),
			[]Input{{Op: OpLookup, Len: 1, Hold: 1}, {Op: OpInsert, New: y}},
			tree(off(xy)).edit(func(s *State) { s.Gone = []Node{off(x).heldBy(1)} }), 0,
		},
		{
			"V8 adopt less, compressed", tree(off(extent(120, 128, 1024, 8, 0))),
			[]Input{{Op: OpInsertOrAdopt, New: compressed, Start: 140 * kib}},
			tree(off(extent(120, 128, 1024, 8, 0)), off(trimmed)), +1,
		},
		{
			"V9 four writes complete in order", tree(fourWrites()...),
			[]Input{unpin(0), unpin(64), unpin(128), unpin(192)},
			tree(off(extent(0, 256, 1024, 256, 0).with(Merged))), -3,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.after
			want.Evictable = tt.before.Evictable + tt.evictable
			wantEqual(t, apply(t, tt.before, tt.inputs...), want)
		})
	}
}

// In V7 the old holder still reads its own, consistent copy, which is no longer the current one.
func TestHolderOfAbsorbedEntryReadsOldCopy(t *testing.T) {
	s := apply(t, tree(off(x)), Input{Op: OpLookup, Len: 1, Hold: 1}, Input{Op: OpInsert, New: y})
	_, out := Apply(s, Input{Op: OpRead, Hold: 1})
	if want := (Output{Status: Done, Entry: x.stable()}); out != want {
		t.Errorf("got %v, want %v", out, want)
	}
	s = apply(t, s, Input{Op: OpPut, Hold: 1})
	if len(s.Gone) != 0 {
		t.Errorf("the last reference is gone, the entry is not: %v", s)
	}
}

// fourWrites returns the nodes of V9: writes in flight that an fsync has already taken off the modified list.
func fourWrites() []Node {
	var nodes []Node
	for at := uint64(0); at < 256; at += 64 {
		nodes = append(nodes, off(extent(at, at+64, 1024+at, 64, 0).gen(InFlight).with(Pinned)))
	}
	return nodes
}

// unpin returns the completion, in transaction 7, of the 64 KiB write at start KiB.
func unpin(start uint64) Input {
	return Input{Op: OpUnpin, Start: start * kib, Len: 64 * kib, Generation: 7}
}
