package explore

import (
	"fmt"

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
	t.steps = append(t.steps, Step{Task: int(th.number), Event: id, What: r.phrase(th.op, e), Note: r.staleness(e), Places: th.place})
}

// phrase says what an operation did, in words.
func (r *run) phrase(op *kernel.Op, e *graph.Event) string {
	switch op.Kind {
	case kernel.OpLoad:
		return fmt.Sprintf("%s load of %s = %s", op.Order, op.Location.Name(), op.Location.Show(e.Value))
	case kernel.OpStore:
		return fmt.Sprintf("%s store to %s = %s", op.Order, op.Location.Name(), op.Location.Show(e.Value))
	case kernel.OpUpdate:
		if e.Kind == graph.UpdateRead {
			return fmt.Sprintf("update of %s finds %s and does nothing", op.Location.Name(), op.Location.Show(e.Value))
		}
		old := r.g.Events[e.Pair].Value
		return fmt.Sprintf("update of %s: %s → %s", op.Location.Name(), op.Location.Show(old), op.Location.Show(e.Value))
	case kernel.OpAcquire:
		return acquirePhrase(op, e)
	case kernel.OpRelease:
		return fmt.Sprintf("unlock %s%s", op.Location.Name(), sharedSuffix(op))
	case kernel.OpChoose:
		return fmt.Sprintf("%s: %s", op.Label, []string{"no", "yes"}[min(1, e.Choice)])
	case kernel.OpBarrier:
		return op.Barrier.String()
	case kernel.OpSpawn:
		return "start " + op.Label
	default:
		return "join " + r.g.Tasks[e.Child].Name
	}
}

func acquirePhrase(op *kernel.Op, e *graph.Event) string {
	verb := "lock"
	if op.Try {
		verb = "trylock"
	}
	suffix := sharedSuffix(op)
	if e.Kind == graph.LockFail {
		suffix += " fails"
	}
	return fmt.Sprintf("%s %s%s", verb, op.Location.Name(), suffix)
}

func sharedSuffix(op *kernel.Op) string {
	if op.Mode == kernel.Shared {
		return " (shared)"
	}
	return ""
}

// staleness notes a read that did not see the newest value in the order in
// which the steps are printed.
func (r *run) staleness(e *graph.Event) string {
	switch {
	case e.Kind == graph.LockFail:
		if end := r.g.Events[e.Source].End; end != graph.Init && r.done.Has(end) {
			return "stale: the holder had already let go"
		}
	case e.Kind == graph.Read:
		newest := graph.Init
		for _, write := range r.g.Coherence[e.Location] {
			if r.done.Has(write) {
				newest = write
			}
		}
		if newest != e.Source {
			l := r.words[e.Location]
			return "stale: the newest value was " + l.Show(r.value(e.Location, newest))
		}
	}
	return ""
}

// Replay runs one execution again, following the source, and returns it with
// its steps in an order in which it can have happened. Every event of the trace
// must fit the code; a [*DivergenceError] says where it does not.
func Replay(config Config, trace *Trace) (*Execution, []Step, error) {
	return ReplayGraph(config, trace.graph)
}

// ReplayGraph is Replay for an execution of an exploration.
func ReplayGraph(config Config, g *graph.Graph) (*Execution, []Step, error) {
	config = config.withDefaults()
	if !memmodel.Known(config.Model) {
		_, err := memmodel.New(config.Model)
		return nil, nil, err
	}
	known := sharers{}
	for {
		w := newWorker(newExploration(config, known))
		e, steps, err := w.replay(g.Clone())
		w.pool.close()
		if len(w.discovered) == 0 {
			return e, steps, err
		}
		known = known.with(w.discovered)
	}
}

// replay runs the graph and nothing that goes beyond it.
func (w *worker) replay(g *graph.Graph) (*Execution, []Step, error) {
	order := memmodel.Interleave(g)
	r := w.start(g, &tracer{})
	r.setUp()
	if !r.stopped() {
		r.replay(order)
	}
	if !r.stopped() {
		r.wake()
	}
	r.partial = !r.stopped() && r.next() != nil
	e, err := r.conclude()
	if err == nil && e == nil {
		err = &DivergenceError{Detail: "the execution cannot be completed"}
	}
	return e, r.trace.steps, err
}

// Shorten returns the smallest execution it finds that breaks the same kind of
// property, named by kind: events that nothing else in the execution depends on are dropped,
// latest first, as long as the violation stays. Violations that only whole
// executions show are returned as they are.
func Shorten(config Config, g *graph.Graph, kind string) *graph.Graph {
	for changed := true; changed; {
		changed = false
		for id := int32(len(g.Events)) - 1; id >= 0; id-- {
			if needed(g, id) {
				continue
			}
			shorter, _ := g.Restrict(func(other int32) bool { return other != id })
			e, _, err := ReplayGraph(config, shorter)
			if err == nil && !e.Ended && e.Violation != nil && e.Violation.Kind.String() == kind {
				g, changed = shorter, true
				break
			}
		}
	}
	return g
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
