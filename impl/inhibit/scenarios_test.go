package inhibit

import (
	"testing"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// Every variant that is meant to be safe runs natively, with real goroutines, and must be
// found in order. A few rounds prove little: it is the exploration that tries everything.
func TestScenariosRunNatively(t *testing.T) {
	const rounds = 20
	for _, race := range Races() {
		for _, s := range race.Scenarios {
			for _, v := range s.Variants {
				if v.Role == scenario.Planted {
					continue
				}
				t.Run(s.Name+"/"+v.Name, func(t *testing.T) {
					for range rounds {
						w := kernel.NewWorld(s.Options())
						perform(t, w, v.Build(w.NewTask("set-up")))
					}
				})
			}
		}
	}
}

// perform runs the tasks at once, then the protocol that follows.
func perform(t *testing.T, w *kernel.World, i *scenario.Instance) {
	t.Helper()
	after := w.NewTask("quiescence")
	var started []*kernel.Task
	for _, task := range i.Tasks {
		started = append(started, after.Go(task.Name, func(own *kernel.Task) {
			for _, op := range task.Operations {
				op.Run(own)
			}
		}))
	}
	for _, task := range started {
		after.Join(task)
	}
	if err := i.Check(after); err != nil {
		t.Error(err)
	}
	for round := 0; i.Quiesce(after); round++ {
		if round == 1 {
			t.Error("one pass of writeback is not enough")
		}
	}
	if debt := i.Debt(after); debt != 0 {
		t.Errorf("%d blocks are left", debt)
	}
	if i.Observe(after) == "" {
		t.Error("there is nothing to observe")
	}
	i.Teardown(after)
	if live := w.LiveObjects(); live != 0 {
		t.Errorf("%d objects are left", live)
	}
}
