package kernel_test

import (
	"testing"

	"benign/impl/kernel"
)

// TestLocal: natively a variable keeps what was loaded, whatever the marking.
func TestLocal(t *testing.T) {
	task := kernel.NewWorld(kernel.Options{}).NewTask("test")
	owner := &rig{}
	owner.Init(task, "owner", owner)
	var w kernel.Word[int64]
	w.Init(&owner.Object, "word", 1)
	var p kernel.Pointer[rig]
	p.Init(&owner.Object, "pointer", owner)
	for _, order := range []kernel.Order{kernel.Plain, kernel.Once, kernel.Acquire} {
		value, pointer := w.Local(task, order, nil), p.Local(task, order, nil)
		w.StoreRacy(task, kernel.Once, 2, nil)
		p.StoreRacy(task, kernel.Plain, nil, nil)
		for range 2 {
			if n, p := value.Get(task), pointer.Get(task); n != 1 || p != owner {
				t.Errorf("%v: the variables have become %d and %p", order, n, p)
			}
		}
		w.Store(task, kernel.Plain, 1)
		p.Store(task, kernel.Release, owner)
	}
}

// TestWide: what a 32-bit machine has in two halves is told by the type, unless
// the word is atomic.
func TestWide(t *testing.T) {
	task := kernel.NewWorld(kernel.Options{}).NewTask("test")
	owner := &rig{}
	owner.Init(task, "owner", owner)
	type loff int64
	var (
		long      kernel.Word[int]
		wide      kernel.Word[int64]
		unsigned  kernel.Word[uint64]
		named     kernel.Word[loff]
		narrow    kernel.Word[uint32]
		atomic    kernel.Word[int64]
		pointer   kernel.Pointer[rig]
		reference kernel.Refcount
	)
	long.Init(&owner.Object, "long", 1)
	wide.Init(&owner.Object, "wide", 2)
	unsigned.Init(&owner.Object, "unsigned", 3)
	named.Init(&owner.Object, "named", 4)
	narrow.Init(&owner.Object, "narrow", 5)
	atomic.InitAtomic(&owner.Object, "atomic", 6)
	pointer.Init(&owner.Object, "pointer", nil)
	reference.Init(&owner.Object, "reference", 1)
	for name, c := range map[string]struct{ got, want bool }{
		"int": {long.Wide(), false}, "int64": {wide.Wide(), true}, "uint64": {unsigned.Wide(), true}, "loff": {named.Wide(), true},
		"uint32": {narrow.Wide(), false}, "atomic": {atomic.Wide(), false}, "pointer": {pointer.Wide(), false},
	} {
		if c.got != c.want {
			t.Errorf("%s is wide: %v", name, c.got)
		}
	}
	if wide.Load(task, kernel.Once) != 2 || atomic.Load(task, kernel.Once) != 6 || named.Load(task, kernel.Plain) != 4 {
		t.Error("an initial value is lost")
	}
	wide.Init(&owner.Object, "again", 1)
	if wide.InitAtomic(&owner.Object, "atomic again", 7); wide.Wide() {
		t.Error("a word that has become atomic is wide still")
	}
}
