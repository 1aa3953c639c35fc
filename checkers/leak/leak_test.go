package leak

import (
	"testing"

	"go.uber.org/goleak"

	"benign/impl/kernel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// thing is an object with nothing in it.
type thing struct{ kernel.Object }

// silent is an engine for a world whose tasks never run.
type silent struct{}

func (silent) Perform(*kernel.Task, *kernel.Op) kernel.Result { panic("unused") }
func (silent) Access(*kernel.Task, *kernel.Region, bool)      {}
func (silent) Violate(*kernel.Task, *kernel.Violation)        {}

func TestObjects(t *testing.T) {
	w := kernel.NewExploredWorld(silent{}, kernel.Options{})
	task := w.NewTask("setup")
	var kept, freed thing
	kept.Init(task, "kept", &kept)
	freed.Init(task, "freed", &freed)
	freed.Free(task)
	v := Objects(w)
	if v == nil || v.Kind != kernel.Leak || v.Message != "kept#1 outlived the scenario" {
		t.Fatalf("got %v", v)
	}
	kept.Free(task)
	if v := Objects(w); v != nil {
		t.Fatalf("got %v after everything was freed", v)
	}
}

func TestGoroutines(t *testing.T) {
	before := make(chan struct{})
	go func() { <-before }()
	watch := Watch()
	if err := watch.Check(); err != nil {
		t.Errorf("a goroutine from before is reported: %v", err)
	}
	stop := make(chan struct{})
	go func() { <-stop }()
	if watch.Check() == nil {
		t.Error("a goroutine that does not end is not reported")
	}
	close(stop)
	close(before)
}
