package memmodel

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestClosureAgreesWithWarshall holds the quick closure against the plain one,
// on relations with and without cycles.
func TestClosureAgreesWithWarshall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a arena
		n := rapid.IntRange(1, 90).Draw(t, "events")
		a.reset(n)
		quick, plain := a.relation(), a.relation()
		forward := rapid.Bool().Draw(t, "forward only")
		for range rapid.IntRange(0, 2*n).Draw(t, "pairs") {
			from, to := int32(rapid.IntRange(0, n-1).Draw(t, "from")), int32(rapid.IntRange(0, n-1).Draw(t, "to"))
			if forward && from >= to {
				continue
			}
			quick.add(from, to)
			plain.add(from, to)
		}
		acyclic := a.acyclic(quick)
		quick.closure(n)
		plain.closureOfCyclic(n)
		if !slices.Equal(quick.rows, plain.rows) {
			t.Fatal("the closures differ")
		}
		if acyclic != plain.irreflexive(n) {
			t.Fatalf("acyclic is %v", acyclic)
		}
	})
}
