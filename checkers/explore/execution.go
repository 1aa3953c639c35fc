package explore

import (
	"fmt"

	"benign/checkers/graph"
	"benign/checkers/leak"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// Execution is what one execution showed.
type Execution struct {
	// Graph is the execution itself.
	Graph     *graph.Graph
	Violation *kernel.Violation // nil if nothing was broken
	// Ended reports that every task ran to its end, so that the Operations and
	// the final state are whole.
	Ended      bool
	Operations []Operation
	// Debt is the work left undone: when the tasks ended, and after each
	// quiescent round. Empty if the scenario counts none.
	Debt []int
	// Rounds is how many quiescent rounds changed something.
	Rounds int
	// Settled reports that quiescence came to rest within the bound.
	Settled bool
	// State is the abstract final state, after quiescence.
	State string
	// Evidence is what was seen of each deliberate race.
	Evidence []Evidence
	// Seed draws the execution again, if it was a sample.
	Seed uint64
	// Spec is what the scenario wants its history judged against, or nil.
	Spec *scenario.Spec
}

// Operation is one call of the history.
type Operation struct {
	// Task is the number of the task in the graph, TaskName its name, Number
	// the position of the operation in it.
	Task     int
	TaskName string
	Number   int
	// Name and Result are the scenario's.
	Name   string
	Result scenario.Result
	// First and End delimit its events in program order: [First, End).
	First, End int32
}

// Evidence counts how one deliberate race was seen in one execution: pairs of
// the annotated access and a conflicting access of another task that
// happens-before does not order, by which of the two came first.
type Evidence struct {
	// Site is the annotation, and Executed how often the access ran.
	Site     *kernel.RaceSite
	Executed int
	// Unordered counts the pairs; in ReadFirst of them the annotated access
	// came first, in WriterFirst the other one.
	Unordered              int
	ReadFirst, WriterFirst int
}

// Outcome is everything that an observer can tell executions apart by: the
// results of all operations and the abstract final state.
func (e *Execution) Outcome() string { return string(e.AppendOutcome(nil)) }

// AppendOutcome appends the text of [Execution.Outcome] to a buffer.
func (e *Execution) AppendOutcome(text []byte) []byte {
	for i := range e.Operations {
		op := &e.Operations[i]
		text = append(append(text, op.TaskName...), ' ')
		text = append(append(text, op.Name...), " = "...)
		text = append(append(text, op.Result.Value...), "; "...)
	}
	return append(append(text, "finally "...), e.State...)
}

// conclude ends the run: it judges the state that the tasks left, or unwinds
// them.
func (r *run) conclude() (*Execution, error) {
	r.pruned = r.pruned || !r.stopped() && r.leadsNowhere()
	ended := !r.stopped() && !r.pruned && r.allFinished()
	if !ended && !r.stopped() && !r.pruned && !r.partial {
		r.fail(r.standstill())
	}
	if r.worker.config.CheckDefaults && ended && !r.worker.model.Consistent(r.g) {
		r.failure = fmt.Errorf("the model forbids an execution that was built from newest choices")
	}
	if r.script != nil {
		return r.concludeScripted(ended)
	}
	e := r.blankExecution()
	e.Graph, e.Ended = r.g, ended
	if ended {
		e.Spec = r.instance.Spec
		for _, th := range r.threads {
			if th != nil {
				e.Operations = append(e.Operations, th.records...)
			}
		}
		e.Evidence = r.evidence(e.Evidence)
		r.settle()
		r.after(e)
	}
	r.abandon()
	if r.failure != nil {
		return nil, r.failure
	}
	if r.pruned {
		return nil, nil
	}
	e.Violation = r.violation
	return e, nil
}

// blankExecution returns an execution that shows nothing yet, in the memory of
// the worker's last one if nobody has that.
func (r *run) blankExecution() *Execution {
	if r.worker.config.keeps() {
		return &Execution{}
	}
	e := &r.worker.scratch.execution
	*e = Execution{Operations: e.Operations[:0], Debt: e.Debt[:0], Evidence: e.Evidence[:0]}
	return e
}

// keeps reports whether somebody looks at an execution when the next one is run.
func (c *Config) keeps() bool { return c.Strict || c.Visit != nil && !c.Borrow }

// leadsNowhere reports whether the tasks stand where they are for the sake of
// the exploration only. A violation counts all the same: what was run was run.
func (r *run) leadsNowhere() bool {
	for _, id := range r.blocked {
		e := &r.g.Events[id]
		if e.Turn == graph.Waits || e.Kind == graph.Await && e.Source != r.g.LastWrite(e.Location) {
			return true
		}
	}
	for _, th := range r.threads {
		// A try never waits; one that a trace does not reach has not begun.
		if th != nil && !th.finished && (th.stuck || !r.partial && th.op.Kind == kernel.OpAcquire && th.op.Try) {
			return true
		}
	}
	return false
}

// concludeScripted ends a run in which no code ran.
func (r *run) concludeScripted(ended bool) (*Execution, error) {
	if r.failure == nil && r.script.plain && r.races() {
		r.failure = errNeedsCode
	}
	if r.failure != nil || r.pruned {
		return nil, r.failure
	}
	e := r.blankExecution()
	e.Graph, e.Ended, e.Violation, e.Settled = r.g, ended, r.violation, true
	if r.worker.config.keeps() {
		e.Graph = r.g.Clone()
	}
	if ended && r.worker.config.Visit != nil {
		for _, th := range r.threads {
			e.Operations = append(e.Operations, th.node.end.records...)
		}
	}
	return e, nil
}

func (r *run) allFinished() bool {
	for _, th := range r.threads {
		if th != nil && !th.finished {
			return false
		}
	}
	return true
}

// settle gives every word its coherence-final value, for the code that runs
// after the tasks.
func (r *run) settle() {
	for at, l := range r.words {
		if l == nil || r.g.Locations[at].Lock {
			continue
		}
		if last := r.g.LastWrite(int32(at)); last != graph.Init {
			l.Settle(withPart(&r.g.Locations[at], l.Initial(), r.g.Events[last].Value))
		}
	}
}

// after runs the scenario's protocol once the tasks have ended: check, count
// the debt, quiesce until nothing changes, check again, observe, tear down and
// look for leaks.
func (r *run) after(e *Execution) {
	defer r.guard("quiescence")
	i, t := r.instance, r.world.NewTask("quiescence")
	r.check(t, "when the tasks had ended")
	e.Debt = r.appendDebt(e.Debt, t)
	for round := 0; i.Quiesce != nil && !r.stopped(); round++ {
		if round == r.worker.config.MaxRounds {
			break
		}
		if !i.Quiesce(t) {
			e.Settled = true
			break
		}
		e.Rounds++
		e.Debt = r.appendDebt(e.Debt, t)
	}
	e.Settled = e.Settled || i.Quiesce == nil
	if r.stopped() {
		return
	}
	r.check(t, "after quiescence")
	if i.Observe != nil {
		e.State = i.Observe(t)
	}
	if i.Teardown == nil || r.stopped() {
		return
	}
	i.Teardown(t)
	if v := leak.Objects(r.world); v != nil {
		r.fail(v)
	}
}

func (r *run) check(t *kernel.Task, when string) {
	if r.instance.Check == nil {
		return
	}
	if err := r.instance.Check(t); err != nil {
		r.fail(&kernel.Violation{Kind: kernel.Assertion, Message: fmt.Sprintf("%v (%s)", err, when)})
	}
}

func (r *run) appendDebt(debt []int, t *kernel.Task) []int {
	if r.instance.Debt == nil {
		return debt
	}
	return append(debt, r.instance.Debt(t))
}

// evidence adds what every annotated access of the execution shows; its low half,
// if it was made in two.
func (r *run) evidence(found []Evidence) []Evidence {
	for id := range r.g.Events {
		e := &r.g.Events[id]
		if e.Site == nil || r.g.SecondHalf(int32(id)) {
			continue
		}
		at := -1
		for i := range found {
			if found[i].Site == e.Site {
				at = i
			}
		}
		if at < 0 {
			found = append(found, Evidence{Site: e.Site})
			at = len(found) - 1
		}
		found[at].Executed++
		r.weigh(&found[at], int32(id))
	}
	return found
}

// weigh counts the writes that race with one annotated access.
func (r *run) weigh(evidence *Evidence, id int32) {
	e := &r.g.Events[id]
	before := e.Previous // the access itself may synchronize with the write that it races with
	if before == graph.Init {
		before = r.g.Tasks[e.Task].Spawn
	}
	seen := e.Source == graph.Init // whether the write that was read is behind us in coherence
	for _, write := range r.g.Coherence[e.Location] {
		first := seen
		if write == e.Source {
			seen = true
		}
		if r.g.Events[write].Task == e.Task || r.detector.Ordered(r.g, id, write) || before != graph.Init && r.detector.Ordered(r.g, write, before) {
			continue
		}
		evidence.Unordered++
		if first {
			evidence.ReadFirst++
		} else {
			evidence.WriterFirst++
		}
	}
}
