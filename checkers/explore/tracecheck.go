package explore

import (
	"slices"

	"benign/checkers/graph"
)

// check links the events of a trace and makes sure that the links make sense,
// so that a replay meets nothing that no execution has.
func (p *traceParser) check() {
	for task, line := range p.taskLines {
		if t := &p.g.Tasks[task]; !ofScenario(t.ID) && t.Spawn == graph.Init {
			p.failAt(line, len("task "), "a task that one of the events starts")
		}
	}
	after := make([]int32, len(p.g.Events)) // by write: the one before it in coherence
	for _, r := range p.references {
		p.link(r, after)
	}
	if p.err == nil {
		p.chain(after)
	}
	if p.err == nil {
		p.order()
	}
}

// link follows one reference.
func (p *traceParser) link(r reference, after []int32) {
	target, ok := p.events[r.name]
	if r.name == "init" || !r.there {
		target, ok = graph.Init, true
	}
	e := &p.g.Events[r.from]
	switch {
	case !ok || target == r.from:
		p.failAt(r.line, r.column, "another event of the trace, or init")
	case r.key == "from":
		p.source(r, target)
		e.Source = target
	case r.key == "pair":
		p.pair(r, target)
		e.Pair = target
	case r.key == "end":
		p.end(r, target)
		e.End = target
	default:
		if target != graph.Init && (!p.g.Events[target].Writes() || p.g.Events[target].Location != e.Location) {
			p.failAt(r.line, r.column, "a write to the same location, or init")
		}
		after[r.from] = target
	}
}

// source checks that a reading event can read from the target.
func (p *traceParser) source(r reference, target int32) {
	e := &p.g.Events[r.from]
	ok, expected := target == graph.Init, "a write to the same location, or init"
	switch e.Kind {
	case graph.LockIdle:
		ok = ok || p.g.Events[target].Kind == graph.Unlock && p.g.SameLock(p.g.Events[target].Location, e.Location)
		expected = "an unlock of the same lock, or init"
	case graph.LockFail, graph.LockBusy:
		ok = !ok && p.g.Events[target].Kind == graph.LockWrite && p.g.Events[target].Location == e.Location &&
			(e.Kind == graph.LockFail || hinders(p.g, target, e.Location, e.Task))
		expected = "a lock-write that is in its way"
	default:
		ok = ok && e.Turn == graph.Either || target != graph.Init && p.g.Events[target].Writes() && p.g.Events[target].Location == e.Location
	}
	if !ok {
		p.failAt(r.line, r.column, expected)
	}
}

// pair checks that the second half of an update or acquisition follows the
// first, and ties the first to it.
func (p *traceParser) pair(r reference, target int32) {
	e := &p.g.Events[r.from]
	first := map[graph.Kind]graph.Kind{graph.UpdateWrite: graph.UpdateRead, graph.LockWrite: graph.LockRead}[e.Kind]
	if target == graph.Init || target != e.Previous || p.g.Events[target].Kind != first || p.g.Events[target].Location != e.Location {
		p.failAt(r.line, r.column, "the "+first.String()+" before it")
		return
	}
	p.g.Events[target].Pair = r.from
}

// end checks that a section ends at the next Unlock of its task.
func (p *traceParser) end(r reference, target int32) {
	e, next := &p.g.Events[r.from], graph.Init
	for id := int32(len(p.g.Events)) - 1; id > r.from; id-- {
		f := &p.g.Events[id]
		if f.Kind == graph.Unlock && f.Task == e.Task && p.g.SameLock(f.Location, e.Location) {
			next = id
		}
	}
	switch {
	case next == target && (target != graph.Init || !r.there):
	case next == graph.Init:
		p.failAt(r.line, r.column, "no end, for the task does not unlock")
	default:
		p.failAt(r.line, r.column, "end="+eventName(p.g, next)+", the next unlock")
	}
}

// chain puts the writes of each location into one coherence order, in which the
// second half of a pair stands directly after what the first half read.
func (p *traceParser) chain(after []int32) {
	for _, r := range p.references {
		if r.key != "after" {
			continue
		}
		e := &p.g.Events[r.from]
		if e.Pair != graph.Init && after[r.from] != p.g.Events[e.Pair].Source {
			p.failAt(r.line, r.column, "what "+eventName(p.g, e.Pair)+" reads from")
		}
	}
	for location := range p.g.Locations {
		p.chainAt(int32(location), after)
	}
	for _, r := range p.references {
		if e := &p.g.Events[r.from]; r.key == "after" && !slices.Contains(p.g.Coherence[e.Location], r.from) {
			p.failAt(r.line, r.column, "a write that no other stands after, and that does not stand after this one")
		}
	}
}

// chainAt follows the writes of one location, beginning with the first.
func (p *traceParser) chainAt(location int32, after []int32) {
	for last, found := graph.Init, true; found; {
		found = false
		for id := range p.g.Events {
			if e := &p.g.Events[id]; e.Writes() && e.Location == location && after[id] == last && !found {
				p.g.Coherence[location] = append(p.g.Coherence[location], int32(id))
				last, found = int32(id), true
			}
		}
	}
}

// order finds an order in which the events can be run and computes what must
// have run before each.
func (p *traceParser) order() {
	done := make([]bool, len(p.g.Events))
	for progress := true; progress; {
		progress = false
		for id := range p.g.Events {
			if !done[id] && p.ready(int32(id), done) {
				p.g.Refresh(int32(id))
				done[id], progress = true, true
			}
		}
	}
	if at := slices.Index(done, false); at >= 0 {
		p.failAt(p.eventLines[at], 0, "an event that does not depend on itself")
	}
}

// ready reports whether everything that the event depends on directly is done,
// see graph.Refresh.
func (p *traceParser) ready(id int32, done []bool) bool {
	e := &p.g.Events[id]
	before := [...]int32{e.Previous, e.Source, graph.Init, graph.Init}
	if e.Previous == graph.Init {
		before[0] = p.g.Tasks[e.Task].Spawn
	}
	if e.Kind == graph.LockRead && e.Source != graph.Init {
		before[2] = p.g.Events[e.Source].End
	}
	if e.Kind == graph.Join {
		before[3] = p.g.Tasks[e.Child].End()
	}
	for _, f := range before {
		if f != graph.Init && !done[f] {
			return false
		}
	}
	return true
}
