package explore

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"benign/checkers/graph"
	"benign/checkers/memmodel"
	"benign/checkers/race"
	"benign/impl/kernel"
)

// exploration is the state that the workers share.
type exploration struct {
	config   Config
	scripted bool
	places   places
	sharers  sharers
	fresh    bool // nothing has been run; who runs the first graph is alone

	stopped    atomic.Bool
	hungry     atomic.Int32 // workers that wait for a graph
	_          [64]byte     // what follows changes with every execution, and the others are looked at as often
	executions atomic.Int64 // for the budget
	_          [64]byte

	mutex      sync.Mutex // guards the rest
	changed    sync.Cond
	waiting    []*graph.Graph // graphs that any worker may run
	working    int            // workers that may still push graphs
	stats      Stats
	told       int // how often progress was reported
	err        error
	discovered []sharer
	orders     *kernel.LockOrder // of all executions together
	cycle      string            // that they have only together
	ended      string            // why it was ended, perhaps before it was done
	strata     strata
	cuts
}

func newExploration(config Config, known sharers) *exploration {
	x := &exploration{config: config, sharers: known, orders: kernel.NewLockOrder(), waiting: []*graph.Graph{graph.New()}}
	x.changed.L = &x.mutex
	x.stats.Exhaustive = true
	x.working = max(1, config.Workers)
	return x
}

func (x *exploration) run() {
	release := x.watch()
	var workers sync.WaitGroup
	for range x.working {
		workers.Go(func() {
			w := newWorker(x)
			defer w.dismiss()
			w.join()
			w.loop()
		})
	}
	workers.Wait()
	release()
	x.conclude()
}

// watch ends the exploration from outside; it is released by the function that
// is returned.
func (x *exploration) watch() (release func()) {
	select {
	case <-x.config.Interrupt:
		x.end(interrupted) // before anything is run
	default:
	}
	if x.executions.Load() >= int64(x.config.MaxExecutions) {
		x.stop() // it goes on with one that was ended for that reason
	}
	if x.config.Checkpoint != nil {
		x.schedule(x.config.CheckpointEvery / firstSooner)
	}
	done := make(chan struct{})
	var watcher sync.WaitGroup
	if x.config.Interrupt != nil {
		watcher.Go(func() {
			select {
			case <-x.config.Interrupt:
				x.end(interrupted)
			case <-done:
			}
		})
	}
	return func() {
		close(done)
		watcher.Wait()
		if x.timer != nil {
			x.timer.Stop()
		}
	}
}

// Why an exploration was ended before it was done.
const (
	late        = "time budget"
	interrupted = "interrupted"
)

// end ends the exploration and notes why.
func (x *exploration) end(why string) {
	x.mutex.Lock()
	if x.ended == "" {
		x.ended = why
	}
	x.mutex.Unlock()
	x.stop()
}

// conclude judges what was done, when all workers have gone.
func (x *exploration) conclude() {
	most := int64(x.config.MaxExecutions)
	switch n := x.executions.Load(); {
	case n > most || n == most && x.anyLeft():
		x.ended = fmt.Sprintf("budget of %d executions", most)
	case !x.anyLeft():
		x.ended = ""
	}
	var rest *Snapshot
	if x.ended != "" && x.config.Checkpoint != nil {
		rest = x.snapshot() // before this end counts as a cut
		rest.Ended = true
	}
	x.judgeOrder()
	x.stats.Share = 0
	if x.ended != "" {
		x.cut(x.ended)
		x.stats.Share = x.strata.share()
	}
	if x.err != nil || len(x.discovered) > 0 {
		return
	}
	if rest != nil {
		x.keep(x.config.Checkpoint(rest))
	}
	if x.err == nil && x.ended == interrupted {
		x.err = ErrInterrupted
	}
}

// anyLeft reports whether there is something that was not run.
func (x *exploration) anyLeft() bool {
	return len(x.waiting) > 0 || slices.ContainsFunc(x.workers, func(w *worker) bool { return len(w.own) > 0 })
}

// judgeOrder says so if lock classes are waited for in both orders, but never in
// one execution, which would have been its violation.
func (x *exploration) judgeOrder() {
	switch {
	case x.cycle == "" || x.err != nil:
	case x.scripted:
		x.err = errNeedsCode // what one task does alone does not show it
	case x.stats.Violating == 0:
		x.cut("in one execution, " + x.cycle + " is waited for, and in another one the other way round")
	}
}

