package explore

import "math/rand/v2"

// RandomWalk picks any task that can go on, all with the same probability. It
// is unlikely to let one task run far ahead of the others.
type RandomWalk struct{}

// Name implements [Strategy].
func (RandomWalk) Name() string { return "random" }

// Depth implements [Strategy].
func (RandomWalk) Depth() int { return 0 }

// Begin implements [Strategy].
func (RandomWalk) Begin(random *rand.Rand, _ int) Scheduler {
	return func(ready []Pending) int { return random.IntN(len(ready)) }
}
