package kernel

import (
	"reflect"
	"strconv"
	"sync/atomic"
	"unsafe"
)

// Integer is what a [Word] can hold: anything that fits 64 bits.
type Integer interface {
	~int | ~int32 | ~int64 | ~uint8 | ~uint32 | ~uint64
}

// Word is one word that tasks may read and write without a lock. Every access
// says how it is marked. Init it before use.
//
// An int is as wide as the machine's words. A word of 64 bits, of type int64 or
// uint64, is two words of a 32-bit machine: plain and Once accesses of it are two
// accesses there, and other accesses do not exist, as READ_ONCE does not keep
// them together in the kernel and smp_load_acquire refuses to compile. A word
// that is initialised with InitAtomic is one there too.
type Word[T Integer] struct {
	Location
	value uint64
}

// Init names the word within its owner and gives it its value before any
// task can see it.
func (w *Word[T]) Init(owner *Object, name string, value T) {
	w.InitAtomic(owner, name, value)
	w.wide = isWide[T]()
}

// InitAtomic is Init for a word that every machine reads and writes in one
// piece, whatever its type: the atomic64_t of the kernel, which costs a lock or a
// locked instruction on most 32-bit machines, or an atomic.Int64 of Go.
func (w *Word[T]) InitAtomic(owner *Object, name string, value T) {
	w.value = uint64(value)
	w.Location.init(owner, name, (*wordCell[T])(w))
}

// isWide reports whether the type has 64 bits on a 32-bit machine too.
func isWide[T Integer]() bool {
	kind := reflect.TypeFor[T]().Kind()
	return kind == reflect.Int64 || kind == reflect.Uint64
}

// Load reads the word. Order is Plain, Once, Acquire or Sequential.
func (w *Word[T]) Load(t *Task, order Order) T { return w.LoadRacy(t, order, nil) }

// LoadRacy is a Load that is meant to race; site says why that is harmless. A
// plain one is data_race() in the kernel. Natively it is atomic, since Go has
// nothing else that its race detector passes over.
func (w *Word[T]) LoadRacy(t *Task, order Order, site *RaceSite) T {
	w.owner.Use(t)
	if t.engine != nil {
		return T(t.perform(Op{Kind: OpLoad, Location: &w.Location, Order: order, Site: site}).Value)
	}
	if order == Plain && site == nil {
		return T(w.value)
	}
	return T(atomic.LoadUint64(&w.value))
}

// Store writes the word. Order is Plain, Once, Release or Sequential.
func (w *Word[T]) Store(t *Task, order Order, value T) { w.StoreRacy(t, order, value, nil) }

// StoreRacy is a Store that is meant to race; site says why that is harmless.
// Natively a plain one is atomic, like that of LoadRacy.
func (w *Word[T]) StoreRacy(t *Task, order Order, value T, site *RaceSite) {
	w.owner.Use(t)
	switch {
	case t.engine != nil:
		t.perform(Op{Kind: OpStore, Location: &w.Location, Order: order, Value: uint64(value), Site: site})
	case order == Plain && site == nil:
		w.value = uint64(value)
	default:
		atomic.StoreUint64(&w.value, uint64(value))
	}
}

// Add adds delta atomically and returns the new value.
func (w *Word[T]) Add(t *Task, order Order, delta T) T {
	w.owner.Use(t)
	if t.engine != nil {
		return T(w.update(t, Op{Order: order, Change: Adds, Value: uint64(delta)}).Value) + delta
	}
	if unsafe.Sizeof(delta) == unsafe.Sizeof(w.value) {
		return T(atomic.AddUint64(&w.value, uint64(delta)))
	}
	old, _ := w.Update(t, order, func(old T) (T, bool) { return old + delta, true }) // wraps at the width of T
	return old + delta
}

// CompareAndSwap replaces old by updated and reports whether it did. A failed
// one is a marked load that orders nothing.
func (w *Word[T]) CompareAndSwap(t *Task, order Order, old, updated T) bool {
	w.owner.Use(t)
	if t.engine != nil {
		return w.update(t, Op{Order: order, Change: ComparesAndSwaps, Value: uint64(updated), Expected: uint64(old)}).OK
	}
	return atomic.CompareAndSwapUint64(&w.value, uint64(old), uint64(updated))
}

// Swap writes the word and returns what it held before.
func (w *Word[T]) Swap(t *Task, order Order, value T) T {
	w.owner.Use(t)
	if t.engine != nil {
		return T(w.update(t, Op{Order: order, Change: Swaps, Value: uint64(value)}).Value)
	}
	return T(atomic.SwapUint64(&w.value, uint64(value)))
}

// Update applies a pure function atomically and returns the old value and
// whether the function asked for a write.
func (w *Word[T]) Update(t *Task, order Order, f func(old T) (updated T, writes bool)) (old T, wrote bool) {
	w.owner.Use(t)
	if t.engine != nil {
		r := w.update(t, Op{Order: order, Update: func(seen uint64) (uint64, bool) {
			updated, writes := f(T(seen))
			return uint64(updated), writes
		}})
		return T(r.Value), r.OK
	}
	for {
		seen := atomic.LoadUint64(&w.value)
		updated, writes := f(T(seen))
		if !writes {
			return T(seen), false
		}
		if atomic.CompareAndSwapUint64(&w.value, seen, uint64(updated)) {
			return T(seen), true
		}
	}
}

func (w *Word[T]) update(t *Task, op Op) Result {
	op.Kind, op.Location = OpUpdate, &w.Location
	return t.perform(op)
}

// wordCell keeps the engine's view of a word out of the word's own methods.
type wordCell[T Integer] Word[T]

func (c *wordCell[T]) initial() uint64        { return c.value }
func (c *wordCell[T]) settle(v uint64)        { c.value = v }
func (c *wordCell[T]) wrap(sum uint64) uint64 { return uint64(T(sum)) }
func (c *wordCell[T]) show(v uint64) string   { return strconv.FormatInt(int64(v), 10) }
