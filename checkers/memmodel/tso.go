package memmodel

import (
	"benign/checkers/graph"
	"benign/impl/kernel"
)

// tso is total store order, the model of x86 (Owens, Sarkar, Sewell, "A Better
// x86 Memory Model: x86-TSO", TPHOLs 2009; in the axiomatic form of Alglave,
// Maranget, Tautschnig, "Herding Cats", TOPLAS 2014): every task has a store
// buffer, so that its loads may overtake its own earlier stores, and nothing
// else is reordered. Full barriers, updates and acquisitions that write, and
// sequential stores drain the buffer, as do the start of a task and the join
// with it; an unlock is a store. A plain access is one access like any other.
type tso struct {
	weak
	coherent coherent
}

func newTSO() *tso { return &tso{coherent: coherent{rule: byReading}} }

func (*tso) Name() string { return "tso" }

// Consistent checks the axioms atomicity, coherence and ghb: what every
// processor agrees on has no cycle.
func (m *tso) Consistent(g *graph.Graph) bool {
	if consistent, decided := m.decide(g); decided {
		return consistent
	}
	if !m.sequentialPerLocation() {
		return false
	}
	return m.acyclic(m.preserved().union(m.taskOrder, m.across(m.readsFrom), m.coherence, m.fromReads))
}

// Extends implements [Model].
//
// What tso shows ra shows too, and that is quicker to see.
func (m *tso) Extends(g *graph.Graph, n int) bool {
	if m.interleaves(g, n) {
		return true
	}
	possible, _ := m.coherent.extends(g, n)
	return possible && m.Consistent(g)
}

// preserved is program order without the pairs of a buffered store and a later
// load. Where something between the two drains the buffer, the order leads
// through it; read and write barriers do not, and have no part in the order.
func (m *tso) preserved() relation {
	stores, loads, events := m.set(), m.set(), m.set()
	for id := range int32(m.n) {
		if !m.readFences.Has(id) && !m.writeFences.Has(id) {
			events.Add(id)
		}
		if m.drains(id) {
			continue
		}
		if m.writes.Has(id) {
			stores.Add(id)
		}
		if m.reads.Has(id) {
			loads.Add(id)
		}
	}
	kept := m.between(events, events)
	for store := range stores.All() {
		row := kept.row(store)
		for w := range row {
			row[w] &^= loads[w]
		}
	}
	return kept
}

// drains reports whether the access is not made before the buffer is empty, or
// not left before: half of an update or acquisition that wrote, or a sequential
// store. An update that fails is a load, because code may test before it locks
// the bus.
func (m *tso) drains(id int32) bool {
	switch e := &m.g.Events[id]; e.Kind {
	case graph.UpdateRead, graph.UpdateWrite, graph.LockRead, graph.LockWrite:
		return e.Pair != graph.Init
	case graph.Write:
		return e.Order == kernel.Sequential
	}
	return false
}
