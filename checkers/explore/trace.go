package explore

import (
	"fmt"
	"maps"
	"slices"

	"benign/checkers/graph"
	"benign/checkers/memmodel"
	"benign/impl/kernel"
)

// Step is one visible operation of a replayed execution.
type Step struct {
	// Task is the number of the task, Event the event that completed the step.
	Task  int
	Event int32
	What  string // such as "load inode#1.root = nil"
	Note  string // such as "stale: the newest value was extent map#1"
	// Places is the call chain, innermost first, as "file.go:line function".
	Places []string
}

// add records the operation that the event completes.
func (t *tracer) add(r *run, th *thread, id int32) {
	e := &r.g.Events[id]
	t.steps = append(t.steps, Step{Task: int(th.number), Event: id, What: r.phrase(th, e), Places: th.source})
	t.notes = append(t.notes, r.remark(id))
}

// annotate notes what a reader would not expect of each step. It waits for the
// last of them, because a trace does not say what stores write, and one of which
// half is read may end later.
func (t *tracer) annotate() {
	for i, note := range t.notes {
		t.steps[i].Note = note()
	}
}

// phrase says what an operation did, in words.
func (r *run) phrase(th *thread, e *graph.Event) string {
	op := th.op
	switch op.Kind {
	case kernel.OpLoad:
		return announced(op) + " = " + op.Location.Show(th.result.Value)
	case kernel.OpStore:
		return fmt.Sprintf("%s store to %s = %s", op.Order, op.Location.Name(), op.Location.Show(op.Value))
	case kernel.OpUpdate:
		if e.Kind == graph.UpdateRead {
			return fmt.Sprintf("update of %s finds %s and does nothing", op.Location.Name(), op.Location.Show(e.Value))
		}
		old := r.g.Events[e.Pair].Value
		return fmt.Sprintf("update of %s: %s → %s", op.Location.Name(), op.Location.Show(old), op.Location.Show(e.Value))
	case kernel.OpAcquire:
		return acquirePhrase(op, e)
	case kernel.OpRelease:
		return fmt.Sprintf("unlock %s%s", op.Location.Name(), sharedSuffix(op.Mode))
	case kernel.OpChoose:
		if op.Choices == 2 {
			return fmt.Sprintf("%s: %s", op.Label, []string{"no", "yes"}[min(1, e.Choice)])
		}
		return fmt.Sprintf("%s: %d", op.Label, e.Choice)
	case kernel.OpBarrier:
		return op.Barrier.String()
	case kernel.OpSpawn:
		return "start " + op.Label
	default:
		return "join " + r.g.Tasks[e.Child].Name
	}
}

func acquirePhrase(op *kernel.Op, e *graph.Event) string {
	if op.Passes {
		return "grace period of " + op.Location.Name()
	}
	suffix := sharedSuffix(op.Mode)
	if e.Kind == graph.LockFail {
		suffix += " fails"
	}
	return fmt.Sprintf("%s %s%s", acquireVerb(op.Try), op.Location.Name(), suffix)
}

// remark says what a reader would not expect of the event that completes a step,
// now that it has run; what it returns is called when all steps have.
func (r *run) remark(id int32) func() string {
	stale := r.staleness(&r.g.Events[id])
	return func() string {
		if torn := r.tearing(&r.g.Events[id], id); torn != "" {
			return torn
		}
		return stale()
	}
}

// staleness notes a read that did not see the newest value in the order in
// which the steps are printed.
func (r *run) staleness(e *graph.Event) func() string {
	switch {
	case e.Kind == graph.LockFail:
		if end := r.g.Events[e.Source].End; end != graph.Init && r.done.Has(end) {
			return func() string { return "stale: the holder had already let go" }
		}
	case e.Kind == graph.Read:
		newest := graph.Init
		for _, write := range r.g.Coherence[e.Location] {
			if r.done.Has(write) {
				newest = write
			}
		}
		if location := e.Location; newest != e.Source {
			return func() string {
				return "stale: the newest value was " + r.words[location].Show(r.whole(location, newest))
			}
		}
	}
	return func() string { return "" }
}

// Replay runs one execution again, following the source, and returns it with
// its steps in an order in which it can have happened. Every event of the trace
// must fit the code, and the memory model must allow the execution, on the
// machine that the trace is from; a
// [*DivergenceError] says where that is not so. Code that goes on where the
// trace ends gives an execution that has not Ended.
func Replay(config Config, trace *Trace) (*Execution, []Step, error) {
	config = config.withDefaults()
	config.Without, config.Arch = trace.Without, trace.arch
	model, err := memmodel.New(config.Model)
	switch {
	case err != nil:
		return nil, nil, err
	case len(trace.graph.Events) > config.MaxEvents:
		return nil, nil, fmt.Errorf("%w (%d)", errTooManyEvents, config.MaxEvents)
	case !model.Consistent(trace.graph):
		return nil, nil, &DivergenceError{Detail: "the memory model " + config.Model + " does not allow it"}
	}
	return ReplayGraph(config, trace.graph)
}

