package explore

import (
	"slices"

	"benign/checkers/graph"
)

// revisit offers every execution in which a read that is already in the graph
// reads from the new write instead. What was added after the read and does not
// lead up to the write is dropped and explored again; to reach each such
// execution once only, everything dropped must have made its newest choice.
// One of each pair of rivals must be the read or be dropped.
func (r *run) revisit(g *graph.Graph, write int32, rivals []int32) {
	if r.sampling != nil {
		return
	}
	past := r.worker.leadingUp(g, write)
	oldest := oldestReader(g, write, past)
	for read := write - 1; read >= oldest; read-- {
		if past.Has(read) {
			continue
		}
		if !newest(g, read, write, past) {
			return // whatever is older would drop it
		}
		if !mayTake(g, read, write) || remains(rivals, read, past) {
			continue
		}
		kind, possible := redirected(&g.Events[read]), true
		if g.Events[read].Awaits {
			kind, possible = r.lookingAt(g, read, write, past)
		}
		if possible {
			r.redirect(g, read, write, write, kind, past)
		}
	}
}

// oldestReader returns the oldest event that could read from the write, or the
// write if there is none.
func oldestReader(g *graph.Graph, write int32, past graph.Set) int32 {
	at := g.Events[write].Location
	if !g.Locations[at].Lock {
		oldest := write
		for read := g.Earlier(write); read != graph.Init; read = g.Earlier(read) {
			if !past.Has(read) && mayTake(g, read, write) {
				oldest = read
			}
		}
		return oldest
	}
	for read := range write {
		e := &g.Events[read]
		if near := e.Location == at || e.Kind == graph.LockBusy || e.Kind == graph.LockIdle; near && mayTake(g, read, write) && !past.Has(read) {
			return read
		}
	}
	return write
}

// mayTake is mayRead, but for acquisitions that the chain of sections has no
// room for.
func mayTake(g *graph.Graph, read, write int32) bool {
	w, e := &g.Events[write], &g.Events[read]
	if !mayRead(g, e, write) {
		return false
	}
	return w.Kind != graph.LockWrite || e.Kind != graph.LockRead || e.Try || e.Source == g.Events[w.Pair].Source
}

// remains reports whether a rival is neither the read nor dropped by its revisit.
func remains(rivals []int32, read int32, past graph.Set) bool {
	for _, rival := range rivals {
		if rival != read && (rival < read || past.Has(rival)) {
			return true
		}
	}
	return false
}

// redirected returns what a reading event becomes when a new write is in its way.
func redirected(e *graph.Event) graph.Kind {
	switch {
	case e.Kind == graph.LockRead && e.Try:
		return graph.LockFail
	case e.Kind == graph.LockIdle:
		return graph.LockBusy
	}
	return e.Kind
}

// mayRead reports whether the event could read from the write.
func mayRead(g *graph.Graph, e *graph.Event, write int32) bool {
	if e.Kind == graph.LockBusy || e.Kind == graph.LockIdle {
		return hinders(g, write, e.Location, e.Task)
	}
	return (e.Reads() || e.Kind == graph.Await) && e.Location == g.Events[write].Location
}

// hinders reports whether the event begins a section that makes the task's try
// of the lock fail.
func hinders(g *graph.Graph, section, strand, task int32) bool {
	return g.Hinders(section) && g.Events[section].Task != task && g.SameLock(g.Events[section].Location, strand)
}

// hindrance returns what a try of the lock that chose to fail finds by default
// among the events that were there before it: the last of the open sections,
// or else nobody since the last Unlock.
func hindrance(g *graph.Graph, strand, task int32, before func(int32) bool) (graph.Kind, int32) {
	open, end := graph.Init, graph.Init
	for id := range int32(len(g.Events)) {
		switch {
		case !hinders(g, id, strand, task) || !before(id):
		case ended(g, id, before):
			end = max(end, g.Events[id].End)
		default:
			open = id
		}
	}
	if open != graph.Init {
		return graph.LockBusy, open
	}
	return graph.LockIdle, end
}

// idle offers every execution in which a try that chose to fail, and is
// already in the graph, finds nobody in the way any more after the new Unlock.
func (r *run) idle(unlock int32, waiters []int32) {
	g := r.g
	past := r.worker.leadingUp(g, unlock)
	for read := older(unlock, waiters); read >= 0; read-- {
		e := &g.Events[read]
		if e.Kind != graph.LockBusy || !g.SameLock(e.Location, g.Events[unlock].Location) || past.Has(read) {
			continue
		}
		before := func(id int32) bool { return id <= read || past.Has(id) }
		if kind, _ := hindrance(g, e.Location, e.Task, before); kind == graph.LockIdle && r.mayDrop(g, read, unlock, past) {
			r.redirect(g, read, unlock, unlock, kind, past)
		}
	}
}

// retry offers every execution in which a try that is already in the graph
// finds the lock free after the section that the new Unlock ends. If there are
// waiters, which come next, only older tries can have come before them.
func (r *run) retry(unlock, section int32, waiters []int32) {
	g := r.g
	location := g.Events[section].Location
	past := r.worker.leadingUp(g, unlock)
	for read := older(unlock, waiters); read >= 0; read-- {
		e := &g.Events[read]
		if e.Location != location || !e.Try || past.Has(read) || e.Pair != graph.Init {
			continue
		}
		if (e.Kind == graph.LockFail || e.Kind == graph.LockRead) && r.mayDrop(g, read, unlock, past) {
			r.redirect(g, read, section, unlock, graph.LockRead, past)
		}
	}
}

