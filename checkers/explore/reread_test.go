package explore_test

import (
	"fmt"
	"slices"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/memmodel"
	"benign/impl/kernel"
)

var headSite = kernel.DataRaceSite("head", "there is a test for nil")

// take makes the list empty.
func take(t *kernel.Task, f *file) string {
	f.head.Store(t, kernel.Once, nil)
	return ""
}

// peek tests the head of a list and then uses it.
func peek(order kernel.Order, between func(t *kernel.Task, f *file)) use {
	return func(t *kernel.Task, f *file) string {
		head := f.head.Local(t, order, headSite)
		if head.Get(t) == nil {
			return "empty"
		}
		if between != nil {
			between(t, f)
		}
		return fmt.Sprint(head.Get(t).value.Load(t, kernel.Once))
	}
}

// TestDoubleFetch: a compiler may read a plain pointer again after the test for
// nil, unless it must assume that memory has changed; a marked one it may not.
func TestDoubleFetch(t *testing.T) {
	for _, c := range []struct {
		name    string
		order   kernel.Order
		between func(t *kernel.Task, f *file)
		crashes bool
	}{
		{"plain", kernel.Plain, nil, true},
		{"marked", kernel.Once, nil, false},
		{"acquired", kernel.Acquire, nil, false},
		{"marked accesses between", kernel.Plain, func(t *kernel.Task, f *file) {
			f.flag.Store(t, kernel.Once, 1)
			f.flag.Load(t, kernel.Once)
			f.flag.Add(t, kernel.Once, 1)
		}, true},
		{"a barrier between", kernel.Plain, func(t *kernel.Task, _ *file) { t.Barrier(kernel.ReadBarrier) }, false},
		{"an acquisition between", kernel.Plain, func(t *kernel.Task, f *file) { f.flag.Load(t, kernel.Acquire) }, false},
		{"a release between", kernel.Plain, func(t *kernel.Task, f *file) { f.flag.Store(t, kernel.Release, 1) }, false},
		{"a full update between", kernel.Plain, func(t *kernel.Task, f *file) { f.flag.Add(t, kernel.Full, 1) }, false},
		{"a lock between", kernel.Plain, func(t *kernel.Task, f *file) { withLock(look)(t, f) }, false},
		{"an await between", kernel.Plain, func(t *kernel.Task, f *file) {
			f.flag.Await(t, kernel.Once, func(flag int) bool { return flag == 0 })
		}, false},
		{"a reschedule point between", kernel.Plain, func(t *kernel.Task, _ *file) { t.Resched() }, false},
		{"a call between", kernel.Plain, func(t *kernel.Task, _ *file) { t.Choose("what it does", 2) }, false},
		{"a store to another word between", kernel.Plain, func(t *kernel.Task, f *file) { f.flag.Store(t, kernel.Plain, 1) }, true},
		{"a store to the word between", kernel.Plain, func(t *kernel.Task, f *file) { f.head.StoreRacy(t, kernel.Plain, &f.node, headSite) }, false},
	} {
		for _, model := range memmodel.Names() {
			got, _ := onMachine(t, explore.Arch64, model, 1, files(take, peek(c.order, c.between)))
			if slices.Contains(got, kernel.Crash.String()) != c.crashes || !slices.Contains(got, "7") || !slices.Contains(got, "empty") {
				t.Errorf("%s, %s: %v, want a crash: %v", c.name, model, got, c.crashes)
			}
		}
	}
}

// TestReread counts: the value is kept, or read again from one of two stores.
func TestReread(t *testing.T) {
	twice := func(order kernel.Order) use {
		return func(t *kernel.Task, f *file) string {
			size := f.long.Local(t, order, sizeSite)
			return fmt.Sprint(size.Get(t), size.Get(t))
		}
	}
	grow := func(t *kernel.Task, f *file) string { f.long.Store(t, kernel.Once, larger); return "" }
	kept := []string{fmt.Sprint(smaller, smaller), fmt.Sprint(larger, larger)}
	for order, want := range map[kernel.Order][]string{
		kernel.Once:  kept,
		kernel.Plain: {kept[0], fmt.Sprint(smaller, larger), kept[1]},
	} {
		for _, model := range memmodel.Names() {
			got, stats := onMachine(t, explore.Arch64, model, 1, files(grow, twice(order)))
			if !slices.Equal(got, want) {
				t.Errorf("%v, %s: %v, want %v", order, model, got, want)
			}
			// read again: old and old, old and new, new and new
			if n := map[kernel.Order]int{kernel.Once: 2, kernel.Plain: 2 + 3}[order]; stats.Complete != n {
				t.Errorf("%v, %s: %d executions, want %d", order, model, stats.Complete, n)
			}
		}
	}
}

// TestTornReread reads a word of 64 bits again: both times it may be torn.
func TestTornReread(t *testing.T) {
	twice := func(t *kernel.Task, f *file) string {
		size := f.size.Local(t, kernel.Plain, sizeSite)
		return fmt.Sprint(size.Get(t), size.Get(t))
	}
	got, _ := onMachine(t, explore.Arch32, "sc", 1, files(setSize(kernel.Once, larger), twice))
	for _, want := range []string{"0 4294967296", "4294967295 0", "8589934591 4294967296", "0 0"} {
		if !slices.Contains(got, want) {
			t.Errorf("nobody reads %s: %v", want, got)
		}
	}
	if slices.Contains(got, "0 8589934591") || slices.Contains(got, "4294967296 4294967295") {
		t.Errorf("a half went back: %v", got)
	}
}
