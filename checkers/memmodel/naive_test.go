package memmodel_test

import (
	"benign/checkers/graph"
	"benign/impl/kernel"
)

// The models once more, as their papers write them down: relations as sets of
// pairs, operators as functions, no thought for speed. They share with the
// models under test nothing but the graph.

type pair [2]int32
type pairs map[pair]bool

// naive has the base sets and relations of one graph.
type naive struct {
	g                  *graph.Graph
	po, poLoc, tasks   pairs // tasks: order by starts and joins
	rf, co, fr, rmw    pairs
	sameTask           func(a, b int32) bool
	read, write, plain func(int32) bool
}

func newNaive(g *graph.Graph) *naive {
	n := &naive{g: g}
	at := func(id int32) *graph.Event { return &g.Events[id] }
	n.read = func(id int32) bool {
		switch at(id).Kind {
		case graph.Read, graph.UpdateRead, graph.LockRead, graph.LockFail:
			return true
		}
		return false
	}
	n.write = func(id int32) bool {
		switch at(id).Kind {
		case graph.Write, graph.UpdateWrite, graph.LockWrite, graph.Unlock:
			return true
		}
		return false
	}
	n.plain = func(id int32) bool { return n.access(id) && at(id).Order == kernel.Plain }
	n.sameTask = func(a, b int32) bool { return at(a).Task == at(b).Task }
	n.po = n.where(func(a, b int32) bool { return n.sameTask(a, b) && at(a).Index < at(b).Index && !n.oneAccess(a, b) })
	n.poLoc = n.po.filter(func(a, b int32) bool { return at(a).Location >= 0 && at(a).Location == at(b).Location })
	n.tasks = n.po.or(n.where(func(a, b int32) bool {
		start, end := at(a).Kind == graph.Spawn, at(b).Kind == graph.Join
		return start && at(a).Child == at(b).Task || end && at(b).Child == at(a).Task || start && end && at(a).Child == at(b).Child
	})).plus().filter(func(a, b int32) bool { return !n.sameTask(a, b) })
	n.rmw = n.where(func(a, b int32) bool {
		return (at(b).Kind == graph.UpdateWrite || at(b).Kind == graph.LockWrite) && at(b).Pair == a
	})
	n.readsAndCoherence()
	return n
}

// oneAccess reports whether the events are the two halves of an access to a word.
func (n *naive) oneAccess(a, b int32) bool {
	e, f := n.g.Events[a], n.g.Events[b]
	return e.Location == lowZ && f.Location == highZ && f.Index == e.Index+1
}

// readsAndCoherence spells out the coherence lists with every Unlock in its
// place, and derives reads-from and from-reads.
func (n *naive) readsAndCoherence() {
	n.rf, n.co, n.fr = pairs{}, pairs{}, pairs{}
	for location, list := range n.g.Coherence {
		var whole []int32
		for _, w := range list {
			whole = append(whole, w)
			if e := n.g.Events[w]; e.Kind == graph.LockWrite && e.End != graph.Init {
				whole = append(whole, e.End)
			}
		}
		place := map[int32]int{graph.Init: -1}
		for i, w := range whole {
			place[w] = i
			for _, later := range whole[i+1:] {
				n.co[pair{w, later}] = true
			}
		}
		for id := range int32(len(n.g.Events)) {
			e := n.g.Events[id]
			if !n.read(id) || e.Location != int32(location) {
				continue
			}
			source := e.Source
			if e.Kind == graph.LockRead && source != graph.Init && n.g.Events[source].End != graph.Init {
				source = n.g.Events[source].End
			}
			if source != graph.Init {
				n.rf[pair{source, id}] = true
			}
			for _, later := range whole[place[source]+1:] {
				n.fr[pair{id, later}] = true
			}
		}
	}
}

func (n *naive) access(id int32) bool { return n.read(id) || n.write(id) }
func (n *naive) marked(id int32) bool { return n.access(id) && !n.plain(id) }
func (n *naive) wrote(id int32) bool {
	return n.g.Events[id].Kind != graph.UpdateRead || n.g.Events[id].Pair != graph.Init
}

// acquires and releases leave full updates and sequential accesses out: they
// are Mb or sc events.
func (n *naive) acquires(id int32) bool {
	e := n.g.Events[id]
	return e.Kind == graph.LockRead || n.read(id) && n.wrote(id) && (e.Order == kernel.Acquire || e.Order == kernel.AcquireRelease)
}

func (n *naive) releases(id int32) bool {
	e := n.g.Events[id]
	return e.Kind == graph.Unlock || n.write(id) && (e.Order == kernel.Release || e.Order == kernel.AcquireRelease)
}

func (n *naive) fullUpdate(id int32) bool {
	return n.access(id) && n.wrote(id) && n.g.Events[id].Order == kernel.Full
}

// strong is an event that is sequentially consistent by itself; alone says that
// it is no half of an update that wrote.
func (n *naive) strong(id int32) bool { return n.fullUpdate(id) || n.sequential(id) }
func (n *naive) sequential(id int32) bool {
	return n.access(id) && n.g.Events[id].Order == kernel.Sequential
}
func (n *naive) alone(id int32) bool {
	return n.sequential(id) && n.g.Events[id].Pair == graph.Init
}

