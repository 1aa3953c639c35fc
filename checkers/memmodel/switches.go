package memmodel

import (
	"slices"

	"benign/checkers/graph"
)

// maxStandings bounds the search of FewestSwitches.
const maxStandings = 50_000

// FewestSwitches returns the events in an order like that of [Interleave], but
// in one with the fewest switches from one task to another, and how many it has.
// If there are too many ways to look at (more than 50,000 points at which a task
// cannot go on), it is the order of Interleave.
func FewestSwitches(g *graph.Graph) (order []int32, switches int) {
	sequential := newSequential()
	s := &switcher{g: g, after: make([][]int32, len(g.Events))}
	s.add(g, sequential.Consistent(g))
	if order = s.search(); order == nil {
		order = Interleave(g)
	}
	for i := 1; i < len(order); i++ {
		if g.Events[order[i]].Task != g.Events[order[i-1]].Task {
			switches++
		}
	}
	return order, switches
}

// switcher looks for the order breadth first. A task that has begun goes on for
// as long as it can: that costs nothing, and whatever was possible before it is
// possible after it. So only points at which a task cannot go on are looked at.
type switcher struct {
	g     *graph.Graph
	tasks [][]int32 // the events of each task, in program order
	after [][]int32 // by event: what must come before it
}

// standing is a point at which the latest task cannot go on.
type standing struct {
	done   []behind // by task
	parent int      // the standing before, or -1
	task   int      // who ran in between
}

// behind is what a task has done: so many of its events and, if early, the second
// half of an access without the first.
type behind struct {
	events int32
	early  bool
}

func (b behind) has(index int32) bool { return index < b.events || b.early && index == b.events+1 }

func (s *switcher) add(g *graph.Graph, everything bool) {
	s.tasks = make([][]int32, len(g.Tasks))
	for id := range g.Events {
		task := g.Events[id].Task
		s.tasks[task] = append(s.tasks[task], int32(id))
	}
	add := func(from, to int32) { s.after[to] = append(s.after[to], from) }
	readsFrom(g, add)
	if everything {
		coherence(g, add)
		fromReads(g, add)
	}
	programOrder(g, add)
}

func (s *switcher) search() []int32 {
	found := []standing{{done: make([]behind, len(s.tasks)), parent: -1, task: -1}}
	known := map[string]bool{}
	for at := 0; at < len(found) && len(found) <= maxStandings; at++ {
		if s.complete(found[at].done) {
			return s.path(found, at)
		}
		for task := range s.tasks {
			done := s.run(found[at].done, task, func(int32) {})
			if done == nil || known[name(done)] {
				continue
			}
			known[name(done)] = true
			found = append(found, standing{done, at, task})
		}
	}
	return nil
}

func (s *switcher) complete(done []behind) bool {
	for task, events := range s.tasks {
		if int(done[task].events) < len(events) {
			return false
		}
	}
	return true
}

// run lets a task go on for as long as it can and passes its events to visit; it
// returns nil if it cannot. The second half of an access comes early if only the
// first has to wait.
func (s *switcher) run(done []behind, task int, visit func(id int32)) []behind {
	next, events := slices.Clone(done), s.tasks[task]
	for at := &next[task]; int(at.events) < len(events); {
		switch id := events[at.events]; {
		case s.ready(next, id):
			visit(id)
			at.events++
			if at.early {
				at.events, at.early = at.events+1, false
			}
			continue
		case !at.early && int(at.events)+1 < len(events) && s.g.SecondHalf(events[at.events+1]) && s.ready(next, events[at.events+1]):
			visit(events[at.events+1])
			at.early = true
		}
		break
	}
	if next[task] == done[task] {
		return nil
	}
	return next
}

// ready reports whether all that must come before the event is behind.
func (s *switcher) ready(done []behind, id int32) bool {
	return !slices.ContainsFunc(s.after[id], func(before int32) bool {
		e := &s.g.Events[before]
		return !done[e.Task].has(e.Index)
	})
}

// name tells standings apart.
func name(done []behind) string {
	var b []byte
	for _, d := range done {
		n := 2 * d.events
		if d.early {
			n++
		}
		b = append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return string(b)
}

// path returns the events on the way to a standing.
func (s *switcher) path(found []standing, at int) []int32 {
	var segments [][]int32
	for ; found[at].parent >= 0; at = found[at].parent {
		var segment []int32
		s.run(found[found[at].parent].done, found[at].task, func(id int32) { segment = append(segment, id) })
		segments = append(segments, segment)
	}
	slices.Reverse(segments)
	return slices.Concat(segments...)
}
