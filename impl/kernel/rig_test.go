package kernel_test

import (
	"errors"
	"testing"

	"benign/impl/kernel"
)

// rig owns one of every primitive.
type rig struct {
	kernel.Object
	word         kernel.Word[int]
	next         kernel.Pointer[rig]
	spin, second kernel.SpinLock
	third        kernel.SpinLock
	mutex        kernel.Mutex
	rw           kernel.RWLock
	sem          kernel.RWSem
	count        kernel.Refcount
	index        kernel.Index[int]
	work         kernel.Work
	region       kernel.Region
}

func newRig(t *kernel.Task, name string) *rig {
	r := &rig{}
	r.Init(t, name, r)
	r.word.Init(&r.Object, "word", 0)
	r.next.Init(&r.Object, "next", nil)
	r.spin.Init(&r.Object, "spin")
	r.second.Init(&r.Object, "second")
	r.third.Init(&r.Object, "third")
	r.mutex.Init(&r.Object, "mutex")
	r.rw.Init(&r.Object, "rw")
	r.sem.Init(&r.Object, "sem")
	r.count.Init(&r.Object, "count", 1)
	r.index.Init(&r.Object, "index")
	r.work.Init(&r.Object, "work", func(*kernel.Task) {})
	r.region.Init(&r.Object, "region")
	return r
}

// native returns a task of a native world and a rig in it.
func native(options kernel.Options) (*kernel.Task, *rig) {
	t := kernel.NewWorld(options).NewTask("test")
	return t, newRig(t, "rig")
}

// violation runs a function and returns the violation that it commits.
func violation(t *testing.T, run func()) (found *kernel.Violation) {
	t.Helper()
	defer func() {
		switch problem := recover().(type) {
		case nil:
		case *kernel.Violation:
			found = problem
		default:
			t.Fatalf("panic with %v instead of a violation", problem)
		}
	}()
	run()
	return nil
}

// wantViolation checks the kind, and that the violation names the task.
func wantViolation(t *testing.T, kind kernel.ViolationKind, run func()) {
	t.Helper()
	v := violation(t, run)
	if v == nil || v.Kind != kind || v.Task != "test" {
		t.Errorf("got %v, want a %v by task test", v, kind)
	}
	if target := (*kernel.Violation)(nil); v != nil && (!errors.As(error(v), &target) || v.Error() == "") {
		t.Errorf("%v is no error", v)
	}
}
