package explore

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"benign/impl/kernel"
)

// Strategy draws one schedule for each sample of a scenario that has too many
// executions to visit them all.
type Strategy interface {
	// Name is how users call it.
	Name() string
	// Depth is how many ordering constraints a fault may need to be found with
	// a known probability, see [PCTBound]; 0 if the strategy promises nothing.
	Depth() int
	// Begin returns the scheduler of one sample, which takes all its chance from
	// random. No sample is expected to have more than the given number of steps.
	Begin(random *rand.Rand, steps int) Scheduler
}

// Scheduler returns the index in ready of the task that takes the next step. It
// is called once a step; ready is never empty, in the order of the tasks'
// numbers, and valid during the call only.
type Scheduler func(ready []Pending) int

// Pending is the operation that a task is about to perform. It is one step,
// even if it is more than one event of the graph.
type Pending struct {
	// Task is the number of the task in the graph, and Step how many events it
	// has behind it: together they name the operation.
	Task, Step int32
	// Location is the word or lock, or nil for an operation on neither.
	Location *kernel.Location
	// Writes reports that the order against every other operation at the
	// location matters; without it, only that against the ones that write.
	Writes bool
}

// conflicts reports whether the order of the two operations matters.
func (p *Pending) conflicts(other *Pending) bool {
	return p.Location != nil && p.Location == other.Location && (p.Writes || other.Writes)
}

// pendingOf describes what the thread is about to do.
func pendingOf(th *thread) Pending {
	p := Pending{Task: th.number, Step: th.events, Location: th.op.Location}
	switch th.op.Kind {
	case kernel.OpStore, kernel.OpUpdate:
		p.Writes = true
	case kernel.OpAcquire, kernel.OpRelease:
		p.Writes = th.op.Mode != kernel.Shared
	}
	return p
}

// expectedTasks is how many tasks a sample has room for from the start.
const expectedTasks = 8

// StrategyNames lists what [NewStrategy] knows.
func StrategyNames() []string { return []string{"random", "pct", "pos"} }

// NewStrategy returns the strategy with the name. The depth is for pct, and at
// least 1.
func NewStrategy(name string, depth int) (Strategy, error) {
	switch {
	case name == "pct" && depth < 1:
		return nil, fmt.Errorf("pct of depth %d: want at least 1", depth)
	case !slices.Contains(StrategyNames(), name):
		return nil, fmt.Errorf("unknown strategy %q: want one of %v", name, StrategyNames())
	}
	return map[string]Strategy{"random": RandomWalk{}, "pct": PCT{Constraints: depth}, "pos": POS{}}[name], nil
}
