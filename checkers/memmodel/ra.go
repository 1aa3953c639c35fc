package memmodel

import "benign/checkers/graph"

// ra is release/acquire (Lahav, Giannarakis, Vafeiadis, "Taming
// Release-Acquire Consistency", POPL 2016): every store releases and every load
// acquires, and there is no order that all tasks agree on beyond coherence.
// Weaker and stronger markings count as release and acquire, plain accesses
// too, and barriers as nothing.
type ra struct {
	weak
}

func newRA() *ra { return &ra{} }

func (*ra) Name() string { return "ra" }

// Consistent checks the axioms atomicity and coherence: happens-before, which
// is program order and reads-from, does not contradict what was read and in
// which order was written.
func (m *ra) Consistent(g *graph.Graph) bool {
	if consistent, decided := m.decide(g); decided {
		return consistent
	}
	happensBefore := m.copyOf(m.programOrder).union(m.taskOrder, m.readsFrom).closure(m.n)
	extended := m.copyOf(m.readsFrom).union(m.coherence, m.fromReads).closure(m.n)
	return happensBefore.irreflexive(m.n) && extended.irreflexive(m.n) &&
		m.compose(happensBefore, extended).irreflexive(m.n)
}

// Extends implements [Model].
func (m *ra) Extends(g *graph.Graph, n int) bool { return m.interleaves(g, n) || m.Consistent(g) }
