package scenario

import "benign/impl/kernel"

// Alone makes every operation of the instance run alone: it has to wait until no
// other operation is under way. Tasks that an operation starts are not kept from
// anything. It is the baseline for a question about fine-grained locks, whose
// operations may overlap: they should show nothing that one after the other
// cannot show.
//
// Call it in the set-up, with the task that does it, on an instance that is
// complete.
func (i *Instance) Alone(setup *kernel.Task) *Instance {
	g := &gate{}
	g.Object.Init(setup, "gate", g)
	g.lock.Init(&g.Object, "lock")
	for _, task := range i.Tasks {
		for n := range task.Operations {
			run := task.Operations[n].Run
			task.Operations[n].Run = func(t *kernel.Task) Result {
				g.lock.Lock(t)
				result := run(t)
				g.lock.Unlock(t)
				return result
			}
		}
	}
	teardown := i.Teardown
	i.Teardown = func(t *kernel.Task) {
		g.Object.Free(t)
		if teardown != nil {
			teardown(t)
		}
	}
	return i
}

// gate lets one operation in at a time.
type gate struct {
	kernel.Object
	lock kernel.Mutex
}
