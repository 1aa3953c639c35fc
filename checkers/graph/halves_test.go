package graph

import (
	"testing"
)

// TestHalves tells the two events of one access from neighbours that only look
// like that.
func TestHalves(t *testing.T) {
	g := New()
	a, b := g.AddTask(1, "a", Init), g.AddTask(2, "b", Init)
	whole := g.AddLocation(Location{Owner: 1, Field: 0})
	g.AddLocation(Location{Owner: 1, Field: 1, Lock: true, Strand: 2})
	if g.Halved() {
		t.Error("the strand of a lock is taken for half a word")
	}
	low := g.AddLocation(Location{Owner: 1, Field: 2, Strand: LowHalf})
	high := g.AddLocation(Location{Owner: 1, Field: 2, Strand: HighHalf})
	other := g.AddLocation(Location{Owner: 1, Field: 3, Strand: HighHalf})
	if !g.Halved() || !g.Clone().Halved() || !g.Record().Graph().Halved() {
		t.Error("there are halves")
	}
	if less, _ := g.Restrict(func(int32) bool { return false }); !less.Halved() {
		t.Error("a graph without events has the same words")
	}
	add := func(kind Kind, task, location int32) int32 {
		return g.Add(Event{Kind: kind, Task: task, Location: location, Source: Init, Pair: Init, End: Init})
	}
	lonely := add(Write, b, high)
	want := map[int32]bool{}
	add(Write, a, whole)
	firstLow := add(Write, a, low)
	firstHigh := add(Write, a, high)
	want[firstHigh] = true
	secondLow := add(Write, a, low)
	secondHigh := add(Write, a, high)
	want[secondHigh] = true
	add(Read, a, low)
	add(Read, a, other)
	add(Read, a, low)
	add(Write, a, high)
	add(Barrier, a, -1)
	add(Read, a, high)
	for id := range int32(len(g.Events)) {
		if got := g.SecondHalf(id); got != want[id] {
			t.Errorf("event %d is a second half: %v", id, got)
		}
	}
	for _, c := range []struct {
		low, high int32
		same      bool
	}{
		{firstLow, firstHigh, true}, {secondLow, secondHigh, true}, {firstLow, secondHigh, false}, {secondLow, firstHigh, false},
		{Init, Init, true}, {firstLow, Init, false}, {Init, firstHigh, false}, {firstLow, lonely, false},
	} {
		if got := g.OneStore(c.low, c.high); got != c.same {
			t.Errorf("%d and %d are one store: %v", c.low, c.high, got)
		}
	}
}