func (n *naive) barrier(b kernel.Barrier) func(int32) bool {
	return func(id int32) bool { return n.g.Events[id].Kind == graph.Barrier && n.g.Events[id].Barrier == b }
}

// where returns all pairs with a property.
func (n *naive) where(holds func(a, b int32) bool) pairs {
	r := pairs{}
	for a := range int32(len(n.g.Events)) {
		for b := range int32(len(n.g.Events)) {
			if holds(a, b) {
				r[pair{a, b}] = true
			}
		}
	}
	return r
}

// set is [S], the identity on a set.
func (n *naive) set(holds func(int32) bool) pairs {
	return n.where(func(a, b int32) bool { return a == b && holds(a) })
}

func (n *naive) all(int32) bool { return true }

// maybe is r?, star is r*.
func (n *naive) maybe(r pairs) pairs { return r.or(n.set(n.all)) }
func (n *naive) star(r pairs) pairs  { return n.maybe(r.plus()) }

func (n *naive) internal(r pairs) pairs { return r.filter(n.sameTask) }
func (n *naive) external(r pairs) pairs {
	return r.filter(func(a, b int32) bool { return !n.sameTask(a, b) })
}

func (r pairs) filter(holds func(a, b int32) bool) pairs {
	f := pairs{}
	for p := range r {
		if holds(p[0], p[1]) {
			f[p] = true
		}
	}
	return f
}

func (r pairs) or(others ...pairs) pairs {
	u := pairs{}
	for _, o := range append(others, r) {
		for p := range o {
			u[p] = true
		}
	}
	return u
}

func (r pairs) and(o pairs) pairs { return r.filter(func(a, b int32) bool { return o[pair{a, b}] }) }

func (r pairs) backwards() pairs {
	i := pairs{}
	for p := range r {
		i[pair{p[1], p[0]}] = true
	}
	return i
}

// seq is r1; r2; …
func seq(first pairs, rest ...pairs) pairs {
	for _, next := range rest {
		out := map[int32][]int32{}
		for p := range next {
			out[p[0]] = append(out[p[0]], p[1])
		}
		composed := pairs{}
		for p := range first {
			for _, to := range out[p[1]] {
				composed[pair{p[0], to}] = true
			}
		}
		first = composed
	}
	return first
}

func (r pairs) plus() pairs {
	for {
		grown := r.or(seq(r, r))
		if len(grown) == len(r) {
			return grown
		}
		r = grown
	}
}

func (r pairs) irreflexive() bool {
	for p := range r {
		if p[0] == p[1] {
			return false
		}
	}
	return true
}

func (r pairs) acyclic() bool { return r.plus().irreflexive() }

func (n *naive) atomic() bool {
	return len(n.rmw.and(seq(n.external(n.fr), n.external(n.co)))) == 0
}

// sc is one interleaving of everything.
func (n *naive) sc() bool {
	return n.atomic() && n.po.or(n.tasks, n.rf, n.co, n.fr).acyclic()
}

// tso is x86-TSO as herd writes it down: ppo and implied fences.
func (n *naive) tso() bool {
	locked := n.set(func(id int32) bool {
		half := n.access(id) && n.g.Events[id].Pair != graph.Init
		return half || n.write(id) && n.sequential(id)
	})
	fence := n.set(func(id int32) bool {
		k := n.g.Events[id].Kind
		return n.barrier(kernel.FullBarrier)(id) || k == graph.Spawn || k == graph.Join
	})
	m := n.set(n.access)
	ppo := n.po.filter(func(a, b int32) bool { return !n.write(a) || !n.read(b) })
	implied := seq(n.po, locked).or(seq(locked, n.po), seq(n.po, locked, n.po), seq(n.po, fence, n.po))
	ghb := seq(m, ppo.or(implied, n.tasks), m).or(n.external(n.rf), n.co, n.fr)
	return n.atomic() && n.poLoc.or(n.rf, n.co, n.fr).acyclic() && ghb.acyclic()
}

// ra is the declarative form of the paper.
func (n *naive) ra() bool {
	hb := n.po.or(n.tasks, n.rf).plus()
	eco := n.rf.or(n.co, n.fr).plus()
	return n.atomic() && seq(hb, n.maybe(eco)).irreflexive() && eco.irreflexive()
}

