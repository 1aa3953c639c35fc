package explore

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

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
	steps     []*step // those that nodes share
	plain     bool    // some access is plain
	failed    error

	conditions conditions // of all nodes that await
}

// node is a point in the life of one task: the operation that it announces
// after a certain row of results, or its end.
type node struct {
	parent         *node
	first, sibling *node                   // where the task goes from here, and where it can go instead
	many           map[kernel.Result]*node // the same, if there are many ways from here
	result         kernel.Result
	*step          // what it announces; nil at the end
	end            *ending
}

// step is an operation, shared by the nodes that announce it.
type step struct {
	op        kernel.Op
	at        int32   // location of the operation, or -1
	strands   []int32 // of an acquisition
	condition int32   // of an await: in script.conditions
}

// ending is how a task ended.
type ending struct {
	records   []Operation
	violation *kernel.Violation // it broke something
}

// errNeedsCode ends a scripted exploration of a scenario that has more to it
// than words and locks; it starts again and runs the code every time.
var errNeedsCode = errors.New("the scenario's code must run in every execution")

// places numbers the locations of all graphs of a scripted exploration. Every
// run looks at them, and hardly ever is there a new one.
type places struct {
	adding sync.Mutex
	known  atomic.Pointer[numbered]
}

// numbered are locations with their initial values; they do not change.
type numbered struct {
	locations []graph.Location
	initial   []uint64
}

// find returns the number of one strand of a location.
func (p *places) find(l *kernel.Location, strand int, lock bool) int32 {
	p.adding.Lock()
	defer p.adding.Unlock()
	owner, field := l.ID()
	locations, initial := p.all()
	for i := range locations {
		if k := &locations[i]; k.Owner == owner && k.Field == field && k.Strand == strand {
			return int32(i)
		}
	}
	p.set(append(locations, graph.Location{Owner: owner, Field: field, Strand: strand, Lock: lock, Name: l.Name()}), append(initial, l.Initial()))
	return int32(len(locations))
}

// all returns the locations so far, with their initial values.
func (p *places) all() ([]graph.Location, []uint64) {
	n := p.known.Load()
	if n == nil {
		return nil, nil
	}
	return n.locations, n.initial
}

func (p *places) set(locations []graph.Location, initial []uint64) {
	p.known.Store(&numbered{slices.Clip(locations), slices.Clip(initial)})
}

// startScripted prepares a run in which no code runs. Its memory is that of the
// worker's last one.
func (w *worker) startScripted(s *stem) *run {
	r := &w.scratch.run
	r.renew(w, s.graph)
	r.stem, r.script = s, &w.script
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
		th := r.actor(int32(i))
		th.place(int32(i), s.names[i], stand{})
		r.threads = append(r.threads, th)
		r.enter(th, root)
	}
}

// begin learns how many tasks there are and how each begins.
func (s *script) begin() {
	if s.rehearsal = s.rehearse(); s.failed != nil {
		return
	}
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
	th.node, th.finished, th.at, th.strands, th.op = n, n.end != nil, -1, nil, nil
	if n.step != nil {
		th.at, th.strands, th.op = n.at, n.strands, &n.op
	}
	if th.finished && n.end.violation != nil {
		r.fail(n.end.violation)
	}
	for _, at := range th.strands {
		r.know(at)
	}
	r.know(th.at)
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
	var all []graph.Location
	all, r.initial = r.script.worker.places.all()
	r.g.ShareLocations(all)
}

// fewWays is how many ways from a point are looked through one by one.
const fewWays = 6

// follow returns the point that the thread reaches with its result.
func (s *script) follow(th *thread) *node {
	from := th.node
	if n := from.many[th.result]; n != nil {
		return n
	}
	ways := 0
	for n := from.first; n != nil && from.many == nil; n = n.sibling {
		if n.result == th.result {
			return n
		}
		ways++
	}
	n := s.learn(int(th.number), from, th.result)
	n.sibling, from.first = from.first, n
	switch {
	case from.many != nil:
		from.many[n.result] = n
	case ways == fewWays:
		from.many = make(map[kernel.Result]*node)
		for way := from.first; way != nil; way = way.sibling {
			from.many[way.result] = way
		}
	}
	return n
}

// rehearsal runs tasks alone, with the results of their operations given. It
// has one world: the tasks of a scripted scenario leave nothing behind in it.
type rehearsal struct {
	script    *script
	world     *kernel.World
	instance  *scenario.Instance
	actors    []*actor
	abandoned bool
}

// actor is a task that waits where it came to last.
type actor struct {
	rehearsal *rehearsal
	number    int // of its task
	task      *kernel.Task
	co        *coroutine // nil if it waits nowhere
	at        *node      // the point where it waits
	path      []*node    // the known points that it passes until it gets somewhere new
	passed    int        // how many of them it has passed
	op        kernel.Op  // what it announces where it waits
	result    kernel.Result
	end       *ending // nil unless it has ended
}

// rehearse sets the scenario up.
func (s *script) rehearse() *rehearsal {
	r := &rehearsal{script: s}
	options := s.worker.config.Scenario.Options()
	options.LockOrder = s.worker.order
	r.world = kernel.NewExploredWorld(r, options)
	i, err := s.worker.config.build(r.world.NewTask("setup"))
	if err != nil {
		s.failed = err
		return nil
	}
	r.instance = i
	if i.Check != nil || i.Debt != nil || i.Quiesce != nil || i.Observe != nil || i.Teardown != nil || i.Spec != nil {
		s.failed = errNeedsCode
	}
	for range i.Tasks {
		r.actors = append(r.actors, &actor{})
	}
	return r
}

