package practice

import (
	"slices"
	"testing"

	"go.uber.org/goleak"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Every variant that is meant to be safe runs natively, with real goroutines, and
// must be found in order; under the race detector no access may race that does
// not say so. It is the exploration that tries everything.
func TestScenariosRunNatively(t *testing.T) {
	const rounds = 200
	for _, race := range Races() {
		for _, s := range race.Scenarios {
			for _, v := range s.Variants {
				if v.Role == scenario.Planted {
					continue
				}
				t.Run(race.Name+"/"+s.Name+"/"+v.Name, func(t *testing.T) {
					for range rounds {
						w := kernel.NewWorld(s.Options())
						setup := w.NewTask("set-up")
						perform(t, w, setup, v.Build(setup))
					}
				})
			}
		}
	}
}

// perform runs the tasks of an instance side by side, and then what runs when
// they have ended.
func perform(t *testing.T, w *kernel.World, setup *kernel.Task, instance *scenario.Instance) {
	t.Helper()
	var running []*kernel.Task
	for _, task := range instance.Tasks {
		running = append(running, setup.Go(task.Name, func(t *kernel.Task) {
			for _, op := range task.Operations {
				op.Run(t)
			}
		}))
	}
	for _, task := range running {
		setup.Join(task)
	}
	check := func(when string) {
		if err := instance.Check(setup); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
	}
	check("when the tasks had ended")
	if instance.Quiesce != nil {
		for round := 0; instance.Quiesce(setup); round++ {
			if round == 10 {
				t.Fatal("work never comes to rest")
			}
		}
		check("after quiescence")
		if debt := instance.Debt(setup); debt != 0 {
			t.Fatalf("%d left to do", debt)
		}
	}
	instance.Teardown(setup)
	if leaked := w.Leaked(); len(leaked) > 0 {
		t.Fatalf("leaked: %q", leaked)
	}
}

// TestOrders runs the tasks one after the other, in every order: without a race
// the racy forms do what the locked ones do, and what they return is compared.
func TestOrders(t *testing.T) {
	for _, race := range Races() {
		for _, s := range race.Scenarios {
			for _, first := range []int{0, 1} {
				locked := sequence(s.Variant(scenario.Baseline), first)
				if racy := sequence(s.Variant(scenario.Candidate), first); !slices.Equal(racy, locked) {
					t.Errorf("%s/%s, task %d first: %q, and locked %q", race.Name, s.Name, first, racy, locked)
				}
			}
		}
	}
}

// sequence runs the tasks in their order, but for one that goes first, and
// returns the results. A task that would wait for ever for one that comes later
// is moved to the end.
func sequence(v *scenario.Variant, first int) []string {
	w := kernel.NewWorld(kernel.Options{})
	setup := w.NewTask("set-up")
	instance := v.Build(setup)
	tasks := slices.Concat(instance.Tasks[first:first+1], instance.Tasks[:first], instance.Tasks[first+1:])
	slices.SortStableFunc(tasks, func(a, b scenario.Task) int { return waits(a) - waits(b) })
	var results []string
	for _, task := range tasks {
		for _, op := range task.Operations {
			results = append(results, op.Name+" = "+op.Run(setup).Value)
		}
	}
	return results
}

// waits is 1 for a task that waits for others.
func waits(task scenario.Task) int {
	if task.Name == "waiter" || task.Name == "now" {
		return 1
	}
	return 0
}
