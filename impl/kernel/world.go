package kernel

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Options are the parts of the environment that a scenario decides.
type Options struct {
	// AllocationFailure lets every allocation that asks [Task.AllocationFails]
	// fail: explored as a choice, natively by FailAllocation.
	AllocationFailure bool
	// Reschedule lets every reschedule point fire: explored as a choice,
	// natively when somebody waits for the lock.
	Reschedule bool
	// FailAllocation decides natively whether an allocation fails; nil never
	// fails one. It is called by many goroutines at once.
	FailAllocation func(label string) bool
	// LockOrder collects lock-order edges, also of other worlds that share it;
	// nil gives the world one of its own.
	LockOrder *LockOrder
}

// World is one machine: the objects and tasks of one execution.
type World struct {
	engine  Engine // nil natively
	options Options
	live    atomic.Int64
	tasks   atomic.Int32 // ids handed out natively

	mutex   sync.Mutex // guards objects
	objects map[ObjectID]*Object

	renewed bool
	cast    []*Task // explored: the tasks since the first Renew
	engaged int     // how many of them have been made since the last one
}

// NewWorld returns a native world.
func NewWorld(options Options) *World { return newWorld(nil, options) }

// NewExploredWorld returns a world whose tasks are driven by the engine.
// Scenario code never calls it; the explorer does.
func NewExploredWorld(engine Engine, options Options) *World { return newWorld(engine, options) }

func newWorld(engine Engine, options Options) *World {
	if options.LockOrder == nil {
		options.LockOrder = NewLockOrder()
	}
	w := &World{engine: engine, options: options}
	if engine != nil {
		w.objects = make(map[ObjectID]*Object)
	}
	return w
}

// Renew makes an explored world what a new one would be, in the same memory: nobody
// may use its tasks and objects any more. Only the explorer calls it.
func (w *World) Renew(options Options) {
	if options.LockOrder == nil {
		options.LockOrder = NewLockOrder()
	}
	w.options, w.renewed, w.engaged = options, true, 0
	w.live.Store(0)
	w.tasks.Store(0)
	clear(w.objects)
}

// task returns a new task; in a world that is used again, in the memory of an old
// one.
func (w *World) task(engine Engine, name string, id int) *Task {
	if !w.renewed {
		return &Task{world: w, engine: engine, name: name, id: id}
	}
	if w.engaged == len(w.cast) {
		w.cast = append(w.cast, &Task{})
	}
	t := w.cast[w.engaged]
	w.engaged++
	*t = Task{world: w, engine: engine, name: name, id: id, held: t.held[:0], loaded: t.loaded[:0]}
	return t
}

// Explored reports whether an engine drives this world.
func (w *World) Explored() bool { return w.engine != nil }

// LiveObjects returns how many objects have been initialised and not freed.
func (w *World) LiveObjects() int { return int(w.live.Load()) }

