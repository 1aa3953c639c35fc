package extentmap

import (
	"strings"
	"testing"
)

// opCase is one operation on one state.
type opCase struct {
	name   string
	before State
	in     Input
	out    Output
	after  State // the zero State stands for "unchanged"; its Evictable is always set to the size of the tree
}

func run(t *testing.T, tests []opCase) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			after, out := Apply(tt.before, tt.in)
			if out != tt.out {
				t.Errorf("got %v, want %v", out, tt.out)
			}
			want := tt.after
			if want.Generation == 0 {
				want = tt.before
			}
			want.Evictable = len(want.Tree)
			wantEqual(t, after, want)
			if err := CheckStep(tt.before, tt.in, out, after); err != nil && !out.Warned {
				t.Error(err)
			}
			if ok, _ := Step(tt.before, tt.in, Output{}); ok {
				t.Error("Step accepts the zero output")
			}
		})
	}
}

var (
	done     = Output{Status: Done}
	misuse   = Output{Status: Misuse}
	notFound = Output{Status: NotFound}
)

func TestLookup(t *testing.T) {
	a, b := extent(8, 16, 1024, 8, 0), extent(24, 32, 2048, 8, 0)
	s := tree(off(a), off(b))
	at := func(op Op, start, length uint64) Input { return Input{Op: op, Start: start * kib, Len: length * kib} }
	found := func(e Entry) Output { return Output{Status: Done, Entry: e, InTree: true} }
	run(t, []opCase{
		{name: "the entry that contains the start", before: s, in: at(OpLookup, 12, 4), out: found(a)},
		{name: "the first of two", before: s, in: at(OpLookup, 0, 64), out: found(a)},
		{name: "the next one, in reach", before: s, in: at(OpLookup, 16, 9), out: found(b)},
		{name: "the next one, out of reach", before: s, in: at(OpLookup, 16, 8), out: notFound},
		{name: "only one before", before: s, in: at(OpLookup, 32, 8), out: notFound},
		{name: "search takes the next", before: s, in: at(OpSearch, 16, 8), out: found(b)},
		{name: "search takes the last before", before: s, in: at(OpSearch, 32, 8), out: found(b)},
		{name: "lookup in an empty tree", before: tree(), in: at(OpLookup, 0, 8), out: notFound},
		{name: "search in an empty tree", before: tree(), in: at(OpSearch, 0, 8), out: notFound},
		{
			name: "keep a reference", before: s, in: Input{Op: OpLookup, Len: MaxOffset, Hold: 64}, out: found(a),
			after: tree(off(a).heldBy(64), off(b)),
		},
		{name: "a name in use", before: tree(off(a).heldBy(1)), in: Input{Op: OpSearch, Hold: 1}, out: misuse},
		{name: "a name too large", before: s, in: Input{Op: OpSearch, Hold: 65}, out: misuse},
	})
}

func TestReferences(t *testing.T) {
	a := extent(0, 8, 1024, 8, 0)
	goneHeldBy := func(holds ...Hold) State {
		return tree().edit(func(s *State) { s.Gone = []Node{off(a).heldBy(holds...)} })
	}
	run(t, []opCase{
		{name: "share", before: tree(off(a).heldBy(1)), in: Input{Op: OpShare, From: 1, Hold: 2}, out: done, after: tree(off(a).heldBy(1, 2))},
		{name: "share what is gone", before: goneHeldBy(1), in: Input{Op: OpShare, From: 1, Hold: 2}, out: done, after: goneHeldBy(1, 2)},
		{name: "share nothing", before: tree(off(a)), in: Input{Op: OpShare, From: 1, Hold: 2}, out: misuse},
		{name: "share without a name", before: tree(off(a).heldBy(1)), in: Input{Op: OpShare, From: 1}, out: misuse},
		{name: "put", before: tree(off(a).heldBy(1, 2)), in: Input{Op: OpPut, Hold: 1}, out: done, after: tree(off(a).heldBy(2))},
		{name: "put what is gone", before: goneHeldBy(1, 2), in: Input{Op: OpPut, Hold: 2}, out: done, after: goneHeldBy(1)},
		{name: "the last put frees", before: goneHeldBy(1), in: Input{Op: OpPut, Hold: 1}, out: done, after: tree()},
		{name: "put twice", before: tree(off(a)), in: Input{Op: OpPut, Hold: 1}, out: misuse},
		{name: "read", before: tree(off(a).heldBy(1)), in: Input{Op: OpRead, Hold: 1}, out: Output{Status: Done, Entry: a.stable(), InTree: true}},
		{name: "read what is gone", before: goneHeldBy(1), in: Input{Op: OpRead, Hold: 1}, out: Output{Status: Done, Entry: a.stable()}},
		{name: "read without a reference", before: tree(off(a)), in: Input{Op: OpRead, Hold: 1}, out: misuse},
	})
}

