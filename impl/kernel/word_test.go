package kernel_test

import (
	"math"
	"sync"
	"testing"

	"benign/impl/kernel"

	"pgregory.net/rapid"
)

func TestWord(t *testing.T) {
	task, r := native(kernel.Options{})
	w := &r.word
	for _, order := range []kernel.Order{kernel.Plain, kernel.Once, kernel.Release} {
		w.Store(task, order, 5)
		for _, order := range []kernel.Order{kernel.Plain, kernel.Once, kernel.Acquire} {
			if got := w.Load(task, order); got != 5 {
				t.Errorf("%v load is %d", order, got)
			}
		}
		w.Store(task, order, 0)
	}
	if got := w.Add(task, kernel.Full, 3); got != 3 {
		t.Errorf("adding 3 to 0 gives %d", got)
	}
	if got := w.Add(task, kernel.Full, -5); got != -2 {
		t.Errorf("taking 5 from 3 gives %d", got)
	}
	if w.CompareAndSwap(task, kernel.Full, 7, 8) || !w.CompareAndSwap(task, kernel.Full, -2, 8) || w.Load(task, kernel.Once) != 8 {
		t.Error("compare-and-swap")
	}
	if got := w.Swap(task, kernel.Full, 9); got != 8 || w.Load(task, kernel.Once) != 9 {
		t.Errorf("swap finds %d", got)
	}
	old, wrote := w.Update(task, kernel.Full, func(old int) (int, bool) { return old * 2, old == 9 })
	if old != 9 || !wrote || w.Load(task, kernel.Once) != 18 {
		t.Errorf("update finds %d and wrote: %v", old, wrote)
	}
	old, wrote = w.Update(task, kernel.Full, func(old int) (int, bool) { return old * 2, old == 9 })
	if old != 18 || wrote || w.Load(task, kernel.Once) != 18 {
		t.Errorf("update that declines finds %d and wrote: %v", old, wrote)
	}
	site := kernel.DataRaceSite("name", "reason")
	if site.Name != "name" || site.Reason != "reason" || w.LoadRacy(task, kernel.Once, site) != 18 {
		t.Error("an annotated load reads something else")
	}
}

// follows checks a word against the variable that it stands for.
func follows[T kernel.Integer](t *testing.T, interesting ...T) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		task := kernel.NewWorld(kernel.Options{}).NewTask("test")
		owner := &rig{}
		owner.Init(task, "owner", owner)
		var w kernel.Word[T]
		value := rapid.SampledFrom(interesting).Draw(t, "initial")
		w.Init(&owner.Object, "word", value)
		for range 6 {
			x := rapid.SampledFrom(interesting).Draw(t, "operand")
			switch rapid.IntRange(0, 4).Draw(t, "operation") {
			case 0:
				w.Store(task, kernel.Once, x)
				value = x
			case 1:
				value += x
				if got := w.Add(task, kernel.Full, x); got != value {
					t.Fatalf("after adding %v the word is %v, want %v", x, got, value)
				}
			case 2:
				if !w.CompareAndSwap(task, kernel.Full, value, x) {
					t.Fatalf("the word is %v, and a compare-and-swap of that value fails", value)
				}
				value = x
			case 3:
				if got := w.Swap(task, kernel.Full, x); got != value {
					t.Fatalf("the word was %v, want %v", got, value)
				}
				value = x
			case 4:
				if old, _ := w.Update(task, kernel.Full, func(old T) (T, bool) { return old - x, true }); old != value {
					t.Fatalf("the word was %v, want %v", old, value)
				}
				value -= x
			}
			if got := w.Load(task, kernel.Once); got != value {
				t.Fatalf("the word is %v, want %v", got, value)
			}
		}
	})
}

