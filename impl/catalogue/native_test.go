package catalogue

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// The same source runs natively: every form that is meant to be safe, with a
// goroutine for each task. The race detector watches, which knows nothing of this
// project.
func TestVariantsRunNatively(t *testing.T) {
	each(t, func(t *testing.T, _ scenario.Race, s scenario.Scenario) {
		var allocations atomic.Int64
		options := s.Options()
		options.FailAllocation = func(string) bool { return allocations.Add(1)%3 == 0 }
		for _, v := range s.Variants {
			if v.Expect != scenario.Harmful {
				for range 20 {
					runNatively(t, options, &v)
				}
			}
		}
	})
}

// runNatively runs one execution, and what is looked at after it.
func runNatively(t *testing.T, options kernel.Options, v *scenario.Variant) {
	w := kernel.NewWorld(options)
	setup := w.NewTask("set-up")
	i := v.Build(setup)
	var wait sync.WaitGroup
	for _, task := range i.Tasks {
		wait.Go(func() {
			current := w.NewTask(task.Name)
			for _, op := range task.Operations {
				op.Run(current)
			}
			current.CheckExit()
		})
	}
	wait.Wait()
	if err := i.Check(setup); err != nil {
		t.Errorf("variant %s: %v", v.Name, err)
	}
	i.Teardown(setup)
	// What the tasks have started may be on its way out still, with its last
	// references.
	for deadline := time.Now().Add(10 * time.Second); w.LiveObjects() != 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if live := w.LiveObjects(); live != 0 {
		t.Errorf("variant %s: %d objects are left", v.Name, live)
	}
}