func TestObservers(t *testing.T) {
	a := extent(0, 8, 1024, 8, 0)
	full := func(s *State) { s.FullSync = true }
	run(t, []opCase{
		{name: "empty", before: tree(), in: Input{Op: OpIsEmpty}, out: Output{Status: Done, Empty: true}},
		{name: "not empty", before: tree(off(a)), in: Input{Op: OpIsEmpty}, out: done},
		{name: "no full sync", before: tree(), in: Input{Op: OpIsFullSync}, out: done},
		{name: "full sync", before: tree().edit(full), in: Input{Op: OpIsFullSync}, out: Output{Status: Done, FullSync: true}},
		{name: "set full sync", before: tree(), in: Input{Op: OpSetFull}, out: done, after: tree().edit(full)},
		{
			name: "snapshot", before: tree(listed(a, 0)).edit(full), in: Input{Op: OpSnapshot},
			out: Output{Status: Done, Snapshot: "[0,8K) 1M/8K off 0 ram 8K g7 - modified#0\nfull-sync\n"},
		},
		{name: "commit", before: tree(), in: Input{Op: OpCommit, Generation: 8}, out: done, after: tree().edit(func(s *State) { s.Generation = 8 })},
		{name: "commit backwards", before: tree(), in: Input{Op: OpCommit, Generation: 7}, out: misuse},
		{name: "no operation", before: tree(off(a)), in: Input{}, out: misuse},
		{name: "unknown operation", before: tree(off(a)), in: Input{Op: opEnd}, out: misuse},
	})
}

func TestInsert(t *testing.T) {
	z := extent(64, 128, 8192, 64, 0)
	run(t, []opCase{
		{name: "into an empty tree", before: tree(), in: Input{Op: OpInsert, New: x}, out: done, after: tree(off(x))},
		{name: "exists", before: tree(off(x)), in: Input{Op: OpInsert, New: extent(60, 68, 4096, 8, 0)}, out: Output{Status: Exists}},
		{name: "exists: no reference stays", before: tree(off(x)), in: Input{Op: OpInsert, New: x, Hold: 1}, out: Output{Status: Exists}},
		{name: "malformed", before: tree(), in: Input{Op: OpInsert, New: Entry{Len: 4096}}, out: misuse},
		{
			name: "a modified entry goes to the front and does not merge", before: tree(listed(x, 0)),
			in: Input{Op: OpInsert, New: y, Modified: true}, out: done, after: tree(listed(x, 1), listed(y, 0)),
		},
		{name: "not adjacent on disk", before: tree(off(x)), in: Input{Op: OpInsert, New: z}, out: done, after: tree(off(x), off(z))},
		{
			name: "merges to the left and to the right", before: tree(off(x), off(extent(128, 192, 1024+128, 64, 0).gen(9))),
			in: Input{Op: OpInsert, New: y}, out: done, after: tree(off(extent(0, 192, 1024, 192, 0).with(Merged).gen(9))),
		},
		{
			name: "the creator's own reference does not stand in the way", before: tree(off(x)),
			in: Input{Op: OpInsert, New: y, Hold: 5}, out: done, after: tree(off(xy).heldBy(5)),
		},
	})
	uncounted, _ := Apply(Init(7, false), Input{Op: OpInsert, New: x})
	if err := CheckEM5(uncounted); err != nil || uncounted.Evictable != 0 {
		t.Errorf("outside of file trees %d entries count as evictable (%v)", uncounted.Evictable, err)
	}
}

