package explore

import "math/rand/v2"

// POS is partial order sampling (Yuan, Yang, Gu, "Partial Order Aware
// Concurrency Sampling", CAV 2018). Every operation that can run has a random
// priority, and the highest runs; those that it conflicts with draw again, so
// that each race is decided anew however often the same tasks meet.
type POS struct{}

// Name implements [Strategy].
func (POS) Name() string { return "pos" }

// Depth implements [Strategy].
func (POS) Depth() int { return 0 }

// Begin implements [Strategy].
func (POS) Begin(random *rand.Rand, _ int) Scheduler {
	type drawn struct {
		step     int32
		priority float64
	}
	latest := make([]drawn, 0, expectedTasks) // by task
	return func(ready []Pending) int {
		best := 0
		for i := range ready {
			p := &ready[i]
			for int(p.Task) >= len(latest) {
				latest = append(latest, drawn{step: -1})
			}
			if latest[p.Task].step != p.Step {
				latest[p.Task] = drawn{p.Step, random.Float64()}
			}
			if latest[p.Task].priority > latest[ready[best].Task].priority {
				best = i
			}
		}
		for i := range ready {
			if i != best && ready[i].conflicts(&ready[best]) {
				latest[ready[i].Task].step = -1
			}
		}
		return best
	}
}
