package shrinker

import "testing"

func TestTrigger(t *testing.T) {
	s := State{}
	if _, queued := Trigger(s, 0); queued {
		t.Error("a request for nothing was queued")
	}
	s, queued := Trigger(s, 3)
	if !queued || s.Pending != 3 || !s.Queued {
		t.Errorf("not queued: %v", s)
	}
	if again, queued := Trigger(s, 5); queued || again.Pending != 3 {
		t.Errorf("a second request was not dropped: %v", again)
	}
	s, _ = Run(s)
	if s.Pending != 0 || s.Queued {
		t.Errorf("not idle after the run: %v", s)
	}
	if _, queued := Trigger(s, 5); !queued {
		t.Error("a request after the run was dropped")
	}
}

func TestRun(t *testing.T) {
	dying, other := root(6, "cc"), root(6, "cc")
	dying.Dying = true
	other.FileTree = false
	other.Inodes[0].Map.Counted, other.Inodes[0].Map.Evictable = false, 0
	freeing := root(5, "c", "c")
	freeing.Inodes[0].Freeing = true
	cursor := func(s State, lastRoot, lastIno uint64) State {
		s.LastRoot, s.LastIno = lastRoot, lastIno
		return s
	}
	tests := []struct {
		name              string
		before            State
		visits            []Position
		scanned, removed  int
		lastRoot, lastIno uint64
	}{
		{"everything", pending(9, root(5, "c", "cm"), root(6, "c")), []Position{{5, 1}, {5, 2}, {6, 1}}, 4, 4, 7, 0},
		{"until the budget is used up", pending(2, root(5, "c", "cm"), root(6, "c")), []Position{{5, 1}, {5, 2}}, 2, 2, 5, 2},
		{"exactly a root", pending(3, root(5, "c", "cm"), root(6, "c")), []Position{{5, 1}, {5, 2}}, 3, 3, 5, 2},
		{"from the cursor on, then from the beginning", cursor(pending(9, root(5, "c", "c"), root(6, "c")), 5, 1), []Position{{5, 2}, {6, 1}, {5, 1}}, 3, 3, 7, 0},
		{"pinned ones come up again after the wrap", cursor(pending(9, root(5, "p", "p")), 5, 1), []Position{{5, 2}, {5, 1}, {5, 2}}, 3, 0, 6, 0},
		{"no wrap from the beginning", pending(9, root(5, "p")), []Position{{5, 1}}, 1, 0, 6, 0},
		{"the inode cursor meets another root", cursor(pending(1, root(6, "c", "c")), 5, 1), []Position{{6, 2}}, 1, 1, 6, 2},
		{"the cursor stands behind everything", cursor(pending(9, root(5, "c")), 9, 3), []Position{{5, 1}}, 1, 1, 6, 0},
		{"empty maps are passed by", pending(1, root(5, "", "c")), []Position{{5, 2}}, 1, 1, 5, 2},
		{"dying roots are passed by", pending(9, root(5, "c"), dying), []Position{{5, 1}}, 1, 1, 6, 0},
		{"other trees are passed by", pending(9, root(5, "c"), other), []Position{{5, 1}}, 1, 1, 6, 0},
		{"inodes being freed are passed by", pending(9, freeing), []Position{{5, 2}}, 1, 1, 6, 0},
		{"unmounting", pending(9, root(5, "c")).edit(func(s *State) { s.Closing = true }), nil, 0, 0, 0, 0},
		{"no filesystem to speak of", pending(9), nil, 0, 0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			key := tt.before.Key()
			after, r := Run(tt.before)
			wantPositions(t, visited(r), tt.visits...)
			if int(r.Scanned) != tt.scanned || r.Removed() != tt.removed {
				t.Errorf("scanned %d and removed %d, want %d and %d", r.Scanned, r.Removed(), tt.scanned, tt.removed)
			}
			if after.LastRoot != tt.lastRoot || after.LastIno != tt.lastIno {
				t.Errorf("cursor at %d/%d, want %d/%d", after.LastRoot, after.LastIno, tt.lastRoot, tt.lastIno)
			}
			if tt.before.Key() != key {
				t.Error("the run changed the state it was given")
			}
			checkAll(t, tt.before, after, r)
		})
	}
}

func TestDebtAndRounds(t *testing.T) {
	dying, freeing := root(6, "cc"), root(7, "cc")
	dying.Dying = true
	freeing.Inodes[0].Freeing = true
	s := State{Roots: []Root{root(5, "cpm", "c"), dying, freeing}}
	if got := Debt(s); got != 3 {
		t.Errorf("debt %d, want 3", got)
	}
	if got := Debt(s.edit(func(s *State) { s.Closing = true })); got != 0 {
		t.Errorf("debt %d of a filesystem being unmounted", got)
	}
	for budget, want := range map[uint64]int{unlimited: 1, 4: 1, 3: 2} {
		rounds, end, err := Rounds(s, budget)
		if err != nil || rounds != want || Debt(end) != 0 {
			t.Errorf("budget %d: %d rounds, want %d; debt %d, error %v", budget, rounds, want, Debt(end), err)
		}
	}
	if rounds, _, err := Rounds(State{Roots: []Root{root(5, "p")}}, 1); rounds != 0 || err != nil {
		t.Errorf("%d rounds for nothing, error %v", rounds, err)
	}
}

// Work is lost, not deferred, when no number of rounds discharges the debt.
func TestRoundsSeesWhatIsLost(t *testing.T) {
	tests := []struct {
		name   string
		state  State
		budget uint64
	}{
		{"the budget does not get past a pinned entry", State{Roots: []Root{root(5, "pc")}}, 1},
		{"no budget", State{Roots: []Root{root(5, "c")}}, 0},
		{"a request that was never reset", State{Roots: []Root{root(5, "c")}, Pending: 3}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if rounds, end, err := Rounds(tt.state, tt.budget); err == nil {
				t.Errorf("discharged in %d rounds: %v", rounds, end)
			}
		})
	}
}

// Every filesystem of two roots with up to two inodes of up to two entries, from every cursor, with every budget: all checks hold after
// the strict run.
func TestEverySmallFilesystem(t *testing.T) {
	maps := []string{"", "c", "m", "p", "cm", "pc", "mo"}
	runs := 0
	for _, a := range maps {
		for _, b := range maps {
			for _, c := range maps {
				for cursor := range uint64(9) {
					for budget := uint64(1); budget <= 4; budget++ {
						s := pending(budget, root(5, a, b), root(6, c))
						s.LastRoot, s.LastIno = []uint64{0, 5, 6}[cursor/3], cursor%3
						if s.LastRoot == 0 && s.LastIno != 0 {
							continue // the worker never leaves its cursors like that
						}
						after, r := Run(s)
						checkAll(t, s, after, r)
						if t.Failed() {
							return
						}
						runs++
					}
				}
			}
		}
	}
	t.Logf("%d runs", runs)
}

// A debt that does not hide behind pinned entries is gone after as many runs as there are entries, whatever the cursor.
func TestEverySmallDebtIsDischarged(t *testing.T) {
	maps := []string{"", "c", "m", "p", "cm", "cp", "mo"}
	for _, a := range maps {
		for _, b := range maps {
			for cursor := range uint64(3) {
				s := State{Roots: []Root{root(5, a), root(6, b)}, LastRoot: []uint64{0, 5, 6}[cursor]}
				rounds, _, err := Rounds(s, 1)
				if most := 2 * (len(a) + len(b)); err != nil || rounds > most {
					t.Errorf("%q, %q from root %d: %d rounds, at most %d, error %v", a, b, s.LastRoot, rounds, most, err)
				}
			}
		}
	}
}
