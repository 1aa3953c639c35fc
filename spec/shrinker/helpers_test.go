package shrinker

import (
	"slices"
	"testing"

	"benign/spec/extentmap"
)

// The running transaction of all tests.
const now = 7

// kind is what matters to the shrinker about an entry.
type kind byte

const (
	cached    kind = 'c' // unpinned, on no list
	modified  kind = 'm' // on the modified list, of the running transaction
	committed kind = 'o' // on the modified list, of an older transaction
	pinned    kind = 'p' // on the modified list, write in flight
)

// at returns the file range of the nth entry that mapOf makes. The ranges do not touch, so nothing merges.
func at(n uint64) extentmap.Range {
	start := 2 * n * extentmap.BlockSize
	return extentmap.Range{Start: start, End: start + extentmap.BlockSize}
}

// ranges returns the file ranges of the entries with the given numbers.
func ranges(numbers ...uint64) []extentmap.Range {
	var all []extentmap.Range
	for _, n := range numbers {
		all = append(all, at(n))
	}
	return all
}

// mapOf returns a map with one entry for each kind, in file order.
func mapOf(kinds ...kind) extentmap.State {
	m := extentmap.Init(now, true)
	for i, k := range kinds {
		in := extentmap.Input{Op: extentmap.OpInsert, Modified: k != cached, New: extentmap.Entry{
			Start: at(uint64(i)).Start, Len: extentmap.BlockSize, DiskBytenr: extentmap.Hole,
			RAMBytes: extentmap.BlockSize, Generation: now,
		}}
		switch k {
		case committed:
			in.New.Generation = now - 1
		case pinned:
			in.New.Generation, in.New.Flags = extentmap.InFlight, extentmap.Pinned
		}
		m, _ = extentmap.Apply(m, in)
	}
	return m
}

// root returns a file tree whose inodes have the numbers 1, 2, … and the given maps.
func root(id uint64, maps ...string) Root {
	r := Root{ID: id, FileTree: true}
	for i, kinds := range maps {
		r.Inodes = append(r.Inodes, Inode{Number: uint64(i) + 1, Map: mapOf([]kind(kinds)...)})
	}
	return r
}

// pending returns a filesystem with a run queued.
func pending(budget uint64, roots ...Root) State {
	s, _ := Trigger(State{Roots: roots}, budget)
	return s
}

// edit returns a changed copy of the state.
func (s State) edit(change func(*State)) State {
	c := s.Clone()
	change(&c)
	return c
}

// checkAll is every check of an undisturbed run.
func checkAll(t *testing.T, before, after State, r Result) {
	t.Helper()
	for _, check := range []func(_, _ State, _ Result) error{CheckSH1, CheckSH2, CheckSH3, CheckSH5, CheckSH7, CheckSH8} {
		if err := check(before, after, r); err != nil {
			t.Errorf("%v\nbefore:\n%v", err, before)
		}
	}
	for _, err := range []error{CheckSH6(after), CheckRun(before, after, r, Interference{}), Validate(after)} {
		if err != nil {
			t.Errorf("%v\nbefore:\n%v", err, before)
		}
	}
}

// visited returns where the run's visits took place.
func visited(r Result) []Position {
	var all []Position
	for _, v := range r.Visits {
		all = append(all, v.At)
	}
	return all
}

// touching returns the interference of somebody who uses the given inodes.
func touching(at ...Position) Interference {
	i := Interference{Touched: make(map[Position]bool)}
	for _, p := range at {
		i.Touched[p] = true
	}
	return i
}

func wantPositions(t *testing.T, got []Position, want ...Position) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("visited %v, want %v", got, want)
	}
}
