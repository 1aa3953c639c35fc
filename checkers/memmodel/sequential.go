package memmodel

import "benign/checkers/graph"

// sequential is sequential consistency (Lamport, "How to Make a Multiprocessor
// Computer That Correctly Executes Multiprocess Programs", 1979).
type sequential struct {
	indegree []int32
	heads    []int32 // by event: first edge out of it, or -1
	edges    []link
	todo     []int32
	adder    edge // add, made once
}

type link struct{ to, next int32 }

func newSequential() *sequential { return &sequential{} }

func (*sequential) Name() string { return "sc" }

// Consistent checks atomicity, and that program order, reads-from, coherence
// and from-reads together have no cycle: they extend to one interleaving.
func (s *sequential) Consistent(g *graph.Graph) bool {
	if !atomicity(g) {
		return false
	}
	n := len(g.Events)
	s.indegree, s.heads, s.edges = s.indegree[:0], s.heads[:0], s.edges[:0]
	for range n {
		s.indegree = append(s.indegree, 0)
		s.heads = append(s.heads, -1)
	}
	// Most contradictions are plain: what overwrote the value that was read
	// leads up to the read.
	for id := range int32(n) {
		if next := overwriter(g, id); next != graph.Init {
			if g.Prefix(id).Has(next) {
				return false
			}
			s.add(id, next)
		}
	}
	if s.adder == nil {
		s.adder = s.add
	}
	programOrder(g, s.adder)
	readsFrom(g, s.adder)
	coherence(g, s.adder)
	return s.sorted() == n
}

func (s *sequential) add(from, to int32) {
	s.edges = append(s.edges, link{to, s.heads[from]})
	s.heads[from] = int32(len(s.edges) - 1)
	s.indegree[to]++
}

// sorted returns how many events a topological sort reaches.
func (s *sequential) sorted() int {
	s.todo = s.todo[:0]
	for id, d := range s.indegree {
		if d == 0 {
			s.todo = append(s.todo, int32(id))
		}
	}
	for done := 0; done < len(s.todo); done++ {
		for e := s.heads[s.todo[done]]; e >= 0; e = s.edges[e].next {
			to := s.edges[e].to
			if s.indegree[to]--; s.indegree[to] == 0 {
				s.todo = append(s.todo, to)
			}
		}
	}
	return len(s.todo)
}
