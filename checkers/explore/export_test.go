package explore

import "benign/checkers/graph"

// Graph is the execution that was parsed.
func (t *Trace) Graph() *graph.Graph { return t.graph }
