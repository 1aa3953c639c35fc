package explore

import (
	"math"
	"math/rand/v2"
)

// PCT is probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi,
// Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding
// Bugs", ASPLOS 2010). Every task has a random priority, and of those that can
// go on the highest goes; at a few steps, chosen at random beforehand, the task
// whose turn it would be falls below all others. A fault that shows whenever
// Constraints pairs of operations come in a certain order is found by each
// sample with at least the probability of [PCTBound].
type PCT struct {
	// Constraints is the depth of the faults that are looked for, at least 1.
	Constraints int
}

// Name implements [Strategy].
func (PCT) Name() string { return "pct" }

// Depth implements [Strategy].
func (p PCT) Depth() int { return p.Constraints }

// Begin implements [Strategy].
func (p PCT) Begin(random *rand.Rand, steps int) Scheduler {
	falls := make([]int, max(0, p.Constraints-1)) // the steps at which a task falls, from 1
	for i := range falls {
		falls[i] = 1 + random.IntN(max(1, steps))
	}
	priority := make([]float64, 0, expectedTasks) // by task: at first above 1, below 0 once fallen; 0 if it has none yet
	highest := func(ready []Pending) int {
		best := 0
		for i := range ready {
			if priority[ready[i].Task] > priority[ready[best].Task] {
				best = i
			}
		}
		return best
	}
	step := 0
	return func(ready []Pending) int {
		step++
		for i := range ready {
			for int(ready[i].Task) >= len(priority) {
				priority = append(priority, 0)
			}
			if p := &priority[ready[i].Task]; *p == 0 {
				*p = 1 + random.Float64()
			}
		}
		for i, fall := range falls {
			if fall == step {
				priority[ready[highest(ready)].Task] = float64(i - len(falls))
			}
		}
		return highest(ready)
	}
}

// PCTBound is the least probability with which one PCT sample of n tasks and at
// most k steps finds a fault of depth d: 1/(n·k^(d-1)). It is 0 if any of the
// three is below 1. It says nothing of faults that also need the environment to
// pick something.
func PCTBound(tasks, steps, depth int) float64 {
	if tasks < 1 || steps < 1 || depth < 1 {
		return 0
	}
	return 1 / (float64(tasks) * math.Pow(float64(steps), float64(depth-1)))
}
