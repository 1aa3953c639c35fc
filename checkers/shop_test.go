package checkers_test

import (
	"fmt"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// shop is code as a user has it: a stock under a lock, at which buyers peek
// before they bother to take the lock.
type shop struct {
	kernel.Object
	lock  kernel.SpinLock
	stock kernel.Word[int]
	sales kernel.Region // of sold
	sold  []string      // under the lock
}

// stockPeek is the deliberate race.
var stockPeek = kernel.DataRaceSite("shop-peek", "whoever finds something looks again under the lock")

func newShop(setup *kernel.Task, stock int) *shop {
	s := &shop{}
	s.Init(setup, "shop", s)
	s.lock.Init(&s.Object, "lock")
	s.stock.Init(&s.Object, "stock", stock)
	s.sales.Init(&s.Object, "sales")
	return s
}

// habit is how a buyer goes about it.
type habit struct{ peeks, looksAgain, takesLock bool }

var (
	careful = habit{looksAgain: true, takesLock: true}
	peeking = habit{peeks: true, looksAgain: true, takesLock: true}
	rash    = habit{peeks: true, takesLock: true}
	rude    = habit{looksAgain: true}
)

// buy takes a piece from the stock and reports whether there was one.
func (s *shop) buy(t *kernel.Task, h habit) bool {
	if h.peeks && s.stock.LoadRacy(t, kernel.Once, stockPeek) == 0 {
		return false
	}
	if h.takesLock {
		s.lock.Lock(t)
		defer s.lock.Unlock(t)
	}
	left := s.stock.Load(t, kernel.Once)
	if h.looksAgain && left == 0 {
		return false
	}
	s.stock.Store(t, kernel.Once, left-1)
	s.sales.Write(t)
	s.sold = append(s.sold, t.Name())
	return true
}

// build has two buyers who want the last piece.
func build(h habit) func(*kernel.Task) *scenario.Instance {
	return func(setup *kernel.Task) *scenario.Instance {
		s := newShop(setup, 1)
		buy := scenario.Operation{Name: "buy", Run: func(t *kernel.Task) scenario.Result {
			return scenario.Result{Value: fmt.Sprint(s.buy(t, h))}
		}}
		return &scenario.Instance{
			Tasks: []scenario.Task{
				{Name: "Ann", Operations: []scenario.Operation{buy}},
				{Name: "Bob", Operations: []scenario.Operation{buy}},
			},
			Check: func(t *kernel.Task) error {
				if len(s.sold) != 1 {
					return fmt.Errorf("the last piece was sold to %v", s.sold)
				}
				return nil
			},
			Observe:  func(t *kernel.Task) string { return fmt.Sprint(s.sold) },
			Teardown: s.Free,
		}
	}
}

// shopRace is the question: may buyers peek?
func shopRace(candidate habit, expect scenario.Class, more ...scenario.Variant) *scenario.Scenario {
	return &scenario.Scenario{
		Name: "shop", About: "two buyers want the last piece", Racing: true,
		Variants: append([]scenario.Variant{
			{Name: "careful", Role: scenario.Baseline, Expect: scenario.Indistinguishable, Build: build(careful)},
			{Name: "candidate", Role: scenario.Candidate, Expect: expect, Build: build(candidate)},
		}, more...),
	}
}

// fault is a planted fault.
func fault(name string, h habit) scenario.Variant {
	return scenario.Variant{Name: name, Role: scenario.Planted, Expect: scenario.Harmful, Build: build(h)}
}
