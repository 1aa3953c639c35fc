package explore

import (
	"fmt"
	"slices"

	"benign/checkers/graph"
	"benign/impl/kernel"
)

// slot ties a location of this run to the graph: strand 0, or both halves of a
// word, and, for a lock that is shared, the strand of each task that ever shares it.
type slot struct {
	location *kernel.Location
	strands  []strand
}

type strand struct {
	number int // see graph.Location
	at     int32
}

// locate returns the number in the graph of one strand of a location.
func (r *run) locate(l *kernel.Location, number int, lock bool) int32 {
	if l.Slot == 0 {
		l.Slot = r.newSlot(l)
	}
	s := &r.slots[l.Slot-1]
	for _, known := range s.strands {
		if known.number == number {
			return known.at
		}
	}
	at := r.findOrAdd(l, number, lock)
	s.strands = append(s.strands, strand{number, at})
	for int(at) >= len(r.words) {
		r.words = append(r.words, nil)
	}
	r.words[at] = l
	return at
}

// newSlot returns the number of a slot for the location, counted from 1.
func (r *run) newSlot(l *kernel.Location) int {
	n := len(r.slots)
	if n == cap(r.slots) {
		r.slots = append(r.slots, slot{})
	}
	r.slots = r.slots[:n+1]
	s := &r.slots[n]
	s.location, s.strands = l, s.strands[:0]
	return n + 1
}

func (r *run) findOrAdd(l *kernel.Location, number int, lock bool) int32 {
	owner, field := l.ID()
	if r.trace != nil {
		r.identify(l)
	}
	n := len(r.g.Locations)
	for i := range n {
		at := i + r.found + 1 // a run comes by the locations in the order of the run that added them
		if at >= n {
			at -= n
		}
		g := &r.g.Locations[at]
		if g.Owner == owner && g.Field == field && g.Strand == number {
			r.found = at
			return int32(at)
		}
	}
	r.found = n
	return r.g.AddLocation(graph.Location{Owner: owner, Field: field, Strand: number, Lock: lock, Name: l.Name()})
}

// identify gives the locations of a parsed trace, which knows only names, the
// identity of the location that has the name in this run.
func (r *run) identify(l *kernel.Location) {
	for i := range r.g.Locations {
		if g := &r.g.Locations[i]; g.Owner == 0 && g.Name == l.Name() {
			g.Owner, g.Field = l.ID()
		}
	}
}

// announce finds out where in the graph the thread's operation is.
func (r *run) announce(th *thread) {
	th.at = -1
	switch op := th.op; op.Kind {
	case kernel.OpLoad, kernel.OpStore, kernel.OpUpdate:
		r.placeWord(th)
	case kernel.OpRelease:
		th.at = r.locate(op.Location, releaseStrand(op, th.task.ID()), true)
	case kernel.OpAcquire:
		numbers, known := r.worker.strandNumbers(op, th.task.ID())
		if !known {
			r.meetSharer(th)
		}
		th.route = th.route[:0]
		for _, number := range numbers {
			th.route = append(th.route, r.locate(op.Location, number, true))
		}
		th.strands = th.route
	}
}

// strandNumbers returns the strands of a lock that an acquisition goes through.
// A shared one takes the strand of its task. An exclusive one takes strand 0
// and then those of all other tasks that ever share the lock: readers of
// different tasks stay unordered, and each is ordered against every writer. One
// that passes takes the strands of the others only. They are not known yet if the
// task was not known to share the lock. They are valid until the next call.
func (w *worker) strandNumbers(op *kernel.Op, task int) (numbers []int, known bool) {
	others := w.sharers.of(op.Location)
	numbers = w.scratch.numbers[:0]
	switch {
	case op.Mode == kernel.Shared:
		known = slices.Contains(others, task)
		numbers = append(numbers, task+1)
	default:
		known = true
		if !op.Passes {
			numbers = append(numbers, 0)
		}
		for _, other := range others {
			if other != task {
				numbers = append(numbers, other+1)
			}
		}
		if len(numbers) == 0 {
			numbers = append(numbers, task+1) // where nobody else comes by
		}
	}
	w.scratch.numbers = numbers
	return numbers, known
}

// discover notes that a task shares a lock which it was not known to share.
func (w *worker) discover(l *kernel.Location, task int) error {
	w.discovered = append(w.discovered, sharer{nameLock(l), task})
	return errNewSharer
}

// meetSharer stops the run, whose thread shares a lock that it was not known to
// share. In the first run of an exploration it only makes that known, if nobody
// takes the lock from others so far: with the knowledge the run would have come to
// the same point.
func (r *run) meetSharer(th *thread) {
	if !r.first || r.anyExclusive(th) {
		r.failure = r.worker.discover(th.op.Location, th.task.ID())
		return
	}
	x := r.worker.exploration
	x.sharers = x.sharers.with([]sharer{{nameLock(th.op.Location), th.task.ID()}})
}

// anyExclusive reports whether another thread takes the lock that the thread is
// about to share, or has taken it.
func (r *run) anyExclusive(th *thread) bool {
	name := nameLock(th.op.Location)
	for _, other := range r.threads {
		if other != nil && other != th && !other.finished && other.op != nil && other.op.Kind == kernel.OpAcquire && other.op.Mode == kernel.Exclusive && nameLock(other.op.Location) == name {
			return true
		}
	}
	for id := range r.g.Events {
		e := &r.g.Events[id]
		if e.Location < 0 || e.Task == th.number || e.Mode != kernel.Exclusive {
			continue
		}
		if l := &r.g.Locations[e.Location]; l.Owner == name.owner && l.Field == name.field {
			return true
		}
	}
	return false
}