// older returns the event before the Unlock, or before the oldest waiter.
func older(unlock int32, waiters []int32) int32 {
	if len(waiters) > 0 {
		return waiters[0] - 1
	}
	return unlock - 1
}

// mayDrop reports whether the read and everything that a revisit of it drops
// made its newest choice. A sample drops nothing.
func (r *run) mayDrop(g *graph.Graph, read, cause int32, past graph.Set) bool {
	if r.sampling != nil {
		return false
	}
	if !newest(g, read, cause, past) {
		return false
	}
	for id := read + 1; id < int32(len(g.Events)); id++ {
		if !past.Has(id) && !newest(g, id, cause, past) {
			return false
		}
	}
	return true
}

// redirect builds the graph in which read takes its value from source, whose
// cause is the event that was just added, and offers it.
func (r *run) redirect(g *graph.Graph, read, source, cause int32, kind graph.Kind, past graph.Set) {
	kept, number := g.RestrictTo(r.worker.blank(), func(id int32) bool { return id <= read || past.Has(id) })
	e := &kept.Events[number[read]]
	e.Kind, e.Source, e.Pair = kind, number[source], graph.Init
	kept.MoveTo(number[read], g.Events[source].Location)
	kept.Refresh(number[read])
	kept.Focus = e.Task
	if moved := number[cause]; kept.Events[moved].Kind == graph.Write && kind != graph.Await {
		r.offerElsewhere(kept, moved)
	}
	r.offer(kept)
}

// offerElsewhere offers the graph with the write at every other place.
func (r *run) offerElsewhere(kept *graph.Graph, write int32) {
	location := kept.Events[write].Location
	list := kept.Coherence[location]
	if len(list) == 1 {
		return
	}
	for at := range list {
		if list[at] == write {
			continue
		}
		other := kept.CopyTo(r.worker.blank())
		other.Move(write, at)
		r.offer(other)
	}
}

// newest reports whether the event made the choice that an event makes by
// default, seen from what was there before it and what leads up to the new
// event, the cause.
func newest(g *graph.Graph, id, cause int32, past graph.Set) bool {
	e := &g.Events[id]
	before := func(f int32) bool { return f != cause && (f <= id || past.Has(f)) }
	switch e.Kind {
	case graph.Read, graph.UpdateRead, graph.Await:
		return isNewest(g, e.Location, e.Source, before)
	case graph.LockRead:
		return isNewest(g, e.Location, e.Source, before) && turnIsNewest(g, e, before)
	case graph.LockFail:
		return isNewest(g, e.Location, e.Source, before) && !ended(g, e.Source, before)
	case graph.LockBusy, graph.LockIdle:
		kind, source := hindrance(g, e.Location, e.Task, before)
		return e.Kind == kind && e.Source == source
	case graph.Write, graph.UpdateWrite, graph.LockWrite:
		return isNewest(g, e.Location, id, before) && !readEarlier(g, id)
	case graph.Unlock:
		return !takenEarlier(g, id)
	case graph.Choice:
		return e.Choice == 0
	}
	return true
}

// turnIsNewest reports whether an acquisition that reads from the newest section
// also has the newest view of whether that section has ended.
func turnIsNewest(g *graph.Graph, e *graph.Event, before func(int32) bool) bool {
	switch {
	case e.Source == graph.Init:
		return true
	case e.Try || e.Turn == graph.Follows:
		return ended(g, e.Source, before)
	case e.Turn == graph.Waits:
		return !ended(g, e.Source, before)
	}
	return true
}

// isNewest reports whether the write was there and no later one was.
func isNewest(g *graph.Graph, location, write int32, before func(int32) bool) bool {
	if write != graph.Init && !before(write) {
		return false
	}
	list := g.Coherence[location]
	for _, later := range list[slices.Index(list, write)+1:] {
		if before(later) {
			return false
		}
	}
	return true
}

func ended(g *graph.Graph, section int32, before func(int32) bool) bool {
	end := g.Events[section].End
	return end != graph.Init && before(end)
}

// readEarlier reports whether an event that is older than the write reads from
// it, which only a revisit can have brought about.
func readEarlier(g *graph.Graph, write int32) bool {
	for id := g.Earlier(write); id != graph.Init; id = g.Earlier(id) {
		if e := &g.Events[id]; e.Source == write && (e.Reads() || e.Kind == graph.Await) {
			return true
		}
	}
	return false
}

// takenEarlier reports whether an acquisition or try that is older than the
// Unlock depends on it.
func takenEarlier(g *graph.Graph, unlock int32) bool {
	for id := range unlock {
		e := &g.Events[id]
		if e.Kind == graph.LockIdle && e.Source == unlock {
			return true
		}
		if e.Kind == graph.LockRead && (e.Try || e.Turn == graph.Follows) && e.Source != graph.Init && g.Events[e.Source].End == unlock {
			return true
		}
	}
	return false
}