// Leaked returns the names of the objects of an explored world that were never
// freed, in order of identity. Natively it returns nil; see [World.LiveObjects].
func (w *World) Leaked() []string {
	if w.objects == nil {
		return nil
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	var alive []*Object
	for _, o := range w.objects {
		if o.Alive() {
			alive = append(alive, o)
		}
	}
	return sortedNames(alive)
}

func (w *World) born(o *Object) {
	w.live.Add(1)
	if w.objects != nil {
		w.mutex.Lock()
		w.objects[o.id] = o
		w.mutex.Unlock()
	}
}

func (w *World) died(o *Object) { w.live.Add(-1) }

func (w *World) object(id ObjectID) *Object {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.objects[id]
}

// Task is the context that every primitive is called with: the kernel's
// "current". One goroutine, or one coroutine of the explorer, owns it.
type Task struct {
	world    *World
	engine   Engine // nil natively, and in the set-up and quiescence of an explored world
	name     string
	id       int
	objects  int // objects made so far, for stable names
	spinning int // spinning locks held
	held     []held
	owed     []Awaited     // where the task has to wake others, see [Task.Owe]
	sleepsIn Awaited       // while it sleeps
	op       Op            // explored: the operation that the engine is deciding
	loaded   []*loaded     // explored: values that the compiler may still read again
	done     chan struct{} // natively: closed at the end of a spawned task
	// Slot is scratch space for the engine: the number of the task in the
	// current execution.
	Slot int
}

// NewTask returns a task that runs on the caller's goroutine: natively a
// goroutine of a test, in an explored world the code that runs alone before
// and after the tasks.
func (w *World) NewTask(name string) *Task {
	id := int(w.tasks.Add(1)) - 1
	if w.engine != nil && id > 0 {
		id += lateTask
	}
	return w.task(nil, name, id)
}

// lateTask keeps the tasks that run after the explored ones from sharing
// object names with them. The explorer numbers its tasks from 1.
const lateTask = 1 << 16

// NewEngineTask returns a task of an explored world. The explorer chooses the
// id, which must be the same for the same task in every execution.
func (w *World) NewEngineTask(name string, id int) *Task {
	return w.task(w.engine, name, id)
}

// Name returns the task's name, as traces print it.
func (t *Task) Name() string { return t.name }

// ID returns the task's stable identity, see [World.NewEngineTask].
func (t *Task) ID() int { return t.id }

// World returns the machine that the task runs on.
func (t *Task) World() *World { return t.world }

// perform hands an operation to the engine. The task keeps it, so that none is
// allocated.
func (t *Task) perform(op Op) Result {
	if len(t.loaded) > 0 {
		t.keepLoaded(&op)
	}
	t.op = op
	return t.engine.Perform(t, &t.op)
}

// Violate reports a broken safety property. It does not return: natively it
// panics with a [*Violation], explored it ends the execution.
func (t *Task) Violate(kind ViolationKind, format string, args ...any) {
	v := &Violation{Kind: kind, Message: fmt.Sprintf(format, args...), Task: t.name}
	if t.engine != nil {
		t.engine.Violate(t, v)
	}
	panic(v)
}

// Assert reports an [Assertion] violation unless the condition holds.
func (t *Task) Assert(condition bool, format string, args ...any) {
	if !condition {
		t.Violate(Assertion, format, args...)
	}
}

// Barrier is a stand-alone memory barrier. Natively it is nothing, because
// Go's atomics are already sequentially consistent.
func (t *Task) Barrier(b Barrier) {
	if t.engine != nil {
		t.perform(Op{Kind: OpBarrier, Barrier: b})
	}
}

// AllocationFails reports whether the allocation named by the label fails.
func (t *Task) AllocationFails(label string) bool {
	o := &t.world.options
	switch {
	case !o.AllocationFailure:
		return false
	case t.engine != nil:
		return t.Choose(label+" allocation fails", 2) == 1
	default:
		return o.FailAllocation != nil && o.FailAllocation(label)
	}
}

// Choose lets the environment pick one of n alternatives; explored, every one
// is tried. Natively, and before and after the tasks of an explored world, it
// is 0, so alternative 0 should be the ordinary course.
func (t *Task) Choose(label string, n int) int {
	if t.engine == nil || n < 2 {
		return 0
	}
	return t.perform(Op{Kind: OpChoose, Label: label, Choices: n}).Choice
}

// Resched is a point at which the task may be scheduled away, like
// cond_resched. It may not be reached with a spinning lock held.
func (t *Task) Resched() {
	t.mayPotentiallySleep("reschedule point")
	t.keepLoaded(&Op{Kind: OpBarrier})
}

func (t *Task) mayPotentiallySleep(what string) {
	if t.spinning > 0 {
		t.Violate(SleepWhileSpinning, "%s while holding %s", what, t.heldNames())
	}
}

// Go starts a task that runs body, and returns it so that it can be joined.
// Its start is ordered after everything the caller did before.
func (t *Task) Go(name string, body func(*Task)) *Task {
	if t.engine != nil {
		child := t.world.task(t.engine, name, 0)
		t.perform(Op{Kind: OpSpawn, Label: name, Child: child, Body: body})
		return child
	}
	if t.world.engine != nil {
		panic("kernel: task " + name + " is started before or after the explored tasks")
	}
	child := t.world.NewTask(name)
	child.done = make(chan struct{})
	go func() {
		defer close(child.done)
		body(child)
		child.CheckExit()
	}()
	return child
}

// Join waits for the end of a task that the world started. Everything the task
// did is ordered before the return.
func (t *Task) Join(child *Task) {
	t.mayPotentiallySleep("join")
	if t.engine != nil && child.engine != nil {
		t.perform(Op{Kind: OpJoin, Child: child})
		return
	}
	if child.done != nil {
		<-child.done
	}
}

// SetID gives a spawned task of an explored world its stable identity. Only
// the explorer calls it, before the task's first step.
func (t *Task) SetID(id int) { t.id = id }

// CheckExit reports a lock that the task still holds, or a wake-up that it still
// owes. Whoever runs a task's body calls it at the end of the body.
func (t *Task) CheckExit() {
	if len(t.held) > 0 {
		t.Violate(HeldAtExit, "%s is still held", t.heldNames())
	}
	if len(t.owed) > 0 {
		t.Violate(HeldAtExit, "the wake-up of %s is still owed", t.owed[0].Name())
	}
}
