package shrinker

import (
	"slices"
	"strings"
	"testing"

	"benign/spec/extentmap"
)

func wantBroken(t *testing.T, err error, name string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("got error %v, want one that names %s", err, name)
	}
}

// remove takes entry n of an inode away behind everybody's back, properly as far as the map is concerned.
func remove(s *State, p Position, n uint64) {
	inode := s.inode(p)
	inode.Map, _ = extentmap.Apply(inode.Map, extentmap.Input{Op: extentmap.OpRemove, Start: at(n).Start})
}

// Every check must notice a run that went wrong. Each row spoils the state after a right run, or its result.
func TestChecksNoticeBrokenRuns(t *testing.T) {
	before := pending(9, root(5, "cpm", "c"), root(6, "c", "c"))
	before.Roots[1].Inodes[0].Freeing = true
	first, freeing := Position{5, 1}, Position{6, 1}
	tests := []struct {
		name, invariant string
		check           func(_, _ State, _ Result) error
		spoil           func(after *State, r *Result)
	}{
		{"a pinned entry has gone", "SH-1", CheckSH1, func(s *State, _ *Result) { remove(s, first, 1) }},
		{"a pinned entry is said to have gone", "SH-1", CheckSH1, func(_ *State, r *Result) { r.Visits[0].Removed = ranges(1) }},
		{"the map of an inode being freed", "SH-2", CheckSH2, func(s *State, _ *Result) { remove(s, freeing, 0) }},
		{"a visit to it", "SH-2", CheckSH2, func(_ *State, r *Result) { r.Visits[1].At = freeing }},
		{"no full-sync flag", "SH-3", CheckSH3, func(s *State, _ *Result) { s.inode(first).Map.FullSync = false }},
		{"counted too little", "SH-5", CheckSH5, func(s *State, _ *Result) { s.inode(first).Map.Evictable-- }},
		{"a removal not reported", "SH-5", CheckSH5, func(_ *State, r *Result) { r.Visits[0].Removed = nil }},
		{"a third round", "SH-7", CheckSH7, func(_ *State, r *Result) { r.Roots = []uint64{5, 6, 5, 6, 5} }},
		{"beyond the budget", "SH-8", CheckSH8, func(_ *State, r *Result) { r.Budget = 4 }},
		{"miscounted", "SH-8", CheckSH8, func(_ *State, r *Result) { r.Scanned++ }},
	}
	after, r := Run(before)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.check(before, after, r); err != nil {
				t.Errorf("the check fails on a right run: %v", err)
			}
			spoilt, result := after.Clone(), r
			result.Visits = slices.Clone(r.Visits)
			tt.spoil(&spoilt, &result)
			wantBroken(t, tt.check(before, spoilt, result), tt.invariant)
			if err := CheckRun(before, spoilt, result, Interference{}); err == nil {
				t.Error("CheckRun accepts it")
			}
		})
	}
}

func TestCheckSH6(t *testing.T) {
	if err := CheckSH6(pending(1)); err != nil {
		t.Error(err)
	}
	wantBroken(t, CheckSH6(State{Pending: 1}), "SH-6")
	after, r := Run(pending(1))
	after.Pending = 1
	wantBroken(t, CheckRun(pending(1), after, r, Interference{}), "SH-6")
}

// The walk must follow the cursors, and pass over touched inodes only.
func TestCheckSH9(t *testing.T) {
	before := pending(9, root(5, "c", "c", ""), root(6, "c"))
	before.Roots[1].Inodes = append(before.Roots[1].Inodes, Inode{Number: 2, Freeing: true, Map: mapOf(cached)})
	second := Position{5, 2}
	drop := func(i int) func(*State, *Result) {
		return func(_ *State, r *Result) {
			r.Visits = slices.Delete(r.Visits, i, i+1)
			r.Scanned--
		}
	}
	insert := func(p Position, i int) func(*State, *Result) {
		return func(_ *State, r *Result) {
			r.Visits = slices.Insert(r.Visits, i, RunVisit{p, Visit{Outcome: Skipped}})
		}
	}
	tests := []struct {
		name   string
		others Interference
		spoil  func(after *State, r *Result)
		broken string // the invariant, or nothing
	}{
		{"a right run", Interference{}, func(*State, *Result) {}, ""},
		{"passing over an inode", Interference{}, drop(1), "SH-9"},
		{"passing over a touched one", touching(second), drop(1), ""},
		{"passing over another than the touched one", touching(second), drop(0), "SH-9"},
		{"passing over the last one", touching(second), drop(2), "SH-9"},
		{"out of order", Interference{}, func(_ *State, r *Result) { slices.Reverse(r.Visits) }, "SH-9"},
		{"a visit to an empty inode", Interference{}, insert(Position{5, 3}, 2), "SH-9"},
		{"a visit to an inode that was empty", touching(Position{5, 3}), insert(Position{5, 3}, 2), ""},
		{"a visit to an inode being freed", touching(Position{6, 2}), insert(Position{6, 2}, 3), "SH-2"},
		{"a visit to nowhere", Interference{}, insert(Position{9, 9}, 3), "SH-9"},
		{"the root cursor is off", Interference{}, func(s *State, _ *Result) { s.LastRoot-- }, "SH-9"},
		{"the inode cursor is off", Interference{}, func(s *State, _ *Result) { s.LastIno++ }, "SH-9"},
		{"stopping at an unmount", Interference{Closed: true}, drop(2), ""},
		{"a gap at an unmount", Interference{Closed: true}, drop(0), "SH-9"},
	}
	after, r := Run(before)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spoilt, result := after.Clone(), r
			result.Visits = slices.Clone(r.Visits)
			tt.spoil(&spoilt, &result)
			err := CheckSH9(before, spoilt, result, tt.others)
			if tt.broken == "" && err != nil {
				t.Error(err)
			}
			if tt.broken != "" {
				wantBroken(t, err, tt.broken)
			}
		})
	}
}

