package memmodel

import "benign/checkers/graph"

// Interleave returns the events in an order in which they can have happened,
// with few switches between tasks. If the execution is sequentially consistent
// every read in this order sees the newest write; if not, the order extends
// program order, reads-from and lock order only, and some reads are stale. The
// halves of one access come in either order.
func Interleave(g *graph.Graph) []int32 {
	order, _ := new(Interleaver).Interleave(g)
	return order
}

// Interleaver does what [Interleave] does for one graph after the other, in the
// same memory.
type Interleaver struct {
	sequential sequential
	order      []int32
	following  []int32 // by event: the next one of its task, or Init
	upcoming   []int32 // by task: the first that is not in the order yet, or Init
}

// Interleave returns the order, which is valid until the next call, and whether
// the execution is sequentially consistent.
func (i *Interleaver) Interleave(g *graph.Graph) (order []int32, consistent bool) {
	s := &i.sequential
	consistent = s.Consistent(g)
	s.collect(g, consistent)
	i.order = i.order[:0]
	if g.Halved() {
		i.sortHalves(g)
	} else {
		i.sort(g)
	}
	return i.order, consistent
}

// sort sorts the events topologically, by the edges that were collected, and
// stays in one task while it can. Otherwise it goes on with the oldest event.
func (i *Interleaver) sort(g *graph.Graph) {
	i.line(g)
	indegree := i.sequential.indegree
	for next := graph.Init; len(i.order) < len(g.Events); {
		if next != graph.Init {
			next = i.upcoming[g.Events[next].Task]
		}
		if next == graph.Init || indegree[next] != 0 {
			next = graph.Init
			for _, id := range i.upcoming {
				if id != graph.Init && indegree[id] == 0 && (next == graph.Init || id < next) {
					next = id
				}
			}
		}
		i.upcoming[g.Events[next].Task] = i.following[next]
		i.place(next)
	}
}

// line finds out which event of a task comes after which.
func (i *Interleaver) line(g *graph.Graph) {
	i.following, i.upcoming = i.following[:0], i.upcoming[:0]
	for range g.Events {
		i.following = append(i.following, graph.Init)
	}
	for range g.Tasks {
		i.upcoming = append(i.upcoming, graph.Init)
	}
	for id := int32(len(g.Events)) - 1; id >= 0; id-- {
		task := g.Events[id].Task
		i.following[id], i.upcoming[task] = i.upcoming[task], id
	}
}

// place puts an event next into the order.
func (i *Interleaver) place(id int32) {
	s := &i.sequential
	s.indegree[id] = -1
	i.order = append(i.order, id)
	for e := s.heads[id]; e >= 0; e = s.edges[e].next {
		s.indegree[s.edges[e].to]--
	}
}

// sortHalves is sort for a graph in which two events of a task may be next.
func (i *Interleaver) sortHalves(g *graph.Graph) {
	n, current := len(g.Events), int32(-1)
	for len(i.order) < n {
		next := graph.Init
		for id := range int32(n) {
			if i.sequential.indegree[id] != 0 {
				continue
			}
			if next == graph.Init || g.Events[id].Task == current {
				next = id
			}
			if g.Events[id].Task == current {
				break
			}
		}
		current = g.Events[next].Task
		i.place(next)
	}
}
