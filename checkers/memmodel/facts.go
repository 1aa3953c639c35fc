package memmodel

import (
	"benign/checkers/graph"
	"benign/impl/kernel"
)

// facts are the sets and relations that the axiomatic models start from.
type facts struct {
	arena
	g *graph.Graph

	reads, writes, memory      graph.Set // lock events included
	plain, marked              graph.Set
	acquires, releases         graph.Set
	unlocks, lockReads         graph.Set
	fullFences, fullUpdates    graph.Set // FullBarrier events; both halves of Full updates that wrote
	readFences, writeFences    graph.Set
	programOrder               relation // within a task
	taskOrder                  relation // start and join: everything before to everything after
	readsFrom, coherence       relation // coherence is transitive
	fromReads                  relation // transitive
	samePlace, updates, inside relation // po-loc; UpdateRead→UpdateWrite; same task
}

// collect computes the facts of a graph.
func (f *facts) collect(g *graph.Graph) {
	f.g = g
	f.reset(len(g.Events))
	for _, s := range []*graph.Set{&f.reads, &f.writes, &f.memory, &f.plain, &f.marked, &f.acquires, &f.releases,
		&f.unlocks, &f.lockReads, &f.fullFences, &f.fullUpdates, &f.readFences, &f.writeFences} {
		*s = f.set()
	}
	for id := range int32(f.n) {
		f.classify(id)
	}
	f.orders()
	f.readsFrom, f.coherence = f.relation(), f.relation()
	readsFrom(g, f.readsFrom.add)
	coherence(g, f.coherence.add)
	f.coherence.closure(f.n)
	first := f.relation()
	fromReads(g, first.add)
	f.fromReads = f.compose(first, f.copyOf(f.coherence).identity(f.n))
}

func (f *facts) classify(id int32) {
	e := &f.g.Events[id]
	wrote := e.Kind == graph.UpdateRead && e.Pair != graph.Init
	switch e.Kind {
	case graph.Read, graph.UpdateRead, graph.LockRead, graph.LockFail, graph.LockBusy:
		f.reads.Add(id)
		f.memory.Add(id)
	case graph.Write, graph.UpdateWrite, graph.LockWrite, graph.Unlock:
		f.writes.Add(id)
		f.memory.Add(id)
	case graph.Barrier:
		switch e.Barrier {
		case kernel.FullBarrier:
			f.fullFences.Add(id)
		case kernel.ReadBarrier:
			f.readFences.Add(id)
		case kernel.WriteBarrier:
			f.writeFences.Add(id)
		}
	}
	if f.memory.Has(id) {
		if e.Order == kernel.Plain {
			f.plain.Add(id)
		} else {
			f.marked.Add(id)
		}
	}
	f.classifyOrder(id, wrote)
}

func (f *facts) classifyOrder(id int32, wrote bool) {
	e := &f.g.Events[id]
	switch e.Kind {
	case graph.LockRead:
		f.lockReads.Add(id)
		f.acquires.Add(id)
	case graph.Unlock:
		f.unlocks.Add(id)
		f.releases.Add(id)
	case graph.Read:
		if e.Order.Acquires() {
			f.acquires.Add(id)
		}
	case graph.UpdateRead:
		if e.Order.Acquires() && wrote {
			f.acquires.Add(id)
		}
		if e.Order == kernel.Full && wrote {
			f.fullUpdates.Add(id)
		}
	case graph.Write, graph.UpdateWrite:
		if e.Order.Releases() {
			f.releases.Add(id)
		}
		if e.Kind == graph.UpdateWrite && e.Order == kernel.Full {
			f.fullUpdates.Add(id)
		}
	}
}

// orders computes the relations that only tasks and locations decide.
func (f *facts) orders() {
	f.programOrder, f.taskOrder, f.samePlace, f.updates, f.inside = f.relation(), f.relation(), f.relation(), f.relation(), f.relation()
	for id := range int32(f.n) {
		e := &f.g.Events[id]
		for p := e.Previous; p != graph.Init; p = f.g.Events[p].Previous {
			f.programOrder.add(p, id)
			f.inside.add(p, id)
			f.inside.add(id, p)
			if f.g.SamePlace(p, id) {
				f.samePlace.add(p, id)
			}
		}
		f.inside.add(id, id)
		if e.Kind == graph.UpdateWrite || e.Kind == graph.LockWrite {
			f.updates.add(e.Pair, id)
		}
		f.startAndJoin(id)
	}
}

// startAndJoin relates everything up to a task's start to everything in the
// task, and everything in a joined task to everything after the join.
func (f *facts) startAndJoin(id int32) {
	e := &f.g.Events[id]
	for p := f.g.Tasks[e.Task].Spawn; p != graph.Init; p = f.g.Events[p].Previous {
		f.taskOrder.add(p, id)
	}
	for join := id; join != graph.Init; join = f.g.Events[join].Previous {
		if f.g.Events[join].Kind == graph.Join {
			for p := f.g.Tasks[f.g.Events[join].Child].Last; p != graph.Init; p = f.g.Events[p].Previous {
				f.taskOrder.add(p, id)
			}
		}
	}
}

// external returns the pairs of different tasks.
func (f *facts) external(r relation) relation {
	c := f.copyOf(r)
	for i := range c.rows {
		c.rows[i] &^= f.inside.rows[i]
	}
	return c
}

// internal returns the pairs within one task.
func (f *facts) internal(r relation) relation {
	c := f.copyOf(r)
	for i := range c.rows {
		c.rows[i] &= f.inside.rows[i]
	}
	return c
}

// through returns before; [via]; after.
func (f *facts) through(before relation, via graph.Set, after relation) relation {
	all := f.everything()
	return f.compose(f.copyOf(before).restrict(f.n, all, via), after)
}

func (f *facts) everything() graph.Set {
	all := f.set()
	for id := range int32(f.n) {
		all.Add(id)
	}
	return all
}

// between returns [from]; po; [to].
func (f *facts) between(from, to graph.Set) relation {
	return f.copyOf(f.programOrder).restrict(f.n, from, to)
}

// fenced returns [from]; po; [fence]; po; [to].
func (f *facts) fenced(from, fence, to graph.Set) relation {
	return f.compose(f.between(from, fence), f.between(fence, to))
}

// sequentialPerLocation is the coherence axiom of every model here: the
// accesses to one location look sequentially consistent.
func (f *facts) sequentialPerLocation() bool {
	return f.acyclic(f.copyOf(f.samePlace).union(f.readsFrom, f.coherence, f.fromReads))
}