// take waits for a graph to run, unless there is nothing left to do.
func (w *worker) take() (more bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.working--
	if w.due.Load() {
		w.changed.Broadcast() // those who pause do not wait for this one
	}
	w.hungry.Add(1)
	defer w.hungry.Add(-1)
	for len(w.waiting) == 0 && w.working > 0 && !w.stopped.Load() {
		w.changed.Wait()
	}
	if w.stopped.Load() || len(w.waiting) == 0 {
		w.changed.Broadcast()
		return false
	}
	w.working++
	last := len(w.waiting) - 1
	g := w.waiting[last]
	w.waiting = w.waiting[:last]
	if len(g.Events) == 0 {
		g = g.CopyTo(w.blank()) // where there is room to grow
	}
	w.latest = branch{stem: w.stemOf(g)}
	return true
}

// stop ends the exploration early.
func (x *exploration) stop() {
	x.mutex.Lock() // so that nobody is between looking and waiting
	defer x.mutex.Unlock()
	x.stopped.Store(true)
	x.changed.Broadcast()
}

func (x *exploration) cut(why string) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.stats.Exhaustive = false
	if x.stats.Cut == "" {
		x.stats.Cut = why
	}
}

// fail ends the exploration without an answer.
func (x *exploration) fail(err error, discovered []sharer) {
	x.mutex.Lock()
	x.discovered = append(x.discovered, discovered...)
	if x.err == nil && len(discovered) == 0 {
		x.err = err
	}
	x.mutex.Unlock()
	x.stop()
}

// worker runs graphs, one at a time: its own newest first, so that few wait.
type worker struct {
	*exploration
	*kit
	pool     pool
	script   script
	sampling *sampler          // of the sample that is drawn, or nil
	order    *kernel.LockOrder // of the execution that is run
	known    [64]uint64        // what the exploration's order has taken over from it

	current    *run     // nil when nothing is left to do
	latest     branch   // what it runs along
	own        []branch // what waits for this worker
	found      Stats    // not yet added to the exploration's
	strata     strata   // nor are these
	discovered []sharer
}

// scratch is memory that is used again by each run.
type scratch struct {
	graphs    []*graph.Graph
	stems     []*stem
	moments   []*moment
	run       run
	execution Execution
	violation kernel.Violation // of an execution that nobody looks at
	order     []int32
	numbers   []int
	pending   []int32
	past      graph.Set
	rivals    []int32
	sections  []int32
	waiters   []int32
	key       []byte
}

// kit is what a worker leaves to workers of later explorations: memory, and
// what has nothing to do with the scenario.
type kit struct {
	model    memmodel.Model
	detector race.Detector
	scratch  scratch
}

// kits are those that no worker has.
var kits = sync.Pool{New: func() any { return &kit{} }}

func newWorker(x *exploration) *worker {
	w := &worker{exploration: x, kit: kits.Get().(*kit), order: kernel.NewLockOrder()}
	if w.model == nil || w.model.Name() != x.config.Model {
		w.model, _ = memmodel.New(x.config.Model) // Explore has checked the name
	}
	w.script.worker = w
	return w
}

// dismiss ends what the worker still has going, and keeps its kit unless it was
// ended in the middle of something. Nobody may look at its latest execution then.
func (w *worker) dismiss() {
	w.script.close()
	w.pool.close()
	if w.current == nil {
		kits.Put(w.kit)
	}
}

// reportEvery is how many executions a worker keeps to itself.
const reportEvery = 1024

func (w *worker) loop() {
	defer w.exited()
	for more := w.take(); more; more = w.next() {
		e, err := w.execute()
		switch {
		case errors.Is(err, errTooManyEvents):
			w.cut(fmt.Sprintf("%v (%d)", err, w.config.MaxEvents))
		case err != nil:
			w.fail(err, w.discovered)
		case e == nil:
			w.found.Pruned++
		default:
			w.count(e)
			if w.config.Visit != nil {
				w.config.Visit(e)
			}
		}
		if w.scripted || !w.config.keeps() {
			w.release(w.latest.stem)
		}
	}
	w.flush()
	w.current = nil
}

// exited ends the exploration if the worker is ended by the code: a coroutine
// that exits takes its worker along.
func (w *worker) exited() {
	if w.current == nil {
		return
	}
	w.current.abandon()
	w.fail(errExited, nil)
	w.mutex.Lock()
	w.working--
	w.mutex.Unlock()
}