func TestWordsOfEverySize(t *testing.T) {
	t.Run("int", func(t *testing.T) { follows(t, 0, 1, -1, math.MaxInt, math.MinInt) })
	t.Run("int64", func(t *testing.T) { follows[int64](t, 0, 1, -1, math.MaxInt64, math.MinInt64) })
	t.Run("uint64", func(t *testing.T) { follows[uint64](t, 0, 1, math.MaxUint64) })
	t.Run("int32", func(t *testing.T) { follows[int32](t, 0, 1, -1, math.MaxInt32, math.MinInt32) })
	t.Run("uint8", func(t *testing.T) { follows[uint8](t, 0, 1, math.MaxUint8) })
	t.Run("uint32", func(t *testing.T) { follows[uint32](t, 0, 1, math.MaxUint32) })
}

func TestPointer(t *testing.T) {
	task, r := native(kernel.Options{})
	first, second := newRig(task, "first"), newRig(task, "second")
	p := &r.next
	if p.Load(task, kernel.Once) != nil {
		t.Error("the pointer is not nil at first")
	}
	for _, order := range []kernel.Order{kernel.Plain, kernel.Once, kernel.Release} {
		p.Store(task, order, first)
		for _, order := range []kernel.Order{kernel.Plain, kernel.Once, kernel.Acquire} {
			if p.Load(task, order) != first {
				t.Errorf("%v load reads something else", order)
			}
		}
		p.Store(task, order, nil)
	}
	if p.CompareAndSwap(task, kernel.Full, first, second) || !p.CompareAndSwap(task, kernel.Full, nil, second) || p.LoadRacy(task, kernel.Once, nil) != second {
		t.Error("compare-and-swap")
	}
	p.Init(&r.Object, "next", first)
	if p.Load(task, kernel.Acquire) != first {
		t.Error("the pointer does not have its initial value")
	}
}

func TestObjectNames(t *testing.T) {
	task, r := native(kernel.Options{})
	second := newRig(task, "rig")
	if r.Name() != "rig#1" || second.Name() != "rig#2" || second.word.Name() != "rig#2.word" || second.word.Field() != "word" {
		t.Errorf("names are %s, %s, %s", r.Name(), second.Name(), second.word.Name())
	}
	other := task.World().NewTask("other")
	if third := newRig(other, "rig"); third.Name() != "rig#1.1" {
		t.Errorf("an object of another task is called %s", third.Name())
	}
	if second.region.Name() != "rig#2.region" || second.region.Owner() != "rig#2" || second.region.Lifetime() || second.region.OwnerFreed() {
		t.Errorf("region %s of %s", second.region.Name(), second.region.Owner())
	}
}

// TestLocation is what the engine is told of a word, a pointer and a lock.
func TestLocation(t *testing.T) {
	task, r := native(kernel.Options{})
	owner, field := r.word.ID()
	if other, next := r.next.ID(); other != owner || next != field+1 {
		t.Errorf("fields are numbered %d and %d", field, next)
	}
	r.word.Settle(7)
	if r.word.Load(task, kernel.Once) != 7 || r.word.Initial() != 7 || r.word.Show(math.MaxUint64) != "-1" {
		t.Errorf("settled word is %d, %d", r.word.Load(task, kernel.Once), r.word.Initial())
	}
	r.spin.Settle(7)
	if r.spin.Initial() != 0 || r.spin.Show(7) != "" {
		t.Error("a lock has a value")
	}
	if r.next.Initial() != 0 || r.next.Show(0) != "nil" {
		t.Errorf("nil is %d, shown as %s", r.next.Initial(), r.next.Show(0))
	}
}

// Natively an annotated access must be one that Go's race detector passes over:
// that it is meant to race is all that the annotation says.
func TestAnnotatedAccessesRaceNatively(t *testing.T) {
	task, r := native(kernel.Options{})
	site := kernel.DataRaceSite("name", "reason")
	other := task.World().NewTask("other")
	var both sync.WaitGroup
	both.Go(func() {
		r.word.StoreRacy(task, kernel.Plain, 1, site)
		r.next.StoreRacy(task, kernel.Plain, r, site)
	})
	both.Go(func() {
		r.word.LoadRacy(other, kernel.Plain, site)
		r.next.LoadRacy(other, kernel.Plain, site)
	})
	both.Wait()
}
