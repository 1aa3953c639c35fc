package memmodel

import (
	"benign/checkers/graph"
	"benign/impl/kernel"
)

// facts are the sets and relations that the axiomatic models start from.
type facts struct {
	arena
	g *graph.Graph

	reads, writes, memory   graph.Set // lock events included
	plain, marked           graph.Set
	acquires, releases      graph.Set
	unlocks, lockReads      graph.Set
	fullFences, fullUpdates graph.Set // FullBarrier events; both halves of Full and Sequential updates that wrote
	sequentials             graph.Set // Sequential loads, stores, and updates that failed
	readFences, writeFences graph.Set
	programOrder            relation // within a task
	taskOrder               relation // across tasks, by their starts and joins; transitive
	readsFrom, coherence    relation // coherence is transitive
	fromReads               relation // transitive
	samePlace, updates      relation // po-loc; UpdateRead→UpdateWrite
	sameTask                relation
	tasks                   []uint64 // by task: the set of its events
}

// collect computes the facts of a graph.
func (f *facts) collect(g *graph.Graph) {
	f.g = g
	f.reset(len(g.Events))
	for _, s := range []*graph.Set{&f.reads, &f.writes, &f.memory, &f.plain, &f.marked, &f.acquires, &f.releases,
		&f.unlocks, &f.lockReads, &f.fullFences, &f.fullUpdates, &f.sequentials, &f.readFences, &f.writeFences} {
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
		if e.Order.Acquires() && wrote || e.Order == kernel.Sequential {
			f.acquires.Add(id)
		}
	case graph.Write, graph.UpdateWrite:
		if e.Order.Releases() {
			f.releases.Add(id)
		}
	}
	half := wrote || e.Kind == graph.UpdateWrite
	switch {
	case half && (e.Order == kernel.Full || e.Order == kernel.Sequential):
		f.fullUpdates.Add(id)
	case !half && e.Order == kernel.Sequential:
		f.sequentials.Add(id)
	}
}

// orders computes the relations that only tasks and locations decide.
func (f *facts) orders() {
	for _, r := range []*relation{&f.samePlace, &f.updates, &f.sameTask} {
		*r = f.relation()
	}
	f.tasks = f.take(len(f.g.Tasks) * f.words)
	for id := range int32(f.n) {
		e := &f.g.Events[id]
		f.ofTask(e.Task).Add(id)
		if e.Kind == graph.UpdateWrite || e.Kind == graph.LockWrite {
			f.updates.add(e.Pair, id)
		}
		if e.Location < 0 {
			continue
		}
		for p := e.Previous; p != graph.Init; p = f.g.Events[p].Previous {
			before := &f.g.Events[p]
			unlock := e.Kind == graph.Unlock || before.Kind == graph.Unlock
			if before.Location == e.Location || unlock && f.g.SamePlace(p, id) {
				f.samePlace.add(p, id)
			}
		}
	}
	for id := range int32(f.n) {
		copy(f.sameTask.row(id), f.ofTask(f.g.Events[id].Task))
	}
	order := f.relation()
	programOrder(f.g, order.add)
	order.closure(f.n)
	f.programOrder, f.taskOrder = f.within(order), f.across(order)
}

// ofTask returns the events of a task.
func (f *facts) ofTask(task int32) graph.Set {
	return graph.Set(f.tasks[int(task)*f.words : (int(task)+1)*f.words])
}

// across returns the pairs of different tasks.
func (f *facts) across(r relation) relation {
	c := f.copyOf(r)
	for i := range c.rows {
		c.rows[i] &^= f.sameTask.rows[i]
	}
	return c
}

// within returns the pairs of one task.
func (f *facts) within(r relation) relation {
	c := f.copyOf(r)
	for i := range c.rows {
		c.rows[i] &= f.sameTask.rows[i]
	}
	return c
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
