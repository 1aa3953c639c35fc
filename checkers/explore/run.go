package explore

import (
	"fmt"

	"benign/checkers/graph"
	"benign/checkers/race"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// run is one execution of the scenario from the beginning: first the events of
// the graph it is given, then new ones until every task has ended or waits.
type run struct {
	worker   *worker
	g        *graph.Graph
	world    *kernel.World
	setup    *kernel.Task
	instance *scenario.Instance
	threads  []*thread
	cast     []*thread // memory of threads, by number
	detector *race.Detector
	stratum  int                // how many events the graph had at first
	done     graph.Set          // events run so far
	blocked  []int32            // acquisitions in the graph whose section before has not ended
	slots    []slot             // by kernel.Location.Slot-1
	words    []*kernel.Location // by location of the graph
	found    int                // the location of the graph that was looked for last

	list []int32 // see sources

	conditions conditions // of the awaits that were run

	phase     phase
	running   *thread // whose coroutine runs, or nil
	inside    bool    // a coroutine of a task is at work on the run
	order     []int32 // while replaying: what is run, from
	at        int     // here on
	gapless   bool    // every event with a smaller number has run
	decided   bool    // next is the thread that extends the graph next, or nil
	following *thread

	stem   *stem   // what a scripted run goes along
	begun  int     // how many events there were when the step began
	moment *moment // the latest that is remembered, or nil

	violation *kernel.Violation
	failure   error // nondeterminism or a broken bound, not a property of the code
	abandoned bool
	partial   bool // the graph ends before the code does
	first     bool // nothing was run before it
	pruned    bool // the model forbids every way to go on
	trace     *tracer

	sampling   *sampler    // decides instead of the exploration; nil if all is explored
	transcript *transcript // of what the code does, if that is compared

	script  *script  // answers for the code, if it need not be run
	initial []uint64 // scripted: by location of the graph
}

// phase is what comes next when a task has announced an operation.
type phase uint8

const (
	// standing leaves that to whoever resumed the task.
	standing phase = iota
	// replaying runs the events of the graph.
	replaying
	// extending adds events.
	extending
)

// start prepares a run of the graph, which it owns from then on. Its memory is
// that of the worker's last one, unless the two are going to be compared.
func (w *worker) start(g *graph.Graph, trace *tracer) *run {
	r := &w.scratch.run
	if w.config.Strict {
		r = &run{}
	}
	r.renew(w, g)
	r.found = -1
	r.detector, r.trace = &w.detector, trace
	r.detector.Reset()
	if w.config.Strict && trace == nil {
		r.transcript = w.newTranscript()
	}
	w.order.Forget()
	options := w.config.Scenario.Options()
	options.LockOrder = w.order
	if r.world == nil {
		r.world = kernel.NewExploredWorld(r, options)
	}
	r.world.Renew(options)
	r.setup = r.world.NewTask("setup")
	return r
}

// renew makes the run one of the graph, in the memory of what it was.
func (r *run) renew(w *worker, g *graph.Graph) {
	*r = run{worker: w, g: g, sampling: w.sampling, world: r.world, threads: r.threads[:0], cast: r.cast, done: r.done[:0], blocked: r.blocked[:0],
		slots: r.slots[:0], words: r.words[:0], list: r.list, conditions: r.conditions[:0]}
	for range len(g.Events)/64 + 1 {
		r.done = append(r.done, 0)
	}
}

// setUp builds the instance and launches its tasks.
func (r *run) setUp() {
	defer r.guard("setup")
	if r.script != nil {
		r.script.start(r)
		return
	}
	if r.instance, r.failure = r.worker.config.build(r.setup); r.failure != nil {
		return
	}
	tasks := r.instance.Tasks
	if len(tasks) > race.MaxTasks {
		r.failure = errTooManyTasks
		return
	}
	for i := range tasks {
		if i >= len(r.g.Tasks) {
			r.g.AddTask(i+1, tasks[i].Name, graph.Init)
		}
	}
	for i := range tasks {
		r.launch(int32(i), r.world.NewEngineTask(tasks[i].Name, i+1), &tasks[i], nil)
	}
}

// guard turns a panic outside of the tasks into a violation.
func (r *run) guard(where string) {
	if v := blame(where, recover()); v != nil {
		r.fail(v)
	}
}

// replay runs the events of the graph, in their order as far as possible. An
// acquisition that was redirected behind a section that has not ended yet stays
// in r.blocked.
func (r *run) replay(order []int32) {
	r.order, r.at, r.gapless = order, 0, r.trace == nil
	left := r.worker.scratch.pending[:0]
	for r.phase = replaying; r.at < len(order) && !r.stopped(); {
		id := order[r.at]
		r.at++
		if r.runnable(id) {
			r.apply(id)
		} else {
			left = append(left, id)
			r.gapless = false
		}
	}
	r.phase = standing
	r.worker.scratch.pending = left
	for progress := true; progress && len(left) > 0; {
		progress = false
		pending := left
		left = left[:0]
		for _, id := range pending {
			switch {
			case r.stopped():
				return
			case r.ready(id):
				progress = true
				r.apply(id)
			default:
				left = append(left, id)
			}
		}
	}
	if r.stopped() {
		return
	}
	for _, id := range left {
		switch r.g.Events[id].Kind {
		case graph.LockRead, graph.LockIdle:
		case graph.Await:
			r.noteWaiting(id)
		default:
			r.diverge("the code no longer reaches %s", r.describeEvent(id))
			return
		}
		r.blocked = append(r.blocked, id)
	}
}

// runnable is ready for the next event in the order of a replay.
func (r *run) runnable(id int32) bool { return r.gapless && r.looksBack(id) || r.ready(id) }

// goOn runs events on the coroutine of the thread that has just announced an
// operation, as long as they are its own and come next in any case, and reports
// whether they have completed the operation. The coroutine need not be left then.
func (r *run) goOn(th *thread) (completed bool) {
	r.inside, th.answered = true, false
	for !th.answered && !r.stopped() && r.phase != standing {
		if r.phase == replaying && !r.replayOne(th) || r.phase == extending && !r.extendOne(th) {
			break
		}
	}
	r.inside = false
	return th.answered && !r.stopped() && !r.pruned
}

// replayOne runs the next event of a replay if it is one of the thread.
func (r *run) replayOne(th *thread) bool {
	if r.at == len(r.order) {
		return false
	}
	id := r.order[r.at]
	if r.g.Events[id].Task != th.number || !r.runnable(id) {
		return false
	}
	r.at++
	r.apply(id)
	return true
}

func (r *run) stopped() bool { return r.violation != nil || r.failure != nil }

// looksBack reports whether the event needs events with smaller numbers only.
func (r *run) looksBack(id int32) bool {
	e := &r.g.Events[id]
	switch e.Kind {
	case graph.Join, graph.LockIdle, graph.Await:
		return false
	case graph.LockRead:
		if e.Turn == graph.Waits || e.Source != graph.Init && (r.g.Events[e.Source].End == graph.Init || r.g.Events[e.Source].End > id) {
			return false
		}
	}
	return e.Source < id
}

// ready reports whether everything that must run before the event has run.
func (r *run) ready(id int32) bool {
	e := &r.g.Events[id]
	for i, word := range r.g.Prefix(id) {
		if i >= len(r.done) {
			if word != 0 {
				return false
			}
		} else if word&^r.done[i] != 0 {
			return false
		}
	}
	if int(e.Task) >= len(r.threads) || r.threads[e.Task] == nil {
		return false
	}
	if e.Kind == graph.Join && !r.threads[e.Child].finished {
		return false
	}
	if e.Kind == graph.LockIdle || e.Kind == graph.Await || e.Turn == graph.Waits {
		return false
	}
	if e.Kind != graph.LockRead || e.Source == graph.Init {
		return true
	}
	end := r.g.Events[e.Source].End
	return end != graph.Init && r.done.Has(end)
}

// wake runs the blocked acquisitions whose section before has ended.
func (r *run) wake() {
	for i := 0; i < len(r.blocked) && !r.stopped(); {
		id := r.blocked[i]
		if !r.ready(id) {
			i++
			continue
		}
		r.blocked = append(r.blocked[:i], r.blocked[i+1:]...)
		r.apply(id)
	}
}

// apply runs one event of the graph: it tells the task what the event says.
func (r *run) apply(id int32) {
	e := &r.g.Events[id]
	th := r.threads[e.Task]
	if r.script == nil {
		if problem := r.mismatch(th, e); problem != "" {
			r.diverge("%s: %s", r.describeEvent(id), problem)
			return
		}
	}
	if e.Kind == graph.LockRead {
		r.g.Refresh(id) // the section before may have ended since
	}
	for int(id) >= len(r.done)*64 {
		r.done = append(r.done, 0)
	}
	r.done.Add(id)
	if r.transcript != nil {
		r.transcript.order = append(r.transcript.order, id)
	}
	th.events++
	finished := r.perform(th, e)
	if r.script != nil {
		if finished {
			r.advance(th)
		}
		return
	}
	r.detector.Event(r.g, id)
	if r.raced(th, id) || !finished {
		return
	}
	if e.Kind == graph.Spawn {
		th.children++
		th.op.Child.SetID(r.g.Tasks[e.Child].ID)
		phase := r.phase
		r.phase = standing
		r.launch(e.Child, th.op.Child, nil, th.op.Body)
		r.phase = phase
	}
	if r.trace != nil {
		r.trace.add(r, th, id)
	}
	r.advance(th)
}

// raced reports a data race between the event and an earlier one.
func (r *run) raced(th *thread, id int32) bool {
	e := &r.g.Events[id]
	if !isAccess(e.Kind) {
		return false
	}
	conflict := r.detector.Word(r.g, id)
	if conflict == nil {
		return false
	}
	if r.trace != nil {
		r.trace.add(r, th, id)
	}
	r.fail(&kernel.Violation{Kind: kernel.DataRace, Task: th.name,
		Message: conflict.Describe(r.g, r.g.Locations[e.Location].Name, e.Writes())})
	return true
}

// perform computes the result of the event and reports whether it completes
// the announced operation.
func (r *run) perform(th *thread, e *graph.Event) (finished bool) {
	e.Site = th.op.Site
	if e.Awaits && !r.passes(th, e) {
		return false
	}
	switch e.Kind {
	case graph.Read:
		e.Value = r.value(e.Location, e.Source)
		th.result = kernel.Result{}
		th.result.Value, finished = th.completes(e.Value)
		return finished
	case graph.Write:
		e.Value = th.stored(th.op.Value)
		_, finished = th.completes(e.Value)
		return finished
	case graph.UpdateRead:
		e.Value = r.value(e.Location, e.Source)
		updated, writes, problem := th.update(e.Value)
		if problem != nil {
			r.fail(problem)
			return false
		}
		th.result = kernel.Result{Value: e.Value, OK: writes}
		th.updated, th.writing = updated, writes
		return !writes
	case graph.UpdateWrite:
		e.Value = th.updated
	case graph.LockRead:
		th.reads++
		return false
	case graph.LockWrite:
		th.writes++
		th.result = kernel.Result{OK: true}
		return int(th.writes) == len(th.strands) && !th.op.Passes
	case graph.Unlock:
		if th.op.Passes {
			th.ends++
			return int(th.ends) == len(th.strands)
		}
	case graph.LockFail, graph.LockBusy:
		th.result = kernel.Result{}
	case graph.Choice:
		if th.op.Kind == kernel.OpAcquire {
			th.chosen, th.fails = true, e.Choice == 1
			return false
		}
		th.result = kernel.Result{Choice: int(e.Choice)}
	}
	return true
}

// update computes what the announced update makes of a value. The function is
// the code's own: a panic of it is one of the task.
func (th *thread) update(old uint64) (updated uint64, writes bool, problem *kernel.Violation) {
	defer func() { problem = blame(th.name, recover()) }()
	updated, writes = th.op.Apply(old)
	return updated, writes, nil
}

// value returns what a read from the source sees.
func (r *run) value(location, source int32) uint64 {
	if source != graph.Init {
		return r.g.Events[source].Value
	}
	if r.script != nil {
		return r.initial[location]
	}
	return partOf(&r.g.Locations[location], r.words[location].Initial())
}

// diverge notes that the code did not do what the graph says it did.
func (r *run) diverge(format string, args ...any) {
	if r.failure == nil {
		r.failure = &DivergenceError{Detail: fmt.Sprintf(format, args...)}
	}
}

// DivergenceError says that the code, run again with the same inputs, did
// something else: it depends on a clock, on randomness, on map order, or it was
// changed since the trace was written.
type DivergenceError struct {
	// Detail says which event does not fit, and why.
	Detail string
}

// Error implements error.
func (e *DivergenceError) Error() string { return "the execution does not fit the code: " + e.Detail }
