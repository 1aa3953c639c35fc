package explore

import (
	"slices"

	"benign/checkers/graph"
)

// branch is an execution that waits to be run: a graph of its own or, if no
// code need be run, a moment of an earlier run and what comes next instead. The
// branches of a worker are a stack: those of one graph are taken latest first, so
// that the graph can be taken back from moment to moment.
type branch struct {
	stem   *stem
	moment *moment // nil: the graph is all there is

	// What is added at the moment: one event, or the two halves of an update
	// or acquisition. If the last is a write it comes after another one in
	// coherence.
	events [2]graph.Event
	count  int
	after  int32
}

// stem is a graph that a run goes along, and how many branches of it wait.
type stem struct {
	graph    *graph.Graph
	branches int
}

// moment is a scripted run between two steps.
type moment struct {
	events   int // how many there were
	branches int // how many of its branches wait
	stands   []stand
	blocked  []int32
	done     graph.Set
	focus    int32
}

// branchOff makes the latest events of the run, since the step began, a branch
// of its own.
func (r *run) branchOff() {
	if r.script == nil {
		r.push(r.g.CopyTo(r.worker.blank()))
		return
	}
	r.worker.strata.offer(r.stratum, len(r.g.Events))
	r.stem.branches++
	if r.moment == nil || r.moment.events != r.begun {
		r.moment = r.remember()
	}
	r.moment.branches++
	b := branch{stem: r.stem, moment: r.moment, after: graph.Init}
	for _, e := range r.g.Events[r.begun:] {
		b.events[b.count] = e
		b.count++
	}
	if last := &b.events[b.count-1]; last.Writes() {
		list := r.g.Coherence[last.Location]
		if at := slices.Index(list, int32(len(r.g.Events)-1)); at > 0 {
			b.after = list[at-1]
		}
	}
	b.events[0].Pair = graph.Init // the second half will say
	r.worker.own = append(r.worker.own, b)
}

// remember notes the run's state as it was when the step began.
func (r *run) remember() *moment {
	m := r.worker.blankMoment()
	m.events, m.focus = r.begun, r.g.Focus
	m.stands = m.stands[:0]
	for _, th := range r.threads {
		m.stands = append(m.stands, th.stand)
	}
	m.blocked = append(m.blocked[:0], r.blocked...)
	m.done = append(m.done[:0], r.done...)
	return m
}

func (w *worker) blankMoment() *moment {
	last := len(w.scratch.moments) - 1
	if last < 0 {
		return &moment{}
	}
	m := w.scratch.moments[last]
	w.scratch.moments = w.scratch.moments[:last]
	return m
}

// restore takes the branch's graph back to its moment and adds the branch's
// events.
func (b *branch) restore(g *graph.Graph) {
	g.CutTo(b.moment.events)
	g.Focus = b.moment.focus
	for _, id := range b.moment.blocked {
		g.Refresh(id) // what it waits for may have come, and has gone again
	}
	for _, e := range b.events[:b.count] {
		id := g.Add(e)
		if e.Writes() {
			g.Place(id, b.after)
		}
	}
}

// settled notes that the branch no longer waits.
func (w *worker) settled(b *branch) {
	if b.moment == nil {
		return
	}
	b.stem.branches--
	if b.moment.branches--; b.moment.branches == 0 {
		w.scratch.moments = append(w.scratch.moments, b.moment)
	}
}

// resume prepares a scripted run that goes on at the branch.
func (w *worker) resume(b *branch) *run {
	r := w.startScripted(b.stem)
	b.restore(r.g)
	r.done = append(r.done[:0], b.moment.done...)
	r.blocked = append(r.blocked[:0], b.moment.blocked...)
	for i, s := range b.moment.stands {
		th := r.actor(int32(i))
		th.place(int32(i), w.script.names[i], s)
		r.threads = append(r.threads, th)
		r.enter(th, s.node)
	}
	first := b.moment.events
	w.settled(b)
	for id := first; id < len(r.g.Events) && !r.stopped(); id++ {
		r.apply(int32(id))
	}
	return r
}

// alone turns the branch into a graph that does not depend on others.
func (w *worker) alone(b *branch) *graph.Graph {
	if b.moment == nil {
		return b.stem.graph
	}
	g := b.stem.graph.CopyTo(w.blank())
	b.restore(g)
	w.settled(b)
	w.release(b.stem)
	return g
}

// copied is alone for a branch that goes on waiting.
func (b *branch) copied() *graph.Graph {
	if b.moment == nil {
		return b.stem.graph
	}
	g := b.stem.graph.Clone()
	b.restore(g)
	return g
}

// stemOf makes a graph something that runs and branches can share.
func (w *worker) stemOf(g *graph.Graph) *stem {
	last := len(w.scratch.stems) - 1
	if last < 0 {
		return &stem{graph: g}
	}
	s := w.scratch.stems[last]
	w.scratch.stems = w.scratch.stems[:last]
	s.graph = g
	return s
}

// release recycles a graph if no branch needs it any more.
func (w *worker) release(s *stem) {
	if s.branches == 0 {
		w.recycle(s.graph)
		w.scratch.stems = append(w.scratch.stems, s)
	}
}
