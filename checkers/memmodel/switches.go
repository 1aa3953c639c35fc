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
	done   []int32 // by task: how many of its events are behind it
	parent int     // the standing before, or -1
	task   int     // who ran in between
}

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
	found := []standing{{done: make([]int32, len(s.tasks)), parent: -1, task: -1}}
	known := map[string]bool{}
	for at := 0; at < len(found) && len(found) <= maxStandings; at++ {
		if s.complete(found[at].done) {
			return s.path(found, at)
		}
		for task := range s.tasks {
			done := s.run(found[at].done, task)
			if done == nil || known[name(done)] {
				continue
			}
			known[name(done)] = true
			found = append(found, standing{done, at, task})
		}
	}
	return nil
}

func (s *switcher) complete(done []int32) bool {
	for task, events := range s.tasks {
		if int(done[task]) < len(events) {
			return false
		}
	}
	return true
}

// run lets a task go on for as long as it can; nil if it cannot.
func (s *switcher) run(done []int32, task int) []int32 {
	n := done[task]
	for int(n) < len(s.tasks[task]) && s.ready(done, s.tasks[task][n], n) {
		n++
	}
	if n == done[task] {
		return nil
	}
	next := slices.Clone(done)
	next[task] = n
	return next
}

// ready reports whether all that must come before the event of a task which has
// n events behind it is behind.
func (s *switcher) ready(done []int32, id, n int32) bool {
	for _, before := range s.after[id] {
		e := &s.g.Events[before]
		behind := done[e.Task]
		if e.Task == s.g.Events[id].Task {
			behind = n
		}
		if e.Index >= behind {
			return false
		}
	}
	return true
}

// name tells standings apart.
func name(done []int32) string {
	var b []byte
	for _, n := range done {
		b = append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return string(b)
}

// path returns the events on the way to a standing.
func (s *switcher) path(found []standing, at int) []int32 {
	var order []int32
	for ; found[at].parent >= 0; at = found[at].parent {
		before, task := found[found[at].parent].done, found[at].task
		segment := slices.Clone(s.tasks[task][before[task]:found[at].done[task]])
		slices.Reverse(segment)
		order = append(order, segment...)
	}
	slices.Reverse(order)
	return order
}
