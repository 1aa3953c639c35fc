package memmodel

// plainCoherence is the axiom of that name: marked accesses and fences order
// plain ones well enough that a read does not miss, nor a write undo, what is
// visible to it. The other axioms say nothing of plain accesses, because a
// compiler may move them; where two of them race, the result is not defined
// and package race reports it.
func (m *linux) plainCoherence() bool {
	full := m.copyOf(m.strong).union(m.poRelease, m.acquirePo)
	fence := m.copyOf(full).union(m.writeFence, m.readFence)
	ordered := m.copyOf(m.happens).union(m.after).closure(m.n) // reflexive, as happens is
	marked := m.relation().identity(m.n).restrict(m.n, m.marked, m.marked)

	// How an order between marked accesses begins after, and ends before, an
	// access that may be plain.
	toWrite := m.compose(marked, m.copyOf(fence).identity(m.n))
	toRead := m.compose(marked, m.copyOf(full).union(m.fenced(m.reads, m.readFences, m.memory)).identity(m.n))
	fromWrite := m.compose(m.compose(m.copyOf(fence).identity(m.n), marked), m.updateChains())
	fromRead := m.compose(m.copyOf(full).union(m.fenced(m.memory, m.readFences, m.reads)).identity(m.n), marked)

	strongly := m.compose(m.strong, m.compose(marked, ordered))
	visible := m.compose(m.compose(m.cumulative, m.copyOf(m.external).identity(m.n)), marked)
	visible = m.compose(visible, m.within(ordered).union(strongly))
	seen := m.compose(fromWrite, visible)

	writeWrite := m.copyOf(fence).union(m.compose(strongly, toWrite), m.compose(seen, toWrite))
	writeRead := m.copyOf(fence).union(m.compose(strongly, toRead), m.compose(seen, toRead))
	readWrite := m.copyOf(fence).union(m.compose(m.compose(fromRead, ordered), toWrite))
	return m.disjoint(m.readsFrom, readWrite) && m.disjoint(m.fromReads, writeRead) && m.disjoint(m.coherence, writeWrite)
}

// disjoint reports whether no pair of conflicting accesses of different tasks,
// at least one of them plain, is in the one relation and backwards in the other.
func (m *linux) disjoint(r, backwards relation) bool {
	for a := range int32(m.n) {
		for b := range m.across(r).row(a).All() {
			if (m.plain.Has(a) || m.plain.Has(b)) && backwards.has(b, a) {
				return false
			}
		}
	}
	return true
}
