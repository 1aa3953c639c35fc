package kernel

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// maxLockClasses bounds the lock classes of one program, so that an order can
// be looked up in one word. Thirty are in use in the largest scenario.
const maxLockClasses = 64

// LockOrder remembers which lock class was waited for while which other was
// held, over every execution that shares it, and reports the first cycle: two
// tasks that meet in the wrong moment deadlock, even if they never did so far
// (the idea of the kernel's lockdep, Documentation/locking/lockdep-design.rst).
// Locks that were only tried are no cause to wait and add no edge.
type LockOrder struct {
	after [maxLockClasses]atomic.Uint64 // bit c of after[h]: c was waited for under h
	some  atomic.Bool                   // there is an edge

	mutex  sync.Mutex
	names  []lockClass // by class
	likely int         // the class that is asked for next, if a world makes its locks as the last one did
}

// NewLockOrder returns an order without edges.
func NewLockOrder() *LockOrder { return &LockOrder{} }

// lockClass names the locks of one field of one class of objects.
type lockClass struct{ owner, field string }

func (c lockClass) String() string { return c.owner + "." + c.field }

func (o *LockOrder) class(owner, field string) int {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	name := lockClass{owner, field}
	if o.likely >= len(o.names) {
		o.likely = 0
	}
	if c := o.likely; c < len(o.names) && o.names[c] == name {
		o.likely++
		return c
	}
	c := slices.Index(o.names, name)
	if c < 0 {
		c = len(o.names)
		if c == maxLockClasses {
			panic(fmt.Sprintf("kernel: more than %d lock classes", maxLockClasses))
		}
		o.names = append(o.names, name)
	}
	o.likely = c + 1
	return c
}

// observe notes that the task waits for class next while it holds class first.
func (o *LockOrder) observe(t *Task, first, next int) {
	if o.after[first].Load()&(1<<next) != 0 {
		return
	}
	o.mutex.Lock()
	cycle := o.reaches(next, first)
	if !cycle {
		o.after[first].Or(1 << next)
		o.some.Store(true)
	}
	firstName, nextName := o.names[first], o.names[next]
	o.mutex.Unlock()
	if cycle {
		t.Violate(LockOrderCycle, "%s is waited for under %s, and elsewhere the other way round", nextName, firstName)
	}
}

// Forget drops all edges. Only one goroutine may use the order meanwhile.
func (o *LockOrder) Forget() {
	if o.Empty() {
		return
	}
	o.some.Store(false)
	for c := range o.names {
		o.after[c].Store(0)
	}
}

// Empty reports whether there are no edges.
func (o *LockOrder) Empty() bool { return !o.some.Load() }

// Edges returns, for each class, the classes that were waited for under it, one
// bit each. Two results of one order tell whether it has learned something.
func (o *LockOrder) Edges() (edges [maxLockClasses]uint64) {
	for c := range o.after {
		edges[c] = o.after[c].Load()
	}
	return edges
}

// Merge adds what another order knows, by the names of the classes, and
// describes the first cycle that this closes; "" if there is none.
func (o *LockOrder) Merge(other *LockOrder) (cycle string) {
	for first, row := range other.Edges() {
		for ; row != 0; row &= row - 1 {
			from, to := other.classNamed(first), other.classNamed(bits.TrailingZeros64(row))
			f, n := o.class(from.owner, from.field), o.class(to.owner, to.field)
			if cycle == "" && o.reaches(n, f) {
				cycle = fmt.Sprintf("%s under %s", to, from)
			}
			o.after[f].Or(1 << n)
			o.some.Store(true)
		}
	}
	return cycle
}

func (o *LockOrder) classNamed(number int) lockClass {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.names[number]
}

// reaches reports whether the edges lead from one class to another; a class
// reaches itself.
func (o *LockOrder) reaches(from, to int) bool {
	seen, todo := uint64(0), uint64(1)<<from
	for todo != 0 {
		for c := range maxLockClasses {
			if todo&(1<<c) == 0 {
				continue
			}
			todo &^= 1 << c
			if seen&(1<<c) != 0 {
				continue
			}
			seen |= 1 << c
			todo |= o.after[c].Load() &^ seen
		}
	}
	return seen&(1<<to) != 0
}

// LockEdge says that a lock of one class was waited for while one of another was
// held. A class is a field of a class of objects.
type LockEdge struct {
	// HeldOwner and HeldField name the class of the lock that was held,
	// WaitedOwner and WaitedField that of the other.
	HeldOwner, HeldField     string
	WaitedOwner, WaitedField string
}

// List returns all edges, by the names of the classes, to be written down.
func (o *LockOrder) List() []LockEdge {
	var list []LockEdge
	for held, row := range o.Edges() {
		for ; row != 0; row &= row - 1 {
			h, w := o.classNamed(held), o.classNamed(bits.TrailingZeros64(row))
			list = append(list, LockEdge{h.owner, h.field, w.owner, w.field})
		}
	}
	return list
}

// ListedLockOrder returns an order that has the edges.
func ListedLockOrder(list []LockEdge) *LockOrder {
	o := NewLockOrder()
	for _, e := range list {
		held, waited := o.class(e.HeldOwner, e.HeldField), o.class(e.WaitedOwner, e.WaitedField)
		o.after[held].Or(1 << waited)
	}
	return o
}
