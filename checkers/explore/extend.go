package explore

import (
	"fmt"
	"slices"

	"benign/checkers/graph"
	"benign/checkers/race"
	"benign/impl/kernel"
)

// extend adds events until every task has ended or waits. Each event takes its
// newest choice here; every other choice the model allows becomes an execution
// of its own (TruSt: Kokologiannakis, Marmanis, Gladstein, Vafeiadis, "Truly
// Stateless, Optimal Dynamic Partial Order Reduction", POPL 2022).
func (r *run) extend() {
	for !r.stopped() && !r.pruned {
		r.wake()
		if r.stopped() {
			return
		}
		if !r.decided {
			r.following = r.next()
		}
		r.decided = false
		if r.following == nil {
			return
		}
		r.phase = extending
		r.stepBounded(r.following)
		r.phase = standing
	}
}

// extendOne adds the next event if the thread takes it. What waits may have to go
// on before.
func (r *run) extendOne(th *thread) bool {
	if r.pruned || len(r.blocked) > 0 {
		return false
	}
	r.following, r.decided = r.next(), true
	if r.following != th {
		return false
	}
	r.decided = false
	r.stepBounded(th)
	return true
}

// stepBounded is step, unless the graph is as large as it may become.
func (r *run) stepBounded(th *thread) {
	if len(r.g.Events) >= r.worker.config.MaxEvents {
		r.failure = errTooManyEvents
		return
	}
	r.step(th)
}

// next picks the thread that takes the next event: one in the middle of an
// operation first, and of those the one whose read was just redirected; then
// one that holds a lock which another is known to take next; then the first
// that can go on, those that need not wait before those whose wait is over; then
// one that waits for a lock or a value in vain and has not said so in the graph.
func (r *run) next() *thread {
	if r.sampling != nil {
		return r.sampling.next(r)
	}
	if f := r.g.Focus; f >= 0 && int(f) < len(r.threads) {
		if th := r.threads[f]; th != nil && th.underWay() {
			return th
		}
	}
	for _, th := range r.threads {
		if th != nil && th.underWay() {
			return th
		}
	}
	if th := r.awaited(); th != nil {
		return th
	}
	for _, th := range r.threads {
		if th != nil && !th.awaits() && r.available(th) {
			return th
		}
	}
	for _, th := range r.threads {
		if th != nil && r.available(th) {
			return th
		}
	}
	return r.silent()
}

// awaited returns a thread whose section an acquisition in the graph waits for,
// if it can go on. What others do before the section ends would be dropped.
func (r *run) awaited() *thread {
	for _, id := range r.blocked {
		e := &r.g.Events[id]
		if e.Kind != graph.LockRead {
			continue
		}
		if th := r.threads[r.g.Events[e.Source].Task]; r.available(th) {
			return th
		}
	}
	return nil
}

// underWay reports whether the thread is in the middle of an operation whose
// next event does not wait.
func (th *thread) underWay() bool {
	if th.finished || th.stuck {
		return false
	}
	switch th.op.Kind {
	case kernel.OpLoad, kernel.OpStore:
		return th.second
	case kernel.OpUpdate:
		return th.writing
	case kernel.OpAcquire:
		return th.writes < th.reads || th.op.Passes && th.ends < th.writes
	}
	return false
}

// available reports whether the thread's next event does not wait.
func (r *run) available(th *thread) bool {
	if th.finished || th.stuck || r.hasBlocked(th) {
		return false
	}
	switch {
	case th.op.Until != nil && !th.writing:
		return r.newestSatisfies(th)
	case th.op.Kind == kernel.OpJoin && r.script != nil:
		return false
	case th.op.Kind == kernel.OpJoin:
		return r.threads[th.op.Child.Slot].finished
	case th.op.Kind == kernel.OpAcquire && th.fails:
		return true
	case th.op.Kind == kernel.OpAcquire && !th.looks():
		kind, at := r.expectedAcquire(th)
		return kind == graph.Choice || !r.held(at)
	}
	return true
}

// held reports whether the last section of a strand has not ended.
func (r *run) held(strand int32) bool {
	last := r.g.LastWrite(strand)
	return last != graph.Init && r.g.Events[last].End == graph.Init
}

