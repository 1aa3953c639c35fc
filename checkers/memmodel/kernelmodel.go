package memmodel

import "benign/checkers/graph"

// linux is the Linux-kernel memory model (Alglave, Maranget, McKenney, Parri,
// Stern, "Frightening Small Children and Disconcerting Grown-ups: Concurrency
// in the Linux Kernel", ASPLOS 2018; tools/memory-model of the kernel) as far
// as a library can see it. Dependencies of Go code are invisible, so a load is
// kept before every later store of its task: no load buffering. Read-side
// critical sections of RCU are not modelled here. The start of a task and the
// join with it order like full barriers. The kernel has no sequentially
// consistent loads and stores: a Sequential access is taken to be surrounded by
// full barriers, as a Full update is and a store by smp_store_mb nearly is.
type linux struct {
	weak
	coherent    coherent
	strong      relation // accesses with a full barrier between them
	handover    relation // what is before an unlock to what is after a lock that follows it
	poRelease   relation
	acquirePo   relation
	writeFence  relation
	readFence   relation
	external    relation // reads-from between tasks
	cumulative  relation // any number of fences that carry earlier writes along, or none
	propagation relation
	happens     relation // happens-before, closed and reflexive
	after       relation // propagates-before: what a strong fence has made visible stays so
}

func newKernel() *linux { return &linux{coherent: coherent{rule: byOrderMarked}} }

func (*linux) Name() string { return "kernel" }

// Consistent checks the axioms atomicity, coherence, happens-before,
// propagation and, if there are plain accesses, plain coherence.
func (m *linux) Consistent(g *graph.Graph) bool {
	if consistent, decided := m.decide(g); decided {
		return consistent
	}
	if !m.sequentialPerLocation() {
		return false
	}
	m.fences()
	m.propagate()
	happens := m.preserved()
	happens.union(m.external, m.within(m.withoutIdentity(m.propagation)), m.taskOrder).restrict(m.n, m.marked, m.marked)
	if !happens.closure(m.n).irreflexive(m.n) { // axiom happens-before
		return false
	}
	m.happens = happens.identity(m.n)
	m.after = m.compose(m.compose(m.propagation, m.strong), m.happens).restrict(m.n, m.everything(), m.marked)
	if !m.acyclic(m.after) { // axiom propagation
		return false
	}
	return isEmpty(m.plain) || m.plainCoherence()
}

// Extends implements [Model].
//
// Without full barriers, what happens before a marked access by releases, what
// reads them, and acquires cannot be overlooked by it here either: each release
// is a fence that carries along what came before (axiom happens-before, with
// propagation from the overwritten write to the access). That is quicker to see.
func (m *linux) Extends(g *graph.Graph, n int) bool {
	if m.interleaves(g, n) {
		return true
	}
	possible, decided := m.coherent.extends(g, n)
	return (possible || !decided) && m.Consistent(g)
}

// fences computes the relations that barriers, orders and locks decide.
func (m *linux) fences() {
	m.strong = m.strongFences()
	m.handover = m.unlockLock()
	m.poRelease = m.between(m.memory, m.releases)
	m.acquirePo = m.between(m.acquires, m.memory)
	m.writeFence = m.fenced(m.writes, m.writeFences, m.writes)
	m.readFence = m.fenced(m.reads, m.readFences, m.reads)
	m.external = m.across(m.readsFrom)
}

// propagate computes in which order writes reach a task. What a fence makes
// visible includes what its task had read.
func (m *linux) propagate() {
	fence := m.copyOf(m.strong).union(m.poRelease)
	fence.union(m.compose(m.copyOf(m.external).restrict(m.n, m.everything(), m.marked), fence))
	fence.union(m.writeFence, m.handover).restrict(m.n, m.marked, m.marked)
	m.cumulative = m.compose(fence, m.updateChains()).closure(m.n).identity(m.n)

	overwrite := m.across(m.copyOf(m.coherence).union(m.fromReads)).identity(m.n).restrict(m.n, m.marked, m.everything())
	reach := m.compose(overwrite, m.cumulative).restrict(m.n, m.marked, m.marked)
	m.propagation = m.compose(reach, m.copyOf(m.external).identity(m.n)).restrict(m.n, m.marked, m.marked)
}

// strongFences relates accesses with a full barrier between them: stand-alone,
// around a Full update that wrote, around a Sequential access, or the start and
// end of tasks.
func (m *linux) strongFences() relation {
	strong := m.fenced(m.memory, m.fullFences, m.memory)
	strong.union(m.fenced(m.memory, m.fullUpdates, m.memory))
	strong.union(m.between(m.memory, m.sequentials), m.between(m.sequentials, m.memory))
	strong.union(m.fenced(m.memory, m.sequentials, m.memory))
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
func (m *linux) preserved() relation {
	kept := m.between(m.reads, m.writes) // no load buffering
	kept.union(m.within(m.copyOf(m.coherence).union(m.fromReads)))
	return kept.union(m.within(m.strong), m.within(m.handover), m.poRelease, m.acquirePo, m.writeFence, m.readFence)
}

func (m *linux) withoutIdentity(r relation) relation {
	c := m.copyOf(r)
	for id := range int32(m.n) {
		c.row(id)[id>>6] &^= 1 << (id & 63)
	}
	return c
}
