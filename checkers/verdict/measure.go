package verdict

import (
	"fmt"
	"maps"
	"slices"

	"benign/checkers/explore"
)

// KindBound is an operation that has done more of something than the code promises.
const KindBound = "bound exceeded"

// Measure is the most that an operation has done of something, over all executions.
type Measure struct {
	// Name says what was counted.
	Name string `json:"name"`
	// Largest is the most that there were, and Most what is promised.
	Largest int `json:"largest"`
	Most    int `json:"most"`
}

// measure takes the counts of an execution into account, and blames it for the first
// one that exceeds its bound.
func (o *observation) measure(e *explore.Execution) {
	blamed := false
	for _, op := range e.Operations {
		for _, c := range op.Result.Counts {
			m, known := o.measures[c.Name]
			if !known {
				m.Name, m.Most = c.Name, c.Most
			}
			m.Largest, m.Most = max(m.Largest, c.N), min(m.Most, c.Most)
			o.measures[c.Name] = m
			if c.N > c.Most && !blamed {
				blamed = true
				o.worst.add(newCulprit(e.Graph, e.Seed, KindBound, fmt.Sprintf("%s of %s: %d %s, of at most %d", op.Name, op.TaskName, c.N, c.Name, c.Most), true))
			}
		}
	}
}

// sortedMeasures returns the measures by name.
func (o *observation) sortedMeasures() []Measure {
	var list []Measure
	for _, name := range slices.Sorted(maps.Keys(o.measures)) {
		list = append(list, o.measures[name])
	}
	return list
}