// step adds the next event of the thread.
func (r *run) step(th *thread) {
	r.begun = len(r.g.Events)
	kind, location := r.expected(th)
	e := graph.Event{Kind: kind, Order: th.op.Order, Barrier: th.op.Barrier, Mode: th.op.Mode, Try: th.op.Kind == kernel.OpAcquire && th.looks(),
		Task: th.number, Location: location, Source: graph.Init, Pair: graph.Init, End: graph.Init, Site: th.op.Site}
	switch kind {
	case graph.Read, graph.UpdateRead:
		e.Awaits = th.awaits()
		r.addRead(th, e)
	case graph.Write:
		r.addWrite(e, th.stored(th.op.Value))
	case graph.UpdateWrite:
		r.addSecondHalf(th, e)
	case graph.LockRead:
		if th.looks() {
			r.addTry(e)
		} else {
			r.addAcquire(th, e)
		}
	case graph.LockBusy:
		r.addBusy(e)
	case graph.LockWrite:
		r.addSecondHalf(th, e)
	case graph.Unlock:
		r.addUnlock(th, e)
	case graph.Choice:
		r.addChoice(e, max(2, th.op.Choices))
	default:
		r.addOther(th, e)
	}
}

// sources returns what an event at the location can read from: the initial
// state and every write. It is valid until the next call. A sample has no use
// for them: it takes the newest.
func (r *run) sources(location int32) []int32 {
	if r.sampling != nil {
		return nil
	}
	r.list = append(append(r.list[:0], graph.Init), r.g.Coherence[location]...)
	return r.list
}

// addRead adds a load or the read part of an update.
func (r *run) addRead(th *thread, e graph.Event) {
	newest := r.g.LastWrite(e.Location)
	for _, source := range r.sources(e.Location) {
		if source == newest || e.Awaits && !th.satisfies(r.value(e.Location, source)) {
			continue
		}
		e.Source = source
		if e.Kind == graph.UpdateRead {
			if updated, writes, _ := th.update(r.value(e.Location, source)); writes {
				r.offerPair(e, graph.UpdateWrite, updated)
				continue
			}
		}
		r.offerWith(e)
	}
	e.Source = newest
	if e.Awaits && !r.newestSatisfies(th) {
		r.wait(th, e)
		return
	}
	r.apply(r.g.Add(e))
}

// offerPair offers what can come of an update or acquisition whose read part
// does not read the newest write.
func (r *run) offerPair(first graph.Event, kind graph.Kind, value uint64) {
	read := r.g.Add(first)
	write := r.g.Add(graph.Event{Kind: kind, Order: first.Order, Mode: first.Mode, Try: first.Try, Task: first.Task,
		Location: first.Location, Source: graph.Init, Pair: read, End: graph.Init, Value: value})
	r.g.Place(write, first.Source)
	rivals := r.rivals(read)
	r.revisit(r.g, write, rivals)
	if len(rivals) == 0 {
		r.offerCopy()
	}
	r.g.Undo()
	r.g.Undo()
}

// rivals returns the other events that read from the same source as the read
// part and claim the place behind it: at most one may. It is valid until the
// next call. In a sample nobody reads from a write that is not the newest.
func (r *run) rivals(read int32) []int32 {
	if r.sampling != nil {
		return nil
	}
	g := r.g
	found := r.worker.scratch.rivals[:0]
	e := &g.Events[read]
	for id := g.Latest(e.Location); id != graph.Init; id = g.Earlier(id) {
		f := &g.Events[id]
		if id == read || f.Source != e.Source {
			continue
		}
		if (f.Kind == graph.LockRead || f.Kind == graph.UpdateRead) && f.Pair != graph.Init {
			found = append(found, id)
		}
	}
	r.worker.scratch.rivals = found
	return found
}

// addSecondHalf adds the write part to the read part that was just run. If the
// place behind the source is taken, the new write can only come about by a
// revisit of who took it, and here the task is stuck.
func (r *run) addSecondHalf(th *thread, e graph.Event) {
	e.Pair = r.readPart(e)
	e.Value = th.updated
	source := r.g.Events[e.Pair].Source
	if rivals := r.rivals(e.Pair); len(rivals) > 0 {
		id := r.g.Add(e)
		r.g.Place(id, source)
		r.revisit(r.g, id, rivals)
		r.g.Undo()
		th.stuck = true
		return
	}
	newest := r.g.LastWrite(e.Location) == source
	id := r.g.Add(e)
	r.g.Place(id, source)
	r.revisit(r.g, id, nil)
	if !newest && !r.extends() {
		r.pruned = true
		return
	}
	r.apply(id)
}

