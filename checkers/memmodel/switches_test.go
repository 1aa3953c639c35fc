package memmodel_test

import (
	"fmt"
	"slices"
	"testing"

	"benign/checkers/graph"
	"benign/checkers/memmodel"

	"pgregory.net/rapid"
)

// fewestByForce is the least number of switches of any order that extends the
// relation: it tries every event next, after every set of events.
func fewestByForce(g *graph.Graph, before pairs) int {
	known := map[string]int{}
	var from func(done []bool, last int32, left int) int
	from = func(done []bool, last int32, left int) int {
		if left == 0 {
			return 0
		}
		key := fmt.Sprint(done, last)
		if n, ok := known[key]; ok {
			return n
		}
		best := len(g.Events)
		for id := range int32(len(g.Events)) {
			ready := !done[id]
			for p := range before {
				ready = ready && (p[1] != id || done[p[0]])
			}
			if !ready {
				continue
			}
			next, cost := slices.Clone(done), 0
			next[id] = true
			if last >= 0 && g.Events[id].Task != last {
				cost = 1
			}
			best = min(best, cost+from(next, g.Events[id].Task, left-1))
		}
		known[key] = best
		return best
	}
	return from(make([]bool, len(g.Events)), -1, len(g.Events))
}

// TestFewestSwitches compares with brute force, on executions that are
// interleavings and on others.
func TestFewestSwitches(t *testing.T) {
	for _, guide := range []string{"sc", "kernel"} {
		t.Run("guided by "+guide, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				g := newBuilder(t).grow(model(t, guide))
				n := newNaive(g)
				before := n.po.or(n.tasks, n.rf)
				if n.sc() {
					before = before.or(n.co, n.fr)
				}
				order, switches := memmodel.FewestSwitches(g)
				place := map[int32]int{}
				for i, id := range order {
					place[id] = i
				}
				if len(order) != len(g.Events) || len(place) != len(g.Events) {
					t.Fatalf("%v is no order of%s", order, show(g))
				}
				for p := range before {
					if place[p[0]] > place[p[1]] {
						t.Fatalf("%v has %d before %d%s", order, p[1], p[0], show(g))
					}
				}
				if want := fewestByForce(g, before); switches != want || switchesIn(g, order) != want {
					t.Fatalf("%v has %d switches, and is said to have %d; %d are enough%s", order, switchesIn(g, order), switches, want, show(g))
				}
			})
		})
	}
}

func switchesIn(g *graph.Graph, order []int32) int {
	switches := 0
	for i := range order {
		if i > 0 && g.Events[order[i]].Task != g.Events[order[i-1]].Task {
			switches++
		}
	}
	return switches
}

// TestFewestSwitchesGivesUp on executions with too many orders, in which each of
// many tasks needs every other one again and again.
func TestFewestSwitchesGivesUp(t *testing.T) {
	g := graph.New()
	const tasks, rounds = 10, 5
	for i := range tasks {
		g.AddTask(i+1, fmt.Sprint(i), graph.Init)
		g.AddLocation(graph.Location{Owner: 1, Field: uint32(i)})
	}
	for range rounds {
		for task := range int32(tasks) {
			g.Place(g.Add(event(graph.Write, task, task)), g.LastWrite(task))
		}
		for task := range int32(tasks) {
			e := event(graph.Read, task, (task+1)%tasks)
			e.Source = g.LastWrite(e.Location)
			g.Add(e)
		}
	}
	order, switches := memmodel.FewestSwitches(g)
	if len(order) != len(g.Events) || switches != switchesIn(g, order) {
		t.Errorf("%d events and %d switches, in an order of %d with %d", len(g.Events), switchesIn(g, order), len(order), switches)
	}
}
