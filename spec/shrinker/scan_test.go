package shrinker

import (
	"testing"

	"benign/spec/extentmap"
)

func TestScan(t *testing.T) {
	tests := []struct {
		name   string
		kinds  string
		budget uint64
		want   Visit
	}{
		{"all that is not pinned", "cpc", 9, Visit{Outcome: Scanned, Scanned: 3, Removed: ranges(0, 2)}},
		{"a fsync needs it", "cm", 9, Visit{Outcome: Scanned, Scanned: 2, Removed: ranges(0, 1), FullSync: true}},
		{"a fsync no longer needs it", "oo", 9, Visit{Outcome: Scanned, Scanned: 2, Removed: ranges(0, 1)}},
		{"a fsync needs what stays", "cp", 9, Visit{Outcome: Scanned, Scanned: 2, Removed: ranges(0)}},
		{"within the budget", "ccc", 2, Visit{Outcome: Scanned, Scanned: 2, Removed: ranges(0, 1)}},
		{"pinned entries use the budget up", "ppc", 2, Visit{Outcome: Scanned, Scanned: 2}},
		{"nothing there", "", 9, Visit{Outcome: Skipped}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := mapOf([]kind(tt.kinds)...)
			after, got := scan(before, tt.budget)
			if !got.Equal(tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if len(after.Tree) != len(tt.kinds)-len(tt.want.Removed) || after.FullSync != tt.want.FullSync {
				t.Errorf("left behind: %v", after)
			}
			if err := extentmap.Check(after); err != nil {
				t.Error(err)
			}
		})
	}
}

// A fast fsync holds the lock that the shrinker tries to get, from collecting until it has finished.
func TestScanIsKeptOutByFsync(t *testing.T) {
	m, _ := extentmap.Apply(mapOf(cached), extentmap.Input{Op: extentmap.OpFsyncCollect, Generation: now})
	if _, visit := scan(m, unlimited); !visit.Equal(Visit{Outcome: Skipped}) {
		t.Errorf("got %+v", visit)
	}
	m, _ = extentmap.Apply(m, extentmap.Input{Op: extentmap.OpFsyncFinish})
	if _, visit := scan(m, unlimited); visit.Outcome != Scanned {
		t.Errorf("got %+v", visit)
	}
}

func TestAllowed(t *testing.T) {
	skipped := Visit{Outcome: Skipped}
	all := Visit{Outcome: Scanned, Scanned: 3, Removed: ranges(0, 2), FullSync: true}
	first := Visit{Outcome: Scanned, Scanned: 1, Removed: ranges(0)}
	firstFull := first
	firstFull.FullSync = true
	half := Visit{Outcome: Scanned, Scanned: 2, Removed: ranges(0)}
	noSync, takesPinned, forgets, tooMuch := all, all, all, all
	noSync.FullSync = false
	takesPinned.Removed = ranges(0, 1, 2)
	forgets.Removed = ranges(2)
	tooMuch.Scanned = 4
	tests := []struct {
		name               string
		kinds              string
		budget             uint64
		visit              Visit
		disturbed, allowed bool // whether it is right if somebody touched the inode; if nobody did
	}{
		{"everything", "cpm", 3, all, true, true},
		{"nothing", "cpm", 3, skipped, true, false},
		{"the first", "cpm", 3, first, true, false},
		{"the first and a look at the second", "cpm", 3, half, true, false},
		{"all that the budget allows", "cpm", 1, first, true, true},
		{"without telling the fsync", "cpm", 3, noSync, false, false},
		{"a pinned entry", "cpm", 3, takesPinned, false, false},
		{"not from the front", "cpm", 3, forgets, false, false},
		{"more than there is", "cpm", 4, tooMuch, false, false},
		{"more than the budget", "cpm", 2, all, false, false},
		{"telling the fsync for nothing", "ocm", 1, firstFull, true, false},
		{"telling the fsync without removing from a list", "cpm", 1, firstFull, false, false},
		{"claiming a scan of nothing", "cpm", 3, Visit{Outcome: Scanned}, false, false},
		{"no outcome", "cpm", 3, Visit{}, false, false},
		{"scanning an empty map", "", 3, Visit{Outcome: Scanned, Scanned: 1}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := mapOf([]kind(tt.kinds)...)
			after, got := allowed(m, tt.budget, true, tt.visit)
			if got != tt.disturbed {
				t.Errorf("touched: got %v, want %v", got, tt.disturbed)
			}
			if got && (len(after.Tree) != len(m.Tree)-len(tt.visit.Removed) || after.FullSync != tt.visit.FullSync) {
				t.Errorf("left behind: %v", after)
			}
			if _, got := allowed(m, tt.budget, false, tt.visit); got != tt.allowed {
				t.Errorf("untouched: got %v, want %v", got, tt.allowed)
			}
		})
	}
}

func TestSteps(t *testing.T) {
	lookup := extentmap.Input{Op: extentmap.OpIsEmpty}
	empty, notEmpty := extentmap.Output{Status: extentmap.Done, Empty: true}, extentmap.Output{Status: extentmap.Done}
	filled, freeing := Inode{Number: 1, Map: mapOf(cached)}, Inode{Number: 1, Freeing: true, Map: mapOf(cached)}
	skipped, scanned := Output{Visit: Visit{Outcome: Skipped}}, Output{Visit: Visit{Outcome: Scanned, Scanned: 1, Removed: ranges(0)}}
	tests := []struct {
		name            string
		inode           Inode
		in              Input
		out             Output
		strict, relaxed bool
	}{
		{"map", Init(1, now), Input{Op: Map, Map: lookup}, Output{Map: empty}, true, true},
		{"map, wrong", Init(1, now), Input{Op: Map, Map: lookup}, Output{Map: notEmpty}, false, false},
		{"evict", filled, Input{Op: Evict}, Output{}, true, true},
		{"evict with an answer", filled, Input{Op: Evict}, scanned, false, false},
		{"look", filled, Input{Op: Look, Budget: 1}, scanned, true, true},
		{"look and skip", filled, Input{Op: Look, Budget: 1}, skipped, false, false},
		{"look and skip, touched", filled, Input{Op: Look, Budget: 1, Touched: true}, skipped, false, true},
		{"look at an empty one", Init(1, now), Input{Op: Look, Budget: 1}, skipped, true, true},
		{"skip what is being freed", freeing, Input{Op: Look, Budget: 1}, skipped, true, true},
		{"scan what is being freed", freeing, Input{Op: Look, Budget: 1, Touched: true}, scanned, false, false},
		{"look without a budget", filled, Input{Op: Look, Touched: true}, skipped, false, false},
		{"look with the answer of a map", filled, Input{Op: Look, Budget: 1}, Output{Map: empty, Visit: scanned.Visit}, false, false},
		{"no operation", filled, Input{}, Output{}, false, false},
		{"unknown operation", filled, Input{Op: opEnd}, Output{}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			strict, next := StepStrict(tt.inode, tt.in, tt.out)
			relaxed, relaxedNext := StepRelaxed(tt.inode, tt.in, tt.out)
			if strict != tt.strict || relaxed != tt.relaxed {
				t.Errorf("strict %v, want %v; relaxed %v, want %v", strict, tt.strict, relaxed, tt.relaxed)
			}
			if strict && !next.equal(relaxedNext) {
				t.Errorf("both accept, but go on with\n%v\nand\n%v", next.Map, relaxedNext.Map)
			}
		})
	}
}

func TestEvictMarksTheInode(t *testing.T) {
	if _, next := StepStrict(Init(1, now), Input{Op: Evict}, Output{}); !next.Freeing {
		t.Error("the inode is not being freed")
	}
}