// next goes on with the worker's newest branch, or one of the others' graphs if
// it has none.
func (w *worker) next() (more bool) {
	if w.stopped.Load() {
		return false
	}
	if !w.config.Deadline.IsZero() && time.Now().After(w.config.Deadline) {
		w.end(late)
		return false
	}
	if w.due.Load() {
		if w.pause(); w.stopped.Load() {
			return false
		}
	}
	if w.found.Executions() >= reportEvery {
		w.flush()
	}
	if w.hungry.Load() > 0 && len(w.own) > 1 {
		w.share()
	}
	last := len(w.own) - 1
	if last < 0 {
		w.flush()
		return w.take()
	}
	w.latest, w.own = w.own[last], w.own[:last]
	return true
}

// share gives the older half of the worker's branches, which have most before
// them, to whoever waits.
func (w *worker) share() {
	half := len(w.own) / 2
	w.mutex.Lock()
	for i := range half {
		w.waiting = append(w.waiting, w.alone(&w.own[i]))
	}
	w.mutex.Unlock()
	w.changed.Broadcast()
	w.own = append(w.own[:0], w.own[half:]...)
}

// flush adds what the worker has counted to the exploration's numbers.
func (w *worker) flush() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	s := &w.stats
	s.Complete += w.found.Complete
	s.Blocked += w.found.Blocked
	s.Violating += w.found.Violating
	s.Pruned += w.found.Pruned
	s.Events += w.found.Events
	s.Longest = max(s.Longest, w.found.Longest)
	w.found = Stats{}
	w.exploration.strata.take(&w.strata)
	if w.config.Progress != nil && s.Executions()/reportEvery > w.told {
		w.told = s.Executions() / reportEvery
		s.Share = w.exploration.strata.share()
		w.config.Progress(*s)
	}
}

func (w *worker) count(e *Execution) {
	if e.Violation != nil && w.config.StopAtViolation {
		w.cut("stopped at the first violation")
		w.stop()
	}
	switch {
	case e.Violation != nil && e.Violation.Kind.Stuck():
		w.found.Blocked++
	case e.Violation != nil && !e.Ended:
		w.found.Violating++
		w.cut("executions end at a violation")
	default:
		w.found.Complete++
	}
	w.found.Events += len(e.Graph.Events)
	w.found.Longest = max(w.found.Longest, len(e.Graph.Events))
	if w.executions.Add(1) >= int64(w.config.MaxExecutions) {
		w.stop()
	}
}

// learnOrder adds the lock order of the latest execution to that of all.
func (w *worker) learnOrder() {
	if w.order.Empty() {
		return
	}
	edges, fresh := w.order.Edges(), false
	for c, row := range edges {
		fresh = fresh || row&^w.known[c] != 0
		w.known[c] |= row
	}
	if !fresh {
		return
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if cycle := w.orders.Merge(w.order); w.cycle == "" {
		w.cycle = cycle
	}
}

// execute runs the latest branch to its end. A nil execution shows nothing.
func (w *worker) execute() (*Execution, error) {
	r := w.begin(&w.latest)
	r.stratum = len(r.g.Events)
	w.strata.run(r.stratum)
	r.extend()
	e, err := r.conclude()
	if r.script == nil {
		w.learnOrder()
	}
	if r.transcript != nil && e != nil && err == nil {
		err = w.again(r, e)
	}
	return e, err
}

// begin brings a run to where the branch ends.
func (w *worker) begin(b *branch) *run {
	if b.moment != nil {
		r := w.resume(b)
		w.current = r
		return r
	}
	var r *run
	if w.scripted {
		r = w.startScripted(b.stem)
	} else {
		r = w.start(b.stem.graph, nil)
		if w.fresh {
			r.first, w.fresh = true, false
		}
	}
	w.current = r
	r.setUp()
	if !r.stopped() {
		r.replay(w.inOrder(len(r.g.Events)))
	}
	return r
}

func (w *worker) inOrder(n int) []int32 {
	for i := len(w.scratch.order); i < n; i++ {
		w.scratch.order = append(w.scratch.order, int32(i))
	}
	return w.scratch.order[:n]
}

// blank returns a graph to copy into, which nobody else has.
func (w *worker) blank() *graph.Graph {
	last := len(w.scratch.graphs) - 1
	if last < 0 {
		return graph.New()
	}
	g := w.scratch.graphs[last]
	w.scratch.graphs = w.scratch.graphs[:last]
	return g
}

// recycle takes a graph that nobody needs any more.
func (w *worker) recycle(g *graph.Graph) { w.scratch.graphs = append(w.scratch.graphs, g) }

// leadingUp returns the set of the event and everything that must run before
// it. It is valid until the next call.
func (w *worker) leadingUp(g *graph.Graph, id int32) graph.Set {
	w.scratch.past = append(w.scratch.past[:0], g.Prefix(id)...)
	w.scratch.past.Add(id)
	return w.scratch.past
}
