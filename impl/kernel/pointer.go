package kernel

import (
	"sync/atomic"
	"unsafe"
)

// Pointer is a word that holds the address of a T or nil; it is as wide as the
// machine's words, and is read and written in one piece. In an explored
// world a T embeds an [Object], by whose identity the engine knows it.
type Pointer[T any] struct {
	Location
	value unsafe.Pointer // *T
}

// Init names the pointer within its owner and gives it its value before any
// task can see it.
func (p *Pointer[T]) Init(owner *Object, name string, value *T) {
	p.value = unsafe.Pointer(value)
	p.Location.init(owner, name, (*pointerCell[T])(p))
}

// Load reads the pointer. Order is Plain, Once, Acquire or Sequential.
func (p *Pointer[T]) Load(t *Task, order Order) *T { return p.LoadRacy(t, order, nil) }

// LoadRacy is a Load that is meant to race, like [Word.LoadRacy].
func (p *Pointer[T]) LoadRacy(t *Task, order Order, site *RaceSite) *T {
	p.owner.Use(t)
	if t.engine != nil {
		r := t.perform(Op{Kind: OpLoad, Location: &p.Location, Order: order, Site: site})
		return pointee[T](p.owner.world, r.Value)
	}
	if order == Plain && site == nil {
		return (*T)(p.value)
	}
	return (*T)(atomic.LoadPointer(&p.value))
}

// Store writes the pointer. Order is Plain, Once, Release or Sequential.
func (p *Pointer[T]) Store(t *Task, order Order, value *T) { p.StoreRacy(t, order, value, nil) }

// StoreRacy is a Store that is meant to race, like [Word.StoreRacy].
func (p *Pointer[T]) StoreRacy(t *Task, order Order, value *T, site *RaceSite) {
	p.owner.Use(t)
	switch {
	case t.engine != nil:
		t.perform(Op{Kind: OpStore, Location: &p.Location, Order: order, Value: handle(value), Site: site})
	case order == Plain && site == nil:
		p.value = unsafe.Pointer(value)
	default:
		atomic.StorePointer(&p.value, unsafe.Pointer(value))
	}
}

// CompareAndSwap replaces old by updated and reports whether it did.
func (p *Pointer[T]) CompareAndSwap(t *Task, order Order, old, updated *T) bool {
	p.owner.Use(t)
	if t.engine != nil {
		return t.perform(Op{Kind: OpUpdate, Location: &p.Location, Order: order,
			Change: ComparesAndSwaps, Value: handle(updated), Expected: handle(old)}).OK
	}
	return atomic.CompareAndSwapPointer(&p.value, unsafe.Pointer(old), unsafe.Pointer(updated))
}

// headed is what a tracked pointee has by embedding an [Object].
type headed interface{ header() *Object }

func handle[T any](p *T) uint64 {
	if p == nil {
		return 0
	}
	return uint64(any(p).(headed).header().id)
}

func pointee[T any](w *World, h uint64) *T {
	if h == 0 {
		return nil
	}
	return w.object(ObjectID(h)).self.(*T)
}

type pointerCell[T any] Pointer[T]

func (c *pointerCell[T]) initial() uint64        { return handle((*T)(c.value)) }
func (c *pointerCell[T]) wrap(sum uint64) uint64 { return sum }
func (c *pointerCell[T]) settle(v uint64) {
	c.value = unsafe.Pointer(pointee[T](c.owner.world, v))
}
func (c *pointerCell[T]) show(v uint64) string {
	if v == 0 {
		return "nil"
	}
	return c.owner.world.object(ObjectID(v)).Name()
}
