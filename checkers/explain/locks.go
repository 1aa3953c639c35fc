package explain

import (
	"slices"
	"strings"

	"benign/checkers/graph"
	"benign/impl/kernel"
)

// place is a word or lock whatever part of it: all halves or strands are one.
type place struct {
	owner kernel.ObjectID
	field uint32
}

func placeOf(g *graph.Graph, location int32) place {
	l := &g.Locations[location]
	return place{l.Owner, l.Field}
}

// sharedPlaces are those that more than one task of the execution touches.
func sharedPlaces(g *graph.Graph) map[place]bool {
	first, shared := map[place]int32{}, map[place]bool{}
	for id := range g.Events {
		e := &g.Events[id]
		if e.Location < 0 {
			continue
		}
		at := placeOf(g, e.Location)
		if task, known := first[at]; known && task != e.Task {
			shared[at] = true
		} else {
			first[at] = e.Task
		}
	}
	return shared
}

// holding is a lock that a task holds.
type holding struct {
	place place
	name  string
}

// held lists the locks that the task of an event holds there, sorted by name.
func (n names) held(g *graph.Graph, line []int32, id int32) []holding {
	var locks []holding
	until := g.Events[id].Index
	for _, before := range line[:until] {
		e := &g.Events[before]
		if e.Kind != graph.LockWrite || e.End != graph.Init && g.Events[e.End].Index < until {
			continue
		}
		lock := holding{placeOf(g, e.Location), n.at(g, e.Location) + sharedSuffix(e)}
		if !slices.ContainsFunc(locks, func(l holding) bool { return l.place == lock.place }) {
			locks = append(locks, lock)
		}
	}
	slices.SortFunc(locks, func(a, b holding) int { return strings.Compare(a.name, b.name) })
	return locks
}

func lockNames(locks []holding) []string {
	var list []string
	for _, l := range locks {
		list = append(list, l.name)
	}
	return slices.Compact(list)
}

func holds(locks []holding, p place) bool {
	return slices.ContainsFunc(locks, func(l holding) bool { return l.place == p })
}