// Each row puts an entry behind x that differs from y in one respect, or changes the node of x. None may merge.
func TestMergeIsRefused(t *testing.T) {
	tests := []struct {
		name string
		left Node
		in   Entry
	}{
		{"left pinned", off(x.with(Pinned)), y},
		{"left compressed", off(x.with(LZO)), y.with(LZO)},
		{"left being logged", private(x), y},
		{"left listed", listed(x, 0), y},
		{"flags differ", off(x), y.with(Prealloc)},
		{"gap in the file", off(x), extent(68, 128, 1024+64, 60, 0)},
		{"gap on disk", off(x), extent(64, 128, 1024+68, 64, 0)},
		{"hole behind an extent", off(x), hole(64, 128)},
		{"extent behind a hole", off(hole(0, 64)), y},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := apply(t, tree(tt.left), Input{Op: OpInsert, New: tt.in})
			if len(got.Tree) != 2 {
				t.Errorf("merged: %v", got)
			}
		})
	}
}

func TestMergeable(t *testing.T) {
	if !off(x.with(Prealloc | Merged)).heldBy(1).Mergeable() {
		t.Error("an ordinary entry must be mergeable")
	}
	for _, n := range []Node{
		off(x.with(Pinned)), off(x.with(Logging)), off(x.with(Zstd)), listed(x, 0), {Entry: x, List: OnPrivate},
	} {
		if n.Mergeable() {
			t.Errorf("%v %v must not be mergeable", n.Entry, n.List)
		}
	}
}

// Whoever else holds a reference on the survivor stands in the way of a merge, a fast fsync too.
func TestMergeNeedsAnUnsharedSurvivor(t *testing.T) {
	fsync := off(y)
	fsync.Fsync = true
	for name, survivor := range map[string]Node{"fsync": fsync, "two": off(y).heldBy(1, 2), "another": off(y).heldBy(2)} {
		s := tree(off(x), survivor)
		if s.tryMerge(1, 1); len(s.Tree) != 2 {
			t.Errorf("%s: merged", name)
		}
	}
	s := tree(off(x), off(y).heldBy(1))
	if index := s.tryMerge(1, 1); index != 0 || len(s.Tree) != 1 {
		t.Errorf("the caller's own reference: not merged, survivor at %d", index)
	}
}