// learn finds out what a task does after the parent's operation has returned
// the result.
func (s *script) learn(task int, parent *node, result kernel.Result) *node {
	n := &node{parent: parent, result: result}
	s.worker.order.Forget()
	defer s.worker.learnOrder()
	a := s.rehearsal.actors[task]
	if a.co == nil || a.at != parent {
		s.rehearsal.start(a, task, n)
	}
	a.result = result
	a.co.resume()
	a.at = n
	if a.end == nil {
		n.step = s.place(&a.op, a.task)
		return n
	}
	s.worker.pool.put(a.co)
	a.co = nil
	n.end = a.end
	if a.passed < len(a.path)-1 && n.end.violation == nil && s.failed == nil {
		s.failed = &DivergenceError{Detail: fmt.Sprintf("task %s ends, where it had gone on before", a.task.Name())}
	}
	return n
}

// start has the actor begin anew, on its way to the point.
func (r *rehearsal) start(a *actor, task int, n *node) {
	r.release(a)
	a.path, a.passed, a.end = a.path[:0], 0, nil
	for at := n; at != nil; at = at.parent {
		a.path = append(a.path, at)
	}
	slices.Reverse(a.path)
	a.task = r.world.NewEngineTask(r.instance.Tasks[task].Name, task+1)
	a.rehearsal, a.number = r, task
	a.co = r.script.worker.pool.get(a)
}

// release sends the actor home.
func (r *rehearsal) release(a *actor) {
	if a.co == nil {
		return
	}
	r.abandoned = true
	a.co.resume()
	r.abandoned = false
	r.script.worker.pool.put(a.co)
	a.co = nil
}

// close ends what the script still has going.
func (s *script) close() {
	if s.rehearsal == nil {
		return
	}
	for _, a := range s.rehearsal.actors {
		s.rehearsal.release(a)
	}
}

// work implements [job]: it runs the task.
func (a *actor) work() {
	end := &ending{}
	defer func() {
		switch p := recover().(type) {
		case nil, unwound:
		case *kernel.Violation:
			end.violation = p
		default:
			end.violation = crash(a.task.Name(), p)
		}
		a.end = end
	}()
	task := &a.rehearsal.instance.Tasks[a.number]
	for i, op := range task.Operations {
		result := op.Run(a.task)
		if a.rehearsal.script.worker.config.Visit != nil {
			end.records = append(end.records, Operation{Task: a.number, TaskName: task.Name, Number: i, Name: op.Name, Result: result})
		}
	}
	a.task.CheckExit()
}

// place numbers the locations of the operation.
func (s *script) place(op *kernel.Op, t *kernel.Task) *step {
	n := &step{op: *op, at: -1}
	switch op.Kind {
	case kernel.OpLoad, kernel.OpStore, kernel.OpUpdate:
		n.at = s.worker.places.find(op.Location, 0, false)
		s.plain = s.plain || op.Order == kernel.Plain
		if op.Site != nil || s.worker.config.splits(op) {
			s.failed = errNeedsCode
		}
		if op.Until != nil {
			s.conditions = append(s.conditions, op.Until)
			n.condition = int32(len(s.conditions) - 1)
		}
	case kernel.OpAcquire:
		numbers, known := s.worker.strandNumbers(op, t.ID())
		if !known {
			s.failed = s.worker.discover(op.Location, t.ID())
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
	return s.shared(n)
}

// shared returns one step for all loads and stores that are the same. Of two
// awaits nobody knows that.
func (s *script) shared(n *step) *step {
	if n.op.Kind != kernel.OpLoad && n.op.Kind != kernel.OpStore || n.op.Until != nil {
		return n
	}
	for _, known := range s.steps {
		if known.at == n.at && known.op.Kind == n.op.Kind && known.op.Order == n.op.Order && known.op.Value == n.op.Value {
			return known
		}
	}
	s.steps = append(s.steps, n)
	return n
}

// Perform implements [kernel.Engine]. On its way to where it waited before, the
// operation must be the one that the task announced when it passed there.
func (r *rehearsal) Perform(t *kernel.Task, op *kernel.Op) kernel.Result {
	if r.abandoned || r.script.failed != nil {
		panic(unwound{})
	}
	a := r.actors[t.ID()-1]
	if a.passed == len(a.path)-1 {
		a.op = *op
		a.co.yield(struct{}{})
		if r.abandoned {
			panic(unwound{})
		}
		return a.result
	}
	known := &a.path[a.passed].op
	if op.Kind != known.Kind || op.Location != known.Location || op.Order != known.Order || op.Value != known.Value && op.Kind != kernel.OpUpdate || op.Mode != known.Mode ||
		(op.Until != nil) != (known.Until != nil) || op.Passes != known.Passes {
		r.script.failed = &DivergenceError{Detail: fmt.Sprintf("task %s is at: %s; before, it was at: %s", t.Name(), deed{op: *op}, deed{op: *known})}
		panic(unwound{})
	}
	a.passed++
	return a.path[a.passed].result
}

// Access implements [kernel.Engine].
func (r *rehearsal) Access(_ *kernel.Task, region *kernel.Region, _ bool) {
	if !region.Lifetime() {
		r.script.failed = errNeedsCode
	}
}

// Violate implements [kernel.Engine].
func (r *rehearsal) Violate(_ *kernel.Task, v *kernel.Violation) { panic(v) }
