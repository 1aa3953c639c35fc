package kernel_test

import (
	"testing"

	"benign/impl/kernel"
)

// recorder is an engine that lets everything happen and remembers the last
// operation.
type recorder struct {
	op    kernel.Op
	asked int // how many operations there were
}

func (r *recorder) Perform(_ *kernel.Task, op *kernel.Op) kernel.Result {
	r.op = *op
	r.asked++
	return kernel.Result{OK: true}
}

func (*recorder) Access(*kernel.Task, *kernel.Region, bool)   {}
func (*recorder) Violate(_ *kernel.Task, v *kernel.Violation) { panic(v) }

// TestRenew: a world that is used again is like a new one, whatever was left in
// the one before.
func TestRenew(t *testing.T) {
	engine := &recorder{}
	w := kernel.NewExploredWorld(engine, kernel.Options{})
	for round := range 3 {
		w.Renew(kernel.Options{AllocationFailure: round == 1})
		setup := w.NewTask("setup")
		if w.LiveObjects() != 0 || len(w.Leaked()) != 0 || setup.ID() != 0 {
			t.Fatalf("round %d: %d objects, %v, and the set-up is task %d", round, w.LiveObjects(), w.Leaked(), setup.ID())
		}
		r := newRig(setup, "rig")
		task := w.NewEngineTask("A", 1)
		asked := engine.asked
		task.AllocationFails("x")
		if (engine.asked > asked) != (round == 1) {
			t.Errorf("round %d: it is asked whether an allocation fails: %v", round, engine.asked > asked)
		}
		task.CheckExit() // it holds nothing, whatever the one before held
		r.spin.Lock(task)
		child := task.Go("B", func(*kernel.Task) {})
		child.SetID(7)
		newRig(child, "rig")
		if names := w.Leaked(); len(names) != 2 || names[0] != "rig#1" || names[1] != "rig#7.1" || task.Name() != "A" || child.Name() != "B" {
			t.Errorf("round %d: %v by %s and %s", round, names, task.Name(), child.Name())
		}
	}
}

// TestChanges: an update of a word is what the engine takes it for.
func TestChanges(t *testing.T) {
	engine := &recorder{}
	w := kernel.NewExploredWorld(engine, kernel.Options{})
	var owner kernel.Object
	owner.Init(w.NewTask("setup"), "owner", &owner)
	task := w.NewEngineTask("A", 1)
	var narrow kernel.Word[uint8]
	narrow.Init(&owner, "narrow", 0)
	var signed kernel.Word[int32]
	signed.Init(&owner, "signed", 0)
	negative := func(n int32) uint64 { return uint64(int64(n)) }
	for _, c := range []struct {
		name   string
		change func()
		old    uint64
		want   uint64
		writes bool
	}{
		{"add", func() { narrow.Add(task, kernel.Once, 3) }, 4, 7, true},
		{"add that wraps", func() { narrow.Add(task, kernel.Once, 3) }, 254, 1, true},
		{"add of a negative number", func() { signed.Add(task, kernel.Once, -3) }, 1, negative(-2), true},
		{"add to a negative number", func() { signed.Add(task, kernel.Once, 1) }, negative(-2), negative(-1), true},
		{"add beyond the greatest", func() { signed.Add(task, kernel.Once, 1) }, 1<<31 - 1, negative(-1 << 31), true},
		{"swap", func() { signed.Swap(task, kernel.Once, -5) }, 9, negative(-5), true},
		{"compare and swap", func() { signed.CompareAndSwap(task, kernel.Once, -1, 2) }, negative(-1), 2, true},
		{"compare and swap that fails", func() { signed.CompareAndSwap(task, kernel.Once, 1, 2) }, 3, 2, false},
		{"update", func() { narrow.Update(task, kernel.Once, func(old uint8) (uint8, bool) { return old * 2, old > 1 }) }, 200, 144, true},
		{"update that does nothing", func() { narrow.Update(task, kernel.Once, func(old uint8) (uint8, bool) { return old * 2, old > 1 }) }, 1, 2, false},
	} {
		c.change()
		if got, writes := engine.op.Apply(c.old); got != c.want || writes != c.writes {
			t.Errorf("%s of %d: %d, %v, want %d, %v", c.name, c.old, got, writes, c.want, c.writes)
		}
	}
}
