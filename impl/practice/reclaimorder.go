package practice

import (
	"fmt"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// ReclaimOrderSite is the unlocked read of the numbers that are sorted by.
var ReclaimOrderSite = kernel.DataRaceSite("reclaim-order", "any order will do: all groups are reclaimed, and each is looked at again under the lock")

func reclaimOrder() scenario.Race {
	return scenario.Race{
		Name:  "reclaim-order",
		Title: "block groups are sorted by numbers that change meanwhile",
		Question: "Reclaim takes the emptiest block group first, and sorts them by the bytes used, read without the lock. " +
			"The order is a heuristic only: can anything but the order be wrong?",
		Sites: []*kernel.RaceSite{ReclaimOrderSite},
		Scenarios: []scenario.Scenario{{
			Name:   "sort",
			About:  "a block group grows beyond another one while reclaim sorts the two and moves what is in them",
			Racing: true, On32: true,
			Variants: []scenario.Variant{
				baseline("locked", "reads both numbers under the lock", reclaimTwo(reclaimForm{locked: true})),
				candidate("unlocked", scenario.Indistinguishable, "reads each number once, without the lock", reclaimTwo(reclaimForm{})),
				planted("key-as-amount", "takes the number that was sorted by for what is moved", reclaimTwo(reclaimForm{keyAsAmount: true})),
				planted("compared-twice", "compares once for each place in the list, and the compiler reads again", reclaimTwo(reclaimForm{twice: true})),
			},
		}},
	}
}

// reclaimForm says how the groups are sorted, and what the numbers are used for.
type reclaimForm struct{ locked, keyAsAmount, twice bool }

// reclaimSpace has two block groups. The lock is for all of it.
type reclaimSpace struct {
	kernel.Object
	lock      kernel.SpinLock
	memory    kernel.Region
	used      [2]kernel.Word[int64] // bytes, by group
	total     int64                 // bytes used in both
	reclaimed [2]int                // how often, by group
}

func reclaimTwo(form reclaimForm) builder {
	return func(setup *kernel.Task) *scenario.Instance {
		s := &reclaimSpace{total: 3 * 4096}
		s.Init(setup, "space", s)
		s.lock.Init(&s.Object, "lock")
		s.memory.Init(&s.Object, "groups")
		s.used[0].Init(&s.Object, "used 1", 4096)
		s.used[1].Init(&s.Object, "used 2", 2*4096)
		return &scenario.Instance{
			Tasks: []scenario.Task{
				task("allocator", operation("allocate(1)", s.allocate)),
				task("reclaim", operation("reclaim", func(t *kernel.Task) string { return s.reclaim(t, form) })),
			},
			Check:    s.check,
			Observe:  func(*kernel.Task) string { return fmt.Sprintf("reclaimed %v times", s.reclaimed) },
			Teardown: s.Free,
		}
	}
}

func (s *reclaimSpace) allocate(t *kernel.Task) string {
	s.lock.Lock(t)
	s.memory.Write(t)
	s.used[0].StoreRacy(t, kernel.Plain, s.used[0].Load(t, kernel.Plain)+belowBoundary, ReclaimOrderSite)
	s.total += belowBoundary
	s.lock.Unlock(t)
	return "allocated"
}

// reclaim moves everything out of the two groups, the emptier one first.
func (s *reclaimSpace) reclaim(t *kernel.Task, form reclaimForm) string {
	if form.locked {
		s.lock.Lock(t)
	}
	one := s.used[0].Local(t, kernel.Plain, ReclaimOrderSite)
	two := s.used[1].Local(t, kernel.Plain, ReclaimOrderSite)
	if form.locked {
		s.lock.Unlock(t)
	}
	order := []int{1, 0}
	if one.Get(t) <= two.Get(t) {
		order = []int{0, 1}
	}
	if form.twice {
		order[1] = 0
		if one.Get(t) <= two.Get(t) {
			order[1] = 1
		}
	}
	for _, group := range order {
		s.lock.Lock(t)
		s.memory.Write(t)
		amount := s.used[group].Load(t, kernel.Plain)
		s.used[group].StoreRacy(t, kernel.Plain, 0, ReclaimOrderSite)
		if form.keyAsAmount {
			amount = []*kernel.Local[int64]{one, two}[group].Get(t)
		}
		s.total -= amount
		s.reclaimed[group]++
		s.lock.Unlock(t)
	}
	return fmt.Sprintf("first %d, then %d", order[0]+1, order[1]+1)
}

func (s *reclaimSpace) check(t *kernel.Task) error {
	if s.reclaimed != [2]int{1, 1} {
		return fmt.Errorf("the groups were reclaimed %v times", s.reclaimed)
	}
	if used := s.used[0].Load(t, kernel.Plain) + s.used[1].Load(t, kernel.Plain); used != s.total {
		return fmt.Errorf("%d bytes are used, and %d are counted", used, s.total)
	}
	return nil
}
