package memmodel

import "benign/checkers/graph"

// linux is the Linux-kernel memory model (Alglave, Maranget, McKenney, Parri,
// Stern, "Frightening Small Children and Disconcerting Grown-ups: Concurrency
// in the Linux Kernel", ASPLOS 2018; tools/memory-model of the kernel) as far
// as a library can see it. Dependencies of Go code are invisible, so a load is
// kept before every later store of its task: no load buffering. Read-side
// critical sections of RCU are not modelled here.
type linux struct{ facts }

func newKernel() *linux { return &linux{} }

func (*linux) Name() string { return "kernel" }

// Consistent checks the axioms atomicity, coherence, happens-before and
// propagation.
func (m *linux) Consistent(g *graph.Graph) bool {
	if !atomicity(g) {
		return false
	}
	m.collect(g)
	if !m.sequentialPerLocation() {
		return false
	}
	strong := m.strongFences()
	handover := m.unlockLock()
	poRelease := m.between(m.memory, m.releases)
	writeFence := m.fenced(m.writes, m.writeFences, m.writes)
	external := m.external(m.readsFrom)

	// What a task's fence makes visible includes what the task had read.
	cumulative := m.copyOf(strong).union(poRelease)
	cumulative.union(m.compose(m.copyOf(external).restrict(m.n, m.everything(), m.marked), cumulative))
	cumulative.union(writeFence, handover).restrict(m.n, m.marked, m.marked)
	cumulative = m.compose(cumulative, m.updateChains())

	overwrite := m.external(m.copyOf(m.coherence).union(m.fromReads)).restrict(m.n, m.marked, m.everything())
	propagation := m.compose(overwrite.identity(m.n), cumulative.closure(m.n).identity(m.n))
	propagation = m.compose(propagation, m.copyOf(external).identity(m.n)).restrict(m.n, m.marked, m.marked)

	happensBefore := m.preserved(strong, handover, poRelease, writeFence)
	happensBefore.union(external, m.internal(m.withoutIdentity(propagation)), m.taskOrder).restrict(m.n, m.marked, m.marked)
	closed := m.copyOf(happensBefore).closure(m.n)
	if !closed.irreflexive(m.n) { // axiom happens-before
		return false
	}
	// Axiom propagation: what a strong fence has made visible stays so.
	after := m.compose(m.compose(propagation, strong), closed.identity(m.n)).restrict(m.n, m.everything(), m.marked)
	return m.acyclic(after)
}

// strongFences relates accesses with a full barrier between them: stand-alone,
// around a Full update that wrote, or the start and end of tasks.
func (m *linux) strongFences() relation {
	strong := m.fenced(m.memory, m.fullFences, m.memory)
	strong.union(m.fenced(m.memory, m.fullUpdates, m.memory))
	updateReads, updateWrites := m.set(), m.set()
	for id := range m.fullUpdates.All() {
		if m.reads.Has(id) {
			updateReads.Add(id)
		} else {
			updateWrites.Add(id)
		}
	}
	strong.union(m.between(m.memory, updateReads), m.between(updateWrites, m.memory))
	return strong.union(m.copyOf(m.taskOrder).restrict(m.n, m.memory, m.memory))
}

// unlockLock relates what comes before an unlock to what comes after a lock
// that follows it, in the same task or by taking the same lock over.
func (m *linux) unlockLock() relation {
	follow := m.copyOf(m.programOrder).union(m.readsFrom).restrict(m.n, m.unlocks, m.lockReads)
	return m.compose(m.compose(m.programOrder, follow), m.programOrder)
}

// updateChains is (reads-from; update)*: what a chain of updates hands on.
func (m *linux) updateChains() relation {
	return m.compose(m.readsFrom, m.updates).closure(m.n).identity(m.n)
}

// preserved is the program order that every machine keeps.
func (m *linux) preserved(strong, handover, poRelease, writeFence relation) relation {
	kept := m.between(m.reads, m.writes) // no load buffering
	kept.union(m.internal(m.copyOf(m.coherence).union(m.fromReads)))
	kept.union(m.internal(strong), m.internal(handover), poRelease, writeFence)
	kept.union(m.between(m.acquires, m.memory), m.fenced(m.reads, m.readFences, m.reads))
	return kept
}

func (m *linux) withoutIdentity(r relation) relation {
	c := m.copyOf(r)
	for id := range int32(m.n) {
		c.row(id)[id>>6] &^= 1 << (id & 63)
	}
	return c
}
