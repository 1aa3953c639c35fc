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