// errNewSharer stops a run in which a task shared a lock that it was not known
// to share; the exploration starts again, knowing it.
var errNewSharer = fmt.Errorf("a lock has a sharer that was not known")

// sharers knows which tasks ever take which locks in shared mode. An
// exploration that meets one it did not know starts again, knowing it, so that
// the map is fixed in the exploration that counts.
type sharers map[lockName][]int

type sharer struct {
	lock lockName
	task int
}

type lockName struct {
	owner kernel.ObjectID
	field uint32
}

func nameLock(l *kernel.Location) lockName {
	owner, field := l.ID()
	return lockName{owner, field}
}

// with returns the map extended; the identities stay sorted.
func (s sharers) with(more []sharer) sharers {
	extended := make(sharers, len(s))
	for lock, tasks := range s {
		extended[lock] = slices.Clone(tasks)
	}
	for _, m := range more {
		if at, found := slices.BinarySearch(extended[m.lock], m.task); !found {
			extended[m.lock] = slices.Insert(extended[m.lock], at, m.task)
		}
	}
	return extended
}

func (s sharers) of(l *kernel.Location) []int { return s[nameLock(l)] }

// mismatch says how the announced operation of the thread differs from the
// event, or nothing if it does not.
func (r *run) mismatch(th *thread, e *graph.Event) string {
	if th == nil || th.finished {
		return "the task has ended"
	}
	kind, location := r.expected(th)
	if kind == graph.LockRead && e.Kind == graph.LockFail && th.looks() {
		kind = e.Kind
	}
	if kind == graph.LockBusy && e.Location >= 0 && r.g.SameLock(e.Location, location) {
		location = e.Location
	}
	switch {
	case e.Kind != kind || e.Location != location || e.Order != th.op.Order || e.Barrier != th.op.Barrier,
		e.Awaits != (th.awaits() && e.Kind != graph.UpdateWrite), e.Mode != th.op.Mode || e.Try != (th.op.Kind == kernel.OpAcquire && th.looks()),
		kind == graph.Join && int(e.Child) != th.op.Child.Slot:
		return "the task is at: " + announced(th.op)
	case kind == graph.Choice && int(e.Choice) >= max(2, th.op.Choices):
		return fmt.Sprintf("the task has %d alternatives", max(2, th.op.Choices))
	}
	return ""
}

// expected returns the kind and location of the thread's next event.
func (r *run) expected(th *thread) (graph.Kind, int32) {
	op := th.op
	switch op.Kind {
	case kernel.OpLoad:
		return graph.Read, th.next()
	case kernel.OpStore:
		return graph.Write, th.next()
	case kernel.OpUpdate:
		if th.writing {
			return graph.UpdateWrite, th.at
		}
		return graph.UpdateRead, th.at
	case kernel.OpAcquire:
		return r.expectedAcquire(th)
	case kernel.OpRelease:
		return graph.Unlock, th.at
	case kernel.OpBarrier:
		return graph.Barrier, -1
	case kernel.OpChoose:
		return graph.Choice, -1
	case kernel.OpSpawn:
		return graph.Spawn, -1
	default:
		return graph.Join, -1
	}
}

// expectedAcquire returns the next event of an acquisition. One strand after
// the other is read and written, and left at once by one that passes.
func (r *run) expectedAcquire(th *thread) (graph.Kind, int32) {
	switch {
	case th.chooses() && !th.chosen:
		return graph.Choice, -1
	case th.fails:
		return graph.LockBusy, th.strands[0]
	case th.writes < th.reads:
		return graph.LockWrite, th.strands[th.writes]
	case th.op.Passes && th.ends < th.writes:
		return graph.Unlock, th.strands[th.ends]
	}
	return graph.LockRead, th.strands[th.reads]
}

// chooses reports whether the operation is a try of several strands, which
// decides first whether it fails: it is then either a LockBusy, or it takes the
// strands as a waiting acquisition does, as if it had come after everybody it
// waits for. If that is never, nothing of the kind can have happened.
func (th *thread) chooses() bool { return th.op.Try && len(th.strands) > 1 }

// looks reports whether the operation is a try of one strand, which reads its
// state and takes it if it is free.
func (th *thread) looks() bool { return th.op.Try && len(th.strands) == 1 }

// releaseStrand is the strand that an Unlock is filed under; it ends the
// sections of its task on all of them.
func releaseStrand(op *kernel.Op, task int) int {
	if op.Mode == kernel.Shared {
		return task + 1
	}
	return 0
}

// sections returns the open sections of a task on the lock of a location.
func (r *run) sections(task, location int32) []int32 {
	open := r.worker.scratch.sections[:0]
	l := &r.g.Locations[location]
	for i := range r.g.Locations {
		if m := &r.g.Locations[i]; m.Owner != l.Owner || m.Field != l.Field {
			continue
		}
		last := r.g.LastWrite(int32(i))
		if last != graph.Init && r.g.Events[last].Task == task && r.g.Events[last].End == graph.Init {
			open = append(open, last)
		}
	}
	r.worker.scratch.sections = open
	return open
}

// describeEvent names an event by its task, its position, and what it is, and
// says so if it is a part of an operation only.
func (r *run) describeEvent(id int32) string {
	e := &r.g.Events[id]
	part := ""
	switch e.Kind {
	case graph.UpdateWrite:
		part = ", second half"
	case graph.LockFail:
		part = ", which fails"
	}
	return fmt.Sprintf("event %d of task %s (%s%s)", e.Index, r.g.Tasks[e.Task].Name, recorded(r.g, e), part)
}
