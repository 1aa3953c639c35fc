package explore

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"benign/checkers/graph"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// thread is a task of one run: its coroutine, the operation it is parked at,
// and how far that operation has come.
type thread struct {
	run    *run
	number int32 // in graph.Tasks
	task   *kernel.Task
	name   string
	co     *coroutine
	stand
	op       *kernel.Op // the announced operation; nil once finished
	at       int32      // its location in the graph, or -1
	result   kernel.Result
	finished bool
	answered bool // the operation was completed on the thread's own coroutine
	children int

	// An access to a word in two halves: where the high one is, whether the low
	// one has run, and what it read.
	split, second bool
	high          int32
	low           uint64
	strands       []int32 // of the lock, which an acquisition goes through

	operations *scenario.Task     // what it performs, or nil
	body       func(*kernel.Task) // what it runs otherwise
	route      []int32            // memory of strands
	records    []Operation
	source     []string // while tracing: where the announced operation stands in the source
}

// stand is how far a task has come, as far as its script and the graph do not say.
type stand struct {
	node   *node // where it is in its script, if it has one
	events int32 // events run so far
	stuck  bool  // its operation cannot be completed as it began
	// An update whose read part has run waits to write.
	writing bool
	// An exclusive try of several strands first chooses whether it fails.
	chosen, fails bool
	updated       uint64
	reads, writes int32 // of the strands of an acquisition
	ends          int32 // of one that passes
}

// place makes it the thread of a scripted task, which stands there, in memory of
// another one.
func (th *thread) place(number int32, name string, s stand) {
	th.number, th.name, th.stand = number, name, s
	th.result, th.split, th.second, th.children = kernel.Result{}, false, false, 0
}

// unwound is what an abandoned task panics with.
type unwound struct{}

// Perform implements [kernel.Engine].
func (r *run) Perform(t *kernel.Task, op *kernel.Op) kernel.Result {
	if r.transcript != nil {
		r.record(t, deed{op: *op})
	}
	th := r.threads[t.Slot]
	if r.abandoned {
		panic(unwound{})
	}
	if r.trace != nil {
		th.source = r.trace.where()
	}
	th.begin(op)
	r.announce(th)
	if r.goOn(th) {
		return th.result
	}
	if !th.co.yield(struct{}{}) || r.abandoned {
		panic(unwound{})
	}
	return th.result
}

// Violate implements [kernel.Engine].
func (r *run) Violate(_ *kernel.Task, v *kernel.Violation) {
	if !r.abandoned {
		r.fail(v)
	}
	panic(unwound{})
}

// Access implements [kernel.Engine].
func (r *run) Access(t *kernel.Task, region *kernel.Region, write bool) {
	if r.transcript != nil {
		r.record(t, deed{region: region, write: write})
	}
	if r.abandoned {
		panic(unwound{})
	}
	conflict := r.detector.Region(int32(t.Slot), &region.Slot, write)
	if conflict == nil {
		return
	}
	v := &kernel.Violation{Kind: kernel.DataRace, Message: conflict.Describe(r.g, region.Name(), write), Task: t.Name()}
	if region.Lifetime() {
		r.lifetime(v, region, r.g.Tasks[conflict.Other].Name, write)
	}
	r.Violate(t, v)
}

// lifetime says what a race on the life of an object means.
func (*run) lifetime(v *kernel.Violation, region *kernel.Region, other string, write bool) {
	switch {
	case write:
		v.Kind = kernel.UseAfterFree
		v.Message = fmt.Sprintf("%s is freed, and nothing orders its use by task %s before that", region.Owner(), other)
	case region.OwnerFreed():
		v.Kind = kernel.UseAfterFree
		v.Message = fmt.Sprintf("%s is used, and task %s frees it with nothing in between", region.Owner(), other)
	default:
		v.Message = fmt.Sprintf("%s is used, and nothing orders its initialisation by task %s before that", region.Owner(), other)
	}
}

func (r *run) fail(v *kernel.Violation) {
	if r.violation == nil {
		r.violation = v
	}
}

// actor returns the memory of the thread with the number.
func (r *run) actor(number int32) *thread {
	for int(number) >= len(r.cast) {
		r.cast = append(r.cast, &thread{})
	}
	return r.cast[number]
}

// launch creates the thread of a task, which performs the operations of a
// scenario's task or runs the body of one that another task has started, and parks
// it before its first step.
func (r *run) launch(number int32, task *kernel.Task, operations *scenario.Task, body func(*kernel.Task)) {
	th := r.actor(number)
	*th = thread{run: r, number: number, task: task, name: task.Name(), operations: operations, body: body, route: th.route, records: th.records[:0]}
	task.Slot = int(number)
	for int(number) >= len(r.threads) {
		r.threads = append(r.threads, nil)
	}
	r.threads[number] = th
	th.co = r.worker.pool.get(th)
	r.detector.Start(number, r.g.Tasks[number].Spawn)
	r.advance(th)
}

// work implements [job]: it runs the code of the task.
func (th *thread) work() {
	r := th.run
	defer r.finish(th)
	if r.transcript != nil {
		r.transcript.own(th.task)
	}
	if th.operations != nil {
		th.operate()
	} else {
		th.body(th.task)
	}
	th.task.CheckExit()
}

