package kernel

import "slices"

// Index maps numbers to objects in order, like an xarray with its own spinning
// lock. Every method but Init wants the lock held.
type Index[V any] struct {
	SpinLock
	region Region
	keys   []uint64
	values []*V
}

// Init names the index within its owner; it is empty.
func (x *Index[V]) Init(owner *Object, name string) {
	x.SpinLock.Init(owner, name+" lock")
	x.region.Init(owner, name)
	x.keys, x.values = nil, nil
}

// From returns the first entry whose number is at least from.
func (x *Index[V]) From(t *Task, from uint64) (key uint64, value *V, ok bool) {
	x.need(t)
	x.region.Read(t)
	i, _ := slices.BinarySearch(x.keys, from)
	if i == len(x.keys) {
		return 0, nil, false
	}
	return x.keys[i], x.values[i], true
}

// Load returns the entry at the number, or nil.
func (x *Index[V]) Load(t *Task, key uint64) *V {
	if found, value, ok := x.From(t, key); ok && found == key {
		return value
	}
	return nil
}

// Store puts an entry at the number and returns what was there.
func (x *Index[V]) Store(t *Task, key uint64, value *V) (old *V) {
	x.need(t)
	x.region.Write(t)
	i, found := slices.BinarySearch(x.keys, key)
	if found {
		old, x.values[i] = x.values[i], value
		return old
	}
	x.keys = slices.Insert(x.keys, i, key)
	x.values = slices.Insert(x.values, i, value)
	return nil
}

// EraseIf removes the entry at the number if it is the given one and reports
// whether it was.
func (x *Index[V]) EraseIf(t *Task, key uint64, value *V) bool {
	x.need(t)
	x.region.Write(t)
	i, found := slices.BinarySearch(x.keys, key)
	if !found || x.values[i] != value {
		return false
	}
	x.keys = slices.Delete(x.keys, i, i+1)
	x.values = slices.Delete(x.values, i, i+1)
	return true
}

// Len returns the number of entries.
func (x *Index[V]) Len(t *Task) int {
	x.need(t)
	x.region.Read(t)
	return len(x.keys)
}

func (x *Index[V]) need(t *Task) {
	if !x.HeldBy(t) {
		t.Violate(MissingLock, "%s is used without its lock", x.region.Name())
	}
}
