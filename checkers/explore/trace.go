package explore

import (
	"fmt"

	"benign/checkers/graph"
	"benign/checkers/memmodel"
	"benign/impl/kernel"
)

// Step is one visible operation of a replayed execution.
type Step struct {
	Task  int
	Event int32  // the event that completed it
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
// its steps in an order in which it can have happened. Every event that the
// graph holds must fit the code; a [*DivergenceError] says where it does not.
func Replay(config Config, g *graph.Graph) (*Execution, []Step, error) {
	return replayKnowing(config, g, sharersOf(g))
}

func replayKnowing(config Config, g *graph.Graph, known sharers) (*Execution, []Step, error) {
	if config.MaxEvents <= 0 {
		config.MaxEvents = DefaultMaxEvents
	}
	if config.MaxRounds <= 0 {
		config.MaxRounds = DefaultMaxRounds
	}
	w := newWorker(newExploration(config, known))
	defer w.pool.close()
	trace := &tracer{}
	r := w.start(g.Clone(), trace)
	r.setUp()
	if !r.stopped() {
		r.replay(memmodel.Interleave(g))
	}
	whole := len(g.Events)
	if !r.stopped() {
		r.extend()
	}
	if r.failure == nil && len(r.g.Events) != whole {
		r.failure = &DivergenceError{Detail: fmt.Sprintf("the code goes on with %s where the trace ends", r.describeEvent(int32(whole)))}
	}
	e, err := r.conclude()
	return e, trace.steps, err
}

// sharersOf reads off a graph which tasks shared which locks.
func sharersOf(g *graph.Graph) sharers {
	known := sharers{}
	for _, l := range g.Locations {
		if l.Lock && l.Strand > 0 {
			known = known.with([]sharer{{lockName{l.Owner, l.Field}, l.Strand - 1}})
		}
	}
	return known
}
