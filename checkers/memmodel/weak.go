package memmodel

import "benign/checkers/graph"

// weak is what the models weaker than sequential consistency begin with.
type weak struct {
	facts
	interleaving sequential
}

// decide answers where the axioms of a model need not be looked at: atomicity is
// one of all of them, and an interleaving satisfies all of them, which is quicker
// to see. Otherwise the facts of the graph are collected.
func (w *weak) decide(g *graph.Graph) (consistent, decided bool) {
	if !atomicity(g) {
		return false, true
	}
	if w.interleaving.Consistent(g) {
		return true, true
	}
	w.collect(g)
	return false, false
}

// interleaves reports whether a graph that grew by n events is an interleaving
// still.
func (w *weak) interleaves(g *graph.Graph, n int) bool {
	return w.interleaving.Extends(g, n)
}
