package kernel_test

import (
	"sync/atomic"
	"testing"

	"benign/impl/kernel"
)

func TestObjectsAreCounted(t *testing.T) {
	task, r := native(kernel.Options{})
	w := task.World()
	if w.Explored() || w.LiveObjects() != 1 || !r.Alive() || (&rig{}).Alive() {
		t.Errorf("a native world with one object: %d", w.LiveObjects())
	}
	other := newRig(task, "other")
	other.Free(task)
	if w.LiveObjects() != 1 || other.Alive() {
		t.Errorf("%d objects live after one was freed", w.LiveObjects())
	}
	newRig(task, "leaked")
	r.Free(task)
	if w.LiveObjects() != 1 {
		t.Errorf("%d objects live, one has leaked", w.LiveObjects())
	}
	if names := w.Leaked(); len(names) > 0 {
		t.Errorf("a native world names what leaked: %v", names)
	}
	other.Init(task, "again", other)
	if !other.Alive() || other.Name() == "other#2" {
		t.Errorf("memory that is used again is %s", other.Name())
	}
}

// TestEnvironment: natively the ordinary alternative is taken, and allocations
// fail where the test says so.
func TestEnvironment(t *testing.T) {
	fails := func(label string) bool { return label == "inode" }
	for _, c := range []struct {
		options kernel.Options
		want    bool
	}{
		{kernel.Options{}, false},
		{kernel.Options{FailAllocation: fails}, false},
		{kernel.Options{AllocationFailure: true}, false},
		{kernel.Options{AllocationFailure: true, FailAllocation: fails}, true},
	} {
		task, _ := native(c.options)
		if task.AllocationFails("inode") != c.want || task.AllocationFails("extent map") {
			t.Errorf("%+v: the allocation fails: %v", c.options, !c.want)
		}
		if task.Choose("way", 3) != 0 {
			t.Error("natively another than the ordinary way is taken")
		}
	}
}

func TestTasks(t *testing.T) {
	task, _ := native(kernel.Options{})
	if task.Name() != "test" || task.ID() != 0 {
		t.Errorf("task %s has identity %d", task.Name(), task.ID())
	}
	var names atomic.Int32
	done := 0
	child := task.Go("child", func(child *kernel.Task) {
		if child.Name() == "child" && child.World() == task.World() && child.ID() != task.ID() {
			names.Add(1)
		}
		child.Barrier(kernel.FullBarrier)
		done++
	})
	task.Join(child)
	task.Join(child) // a task can be joined twice
	if done != 1 || names.Load() != 1 {
		t.Errorf("the child ran %d times", done)
	}
	task.Join(task.World().NewTask("never started")) // nothing to wait for
}

// TestLastPut: whoever drops the last reference sees all that was done under the
// others, in plain memory.
func TestLastPut(t *testing.T) {
	task, r := native(kernel.Options{})
	r.count.Init(&r.Object, "count", crowd)
	marks := make([]int, crowd)
	var next, last atomic.Int32
	spawn(task, crowd, func(task *kernel.Task) {
		marks[next.Add(1)-1] = 1
		if !r.count.Put(task) {
			return
		}
		last.Add(1)
		for i, mark := range marks {
			if mark != 1 {
				t.Errorf("the last put does not see mark %d", i)
			}
		}
		r.Free(task)
	})
	if last.Load() != 1 || r.Alive() {
		t.Errorf("%d puts were the last", last.Load())
	}
}
