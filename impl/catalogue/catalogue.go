// Package catalogue is the one list of the races that the project knows. Who
// runs races starts here; who adds one puts its questions beside the code that
// they are about, and the name of that package into All.
package catalogue

import (
	"slices"

	"benign/impl/evict"
	"benign/impl/extentmap"
	"benign/impl/fsync"
	"benign/impl/inhibit"
	"benign/impl/practice"
	"benign/impl/scenario"
	"benign/impl/shrinker"
)

// All returns every race, in the order in which they are listed for people:
// the questions first, known findings last. Names are unique.
func All() []scenario.Race {
	return slices.Concat(
		shrinker.Races(),
		evict.Races(),
		fsync.Races(),
		inhibit.Races(),
		extentmap.Races(),
		practice.Races(),
	)
}

// Named returns the race with the name.
func Named(name string) (race scenario.Race, found bool) {
	for _, race := range All() {
		if race.Name == name {
			return race, true
		}
	}
	return scenario.Race{}, false
}