// A run among others defers the inodes that they touched, and a later run makes up for it.
func TestCheckRunAcceptsDeferral(t *testing.T) {
	before := pending(9, root(5, "c", "c"))
	skipped := Position{5, 2}
	after, r := Run(before.edit(func(s *State) { s.inode(skipped).Map = mapOf() }))
	after.inode(skipped).Map = mapOf(cached)
	if err := CheckRun(before, after, r, touching(skipped)); err != nil {
		t.Error(err)
	}
	wantBroken(t, CheckRun(before, after, r, Interference{}), "SH-9")
	if Debt(after) != 1 {
		t.Errorf("debt %d, want 1", Debt(after))
	}
	if rounds, _, err := Rounds(after, 9); rounds != 1 || err != nil {
		t.Errorf("%d rounds, error %v", rounds, err)
	}
}

// An inode that nobody touched has to come out of a run exactly as the strict specification says.
func TestCheckRunComparesUntouchedInodes(t *testing.T) {
	before := pending(9, root(5, "cc", "c"))
	first := Position{5, 1}
	after, r := Run(before)
	kept := after.edit(func(s *State) { s.inode(first).Map = mapOf(cached) })
	wantBroken(t, CheckRun(before, kept, r, Interference{}), "inode 5/1")
	short := r
	short.Visits = slices.Clone(r.Visits)
	short.Visits[0].Visit = Visit{Outcome: Scanned, Scanned: 1, Removed: ranges(0)}
	wantBroken(t, CheckRun(before, after, short, Interference{}), "nobody interfered")
	more := r
	more.Roots = []uint64{5, 6}
	wantBroken(t, CheckRun(before, after, more, Interference{}), "roots")
}

func TestValidate(t *testing.T) {
	good := State{Roots: []Root{root(5, "c", "pm"), root(6, "c")}}
	if err := Validate(good); err != nil {
		t.Error(err)
	}
	tests := map[string]func(*State){
		"roots out of order":  func(s *State) { s.Roots[1].ID = 5 },
		"root zero":           func(s *State) { s.Roots[0].ID = 0 },
		"inodes out of order": func(s *State) { s.Roots[0].Inodes[1].Number = 1 },
		"inode zero":          func(s *State) { s.Roots[0].Inodes[0].Number = 0 },
		"counted elsewhere":   func(s *State) { s.Roots[0].FileTree = false },
		"two transactions":    func(s *State) { s.Roots[1].Inodes[0].Map.Generation++ },
		"a broken map":        func(s *State) { s.Roots[1].Inodes[0].Map.Evictable++ },
	}
	for name, spoil := range tests {
		if err := Validate(good.edit(spoil)); err == nil {
			t.Errorf("%s: taken for valid", name)
		}
	}
}

// States that differ in one respect must differ in their keys, or a search would join them.
func TestEqual(t *testing.T) {
	s := pending(1, root(5, "c", "m"))
	if !s.Equal(s.Clone()) {
		t.Error("a clone differs")
	}
	changes := map[string]func(*State){
		"root cursor":  func(s *State) { s.LastRoot++ },
		"inode cursor": func(s *State) { s.LastIno++ },
		"pending":      func(s *State) { s.Pending++ },
		"queued":       func(s *State) { s.Queued = false },
		"closing":      func(s *State) { s.Closing = true },
		"dying":        func(s *State) { s.Roots[0].Dying = true },
		"file tree":    func(s *State) { s.Roots[0].FileTree = false },
		"root":         func(s *State) { s.Roots[0].ID++ },
		"freeing":      func(s *State) { s.Roots[0].Inodes[1].Freeing = true },
		"number":       func(s *State) { s.Roots[0].Inodes[1].Number++ },
		"map":          func(s *State) { s.Roots[0].Inodes[1].Map.FullSync = true },
		"inodes":       func(s *State) { s.Roots[0].Inodes = s.Roots[0].Inodes[:1] },
	}
	for name, change := range changes {
		if changed := s.edit(change); changed.Equal(s) {
			t.Errorf("%s: no difference seen", name)
		}
	}
}

func TestNames(t *testing.T) {
	for want, got := range map[string]string{
		"map":                          Map.String(),
		"evict":                        Input{Op: Evict}.String(),
		"is-empty":                     Input{Op: Map, Map: extentmap.Input{Op: extentmap.OpIsEmpty}}.String(),
		"look, budget 3, touched true": Input{Op: Look, Budget: 3, Touched: true}.String(),
		"invalid operation 0":          Op(0).String(),
		"skipped":                      Skipped.String(),
		"scanned":                      Scanned.String(),
		"invalid outcome 0":            Outcome(0).String(),
		"5/1":                          Position{5, 1}.String(),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	text := pending(1, root(5, "m")).String()
	for _, want := range []string{"cursor 0/0, pending 1", "root 5", "inode 1", "modified#0"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}
