package explore

import (
	"fmt"
	"strings"
	"testing"

	"benign/checkers/graph"
	"benign/impl/kernel"
)

// Some tools take executions for the same that differ in coherence only. Their
// numbers are those of what our executions read.

// readsFrom says what every read of the execution reads from, whatever the
// order in which it was built.
func readsFrom(g *graph.Graph) string {
	name := make([]string, len(g.Events))
	behind := make([]int, len(g.Tasks))
	for id := range g.Events {
		task := g.Events[id].Task
		name[id] = fmt.Sprintf("%d.%d", task, behind[task])
		behind[task]++
	}
	sources := make([]strings.Builder, len(g.Tasks))
	for id := range g.Events {
		e := &g.Events[id]
		if e.Kind != graph.Read && e.Kind != graph.UpdateRead {
			continue
		}
		source := "initial"
		if e.Source != graph.Init {
			source = name[e.Source]
		}
		fmt.Fprintf(&sources[e.Task], " %s", source)
	}
	all := ""
	for i := range sources {
		all += sources[i].String() + ";"
	}
	return all
}

// TestReadsFrom counts both ways: all executions, and those that read from
// different writes. The latter are Nidhugg's with its option -rf, and closed
// forms.
func TestReadsFrom(t *testing.T) {
	for _, c := range []struct {
		name         string
		words        int
		tasks        []body
		all, sources int
	}{
		{"rmw_test(1,0,0)", 1, rmwTest(1, 0, 0), 1, 1},
		{"rmw_test(2,2,2)", 1, rmwTest(2, 2, 2), factorial(4) * power(5, 2), 300},
		{"control_flow(1)", 3, controlFlow(1), 5, 5},
		{"control_flow(2)", 3, controlFlow(2), 18, 9},
		{"control_flow(3)", 3, controlFlow(3), 90, 15},
		{"control_flow(4)", 3, controlFlow(4), 600, 25},
		{"control_flow(5)", 3, controlFlow(5), 5160, 43},
		{"lastwrite(4)", 1, []body{lastWrite(4, true)}, factorial(4), 4},
		{"floating_read(4)", 1, []body{lastWrite(4, false)}, factorial(5), 5},
		{"ainc(4)", 1, repeat(4, inc(0)), factorial(4), factorial(4)},
	} {
		t.Run(c.name, func(t *testing.T) {
			sources := map[string]bool{}
			s, v := program(c.words, 0, 0, c.tasks...)
			stats, err := Explore(Config{Scenario: s, Variant: v, Model: "sc", Restart: func() { clear(sources) },
				Visit: func(e *Execution) { sources[readsFrom(e.Graph)] = true }})
			if err != nil {
				t.Fatal(err)
			}
			if stats.Complete != c.all || len(sources) != c.sources {
				t.Errorf("%d executions that read in %d ways, want %d and %d", stats.Complete, len(sources), c.all, c.sources)
			}
		})
	}
}

// rmwTest has tasks that update, load and store one word.
func rmwTest(updates, loads, stores int) []body {
	tasks := forEach(updates, func(i int) body {
		return func(t *kernel.Task, m *machine) { m.words[0].Add(t, once, 1+i) }
	})
	tasks = append(tasks, repeat(loads, ld(0, once))...)
	return append(tasks, forEach(stores, func(i int) body { return st(0, once, 10+i) })...)
}