// rc11 is figure 1 of the paper, with C++20 release sequences.
func (n *naive) rc11() bool {
	fence := func(kinds ...kernel.Barrier) pairs {
		all := pairs{}
		for _, k := range kinds {
			all = all.or(n.set(n.barrier(k)))
		}
		return all
	}
	relaxedWrite := n.set(func(id int32) bool { return n.write(id) && n.marked(id) })
	relaxedRead := n.set(func(id int32) bool { return n.read(id) && n.marked(id) })
	release := n.set(func(id int32) bool { return n.releases(id) || n.write(id) && n.strong(id) })
	acquire := n.set(func(id int32) bool { return n.acquires(id) || n.read(id) && n.strong(id) })
	begin := release.or(seq(fence(kernel.FullBarrier, kernel.WriteBarrier), n.po, relaxedWrite))
	end := acquire.or(seq(relaxedRead, n.po, fence(kernel.FullBarrier, kernel.ReadBarrier)))
	sw := seq(begin, relaxedWrite, n.star(seq(n.rf, n.rmw)), n.rf, end)
	hb := n.po.or(n.tasks, sw).plus()
	eco := n.rf.or(n.co, n.fr).plus()
	if !n.atomic() || !seq(hb, n.maybe(eco)).irreflexive() {
		return false
	}

	place := func(id int32) int32 { return n.g.Events[id].Location }
	poElsewhere := n.po.filter(func(a, b int32) bool { return place(a) < 0 || place(a) != place(b) })
	hbHere := hb.filter(func(a, b int32) bool { return n.access(a) && n.access(b) && place(a) == place(b) })
	scb := n.po.or(n.tasks, seq(poElsewhere, hb, poElsewhere), hbHere, n.co, n.fr)
	scFence, scEvent := fence(kernel.FullBarrier), n.set(n.strong)
	pscBase := seq(scEvent.or(seq(scFence, n.maybe(hb))), scb, scEvent.or(seq(n.maybe(hb), scFence)))
	pscFence := seq(scFence, hb.or(seq(hb, eco, hb)), scFence)
	return pscBase.or(pscFence).acyclic()
}

// linux is the kernel's model, with every load kept before the later stores of
// its task and with the starts and joins of tasks as full barriers.
func (n *naive) linux() bool {
	m, marked := n.set(n.access), n.set(n.marked)
	po := n.po
	mbEvent := func(id int32) bool { return n.barrier(kernel.FullBarrier)(id) || n.strong(id) }
	strong := seq(m, po, n.set(mbEvent), po, m).or(
		seq(m, po, n.set(func(id int32) bool { return n.strong(id) && n.read(id) })),
		seq(n.set(func(id int32) bool { return n.strong(id) && n.write(id) }), po, m),
		seq(m, po, n.set(n.alone)), seq(n.set(n.alone), po, m),
		seq(m, n.tasks, m))
	reads, writes := n.set(n.read), n.set(n.write)
	readBarrier := n.set(n.barrier(kernel.ReadBarrier))
	rmb := seq(reads, po, readBarrier, po, reads)
	wmb := seq(writes, po, n.set(n.barrier(kernel.WriteBarrier)), po, writes)
	poRel, acqPo := seq(m, po, n.set(n.releases)), seq(n.set(n.acquires), po, m)
	nonrw := strong.or(poRel, acqPo)
	fence := nonrw.or(wmb, rmb)
	unlock := n.set(func(id int32) bool { return n.g.Events[id].Kind == graph.Unlock })
	lock := n.set(func(id int32) bool { return n.g.Events[id].Kind == graph.LockRead })
	pull := seq(po, unlock, po.or(n.rf), lock, po)

	if !n.poLoc.or(n.rf, n.co, n.fr).acyclic() || !n.atomic() {
		return false
	}
	overwrite := n.co.or(n.fr)
	ppo := seq(reads, po, writes).or(n.internal(overwrite), n.internal(fence), n.internal(pull))
	rfe := n.external(n.rf)
	rmwSequence := n.star(seq(n.rf, n.rmw))
	cumulFence := seq(marked, seq(n.maybe(seq(rfe, marked)), strong.or(poRel)).or(wmb, pull), marked, rmwSequence)
	prop := seq(marked, n.maybe(n.external(overwrite)), n.star(cumulFence), marked, n.maybe(rfe), marked)
	propInside := n.internal(prop).filter(func(a, b int32) bool { return a != b })
	hb := seq(marked, ppo.or(rfe, propInside, n.tasks), marked)
	pb := seq(prop, strong, n.star(hb), marked)
	if !hb.acyclic() || !pb.acyclic() {
		return false
	}

	xb := n.star(hb.or(pb))
	vis := seq(n.star(cumulFence), n.maybe(rfe), marked, seq(strong, marked, xb).or(n.internal(xb)))
	wPre := seq(marked, n.maybe(fence))
	rPre := seq(marked, n.maybe(nonrw.or(seq(reads, po, readBarrier, po, n.set(n.all)))))
	wPost := seq(n.maybe(fence), marked, rmwSequence)
	rPost := seq(n.maybe(nonrw.or(seq(n.set(n.all), po, readBarrier, po, reads))), marked)
	wwVis := fence.or(seq(strong, xb, wPre), seq(wPost, vis, wPre))
	wrVis := fence.or(seq(strong, xb, rPre), seq(wPost, vis, rPre))
	rwXb := fence.or(seq(rPost, xb, wPre))
	preRace := n.external(n.where(func(a, b int32) bool { return n.plain(a) && n.access(b) || n.access(a) && n.plain(b) }))
	bad := n.rf.and(rwXb.backwards()).or(n.fr.and(wrVis.backwards()), n.co.and(wwVis.backwards()))
	return len(preRace.and(bad)) == 0
}
