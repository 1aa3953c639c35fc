package memmodel

import "benign/checkers/graph"

// ra is release/acquire (Lahav, Giannarakis, Vafeiadis, "Taming
// Release-Acquire Consistency", POPL 2016): every store releases and every load
// acquires, and there is no order that all tasks agree on beyond coherence.
// Weaker and stronger markings count as release and acquire, plain accesses
// too, and barriers as nothing.
type ra struct {
	coherent, growing coherent
}

func newRA() *ra { return &ra{coherent{rule: byReading}, coherent{rule: byReading}} }

func (*ra) Name() string { return "ra" }

// Consistent checks the axioms atomicity and coherence: happens-before, which
// is program order and reads-from, does not contradict what was read and in
// which order was written.
func (m *ra) Consistent(g *graph.Graph) bool { return atomicity(g) && m.coherent.check(g) }

// Extends implements [Model].
func (m *ra) Extends(g *graph.Graph, n int) bool {
	consistent, _ := m.growing.extends(g, n)
	return consistent
}