// readPart finds the read part that a write part belongs to: the latest one of
// its task at its location.
func (r *run) readPart(e graph.Event) int32 {
	id := r.g.Tasks[e.Task].Last
	for r.g.Events[id].Location != e.Location {
		id = r.g.Events[id].Previous
	}
	return id
}

// addWrite adds a store, at the end of coherence here and at every other place
// elsewhere.
func (r *run) addWrite(e graph.Event, value uint64) {
	e.Value = value
	newest := r.g.LastWrite(e.Location)
	for _, after := range r.sources(e.Location) {
		if after != newest {
			r.g.Place(r.g.Add(e), after)
			r.offerCopy()
			r.g.Undo()
		}
	}
	id := r.g.Add(e)
	r.g.Place(id, newest)
	r.revisit(r.g, id, nil)
	r.apply(id)
}

// addAcquire adds the first half of a waiting acquisition: at the end of the
// chain of sections here, before every other section elsewhere.
func (r *run) addAcquire(th *thread, e graph.Event) {
	last := r.g.LastWrite(e.Location)
	for _, source := range r.sources(e.Location) {
		if source != last {
			e.Source = source
			r.offerPair(e, graph.LockWrite, 0)
		}
	}
	e.Source = last
	id := r.g.Add(e)
	if !r.ready(id) {
		r.blocked = append(r.blocked, id)
		return
	}
	r.apply(id)
}

// addTry adds a try of one strand: it finds the newest state here, and
// elsewhere every other that the model allows: any section in the way, or the
// lock free between two sections.
func (r *run) addTry(e graph.Event) {
	newest := r.g.LastWrite(e.Location)
	busy := r.held(e.Location)
	for _, source := range r.sources(e.Location) {
		e.Source = source
		if source != graph.Init && !(source == newest && busy) {
			e.Kind = graph.LockFail
			r.offerWith(e)
		}
		if source != newest {
			e.Kind = graph.LockRead
			r.offerPair(e, graph.LockWrite, 0)
		}
	}
	e.Source, e.Kind = newest, graph.LockRead
	if busy {
		e.Kind = graph.LockFail
	}
	r.apply(r.g.Add(e))
}

// addBusy adds the failure of a try that has chosen to fail: of the sections
// that have not ended the one that was begun last is in the way here, every
// other section elsewhere. If all have ended the try waits for another.
func (r *run) addBusy(e graph.Event) {
	kind, source := hindrance(r.g, e.Location, e.Task, func(int32) bool { return true })
	for id := range int32(len(r.g.Events)) {
		if id != source && hinders(r.g, id, e.Location, e.Task) {
			e.Source, e.Location = id, r.g.Events[id].Location
			r.offerWith(e)
		}
	}
	e.Kind, e.Source = kind, source
	if source != graph.Init {
		e.Location = r.g.Events[source].Location
	}
	id := r.g.Add(e)
	if kind == graph.LockIdle {
		r.blocked = append(r.blocked, id)
		return
	}
	r.apply(id)
}

// addUnlock ends the sections of the task on the lock. An acquisition that is
// known to come next goes on; a try that looked before may have come after.
func (r *run) addUnlock(th *thread, e graph.Event) {
	open := r.sections(e.Task, e.Location)
	id := r.g.Add(e)
	for _, section := range open {
		r.g.Events[section].End = id
	}
	waiters := r.waiters(open)
	for _, section := range open {
		r.retry(id, section, waiters)
		if r.g.Hinders(section) {
			r.idle(id, waiters)
		}
	}
	r.handOver(id, waiters)
	r.apply(id)
}

// waiters returns the acquisitions in the graph that wait for one of the
// sections, oldest first: those that the sections' beginning redirected.
func (r *run) waiters(sections []int32) []int32 {
	found := r.worker.scratch.waiters[:0]
	for _, id := range r.blocked {
		if e := &r.g.Events[id]; e.Kind == graph.LockRead && slices.Contains(sections, e.Source) {
			found = append(found, id)
		}
	}
	slices.Sort(found)
	r.worker.scratch.waiters = found
	return found
}

