package memmodel

import "benign/checkers/graph"

// Interleave returns the events in an order in which they can have happened,
// with few switches between tasks. If the execution is sequentially consistent
// every read in this order sees the newest write; if not, the order extends
// program order, reads-from and lock order only, and some reads are stale. The
// halves of one access come in either order.
func Interleave(g *graph.Graph) []int32 {
	s := newSequential()
	s.collect(g, s.Consistent(g))
	return s.order(g)
}

// order sorts the events topologically, by the edges that were collected, and
// stays in one task while it can.
func (s *sequential) order(g *graph.Graph) []int32 {
	n := len(g.Events)
	order := make([]int32, 0, n)
	current := int32(-1)
	for len(order) < n {
		next := graph.Init
		for id := range int32(n) {
			if s.indegree[id] != 0 {
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
		s.indegree[next] = -1
		order = append(order, next)
		for e := s.heads[next]; e >= 0; e = s.edges[e].next {
			s.indegree[s.edges[e].to]--
		}
	}
	return order
}
