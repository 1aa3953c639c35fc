package explore

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"benign/checkers/graph"
	"benign/checkers/race"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// A scenario whose tasks share words and locks only need not be run in every
// execution: what a task does next is decided by what its own operations have
// returned. A script remembers that, and user code runs once for each thing
// that a task can ever do.

// script is what a worker knows of the tasks.
type script struct {
	worker    *worker
	rehearsal *rehearsal
	roots     []*node
	names     []string
	failed    error
}

// node is a point in the life of one task: the operation that it announces
// after a certain row of results, or its end.
type node struct {
	parent    *node
	result    kernel.Result // what led here from the parent
	op        kernel.Op
	at        int32   // location of the operation, or -1
	strands   []int32 // of an acquisition
	finished  bool
	violation *kernel.Violation // the task broke something instead of going on
	records   []Operation       // of a finished task
	next      []*node
}

// errNeedsCode ends a scripted exploration of a scenario that has more to it
// than words and locks; it starts again and runs the code every time.
var errNeedsCode = errors.New("the scenario's code must run in every execution")

// places numbers the locations of all graphs of a scripted exploration.
type places struct {
	mutex     sync.Mutex
	locations []graph.Location
	initial   []uint64
}

// find returns the number of one strand of a location.
func (p *places) find(l *kernel.Location, strand int, lock bool) int32 {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	owner, field := l.ID()
	for i := range p.locations {
		if k := &p.locations[i]; k.Owner == owner && k.Field == field && k.Strand == strand {
			return int32(i)
		}
	}
	p.locations = append(p.locations, graph.Location{Owner: owner, Field: field, Strand: strand, Lock: lock, Name: l.Name()})
	p.initial = append(p.initial, l.Initial())
	return int32(len(p.locations) - 1)
}

// all returns the locations so far, with their initial values.
func (p *places) all() ([]graph.Location, []uint64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Clip(p.locations), slices.Clip(p.initial)
}

// startScripted prepares a run in which no code runs. Its memory is that of the
// worker's last one.
func (w *worker) startScripted(s *stem) *run {
	r := &w.scratch.run
	*r = run{worker: w, g: s.graph, stem: s, script: &w.script, threads: r.threads[:0], blocked: r.blocked[:0], list: r.list, done: r.done[:0]}
	for range len(r.g.Events)/64 + 1 {
		r.done = append(r.done, 0)
	}
	r.knowAll()
	return r
}

// start gives the threads of a run their first operations.
func (s *script) start(r *run) {
	if s.roots == nil {
		s.begin()
	}
	r.failure = s.failed
	for i, root := range s.roots {
		if i >= len(r.g.Tasks) {
			r.g.AddTask(i+1, s.names[i], graph.Init)
		}
		if i >= len(s.worker.scratch.threads) {
			s.worker.scratch.threads = append(s.worker.scratch.threads, &thread{})
		}
		th := s.worker.scratch.threads[i]
		*th = thread{number: int32(i), name: s.names[i]}
		r.threads = append(r.threads, th)
		r.enter(th, root)
	}
}

// begin learns how many tasks there are and how each begins.
func (s *script) begin() {
	s.rehearsal = s.rehearse()
	tasks := s.rehearsal.instance.Tasks
	if len(tasks) > race.MaxTasks {
		s.failed = errTooManyTasks
		return
	}
	for i := range tasks {
		s.names = append(s.names, tasks[i].Name)
		s.roots = append(s.roots, s.learn(i, nil, kernel.Result{}))
	}
}

// enter brings a thread to a point of its script.
func (r *run) enter(th *thread, n *node) {
	th.node, th.finished, th.at, th.strands = n, n.finished, n.at, n.strands
	th.op = nil
	if !n.finished {
		th.op = &n.op
	}
	if n.violation != nil {
		r.fail(n.violation)
	}
	for _, at := range n.strands {
		r.know(at)
	}
	r.know(n.at)
	if r.failure == nil {
		r.failure = r.script.failed
	}
}

// know makes sure that the graph has the location.
func (r *run) know(at int32) {
	if int(at) >= len(r.initial) {
		r.knowAll()
	}
}

// knowAll gives the graph every location that is known by now.
func (r *run) knowAll() {
	r.g.Locations, r.initial = r.script.worker.places.all()
	for len(r.g.Coherence) < len(r.g.Locations) {
		r.g.Coherence = append(r.g.Coherence, nil)
	}
}

// follow returns the point that the thread reaches with its result.
func (s *script) follow(th *thread) *node {
	for _, n := range th.node.next {
		if n.result == th.result {
			return n
		}
	}
	n := s.learn(int(th.number), th.node, th.result)
	th.node.next = append(th.node.next, n)
	return n
}