// handOver lets the acquisitions go on that waited for the Unlock. This is a
// revisit like any other: what was added after them and does not lead up to the
// Unlock is dropped. Usually that is nothing, and the run goes on with them;
// otherwise it goes on without, for the sake of what it may still lead to, and
// the cut graph is run later.
func (r *run) handOver(unlock int32, waiters []int32) {
	if len(waiters) == 0 {
		return
	}
	past := r.worker.leadingUp(r.g, unlock)
	whole := true
	for id := waiters[0] + 1; id <= unlock; id++ {
		whole = whole && (past.Has(id) || slices.Contains(waiters, id))
	}
	if whole {
		return
	}
	if r.mayDrop(r.g, waiters[0], unlock, past) {
		g, number := r.g.RestrictTo(r.worker.blank(), func(id int32) bool { return id <= waiters[0] || past.Has(id) })
		next := number[waiters[0]]
		g.Events[next].Turn = graph.Follows
		g.Focus = g.Events[next].Task
		r.push(g)
	}
	for _, id := range waiters {
		r.g.SetTurn(id, graph.Waits)
	}
}

// addChoice adds what the environment picks.
func (r *run) addChoice(e graph.Event, n int) {
	if r.sampling != nil {
		e.Choice = r.sampling.choose(r, e, n)
		r.apply(r.g.Add(e))
		return
	}
	for alternative := 1; alternative < n; alternative++ {
		e.Choice = int32(alternative)
		r.g.Add(e)
		r.branchOff()
		r.g.Undo()
	}
	e.Choice = 0
	r.apply(r.g.Add(e))
}

// addOther adds a barrier, a spawn or a join.
func (r *run) addOther(th *thread, e graph.Event) {
	switch e.Kind {
	case graph.Spawn:
		id := childID(th.task.ID(), th.children)
		if id > maxTaskID {
			r.failure = errTooDeep
			return
		}
		e.Child = r.child(id, th.op.Label)
		if len(r.g.Tasks) > race.MaxTasks {
			r.failure = errTooManyTasks
			return
		}
		event := r.g.Add(e)
		r.g.Tasks[e.Child].Spawn = event
		r.apply(event)
	case graph.Join:
		e.Child = int32(th.op.Child.Slot)
		r.apply(r.g.Add(e))
	default:
		r.apply(r.g.Add(e))
	}
}

// child returns the number of a spawned task, which an earlier graph may have
// reserved.
func (r *run) child(id int, name string) int32 {
	for i := range r.g.Tasks {
		if r.g.Tasks[i].ID == id {
			r.g.Tasks[i].Name = name
			return int32(i)
		}
	}
	return r.g.AddTask(id, name, graph.Init)
}

// maxTaskID keeps the names of a task's objects within 64 bits.
const maxTaskID = 1 << 38

// childID names a task by its parent and the count of children before it.
func childID(parent, sequence int) int { return (parent+1)<<6 + sequence }

// offerWith schedules the run's graph with one event more, if the model allows
// it.
func (r *run) offerWith(e graph.Event) {
	r.g.Add(e)
	r.offerCopy()
	r.g.Undo()
}

// offerCopy schedules the run's graph as it is now, if the model allows it.
func (r *run) offerCopy() {
	if r.sampling == nil && r.extends() {
		r.branchOff()
	}
}

// extends asks the model about the events of the step.
func (r *run) extends() bool {
	w := r.worker
	extends := w.model.Extends(r.g, len(r.g.Events)-r.begun)
	if w.config.CheckDefaults && extends != w.model.Consistent(r.g) {
		r.failure = fmt.Errorf("the model contradicts itself about a graph that grew")
	}
	return extends
}

// offer schedules a graph, which the caller gives away, if the model allows it.
func (r *run) offer(g *graph.Graph) {
	if r.worker.model.Consistent(g) {
		r.push(g)
	} else {
		r.worker.recycle(g)
	}
}

func (r *run) push(g *graph.Graph) {
	r.worker.strata.offer(r.stratum, len(g.Events))
	r.worker.own = append(r.worker.own, branch{stem: r.worker.stemOf(g)})
}
