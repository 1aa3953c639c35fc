package kernel

import "sync/atomic"

// Object is the header of everything that is allocated and freed: an inode,
// an extent map. It gives the object a name that is stable from one execution
// to the next, owns the words and locks inside it, and carries its lifetime,
// so that a use after free, a double free and a leak are seen.
//
// Embed it and call Init before anything else; the zero value is not usable.
type Object struct {
	world    *World
	class    string
	id       ObjectID
	fields   uint32
	self     any
	lifetime Region
	freed    atomic.Bool
}

// ObjectID names an object by the task that made it and the count of objects
// that this task had made before: the same in every execution in which the
// task's past is the same. Zero is nil.
type ObjectID uint64

func newObjectID(task, sequence int) ObjectID {
	return ObjectID(uint64(task+1)<<24 | uint64(sequence+1))
}

// Init brings the object to life. Class is the name that traces print
// ("inode"), self is the pointer that [Pointer] loads give back.
func (o *Object) Init(t *Task, class string, self any) {
	o.world, o.class, o.self = t.world, class, self
	o.id = newObjectID(t.id, t.objects)
	t.objects++
	o.fields = 0
	o.freed.Store(false)
	o.lifetime.init(t.world, o, "lifetime")
	t.world.born(o)
	o.lifetime.Write(t)
}

// Free ends the object's life. Every access must happen before it.
func (o *Object) Free(t *Task) {
	if o.freed.Swap(true) {
		t.Violate(DoubleFree, "%s is freed twice", o.Name())
	}
	o.lifetime.Write(t)
	o.world.died(o)
}

// Use states that the object must be alive now. Words and locks inside the
// object call it by themselves; code that touches only plain fields does so
// where it first touches them.
func (o *Object) Use(t *Task) {
	if t.engine != nil || o.freed.Load() {
		o.use(t)
	}
}

func (o *Object) use(t *Task) {
	if o.freed.Load() {
		t.Violate(UseAfterFree, "%s is used after it was freed", o.Name())
	}
	o.lifetime.Read(t)
}

// Name returns class and identity, such as "inode#3".
func (o *Object) Name() string { return objectName(o.class, o.id) }

// Alive reports whether the object has been initialised and not freed.
func (o *Object) Alive() bool { return o.world != nil && !o.freed.Load() }

func (o *Object) header() *Object { return o }

// Location is the identity of one word or lock: the object it belongs to and
// its place inside it. It is embedded in every primitive.
type Location struct {
	owner *Object
	name  string
	field uint32
	cell  cell
	wide  bool
	// Slot is scratch space for the engine: the dense number of the location
	// in the current execution plus one, or zero before its first use.
	Slot int
}

// cell is what the engine needs to know of the memory behind a location.
type cell interface {
	// initial returns the value before any task ran.
	initial() uint64
	// settle stores the final value, so that code after the tasks reads it.
	settle(v uint64)
	// wrap returns what is left of a sum at the width of the memory.
	wrap(sum uint64) uint64
	// show renders a value for traces.
	show(v uint64) string
}

func (l *Location) init(owner *Object, name string, c cell) {
	l.owner, l.name, l.field, l.cell = owner, name, owner.fields, c
	l.Slot, l.wide = 0, false
	owner.fields++
}

// ID returns the stable identity of the location: owner and field.
func (l *Location) ID() (ObjectID, uint32) { return l.owner.id, l.field }

// Wide reports whether the location is a word of 64 bits that a 32-bit machine
// reads and writes in two halves, see [Word].
func (l *Location) Wide() bool { return l.wide }

// Name returns the owner's name and the field's, such as "inode#3.root".
func (l *Location) Name() string { return l.owner.Name() + "." + l.name }

// Field returns the field's own name, such as "root".
func (l *Location) Field() string { return l.name }

// Initial returns the value that the location had before any task ran. Locks
// have none and return 0.
func (l *Location) Initial() uint64 {
	if l.cell == nil {
		return 0
	}
	return l.cell.initial()
}

// Settle stores the coherence-final value for the code that runs after the
// tasks have ended. It does nothing for locks.
func (l *Location) Settle(v uint64) {
	if l.cell != nil {
		l.cell.settle(v)
	}
}

// Show renders a value of this location for a trace.
func (l *Location) Show(v uint64) string {
	if l.cell == nil {
		return ""
	}
	return l.cell.show(v)
}
