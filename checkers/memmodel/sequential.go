package memmodel

import (
	"math/bits"

	"benign/checkers/graph"
)

// sequential is sequential consistency (Lamport, "How to Make a Multiprocessor
// Computer That Correctly Executes Multiprocess Programs", 1979).
type sequential struct {
	backward []pair   // see Consistent
	rows     []uint64 // by backward pair: those that can follow it

	indegree []int32
	heads    []int32 // by event: first edge out of it, or -1
	edges    []link
	todo     []int32
	growth   growth
}

type (
	pair struct{ from, to int32 }
	link struct{ to, next int32 }
)

func newSequential() *sequential { return &sequential{} }

func (*sequential) Name() string { return "sc" }

// Consistent checks atomicity, and that program order, reads-from, coherence
// and from-reads together have no cycle: they extend to one interleaving.
//
// Program order and reads-from alone have none, because events are run in that
// order; the graph knows for each event what they put before it. A cycle
// therefore goes through pairs of coherence or from-reads that they do not
// imply. These are few, and a cycle of theirs is looked for.
func (s *sequential) Consistent(g *graph.Graph) bool {
	if !atomicity(g) {
		return false
	}
	if g.Halved() {
		return s.sortable(g) // halves are put in an order to run them only
	}
	s.backward = s.backward[:0]
	for id := range int32(len(g.Events)) {
		if next := overwriter(g, id); next != graph.Init && !s.note(g, id, next) {
			return false
		}
	}
	for _, list := range g.Coherence {
		for i := 1; i < len(list); i++ {
			if !s.note(g, list[i-1], list[i]) {
				return false
			}
		}
	}
	if len(s.backward) > 64 {
		return s.sortable(g)
	}
	return s.noCycle(g)
}

// Extends implements [Model].
func (s *sequential) Extends(g *graph.Graph, n int) bool {
	if g.Halved() {
		return s.Consistent(g)
	}
	consistent, _ := s.growth.extends(g, n)
	return consistent
}

// note keeps a pair unless it is implied; false means that its opposite is.
func (s *sequential) note(g *graph.Graph, from, to int32) bool {
	if g.Prefix(from).Has(to) {
		return false
	}
	if !g.Prefix(to).Has(from) {
		s.backward = append(s.backward, pair{from, to})
	}
	return true
}

// noCycle takes pairs away that no other pair can follow, until none is left or
// each is followed by another.
func (s *sequential) noCycle(g *graph.Graph) bool {
	s.rows = s.rows[:0]
	for _, p := range s.backward {
		row := uint64(0)
		for j, q := range s.backward {
			if p.to == q.from || g.Prefix(q.from).Has(p.to) {
				row |= 1 << j
			}
		}
		s.rows = append(s.rows, row)
	}
	alive := uint64(1)<<len(s.backward) - 1
	for before := ^alive; alive != before; {
		before = alive
		for rest := alive; rest != 0; rest &= rest - 1 {
			if i := bits.TrailingZeros64(rest); s.rows[i]&alive == 0 {
				alive &^= 1 << i
			}
		}
	}
	return alive == 0
}

// sortable looks for a cycle by sorting all events.
func (s *sequential) sortable(g *graph.Graph) bool {
	s.collect(g, true)
	return s.sorted() == len(g.Events)
}

// collect takes the edges that order events: program order and reads-from and,
// for an interleaving, coherence and from-reads.
func (s *sequential) collect(g *graph.Graph, interleaving bool) {
	s.indegree, s.heads, s.edges = s.indegree[:0], s.heads[:0], s.edges[:0]
	for range len(g.Events) {
		s.indegree = append(s.indegree, 0)
		s.heads = append(s.heads, -1)
	}
	programOrder(g, s.add)
	readsFrom(g, s.add)
	if interleaving {
		coherence(g, s.add)
		fromReads(g, s.add)
	}
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
