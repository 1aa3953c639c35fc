package memmodel_test

import (
	"slices"
	"testing"

	"benign/checkers/graph"
	"benign/checkers/memmodel"

	"pgregory.net/rapid"
)

// copyStep adds to g, in place, what another graph has more, and returns how
// many events that is.
func copyStep(g, longer *graph.Graph) int {
	known := len(g.Events)
	for id := known; id < len(longer.Events); id++ {
		e := longer.Events[id]
		if !e.Writes() {
			e.Pair = graph.Init
		}
		g.Add(e)
		if e.Writes() {
			list := longer.Coherence[e.Location]
			after := graph.Init
			if at := slices.Index(list, int32(id)); at > 0 {
				after = list[at-1]
			}
			g.Place(int32(id), after)
		}
		for section := range longer.Events {
			if longer.Events[section].End == int32(id) {
				g.Events[section].End = int32(id)
			}
		}
	}
	return len(longer.Events) - known
}

// TestExtendsAgreesWithConsistent grows one graph and cuts it back, as an
// exploration does, and asks about every step.
func TestExtendsAgreesWithConsistent(t *testing.T) {
	for _, name := range memmodel.Names() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				b := newBuilder(t)
				b.taste.operations = slices.DeleteFunc(slices.Clone(b.taste.operations), func(operation string) bool {
					return operation == "spawn" || operation == "join"
				})
				growing, fresh, interleaving := model(t, name), model(t, name), model(t, "sc")
				floor := 0 // the graph is not cut any shorter
				for range rapid.IntRange(10, 40).Draw(t, "steps") {
					if rapid.IntRange(0, 4).Draw(t, "cut") == 0 {
						cut(b.g, floor, rapid.IntRange(floor, len(b.g.Events)).Draw(t, "to"))
					}
					if rapid.IntRange(0, 3).Draw(t, "redirect") == 0 {
						if g := redirected(b.g); g != nil && fresh.Consistent(g) {
							b.g, floor = g, len(g.Events)
						}
					}
					longer := b.step(false)
					if longer == nil || len(longer.Events) > 2*maxEvents {
						continue
					}
					n := copyStep(b.g, longer)
					allowed := fresh.Consistent(b.g)
					if ends := longer.Events[len(longer.Events)-1].Kind == graph.Unlock; !ends {
						if got := growing.Extends(b.g, n); got != allowed {
							t.Fatalf("%s says %v of the step, and %v of the graph%s", name, got, allowed, show(b.g))
						}
						if got, known := memmodel.Interleaves(growing, b.g, n); known && got != interleaving.Consistent(b.g) {
							t.Fatalf("that it is an interleaving is said to be %v%s", got, show(b.g))
						}
					}
					if !allowed {
						b.g.CutTo(len(b.g.Events) - n)
					}
				}
			})
		})
	}
}

// redirected returns a graph of its own in which the last load of a task reads
// from a younger write, or nil if none can.
func redirected(g *graph.Graph) *graph.Graph {
	for _, task := range g.Tasks {
		if task.Last == graph.Init || g.Events[task.Last].Kind != graph.Read {
			continue
		}
		for _, write := range g.Coherence[g.Events[task.Last].Location] {
			if write > task.Last && !g.Prefix(write).Has(task.Last) {
				other := g.Clone()
				other.Events[task.Last].Source = write
				other.Refresh(task.Last)
				return other
			}
		}
	}
	return nil
}

// cut takes the graph back to about n events, between two steps.
func cut(g *graph.Graph, floor, n int) {
	for n > floor && n < len(g.Events) && g.Events[n].Writes() && g.Events[n].Pair != graph.Init {
		n--
	}
	g.CutTo(n)
}