// rehearsal runs tasks alone, with the results of their operations given. It
// has one world: the tasks of a scripted scenario leave nothing behind in it.
type rehearsal struct {
	script   *script
	world    *kernel.World
	instance *scenario.Instance
	path     []*node   // the points that the task passes, from the first on
	passed   int       // how many it has passed
	op       kernel.Op // what it announces at the end of the path
	atEnd    bool      // it has announced it
	broken   *kernel.Violation
}

// rehearse sets the scenario up.
func (s *script) rehearse() *rehearsal {
	r := &rehearsal{script: s}
	options := s.worker.config.Scenario.Options()
	options.LockOrder = s.worker.order
	r.world = kernel.NewExploredWorld(r, options)
	r.instance = s.worker.config.Variant.Build(r.world.NewTask("setup"))
	i := r.instance
	if i.Check != nil || i.Debt != nil || i.Quiesce != nil || i.Observe != nil || i.Teardown != nil || i.Spec != nil {
		s.failed = errNeedsCode
	}
	return r
}

// learn finds out what a task does after the parent's operation has returned
// the result.
func (s *script) learn(task int, parent *node, result kernel.Result) *node {
	n := &node{parent: parent, result: result, at: -1}
	r := s.rehearsal
	s.worker.order.Forget()
	defer s.worker.learnOrder()
	r.path, r.passed, r.atEnd, r.broken = r.path[:0], 0, false, nil
	for at := n; at != nil; at = at.parent {
		r.path = append(r.path, at)
	}
	slices.Reverse(r.path)
	t := r.world.NewEngineTask(r.instance.Tasks[task].Name, task+1)
	n.records = r.perform(t, task)
	switch {
	case r.broken != nil:
		n.violation, n.finished = r.broken, true
	case r.atEnd:
		n.op = r.op
		s.place(n, t)
	case r.passed < len(r.path)-1:
		s.failed = &DivergenceError{Detail: fmt.Sprintf("task %s ends, where it had gone on before", t.Name())}
	default:
		n.finished = true
	}
	return n
}

// perform runs the task to the end of the path.
func (r *rehearsal) perform(t *kernel.Task, task int) (records []Operation) {
	defer func() {
		switch p := recover().(type) {
		case nil, unwound:
		case *kernel.Violation:
			r.broken = p
		default:
			r.broken = crash(t.Name(), p)
		}
	}()
	name := r.instance.Tasks[task].Name
	for i, op := range r.instance.Tasks[task].Operations {
		result := op.Run(t)
		records = append(records, Operation{Task: task, TaskName: name, Number: i, Name: op.Name, Result: result})
	}
	t.CheckExit()
	return records
}

// place numbers the locations of the operation.
func (s *script) place(n *node, t *kernel.Task) {
	op := &n.op
	switch op.Kind {
	case kernel.OpLoad, kernel.OpStore, kernel.OpUpdate:
		n.at = s.worker.places.find(op.Location, 0, false)
		if op.Order == kernel.Plain || op.Site != nil {
			s.failed = errNeedsCode
		}
	case kernel.OpAcquire:
		numbers, known := s.worker.strandNumbers(op, t.ID())
		if !known {
			s.failed = errNewSharer
		}
		for _, number := range numbers {
			n.strands = append(n.strands, s.worker.places.find(op.Location, number, true))
		}
	case kernel.OpRelease:
		n.at = s.worker.places.find(op.Location, releaseStrand(op, t.ID()), true)
	case kernel.OpJoin:
		if op.Child != t { // a task that waits for itself waits for ever
			s.failed = errNeedsCode
		}
	case kernel.OpSpawn:
		s.failed = errNeedsCode
	}
}

// Perform implements [kernel.Engine]. The operation must be the one that the
// task announced when it passed here before.
func (r *rehearsal) Perform(t *kernel.Task, op *kernel.Op) kernel.Result {
	if r.atEnd || r.script.failed != nil {
		panic(unwound{})
	}
	if r.passed == len(r.path)-1 {
		r.atEnd, r.op = true, *op
		panic(unwound{})
	}
	known := &r.path[r.passed].op
	if op.Kind != known.Kind || op.Location != known.Location || op.Order != known.Order || op.Value != known.Value || op.Mode != known.Mode {
		r.script.failed = &DivergenceError{Detail: fmt.Sprintf("task %s is at a %s, where it was at a %s before", t.Name(), op.Kind, known.Kind)}
		panic(unwound{})
	}
	r.passed++
	return r.path[r.passed].result
}

// Access implements [kernel.Engine].
func (r *rehearsal) Access(_ *kernel.Task, region *kernel.Region, _ bool) {
	if !region.Lifetime() {
		r.script.failed = errNeedsCode
	}
}

// Violate implements [kernel.Engine].
func (r *rehearsal) Violate(_ *kernel.Task, v *kernel.Violation) { panic(v) }
