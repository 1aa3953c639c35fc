package memmodel

import "benign/checkers/graph"

// edge is called once for every pair of a base relation.
type edge func(from, to int32)

// programOrder yields every event with its immediate successors in program
// order, counting a task's start and end as order with its parent. The two halves
// of one access are not ordered with each other.
func programOrder(g *graph.Graph, yield edge) {
	for id := range int32(len(g.Events)) {
		e := &g.Events[id]
		after(g, predecessor(g, id), id, yield)
		if e.Kind == graph.Join {
			after(g, g.Tasks[e.Child].End(), id, yield)
		}
	}
}

// predecessor returns the event before another one in program order, or the one
// that started its task, or Init. Both halves of an access have the same.
func predecessor(g *graph.Graph, id int32) int32 {
	before := g.Events[id].Previous
	if g.SecondHalf(id) {
		before = g.Events[before].Previous
	}
	if before == graph.Init {
		before = g.Tasks[g.Events[id].Task].Spawn
	}
	return before
}

// after yields the event as a successor of the earlier one, if there is one, and
// of the other half of that.
func after(g *graph.Graph, before, id int32, yield edge) {
	if before == graph.Init {
		return
	}
	yield(before, id)
	if g.SecondHalf(before) {
		yield(g.Events[before].Previous, id)
	}
}

// readsFrom yields every reads-from pair. An acquisition reads from the end of
// the section before it, if that has ended.
func readsFrom(g *graph.Graph, yield edge) {
	for id := range g.Events {
		e := &g.Events[id]
		if !e.Reads() || e.Source == graph.Init {
			continue
		}
		source := e.Source
		if e.Kind == graph.LockRead && g.Events[source].End != graph.Init {
			source = g.Events[source].End
		}
		yield(source, int32(id))
	}
}

// coherence yields every write with its immediate successor; the end of a lock
// section stands between its LockWrite and the next one.
func coherence(g *graph.Graph, yield edge) {
	for _, list := range g.Coherence {
		for i, id := range list {
			next := graph.Init
			if i+1 < len(list) {
				next = list[i+1]
			}
			if end := g.Events[id].End; g.Events[id].Kind == graph.LockWrite && end != graph.Init {
				yield(id, end)
				id = end
			}
			if next != graph.Init {
				yield(id, next)
			}
		}
	}
}

// fromReads yields every read with the write that first overwrote what it read.
func fromReads(g *graph.Graph, yield edge) {
	for id := range g.Events {
		if next := overwriter(g, int32(id)); next != graph.Init {
			yield(int32(id), next)
		}
	}
}

// overwriter returns the write that first overwrote what the event read, or
// Init. A try that failed was made before the end of the section in its way.
func overwriter(g *graph.Graph, id int32) int32 {
	e := &g.Events[id]
	switch {
	case !e.Reads():
		return graph.Init
	case e.Kind == graph.LockFail || e.Kind == graph.LockBusy:
		return g.Events[e.Source].End
	}
	if next := g.NextWrite(e.Location, e.Source); next != e.Pair {
		return next
	}
	return graph.Init
}

// atomicity is an axiom of every model here: nothing comes between the two
// halves of an update or of an acquisition. (LKMM: atomic; C11: 7.17.3.)
func atomicity(g *graph.Graph) bool {
	for _, list := range g.Coherence {
		before := graph.Init
		for _, id := range list {
			e := &g.Events[id]
			if e.Kind != graph.Write && g.Events[e.Pair].Source != before {
				return false
			}
			before = id
		}
	}
	return true
}