// ReplayGraph is Replay for an execution of an exploration.
func ReplayGraph(config Config, g *graph.Graph) (*Execution, []Step, error) {
	config = config.withDefaults()
	if !memmodel.Known(config.Model) {
		_, err := memmodel.New(config.Model)
		return nil, nil, err
	}
	for known := (sharers{}).with(sharersIn(g)); ; {
		own := g.Clone()
		own.Locations = slices.Clone(g.Locations) // those of a parsed trace are identified
		w := newWorker(newExploration(config, known))
		e, steps, err := w.replay(own)
		w.pool.close()
		more := known.with(append(w.discovered, sharersIn(own)...))
		if err == nil || maps.EqualFunc(more, known, slices.Equal) {
			return e, steps, err
		}
		known = more
	}
}

// sharersIn returns the sharers that the strands of a graph tell. Those of a
// parsed trace are known once their locks have been identified.
func sharersIn(g *graph.Graph) []sharer {
	var found []sharer
	for _, l := range g.Locations {
		if l.Lock && l.Strand > 0 && l.Owner != 0 {
			found = append(found, sharer{lockName{l.Owner, l.Field}, l.Strand - 1})
		}
	}
	return found
}

// replay runs the graph and nothing that goes beyond it.
func (w *worker) replay(g *graph.Graph) (*Execution, []Step, error) {
	order, _ := memmodel.FewestSwitches(g)
	order = runnable(g, order)
	r := w.start(g, &tracer{})
	r.setUpAgain()
	if !r.stopped() {
		r.replay(order)
	}
	if !r.stopped() {
		r.wake()
		r.fitWaiting()
	}
	r.partial = !r.stopped() && r.next() != nil
	r.trace.annotate()
	e, err := r.conclude()
	if err == nil && e == nil {
		err = &DivergenceError{Detail: "the execution cannot be completed"}
	}
	return e, r.trace.steps, err
}

// setUpAgain sets up and makes sure that the scenario has the tasks of the
// graph. Those that others start come later.
func (r *run) setUpAgain() {
	tasks := r.g.Tasks
	listed := 0
	for listed < len(tasks) && ofScenario(tasks[listed].ID) {
		listed++
	}
	r.g.Tasks = tasks[:listed:listed]
	r.setUp()
	r.g.Tasks = tasks
	if r.instance != nil && len(r.instance.Tasks) != listed {
		r.diverge("it has %d tasks, and the scenario %d", listed, len(r.instance.Tasks))
	}
}

// fitWaiting makes sure that the tasks are where the graph says that they wait
// for a lock.
func (r *run) fitWaiting() {
	for _, id := range r.blocked {
		e := r.g.Events[id]
		problem := "the code no longer reaches it"
		if int(e.Task) < len(r.threads) && (e.Previous == graph.Init || r.done.Has(e.Previous)) {
			problem = r.misfit(r.threads[e.Task], e)
		}
		if problem != "" {
			r.diverge("%s: %s", r.describeEvent(id), problem)
		}
	}
}

// misfit is mismatch for an event that waits: it is taken for what it would have
// become.
func (r *run) misfit(th *thread, e graph.Event) string {
	switch {
	case e.Kind == graph.LockIdle:
		e.Kind = graph.LockBusy
	case e.Kind == graph.Await && th != nil && th.awaits():
		e.Kind, _ = r.expected(th)
	}
	if problem := r.mismatch(th, &e); problem != "" || !e.Awaits {
		return problem
	}
	if th.satisfies(r.value(e.Location, e.Source)) {
		return "the value ends its wait"
	}
	return ""
}

// Shorten returns the smallest execution it finds that shows the same fault:
// events that nothing else in the execution depends on are dropped as long as
// the violation stays one that same recognises. First the tails of whole tasks go,
// and then one event after the other, until none can. Violations that only whole
// executions show are returned as they are.
func Shorten(config Config, g *graph.Graph, same func(*kernel.Violation) bool) *graph.Graph {
	try := func(keep func(id int32) bool) bool {
		shorter, _ := g.Restrict(keep)
		if len(shorter.Events) == len(g.Events) {
			return false
		}
		e, _, err := ReplayGraph(config, shorter)
		if err != nil || e.Ended || e.Violation == nil || !same(e.Violation) {
			return false
		}
		g = shorter
		return true
	}
	for task := range int32(len(g.Tasks)) {
		tail := tailOf(g, task)
		try(func(id int32) bool { return g.Events[id].Task != task || g.Events[id].Index < tail })
	}
	for changed := true; changed; {
		changed = false
		for id := int32(len(g.Events)) - 1; id >= 0 && !changed; id-- {
			changed = !needed(g, id) && try(func(other int32) bool { return other != id })
		}
	}
	return g
}

// tailOf returns the position in a task behind which nothing in another task
// depends on it.
func tailOf(g *graph.Graph, task int32) int32 {
	position := int32(0)
	for id := range g.Events {
		if g.Events[id].Task == task {
			continue
		}
		for before := range g.Prefix(int32(id)).All() {
			if e := &g.Events[before]; e.Task == task {
				position = max(position, e.Index+1)
			}
		}
	}
	return position
}

// needed reports whether another event comes after the event in program order,
// reads from it, or completes it.
func needed(g *graph.Graph, id int32) bool {
	for other := range g.Events {
		if other != int(id) && g.Prefix(int32(other)).Has(id) {
			return true
		}
	}
	return false
}
