package explore

import (
	"fmt"
	"slices"
	"testing"

	"benign/checkers/memmodel"
)

// TestHandOver is about acquisitions that wait for a section whose own task
// waits for another, so that more is done before the section ends. Random
// programs seldom come to that.
func TestHandOver(t *testing.T) {
	store, load := instruction{op: "store", order: once, value: 1}, instruction{op: "load", order: once}
	try := instruction{op: "trylock"}
	lock := func(at int) instruction { return instruction{op: "lock", at: at} }
	unlock := func(at int) instruction { return instruction{op: "unlock", at: at} }
	spawn, join := instruction{op: "spawn", at: 3}, instruction{op: "join", at: 3}
	short := code{lock(0), unlock(0)}
	look := code{lock(0), load, unlock(0)}
	spawnFirst := code{spawn, lock(0), join, unlock(0)}
	spawnInside := code{lock(0), spawn, join, unlock(0)}
	nested := code{lock(0), lock(1), unlock(1), unlock(0)}
	for _, c := range []struct {
		name  string
		codes []code
	}{
		{"join", []code{short, {store}, spawnFirst, {store}}},
		{"join, and a load in the section that waits", []code{look, {store}, spawnFirst, {load}}},
		{"for ever", []code{short, {store}, spawnFirst, short}},
		{"spawn and join", []code{look, {store}, spawnInside, {load}}},
		{"two that wait", []code{short, short, spawnInside, {}}},
		{"a try", []code{short, {try, unlock(0)}, spawnInside, {store}}},
		{"a try and a store", []code{short, {try, unlock(0), store}, spawnFirst, {load}}},
		{"a load, a store and a try", []code{{load, lock(0), unlock(0)}, append(slices.Clip(spawnInside), store),
			{{op: "add", order: once, value: 1}}, {try, unlock(0)}}},
		{"inner lock", []code{short, {lock(1), store, unlock(1)}, nested}},
		{"inner lock and a store", []code{short, {lock(1), unlock(1)}, nested, {store}}},
		{"inner lock and loads", []code{look, {lock(1), load, unlock(1)}, nested, {store}}},
		{"three locks", []code{{store, lock(0), load, unlock(0)}, {lock(1), lock(2), unlock(2), unlock(1)},
			{lock(0), lock(1), store, unlock(1), unlock(0)}}},
	} {
		for _, model := range memmodel.Names() {
			t.Run(fmt.Sprintf("%s/%s", c.name, model), func(t *testing.T) { compare(t, c.codes, model) })
		}
	}
}
