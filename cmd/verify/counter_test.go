package main

import (
	"fmt"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// counterRace is a race that everybody knows: two tasks count, and take the
// lock for it or not. Without it an update is lost, whatever is predicted.
func counterRace(predicted scenario.Class) scenario.Race {
	site := kernel.DataRaceSite("counter-peek", "nobody minds a lost update")
	variant := func(name string, role scenario.Role, class scenario.Class, locked bool) scenario.Variant {
		return scenario.Variant{Name: name, Role: role, Expect: class, About: "counts " + name,
			Build: func(setup *kernel.Task) *scenario.Instance { return newCounter(setup, site).instance(locked) }}
	}
	return scenario.Race{
		Name: "counter", Title: "two tasks count without a lock", Question: "Is it enough to mark the accesses?",
		Sites: []*kernel.RaceSite{site},
		Scenarios: []scenario.Scenario{{
			Name: "twice", About: "two tasks count one each", Racing: true,
			Variants: []scenario.Variant{
				variant("locked", scenario.Baseline, scenario.Indistinguishable, true),
				variant("unlocked", scenario.Candidate, predicted, false),
				variant("forgotten", scenario.Planted, scenario.Harmful, false),
			},
		}},
	}
}

type counter struct {
	kernel.Object
	lock  kernel.SpinLock
	value kernel.Word[int]
	site  *kernel.RaceSite
}

func newCounter(t *kernel.Task, site *kernel.RaceSite) *counter {
	c := &counter{site: site}
	c.Init(t, "counter", c)
	c.lock.Init(&c.Object, "lock")
	c.value.Init(&c.Object, "value", 0)
	return c
}

func (c *counter) instance(locked bool) *scenario.Instance {
	count := scenario.Operation{Name: "count", Run: func(t *kernel.Task) scenario.Result {
		if locked {
			c.lock.Lock(t)
			defer c.lock.Unlock(t)
		}
		c.value.Store(t, kernel.Once, c.value.LoadRacy(t, kernel.Once, c.site)+1)
		return scenario.Result{}
	}}
	return &scenario.Instance{
		Tasks: []scenario.Task{
			{Name: "one", Operations: []scenario.Operation{count}},
			{Name: "two", Operations: []scenario.Operation{count}},
		},
		Check: func(t *kernel.Task) error {
			if n := c.value.Load(t, kernel.Once); n != 2 {
				return fmt.Errorf("2 were counted, and the counter says %d", n)
			}
			return nil
		},
		Observe:  func(t *kernel.Task) string { return fmt.Sprint(c.value.Load(t, kernel.Once)) },
		Teardown: func(t *kernel.Task) { c.Free(t) },
	}
}
