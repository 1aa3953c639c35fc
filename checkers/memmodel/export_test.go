package memmodel

import "benign/checkers/graph"

// Interleaves says whether a model that asks so takes the graph, which grew by n
// events, for an interleaving.
func Interleaves(m Model, g *graph.Graph, n int) (interleaving, asks bool) {
	switch m := m.(type) {
	case *tso:
		return m.interleaves(g, n), true
	case *rc11:
		return m.interleaves(g, n), true
	case *linux:
		return m.interleaves(g, n), true
	}
	return false, false
}

// InterleaveByScanning is [Interleave] as it is for graphs with halves.
func InterleaveByScanning(g *graph.Graph) []int32 {
	i := &Interleaver{}
	i.sequential.collect(g, i.sequential.Consistent(g))
	i.sortHalves(g)
	return i.order
}
