package memmodel_test

import (
	"slices"
	"testing"

	"benign/checkers/graph"
	"benign/checkers/memmodel"

	"pgregory.net/rapid"
)

// TestInterleave: the order has every event once, behind what must come before it,
// and each read of an interleaving sees the newest write; the quick way finds the
// same order as the plain one, in memory that was used before.
func TestInterleave(t *testing.T) {
	var used memmodel.Interleaver
	rapid.Check(t, func(t *rapid.T) {
		var keep memmodel.Model
		if rapid.Bool().Draw(t, "sequential") {
			keep = model(t, "sc")
		}
		g := newBuilder(t).grow(keep)
		order, consistent := used.Interleave(g)
		if want := model(t, "sc").Consistent(g); consistent != want {
			t.Fatalf("an interleaving: %v, want %v%s", consistent, want, show(g))
		}
		if plain := memmodel.InterleaveByScanning(g); !slices.Equal(order, plain) {
			t.Fatalf("%v, and by looking at all events %v%s", order, plain, show(g))
		}
		place := make([]int, len(g.Events))
		for i := range place {
			place[i] = slices.Index(order, int32(i))
			if place[i] < 0 || len(order) != len(g.Events) {
				t.Fatalf("%v is no order of all events%s", order, show(g))
			}
		}
		for id := range int32(len(g.Events)) {
			for before := range g.Prefix(id).All() {
				if place[before] > place[id] && !g.Halved() { // halves come in either order
					t.Fatalf("%v: %d must come before %d%s", order, before, id, show(g))
				}
			}
		}
		if consistent {
			seesNewest(t, g, order)
		}
	})
}

// seesNewest makes sure that reads of words see the newest write.
func seesNewest(t *rapid.T, g *graph.Graph, order []int32) {
	newest := map[int32]int32{}
	for _, id := range order {
		e := &g.Events[id]
		last, written := newest[e.Location]
		if !written {
			last = graph.Init
		}
		if (e.Kind == graph.Read || e.Kind == graph.UpdateRead) && e.Source != last {
			t.Fatalf("%v: %d does not read the newest write%s", order, id, show(g))
		}
		if e.Writes() {
			newest[e.Location] = id
		}
	}
}