func TestMergeKeepsPlaces(t *testing.T) {
	tests := []struct {
		name        string
		left, right Entry
		want        Entry
	}{
		{"holes", hole(0, 8), hole(8, 16), Entry{Len: 16 * kib, DiskBytenr: Hole, RAMBytes: 8 * kib, Generation: 7, Flags: Merged}},
		{"the larger generation stays", x.gen(9), y, xy.gen(9)},
		{"merged before", x.with(Merged), y, xy},
		{"two parts of one extent", extent(0, 8, 1024, 32, 8), extent(8, 16, 1024, 32, 16), extent(0, 16, 1024, 32, 8).with(Merged)},
		{"neighbouring extents, used in part", extent(0, 8, 1024, 16, 8), extent(8, 16, 1040, 32, 0), extent(0, 16, 1024, 48, 8).with(Merged)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := apply(t, tree(off(tt.left)), Input{Op: OpInsert, New: tt.right})
			wantEqual(t, s, tree(off(tt.want)))
			before := tree(off(tt.left), off(tt.right))
			if err := CheckEM9(before, s); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRemoveAndReplace(t *testing.T) {
	pinned, small := x.with(Pinned), extent(16, 32, 4096, 16, 0)
	run(t, []opCase{
		{name: "remove unlinks", before: tree(listed(x, 0), listed(y, 1)), in: Input{Op: OpRemove}, out: done, after: tree(listed(y, 0))},
		{name: "remove nothing", before: tree(off(x)), in: Input{Op: OpRemove, Start: 4 * kib}, out: notFound},
		{name: "removing a pinned entry warns", before: tree(off(pinned)), in: Input{Op: OpRemove}, out: Output{Status: Done, Warned: true}, after: tree()},
		{
			name: "the link of what is being logged stays", before: tree(private(x)), in: Input{Op: OpRemove}, out: done,
			after: tree().edit(func(s *State) { s.Gone, s.Fsyncing = []Node{private(x)}, true }),
		},
		{
			name: "a holder keeps what was removed", before: tree(listed(x, 0).heldBy(1)), in: Input{Op: OpRemove}, out: done,
			after: tree().edit(func(s *State) { s.Gone = []Node{off(x).heldBy(1)} }),
		},
		{
			name: "replace, modified", before: tree(listed(x, 1), listed(y, 0)), out: done, after: tree(listed(small, 0), listed(y, 1)),
			in: Input{Op: OpReplace, New: small, Modified: true},
		},
		{name: "replace, merging", before: tree(off(x), off(hole(64, 128))), in: Input{Op: OpReplace, Start: 64 * kib, New: y}, out: done, after: tree(off(xy))},
		{name: "replace nothing", before: tree(), in: Input{Op: OpReplace, New: x}, out: notFound},
		{name: "replace a pinned entry", before: tree(off(pinned)), in: Input{Op: OpReplace, New: x}, out: misuse},
		{name: "replace beyond the gap", before: tree(off(x), off(y)), in: Input{Op: OpReplace, New: extent(0, 68, 4096, 68, 0)}, out: misuse},
	})
}

func TestInsertOrAdopt(t *testing.T) {
	mine := extent(0, 64, 1024, 128, 16)
	adopted := func(e Entry) Output { return Output{Status: Done, Entry: e, InTree: true} }
	in := Input{Op: OpInsertOrAdopt, New: mine, Start: 32 * kib, Hold: 1}
	theirs := extent(28, 36, 4096, 8, 0)
	before, after := extent(0, 8, 4096, 8, 0), extent(40, 80, 8192, 40, 0)
	trimmed := extent(8, 40, 1024, 128, 24)
	run(t, []opCase{
		{name: "nobody was faster", before: tree(), in: in, out: adopted(mine), after: tree(off(mine).heldBy(1))},
		{name: "adopt", before: tree(off(theirs)), in: in, out: adopted(theirs), after: tree(off(theirs).heldBy(1))},
		{
			name: "trim on both sides", before: tree(off(before), off(after)), in: in, out: adopted(trimmed),
			after: tree(off(before), off(trimmed).heldBy(1), off(after)),
		},
		{
			name: "trim a hole", before: tree(off(before)), in: Input{Op: OpInsertOrAdopt, New: hole(0, 64), Start: 32 * kib},
			out: adopted(trimmedHole()), after: tree(off(before), off(trimmedHole())),
		},
		{
			name: "the answer is what it merged to", before: tree(off(x)), in: Input{Op: OpInsertOrAdopt, New: y, Start: 64 * kib},
			out: adopted(xy), after: tree(off(xy)),
		},
		{
			name: "what was adopted may be an entry just behind", before: tree(off(x)), in: Input{Op: OpInsertOrAdopt, New: extent(0, 128, 4096, 128, 0), Start: 96 * kib},
			out: adopted(extent(64, 128, 4096, 128, 64)), after: tree(off(x), off(extent(64, 128, 4096, 128, 64))),
		},
		{name: "start outside of the entry", before: tree(), in: Input{Op: OpInsertOrAdopt, New: mine, Start: 64 * kib}, out: misuse},
	})
}

// trimmedHole is the hole [0,64K) trimmed to start at 8K: only its range changes.
func trimmedHole() Entry {
	e := hole(8, 64)
	e.RAMBytes = 64 * kib
	return e
}

func TestDropRange(t *testing.T) {
	big := extent(0, 64, 1024, 128, 16)
	left, right := extent(0, 16, 1024, 128, 16), extent(48, 64, 1024, 128, 64)
	full := func(s *State) { s.FullSync = true }
	spares := func(n int) Input { return Input{Op: OpDropRange, Start: 16 * kib, End: 48*kib - 1, Spares: n} }
	run(t, []opCase{
		{name: "nothing there", before: tree(off(x)), in: drop(64, 128), out: done},
		{name: "whole entries", before: tree(off(x), listed(y, 0)), in: drop(0, 128), out: done, after: tree()},
		{name: "everything", before: tree(off(x.with(Pinned)), listed(y, 0)), in: Input{Op: OpDropRange, End: MaxOffset}, out: done, after: tree()},
		{name: "to the end", before: tree(off(big)), in: Input{Op: OpDropRange, Start: 16 * kib, End: MaxOffset, Spares: 1}, out: done, after: tree(off(left))},
		{
			name: "two cuts use two spares in order", before: tree(off(extent(0, 24, 1024, 24, 0)), off(extent(40, 64, 2048, 24, 0))),
			in: spares(1), out: done, after: tree(off(extent(0, 16, 1024, 24, 0))),
		},
		{name: "pieces of a modified entry", before: tree(listed(big, 0)), in: spares(2), out: done, after: tree(listed(left, 1), listed(right, 0))},
		{name: "no spare, unlisted: nobody has to know", before: tree(off(big)), in: spares(0), out: done, after: tree()},
		{
			name: "no spare for the right side alone", before: tree(listed(extent(16, 64, 1024, 128, 0), 0)), in: spares(0), out: done,
			after: tree().edit(full),
		},
		{
			name: "pieces stay pinned", before: tree(listed(big.with(Pinned), 0)), in: spares(2), out: done,
			after: tree(listed(left.with(Pinned), 1), listed(right.with(Pinned), 0)),
		},
		{
			name: "the original loses its pin", before: tree(listed(big.with(Pinned), 0).heldBy(1)), in: spares(0), out: done,
			after: tree().edit(func(s *State) { s.FullSync, s.Gone = true, []Node{off(big).heldBy(1)} }),
		},
		{
			name: "the original keeps the logging mark, the pieces lose it", before: tree(private(big)), in: spares(2), out: done,
			after: tree(listed(left, 1), listed(right, 0)).edit(func(s *State) { s.Gone, s.Fsyncing = []Node{private(big)}, true }),
		},
		{
			name: "a piece merges with its neighbour", before: tree(off(x), off(extent(64, 128, 1024+64, 64, 0).gen(8))),
			in: drop(80, 128), out: done, after: tree(off(extent(0, 80, 1024, 128, 0).gen(8).with(Merged))),
		},
		{
			name: "skip pinned, not what is behind", before: tree(off(x.with(Pinned)), off(y)),
			in: Input{Op: OpDropRange, Start: 16 * kib, End: 96*kib - 1, SkipPinned: true, Spares: 2}, out: done,
			after: tree(off(x.with(Pinned)), off(extent(96, 128, 1024+64, 64, 32))),
		},
		{name: "not aligned", before: tree(off(x)), in: Input{Op: OpDropRange, End: 4096, Spares: 2}, out: misuse},
		{name: "backwards", before: tree(off(x)), in: Input{Op: OpDropRange, Start: 8192, End: 4095, Spares: 2}, out: misuse},
		{name: "three spares", before: tree(off(x)), in: spares(3), out: misuse},
	})
}

func TestDropAllAndReplaceRange(t *testing.T) {
	part := extent(16, 32, 4096, 16, 0)
	run(t, []opCase{
		{
			name: "drop-all takes what is being logged too", before: tree(private(x), listed(y.with(Pinned), 0)), in: Input{Op: OpDropAll}, out: done,
			after: tree().edit(func(s *State) {
				s.Fsyncing = true
				s.Gone = []Node{{Entry: x, List: Unlisted, Fsync: true}}
			}),
		},
		{name: "drop-first", before: tree(off(x.with(Pinned)), off(y)), in: Input{Op: OpDropFirst}, out: done, after: tree(off(y))},
		{name: "drop-first of nothing", before: tree(), in: Input{Op: OpDropFirst}, out: notFound},
		{
			name: "replace-range", before: tree(off(x)), in: Input{Op: OpReplaceRange, New: part, Modified: true, Spares: 2, Hold: 1}, out: done,
			after: tree(off(extent(0, 16, 1024, 64, 0)), listed(part, 0).heldBy(1), off(extent(32, 64, 1024, 64, 32))),
		},
		{
			name: "replace-range up to the last byte", before: tree(off(hole(0, 64))), out: done,
			in:    Input{Op: OpReplaceRange, New: Entry{Len: MaxOffset - 4095, DiskBytenr: Hole}, Spares: 2},
			after: tree(off(Entry{Len: MaxOffset - 4095, DiskBytenr: Hole})),
		},
	})
}

func TestWriteback(t *testing.T) {
	flight := extent(0, 64, 1024, 64, 0).gen(InFlight).with(Pinned)
	split := Input{Op: OpSplit, Len: 64 * kib, Pre: 16 * kib, NewLogical: 4096 * kib, Spares: 2}
	first := extent(0, 16, 4096, 16, 0).gen(InFlight).with(Pinned)
	second := extent(16, 64, 1040, 48, 0).gen(InFlight).with(Pinned)
	noSpare, tooLong, unaligned := split, split, split
	noSpare.Spares, tooLong.Pre, unaligned.NewLogical = 1, 64*kib, 1
	run(t, []opCase{
		{name: "unpin", before: tree(listed(flight, 0)), in: unpin(0), out: done, after: tree(listed(x, 0))},
		{name: "unpin, then merge", before: tree(off(flight), off(y)), in: unpin(0), out: done, after: tree(off(xy))},
		{name: "unpin what somebody reads", before: tree(off(flight).heldBy(1), off(y)), in: unpin(0), out: done, after: tree(off(x).heldBy(1), off(y))},
		{name: "unpin nothing", before: tree(off(flight)), in: unpin(64), out: notFound},
		{name: "unpin with another start", before: tree(off(flight)), in: Input{Op: OpUnpin, Start: 4096, Len: 4096, Generation: 7}, out: Output{Status: Corrupt}},
		{name: "split", before: tree(listed(flight, 0)), in: split, out: done, after: tree(listed(first, 1), listed(second, 0))},
		{name: "split without memory", before: tree(listed(flight, 0)), in: noSpare, out: Output{Status: NoMemory}},
		{name: "split at the end", before: tree(listed(flight, 0)), in: tooLong, out: misuse},
		{name: "split to an odd place", before: tree(listed(flight, 0)), in: unaligned, out: misuse},
		{name: "split what is not listed", before: tree(off(flight)), in: split, out: misuse},
		{name: "split what is not in flight", before: tree(listed(x, 0)), in: split, out: misuse},
		{name: "split nothing", before: tree(), in: split, out: misuse},
	})
}

func TestReleaseFolio(t *testing.T) {
	a, b := extent(0, 4, 1024, 4, 0), extent(4, 12, 2048, 8, 0)
	folio := Input{Op: OpReleaseFolio, Len: 16 * kib}
	step := Input{Op: OpReleaseStep, Len: 16 * kib}
	locked := folio
	locked.Locked = []Range{{8 * kib, 12 * kib}}
	removed := func(n int) Output { return Output{Status: Done, Removed: n} }
	run(t, []opCase{
		{name: "all of it", before: tree(off(a), off(b)), in: folio, out: removed(2), after: tree()},
		{name: "pinned stops it", before: tree(off(a.with(Pinned)), off(b)), in: folio, out: removed(0)},
		{name: "a gap stops it", before: tree(off(b)), in: folio, out: removed(0)},
		{name: "an entry from outside stops it", before: tree(off(x)), in: Input{Op: OpReleaseFolio, Start: 4096, Len: 4096}, out: removed(0)},
		{name: "a locked byte keeps its entry", before: tree(off(a), off(b)), in: locked, out: removed(1), after: tree(off(b))},
		{name: "a fsync needs it", before: tree(listed(a, 0), off(b)), in: folio, out: removed(1), after: tree(listed(a, 0))},
		{name: "listed, but committed", before: tree(listed(a.gen(6), 0)), in: folio, out: removed(1), after: tree()},
		{
			name: "being logged", before: tree(private(a)), in: folio, out: removed(1),
			after: tree().edit(func(s *State) { s.Gone, s.Fsyncing = []Node{private(a)}, true }),
		},
		{name: "one step", before: tree(off(a), off(b)), in: step, out: Output{Status: Done, Removed: 1, Next: 4 * kib}, after: tree(off(b))},
		{name: "one step over what stays", before: tree(listed(a, 0)), in: step, out: Output{Status: Done, Next: 4 * kib}},
		{name: "no step", before: tree(), in: step, out: notFound},
	})
}

func TestFsync(t *testing.T) {
	committed, beyond := extent(64, 72, 4096, 8, 0).gen(6), extent(80, 88, 8192, 8, 0).with(Prealloc)
	collect := Input{Op: OpFsyncCollect, Generation: 7, Size: 80 * kib}
	modified := tree(listed(x, 2), listed(committed, 1), listed(beyond, 0))
	inHand := Node{Entry: x.with(Logging), List: Unlisted, Fsync: true}
	running := func(s *State) { s.Fsyncing = true }
	run(t, []opCase{
		{
			name: "collect", before: modified, in: collect, out: Output{Status: Done, Taken: 1},
			after: tree(private(x), off(committed), off(beyond)),
		},
		{name: "collect twice", before: tree(private(x)), in: collect, out: misuse},
		{name: "take", before: tree(private(x)), in: Input{Op: OpFsyncTake}, out: Output{Status: Done, Entry: x.with(Logging)}, after: tree(inHand)},
		{name: "take nothing", before: tree(listed(x, 0)), in: Input{Op: OpFsyncTake}, out: notFound},
		{name: "logged, then merged", before: tree(inHand, off(y)), in: Input{Op: OpFsyncLogged}, out: done, after: tree(off(xy)).edit(running)},
		{name: "logged, in use", before: tree(inHand.heldBy(1), off(y)), in: Input{Op: OpFsyncLogged}, out: done, after: tree(off(x).heldBy(1), off(y)).edit(running)},
		{
			name: "logged, but gone", before: tree().edit(func(s *State) { s.Gone, s.Fsyncing = []Node{inHand}, true }),
			in: Input{Op: OpFsyncLogged}, out: done, after: tree().edit(running),
		},
		{name: "logged without taking it", before: tree(private(x)), in: Input{Op: OpFsyncLogged}, out: notFound},
		{name: "finish", before: tree(off(x)).edit(running), in: Input{Op: OpFsyncFinish}, out: done, after: tree(off(x))},
		{name: "finish too early", before: tree(private(x)), in: Input{Op: OpFsyncFinish}, out: misuse},
		{name: "finish twice", before: tree(off(x)), in: Input{Op: OpFsyncFinish}, out: misuse},
		{
			name: "all of it", before: tree(listed(x, 0), listed(y, 1)), in: Input{Op: OpFastFsync, Generation: 7, Size: mib},
			out: Output{Status: Done, Taken: 2}, after: tree(off(xy)),
		},
		{name: "full fsync", before: modified.edit(func(s *State) { s.FullSync = true }), in: Input{Op: OpFullFsync}, out: done, after: tree(off(x), off(committed), off(beyond))},
		{name: "full fsync inside a fast one", before: tree(private(x)), in: Input{Op: OpFullFsync}, out: misuse},
	})
}

// One entry too many: what was taken is let go, the rest stays listed.
func TestFsyncTooBig(t *testing.T) {
	s := tree(listed(x, 0), listed(extent(128, 136, 8192, 8, 0), 1), listed(extent(256, 264, 16384, 8, 0), 2))
	out := s.collect(7, mib, 2)
	if out.Status != TooBig {
		t.Fatalf("got %v", out)
	}
	wantEqual(t, s, tree(off(x), off(extent(128, 136, 8192, 8, 0)), listed(extent(256, 264, 16384, 8, 0), 0)))
}

func TestFsyncLimit(t *testing.T) {
	s := Init(7, true)
	for i := range uint64(MaxLogged) {
		s.Tree = append(s.Tree, listed(extent(8*i, 8*i+4, 16*i, 4, 0), int(i)))
	}
	if out := s.collectAll(); out != (Output{Status: Done, Taken: MaxLogged}) {
		t.Errorf("as many as are allowed: %v", out)
	}
	s.Tree = append(s.Tree, listed(extent(8*MaxLogged, 8*MaxLogged+4, 0, 4, 0), MaxLogged))
	if out := s.collectAll(); out.Status != TooBig {
		t.Errorf("one more: %v", out)
	}
	if after, out := Apply(s, Input{Op: OpFastFsync, Generation: 7, Size: MaxOffset}); out.Status != TooBig || after.Fsyncing {
		t.Errorf("one more, in one go: %v, still running %v", out, after.Fsyncing)
	}
}

// collectAll collects through the public front.
func (s State) collectAll() Output {
	_, out := Apply(s, Input{Op: OpFsyncCollect, Generation: 7, Size: MaxOffset})
	return out
}

func TestStepRejectsWrongOutput(t *testing.T) {
	in := Input{Op: OpLookup, Len: 4096, Hold: 1}
	right := Output{Status: Done, Entry: x, InTree: true}
	wrong := []Output{{}, {Status: NotFound}, {Status: Done, Entry: y, InTree: true}, {Status: Done, Entry: x}}
	if ok, next := Step(tree(off(x)), in, right); !ok || !next.Equal(tree(off(x).heldBy(1))) {
		t.Errorf("the right output: ok %v, next %v", ok, next)
	}
	for _, out := range wrong {
		if ok, _ := Step(tree(off(x)), in, out); ok {
			t.Errorf("%v is accepted", out)
		}
	}
}

func TestNames(t *testing.T) {
	seen := make(map[string]bool)
	add := func(name string) {
		if name == "" || seen[name] {
			t.Errorf("name %q is empty or used twice", name)
		}
		seen[name] = true
	}
	for o := Op(1); o < opEnd; o++ {
		add(o.String())
	}
	for s := Status(1); s < statusEnd; s++ {
		add(s.String())
	}
	for _, invalid := range []string{Op(0).String(), opEnd.String(), Status(0).String(), statusEnd.String(), List(0).String()} {
		if !strings.HasPrefix(invalid, "invalid") {
			t.Errorf("the name of no value is %q", invalid)
		}
	}
	in := Input{Op: OpDropRange, Start: 4096, End: MaxOffset, SkipPinned: true, Spares: 1}
	out := Output{Status: Done, Entry: x, Warned: true, Next: 4096}
	held := tree(off(x).heldBy(3)).edit(func(s *State) { s.Gone = []Node{private(y).heldBy(1, 2)} })
	for want, got := range map[string]string{
		"drop-range start 4K to the end skip-pinned spares 1":                   in.String(),
		"done ([0,64K) 1M/64K off 0 ram 64K g7 -) in tree false warned next 4K": out.String(),
		"gone: [64K,128K) 1088K/64K off 0 ram 64K g7 logging private":           held.String(),
		"held: [0,64K) by {3}, fsync false":                                     held.String(),
		"held: [64K,128K) by {1 2}, fsync true":                                 held.String(),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
}
