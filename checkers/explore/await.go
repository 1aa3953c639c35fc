package explore

import (
	"fmt"
	"strings"

	"benign/checkers/graph"
	"benign/impl/kernel"
)

// An await is a read that can take its value only from a write that satisfies
// it. While the newest write does not, and anybody else can go on, it is not
// part of the graph. When nobody can, it says so there: older writes that
// satisfy it are its other choices, and by default it waits, with the newest
// write for its source. From then on it is an event like any read. A later write
// revisits it as it would revisit any read, also one that takes away what had
// satisfied it. An execution in which an await waits is one only if what it saw
// last is still the newest at the end.

// satisfies reports whether the value ends the wait of the announced operation.
// A condition that panics does, so that the task comes to panic with it.
func (th *thread) satisfies(value uint64) (ok bool) {
	ok, problem := th.judge(value)
	return ok || problem != nil
}

// judge asks the condition of the announced operation, which is the code's own:
// a panic of it is one of the task.
func (th *thread) judge(value uint64) (ok bool, problem *kernel.Violation) {
	defer func() { problem = blame(th.name, recover()) }()
	return th.op.Until(value), nil
}

// conditions are those of the awaits that a run or a script has met, by number.
type conditions []func(value uint64) bool

// note gives the event the condition of its task's announced operation.
func (r *run) note(th *thread, e *graph.Event) {
	if r.script != nil {
		e.Condition = th.node.condition
		return
	}
	r.conditions = append(r.conditions, th.op.Until)
	e.Condition = int32(len(r.conditions) - 1)
}

// passes notes the condition of the event, which is run now, and reports whether
// its source satisfies it.
func (r *run) passes(th *thread, e *graph.Event) bool {
	r.note(th, e)
	ok, problem := th.judge(r.value(e.Location, e.Source))
	switch {
	case problem != nil:
		r.fail(problem)
	case !ok:
		r.diverge("task %s waits for another value of %s", th.name, th.op.Location.Name())
	}
	return ok && problem == nil
}

// noteWaiting is note for an event of the graph that waits.
func (r *run) noteWaiting(id int32) {
	e := &r.g.Events[id]
	if int(e.Task) < len(r.threads) && r.threads[e.Task] != nil && r.threads[e.Task].awaits() {
		r.note(r.threads[e.Task], e)
		return
	}
	r.diverge("the code no longer reaches %s", r.describeEvent(id))
}

// satisfied reports whether the value would end the wait of an event that was
// run before.
func (r *run) satisfied(e *graph.Event, value uint64) (ok bool) {
	known := r.conditions
	if r.script != nil {
		known = r.script.conditions
	}
	defer func() { ok = ok || recover() != nil }() // see satisfies
	return known[e.Condition](value)
}

// awaits reports whether the thread is at an await.
func (th *thread) awaits() bool { return !th.finished && th.op.Until != nil }

// newestSatisfies reports whether the newest value ends the wait of the
// announced operation.
func (r *run) newestSatisfies(th *thread) bool {
	return th.satisfies(r.value(th.at, r.g.LastWrite(th.at)))
}

// waitsSilently reports whether the thread waits for a lock or for a value, and
// the graph does not say so yet.
func (r *run) waitsSilently(th *thread) bool {
	return !th.finished && !th.stuck && (th.op.Kind == kernel.OpAcquire || th.op.Until != nil) && !r.hasBlocked(th)
}

// silent returns a thread that waits silently, or nil: first one that an older
// value may still help, and last one that no value does, because it is the least
// likely to be revisited.
func (r *run) silent() *thread {
	var best *thread
	bestRank := 0
	for _, th := range r.threads {
		if th == nil || !r.waitsSilently(th) {
			continue
		}
		if rank := r.hope(th); rank > bestRank {
			best, bestRank = th, rank
		}
	}
	return best
}

// hope ranks the threads that wait silently.
func (r *run) hope(th *thread) int {
	if th.op.Until == nil {
		return 2
	}
	for _, source := range r.sources(th.at) {
		if th.satisfies(r.value(th.at, source)) {
			return 3
		}
	}
	return 1
}

