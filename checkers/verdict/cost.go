package verdict

import "benign/checkers/graph"

// Cost is what executions take, over those that came to their end.
type Cost struct {
	// Executions counts them, and Events and Locks add up their events and the
	// locks that they took.
	Executions int `json:"executions"`
	Events     int `json:"events"`
	Locks      int `json:"locks"`
	// MostEvents and MostLocks are those of the dearest one.
	MostEvents int `json:"mostEvents"`
	MostLocks  int `json:"mostLocks"`
}

// CostChange compares what executions take with what they took before.
type CostChange struct {
	// Before is what they took without the change, and After with it.
	Before Cost `json:"before"`
	After  Cost `json:"after"`
}

func (c *Cost) add(g *graph.Graph) {
	locks := 0
	for id := range g.Events {
		if g.Hinders(int32(id)) {
			locks++
		}
	}
	c.Executions++
	c.Events += len(g.Events)
	c.Locks += locks
	c.MostEvents, c.MostLocks = max(c.MostEvents, len(g.Events)), max(c.MostLocks, locks)
}

// Merge adds other executions.
func (c *Cost) Merge(d Cost) {
	c.Executions += d.Executions
	c.Events += d.Events
	c.Locks += d.Locks
	c.MostEvents, c.MostLocks = max(c.MostEvents, d.MostEvents), max(c.MostLocks, d.MostLocks)
}

// MeanEvents is how many events an execution has on average.
func (c Cost) MeanEvents() float64 { return mean(c.Events, c.Executions) }

// MeanLocks is how many locks an execution takes on average.
func (c Cost) MeanLocks() float64 { return mean(c.Locks, c.Executions) }

func mean(sum, n int) float64 {
	if n == 0 {
		return 0
	}
	return float64(sum) / float64(n)
}
