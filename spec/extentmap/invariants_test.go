package extentmap

import (
	"strings"
	"testing"
)

// wantBroken fails unless the error names the invariant.
func wantBroken(t *testing.T, err error, name string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("got error %v, want one that names %s", err, name)
	}
}

// Every check of a state must notice a state that was broken by hand.
func TestChecksNoticeBrokenStates(t *testing.T) {
	good := tree(off(x), listed(y, 0))
	tests := []struct {
		name, invariant string
		check           func(State) error
		state           State
	}{
		{"overlap", "EM-1", CheckEM1, tree(off(x), off(extent(60, 68, 4096, 8, 0)))},
		{"out of order", "EM-1", CheckEM1, good.edit(func(s *State) { s.Tree[0], s.Tree[1] = s.Tree[1], s.Tree[0] })},
		{"the same twice", "EM-1", CheckEM1, tree(off(x), off(x))},
		{"malformed entry", "well-formed", CheckWellFormed, tree(off(Entry{}))},
		{"not freed", "EM-2", CheckEM2, good.edit(func(s *State) { s.Gone = []Node{off(x)} })},
		{"one name on two entries", "EM-2", CheckEM2, tree(off(x).heldBy(1), off(y).heldBy(1))},
		{"listed, not in the tree", "EM-3", CheckEM3, good.edit(func(s *State) { s.Gone = []Node{listed(x, 1).heldBy(1)} })},
		{"listed while being logged", "EM-3", CheckEM3, good.edit(func(s *State) {
			s.Tree[1].Flags, s.Tree[1].Fsync, s.Fsyncing = Logging, true, true
		})},
		{"private without the mark", "EM-3", CheckEM3, tree(private(x)).edit(func(s *State) { s.Tree[0].Flags = 0 })},
		{"private of nobody", "EM-3", CheckEM3, tree(private(x)).edit(func(s *State) { s.Fsyncing = false })},
		{"marked, but not held", "EM-3", CheckEM3, tree(off(x.with(Logging)))},
		{"no list at all", "EM-3", CheckEM3, tree(Node{Entry: x})},
		{"two at one position", "EM-3", CheckEM3, tree(listed(x, 0), listed(y, 0))},
		{"miscounted", "EM-5", CheckEM5, good.edit(func(s *State) { s.Evictable++ })},
		{"counted outside of file trees", "EM-5", CheckEM5, good.edit(func(s *State) { s.Counted = false })},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.check(good); err != nil {
				t.Errorf("the check fails on a good state: %v", err)
			}
			wantBroken(t, tt.check(tt.state), tt.invariant)
			wantBroken(t, Check(tt.state), tt.invariant)
		})
	}
}

// Every check of a step must notice a step that went wrong.
func TestChecksNoticeBrokenSteps(t *testing.T) {
	pinned := tree(off(x.with(Pinned)), off(y).heldBy(1))
	lost := pinned.edit(func(s *State) { s.Tree = s.Tree[1:] })
	unpinned := pinned.edit(func(s *State) { s.Tree[0].Flags = 0 })
	moved := pinned.edit(func(s *State) { s.Tree[1].DiskBytenr += BlockSize })
	shrunk := pinned.edit(func(s *State) { s.Tree[1].Len -= BlockSize })
	release := Input{Op: OpReleaseFolio, Len: 64 * kib}
	tests := []struct {
		name, invariant string
		before          State
		in              Input
		out             Output
		after           State
	}{
		{"a release takes a pinned entry", "EM-4", pinned, release, done, lost},
		{"a drop does not skip it", "EM-4", pinned, Input{Op: OpDropRange, End: MaxOffset, SkipPinned: true}, done, lost},
		{"a removal meets it", "EM-4", pinned, Input{Op: OpRemove}, done, lost},
		{"a replacement meets it", "EM-4", pinned, Input{Op: OpReplace, New: x}, done, unpinned},
		{"a drop reaches too far", "EM-4", pinned, drop(64, 128), done, lost},
		{"a lookup loses the pin", "EM-4", pinned, Input{Op: OpLookup}, notFound, unpinned},
		{"a held entry changes", "EM-7", pinned, unpin(0), done, moved},
		{"a held entry shrinks", "EM-7", pinned, unpin(0), done, shrunk},
		{"a lookup finds something else", "EM-8", pinned, Input{Op: OpLookup, Len: 4096}, Output{Status: Done, Entry: y}, pinned},
		{"an entry of others is adopted", "EM-8", pinned, Input{Op: OpInsertOrAdopt, New: x}, Output{Status: Done, Entry: y}, pinned},
		{"a byte moves on disk", "EM-9", pinned, unpin(0), done, moved},
		{"a byte is lost", "EM-9", pinned, unpin(0), done, shrunk},
		{"a drop takes too much", "EM-9", pinned, drop(128, 256), done, tree()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantBroken(t, CheckStep(tt.before, tt.in, tt.out, tt.after), tt.invariant)
		})
	}
}

// A merge that writes to the entry it absorbs is seen by whoever holds that.
func TestCheckEM7NoticesWriteToAbsorbedEntry(t *testing.T) {
	before := tree(off(x).heldBy(1))
	after := apply(t, before, Input{Op: OpInsert, New: y})
	if err := CheckEM7(before, after); err != nil {
		t.Error(err)
	}
	after.Gone[0].Len = 0
	wantBroken(t, CheckEM7(before, after), "EM-7")
}

// Compressed extents and inline data are compared by the place inside of them.
func TestCheckEM9LooksInside(t *testing.T) {
	compressed := Entry{Start: 64 * kib, Len: 64 * kib, DiskBytenr: mib, DiskNumBytes: 4 * kib, RAMBytes: 128 * kib, Flags: LZO}
	inline := Entry{Len: 4 * kib, DiskBytenr: Inline}
	s := tree(off(inline), off(compressed))
	if err := CheckEM9(s, s); err != nil {
		t.Error(err)
	}
	wantBroken(t, CheckEM9(s, s.edit(func(s *State) { s.Tree[1].Offset = 4 * kib })), "EM-9")
	wantBroken(t, CheckEM9(s, s.edit(func(s *State) { s.Tree[0].DiskBytenr = Hole })), "EM-9")
}

func TestCheckEM6(t *testing.T) {
	written := Range{0, 64 * kib}
	tests := []struct {
		name   string
		state  State
		broken bool
	}{
		{"listed", tree(listed(x, 0)), false},
		{"pinned", tree(off(x.with(Pinned))), false},
		{"private", tree(private(x)), false},
		{"full-sync", tree().edit(func(s *State) { s.FullSync = true }), false},
		{"collected, then dropped", tree().edit(func(s *State) { s.Gone = []Node{private(x)} }), false},
		{"unlisted", tree(off(x)), true},
		{"dropped while somebody reads it", tree().edit(func(s *State) { s.Gone = []Node{off(x).heldBy(1)} }), true},
		{"half of it", tree(listed(extent(0, 32, 1024, 64, 0), 0)), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := CheckEM6(tt.state, written)
			if !tt.broken && err != nil {
				t.Error(err)
			}
			if tt.broken {
				wantBroken(t, err, "EM-6")
			}
		})
	}
}

func TestUncoveredSaysWhichBytes(t *testing.T) {
	got := Uncovered(tree(listed(extent(16, 32, 1024, 16, 0), 0)), Range{0, 64 * kib})
	if len(got) != 2 || got[0] != (Range{0, 16 * kib}) || got[1] != (Range{32 * kib, 64 * kib}) {
		t.Errorf("got %v", got)
	}
}
