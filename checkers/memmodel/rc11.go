package memmodel

import "benign/checkers/graph"

// rc11 is repaired C11 (Lahav, Vafeiadis, Kang, Hur, Dreyer, "Repairing
// Sequential Consistency in C/C++11", PLDI 2017). Once is relaxed; Sequential
// accesses, Full updates and full barriers are sequentially consistent; read and
// write barriers are acquire and release fences. A release sequence is continued
// by updates only, as in C++20 (P0982, "Weaken Release Sequences") and in the
// kernel's model, not by later stores of the same task as in the paper.
type rc11 struct {
	weak
	coherent, growing coherent
}

func newRC11() *rc11 {
	return &rc11{coherent: coherent{rule: byOrder}, growing: coherent{rule: byOrder}}
}

func (*rc11) Name() string { return "rc11" }

// Consistent checks the axioms atomicity, coherence and SC; no-thin-air holds
// by the order in which the explorer runs code.
func (m *rc11) Consistent(g *graph.Graph) bool {
	if m.coherent.covers(g) {
		return atomicity(g) && m.coherent.check(g)
	}
	if consistent, decided := m.decide(g); decided {
		return consistent
	}
	happensBefore := m.copyOf(m.programOrder).union(m.taskOrder, m.synchronizes()).closure(m.n)
	extended := m.copyOf(m.readsFrom).union(m.coherence, m.fromReads).closure(m.n)
	if !happensBefore.irreflexive(m.n) || !extended.irreflexive(m.n) ||
		!m.compose(happensBefore, extended).irreflexive(m.n) { // axiom coherence
		return false
	}
	return m.sequentialEvents(happensBefore, extended)
}

// Extends implements [Model].
func (m *rc11) Extends(g *graph.Graph, n int) bool {
	if consistent, decided := m.growing.extends(g, n); decided {
		return consistent
	}
	return m.interleaves(g, n) || m.Consistent(g)
}

// synchronizes is sw: a release, possibly by a fence before a relaxed write,
// whose release sequence is read by an acquire, possibly by a fence after it.
func (m *rc11) synchronizes() relation {
	releaseFences, acquireFences := m.set(), m.set()
	releaseFences.Or(m.fullFences)
	releaseFences.Or(m.writeFences)
	acquireFences.Or(m.fullFences)
	acquireFences.Or(m.readFences)

	sequence := m.compose(m.readsFrom, m.updates).closure(m.n).identity(m.n)

	from := m.relation().identity(m.n).restrict(m.n, m.releases, m.releases)
	from.union(m.between(releaseFences, m.intersect(m.writes, m.marked)))
	to := m.relation().identity(m.n).restrict(m.n, m.acquires, m.acquires)
	to.union(m.between(m.intersect(m.reads, m.marked), acquireFences))
	return m.compose(m.compose(from, sequence), m.compose(m.readsFrom, to))
}

func (m *rc11) intersect(a, b graph.Set) graph.Set {
	c := m.set()
	for i := range c {
		c[i] = a[i] & b[i]
	}
	return c
}

// sequentialEvents is the axiom SC: psc has no cycle.
func (m *rc11) sequentialEvents(happensBefore, extended relation) bool {
	events, fences := m.set(), m.fullFences
	events.Or(m.fullUpdates)
	events.Or(m.sequentials)
	if isEmpty(events) && isEmpty(fences) {
		return true
	}
	elsewhere := m.copyOf(m.programOrder)
	for i := range elsewhere.rows {
		elsewhere.rows[i] &^= m.samePlace.rows[i]
	}
	before := m.copyOf(m.programOrder).union(m.compose(m.compose(elsewhere, happensBefore), elsewhere))
	before.union(m.taskOrder, m.hbSamePlace(happensBefore), m.coherence, m.fromReads)

	reflexive := m.copyOf(happensBefore).identity(m.n)
	left := m.relation().identity(m.n).restrict(m.n, events, events)
	left.union(m.copyOf(reflexive).restrict(m.n, fences, m.everything()))
	right := m.relation().identity(m.n).restrict(m.n, events, events)
	right.union(m.copyOf(reflexive).restrict(m.n, m.everything(), fences))
	base := m.compose(m.compose(left, before), right)

	byFence := m.copyOf(happensBefore).union(m.compose(m.compose(happensBefore, extended), happensBefore))
	return m.acyclic(base.union(byFence.restrict(m.n, fences, fences)))
}

func (m *rc11) hbSamePlace(happensBefore relation) relation {
	c := m.relation()
	for i := range int32(m.n) {
		for j := range happensBefore.row(i).All() {
			if m.memory.Has(i) && m.memory.Has(j) && m.g.SamePlace(i, j) {
				c.add(i, j)
			}
		}
	}
	return c
}

func isEmpty(s graph.Set) bool {
	for _, word := range s {
		if word != 0 {
			return false
		}
	}
	return true
}
