package scenario_test

import (
	"sync"
	"testing"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// Operations that run alone may count without a lock: they are ordered. The race
// detector watches.
func TestAlone(t *testing.T) {
	const tasks, operations = 4, 50
	w := kernel.NewWorld(kernel.Options{})
	setup := w.NewTask("set-up")
	inside, count, most := 0, 0, 0
	enter := scenario.Operation{Name: "count", Run: func(*kernel.Task) scenario.Result {
		inside++
		count++
		most = max(most, inside)
		inside--
		return scenario.Result{Value: "counted"}
	}}
	i := &scenario.Instance{}
	for range tasks {
		i.Tasks = append(i.Tasks, scenario.Task{Operations: []scenario.Operation{enter}})
	}
	i.Alone(setup)
	var wait sync.WaitGroup
	for _, task := range i.Tasks {
		wait.Go(func() {
			current := w.NewTask("counter")
			for range operations {
				if got := task.Operations[0].Run(current).Value; got != "counted" {
					t.Errorf("the operation returns %q", got)
				}
			}
		})
	}
	wait.Wait()
	if count != tasks*operations || most != 1 {
		t.Errorf("%d counted, %d at once", count, most)
	}
	i.Teardown(setup)
	if live := w.LiveObjects(); live != 0 {
		t.Errorf("%d objects are left", live)
	}
}

// The teardown of the instance still runs.
func TestAloneTearsDown(t *testing.T) {
	setup := kernel.NewWorld(kernel.Options{}).NewTask("set-up")
	down := false
	i := (&scenario.Instance{Teardown: func(*kernel.Task) { down = true }}).Alone(setup)
	if i.Teardown(setup); !down {
		t.Error("the teardown of the instance did not run")
	}
}