// wait puts an await that the newest value does not satisfy into the graph.
func (r *run) wait(th *thread, e graph.Event) {
	e.Kind = graph.Await
	r.note(th, &e)
	r.blocked = append(r.blocked, r.g.Add(e))
}

// lookingAt returns what an await that is already in the graph becomes when it
// looks at the new write; possible is false if it would wait there although
// newer writes are kept.
func (r *run) lookingAt(g *graph.Graph, read, write int32, past graph.Set) (kind graph.Kind, possible bool) {
	e := &g.Events[read]
	if !r.satisfied(e, g.Events[write].Value) {
		return graph.Await, isNewest(g, e.Location, write, func(id int32) bool { return id <= read || past.Has(id) })
	}
	if e.Kind == graph.Await {
		kind, _ = r.expected(r.threads[e.Task])
		return kind, true
	}
	return e.Kind, true
}

// standstill describes an execution in which some tasks wait for ever.
func (r *run) standstill() *kernel.Violation {
	unseen := r.script != nil && r.worker.config.Visit == nil
	var waits []string
	kind, locks := kernel.Deadlock, false
	for _, th := range r.threads {
		if th == nil || th.finished {
			continue
		}
		if !unseen {
			waits = append(waits, r.describeWait(th))
		}
		switch {
		case th.op.Kind == kernel.OpAcquire:
			locks = true
		case th.op.Until != nil && th.op.Sleeps:
			kind = kernel.LostWakeup
		case th.op.Until != nil && kind != kernel.LostWakeup:
			kind = kernel.Livelock
		}
	}
	if locks || kind == kernel.LostWakeup && r.inCircle() {
		kind = kernel.Deadlock
	}
	if unseen {
		v := &r.worker.scratch.violation
		*v = kernel.Violation{Kind: kind}
		return v
	}
	return &kernel.Violation{Kind: kind, Message: strings.Join(waits, "; ")}
}

func (r *run) describeWait(th *thread) string {
	if th.op.Until == nil {
		return th.describe(r.g)
	}
	value := th.op.Location.Show(r.value(th.at, r.g.LastWrite(th.at)))
	if debtors := r.debtors(th); len(debtors) > 0 {
		names := make([]string, len(debtors))
		for i, debtor := range debtors {
			names[i] = debtor.name
		}
		return fmt.Sprintf("%s sleeps in %s until %s wakes it", th.name, th.task.SleepsIn().Name(), strings.Join(names, " or "))
	}
	if th.op.Sleeps {
		return fmt.Sprintf("%s sleeps until %s changes, which stays %s", th.name, th.op.Location.Name(), value)
	}
	return fmt.Sprintf("%s awaits another value of %s, which stays %s: no fair schedule satisfies it", th.name, th.op.Location.Name(), value)
}

// debtors returns the threads that owe the sleeping thread a wake-up, as far as
// the code has said so, and have not ended.
func (r *run) debtors(th *thread) []*thread {
	if r.script != nil || th.task.SleepsIn() == nil {
		return nil
	}
	var debtors []*thread
	for _, other := range r.threads {
		if other != nil && !other.finished && other.task.Owes(th.task.SleepsIn()) {
			debtors = append(debtors, other)
		}
	}
	return debtors
}

// inCircle reports whether threads sleep for each other: one waits for itself, by
// way of those that owe a wake-up or are joined.
func (r *run) inCircle() bool {
	waitsFor := func(th *thread) []*thread {
		if th.op.Kind == kernel.OpJoin {
			return []*thread{r.threads[th.op.Child.Slot]}
		}
		return r.debtors(th)
	}
	for _, start := range r.threads {
		if start == nil || start.finished {
			continue
		}
		seen := map[*thread]bool{}
		for todo := waitsFor(start); len(todo) > 0; {
			th := todo[0]
			if todo = todo[1:]; th == start {
				return true
			}
			if !seen[th] {
				seen[th] = true
				todo = append(todo, waitsFor(th)...)
			}
		}
	}
	return false
}