// operate performs the operations of a scenario's task and records what each
// returned.
func (th *thread) operate() {
	for i := range th.operations.Operations {
		op := &th.operations.Operations[i]
		first := th.events
		result := op.Run(th.task)
		th.records = append(th.records, Operation{Task: int(th.number), TaskName: th.name, Number: i,
			Name: op.Name, Result: result, First: first, End: th.events})
	}
}

// finish ends a task, whether it returned or panicked. What a task does while it
// is unwound is nobody's fault.
func (r *run) finish(th *thread) {
	th.finished, th.op = true, nil
	problem := recover()
	if r.abandoned {
		return
	}
	if r.inside && problem != nil {
		panic(problem) // it is the explorer's own
	}
	switch p := problem.(type) {
	case nil:
		r.detector.Finish(th.number)
	case unwound:
	case *kernel.Violation:
		r.fail(p)
	default:
		r.fail(crash(th.name, problem))
	}
}

// blame turns what was recovered from the code into a violation; nil if it did
// not panic.
func blame(task string, problem any) *kernel.Violation {
	switch p := problem.(type) {
	case nil:
		return nil
	case *kernel.Violation:
		return p
	}
	return crash(task, problem)
}

// crash turns a panic of user code into a violation that names the code.
func crash(task string, problem any) *kernel.Violation {
	return &kernel.Violation{Kind: kernel.Crash, Message: fmt.Sprintf("%v at %s", problem, panicPlace(string(debug.Stack()))), Task: task}
}

// panicPlace finds the innermost frame below the panic that is not the
// runtime's, as "file.go:line".
func panicPlace(stack string) string {
	_, after, _ := strings.Cut(stack, "\npanic(")
	for line := range strings.Lines(after) {
		line = strings.TrimSpace(line)
		file, _, _ := strings.Cut(line, " ")
		if strings.Contains(file, ".go:") && !strings.Contains(file, "/src/runtime/") {
			return shortPlace(file)
		}
	}
	return "an unknown place"
}

// shortPlace keeps the package folder and the file of a path.
func shortPlace(path string) string {
	parts := strings.Split(path, "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// advance lets a thread run until it announces its next operation or ends. One
// that runs events by itself goes on by itself.
func (r *run) advance(th *thread) {
	switch {
	case r.script != nil:
		n := r.script.follow(th)
		th.begin(nil)
		r.enter(th, n)
		return
	case r.inside && r.running == th:
		th.answered = true
		return
	}
	th.op = nil
	r.resume(th)
	if th.finished {
		r.worker.pool.put(th.co)
		th.co = nil
	}
}

// begin makes the operation the one that the thread is parked at.
func (th *thread) begin(op *kernel.Op) {
	th.op, th.result = op, kernel.Result{}
	th.writing, th.reads, th.writes, th.ends, th.strands = false, 0, 0, 0, nil
	th.chosen, th.fails = false, false
	th.split, th.second = false, false
}

// resume lets the code of a task go on.
func (r *run) resume(th *thread) {
	before, inside := r.running, r.inside
	r.running, r.inside = th, false
	if r.transcript != nil {
		r.transcript.running.Store(th.task)
		defer func() {
			if before == nil {
				r.transcript.running.Store(nil)
			} else {
				r.transcript.running.Store(before.task)
			}
		}()
	}
	th.co.resume()
	r.running, r.inside = before, inside
}

// abandon unwinds every task that is still parked.
func (r *run) abandon() {
	r.abandoned = true
	for _, th := range r.threads {
		if th != nil && !th.finished && th.co != nil {
			r.resume(th)
			r.worker.pool.put(th.co)
			th.co = nil
		}
	}
}

// tracer remembers source places while one execution is replayed for people.
type tracer struct {
	steps []Step
	notes []func() string // of each step, to be asked when all have run
}

// where returns the call chain of the announced operation, innermost first,
// without the machine and the explorer.
func (*tracer) where() []string {
	var counters [24]uintptr
	frames := runtime.CallersFrames(counters[:runtime.Callers(3, counters[:])])
	var places []string
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, "benign/checkers/explore.") {
			return places
		}
		if !strings.HasPrefix(frame.Function, "benign/impl/kernel.") {
			function := frame.Function[strings.LastIndex(frame.Function, "/")+1:]
			places = append(places, fmt.Sprintf("%s:%d %s", shortPlace(frame.File), frame.Line, function))
		}
		if !more {
			return places
		}
	}
}

// hasBlocked reports whether the thread waits at an acquisition that the graph
// already holds and that cannot go on yet.
func (r *run) hasBlocked(th *thread) bool {
	for _, id := range r.blocked {
		if r.g.Events[id].Task == th.number {
			return true
		}
	}
	return false
}

func (th *thread) describe(g *graph.Graph) string {
	switch {
	case th.finished:
		return th.name + " has ended"
	case th.op.Passes:
		return fmt.Sprintf("%s waits for a grace period of %s", th.name, th.op.Location.Name())
	case th.op.Kind == kernel.OpAcquire:
		return fmt.Sprintf("%s waits for %s", th.name, th.op.Location.Name())
	case th.op.Kind == kernel.OpJoin:
		return fmt.Sprintf("%s waits for the end of %s", th.name, g.Tasks[th.op.Child.Slot].Name)
	}
	return th.name + " is at: " + announced(th.op)
}
