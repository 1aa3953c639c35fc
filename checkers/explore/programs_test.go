package explore

import (
	"fmt"
	"sync"
	"testing"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// machine is what the small programs below share: words and locks by number.
type machine struct {
	kernel.Object
	words []kernel.Word[int]
	locks []kernel.Mutex
	rw    []kernel.RWLock
	rcu   kernel.RCU
	wide  [2]kernel.Word[int64] // what a 32-bit machine has in two halves
}

func newMachine(t *kernel.Task, words []int, locks, rw int) *machine {
	m := &machine{words: make([]kernel.Word[int], len(words)), locks: make([]kernel.Mutex, locks), rw: make([]kernel.RWLock, rw)}
	m.Init(t, "machine", m)
	for i, value := range words {
		m.words[i].Init(&m.Object, fmt.Sprintf("x%d", i), value)
	}
	for i := range m.locks {
		m.locks[i].Init(&m.Object, fmt.Sprintf("lock%d", i))
	}
	for i := range m.rw {
		m.rw[i].Init(&m.Object, fmt.Sprintf("rw%d", i))
	}
	m.rcu.Init(&m.Object, "rcu")
	for i := range m.wide {
		m.wide[i].Init(&m.Object, fmt.Sprintf("wide%d", i), 0)
	}
	return m
}

type body func(t *kernel.Task, m *machine)

// program is a scenario of one variant whose tasks are plain functions; all
// words are zero at first.
func program(words, locks, rw int, tasks ...body) (*scenario.Scenario, *scenario.Variant) {
	return programFrom(make([]int, words), locks, rw, tasks...)
}

// programFrom is a program whose words have other values at first.
func programFrom(words []int, locks, rw int, tasks ...body) (*scenario.Scenario, *scenario.Variant) {
	v := scenario.Variant{Name: "only", Role: scenario.Candidate, Build: func(setup *kernel.Task) *scenario.Instance {
		m := newMachine(setup, words, locks, rw)
		i := &scenario.Instance{}
		for n, run := range tasks {
			i.Tasks = append(i.Tasks, scenario.Task{Name: fmt.Sprintf("T%d", n+1), Operations: []scenario.Operation{{
				Name: "body", Run: func(t *kernel.Task) scenario.Result { run(t, m); return scenario.Result{} }}}})
		}
		return i
	}}
	s := &scenario.Scenario{Name: "program", WordsOnly: true, Variants: []scenario.Variant{v}}
	return s, &s.Variants[0]
}

// explored runs a program and returns its statistics and how many executions
// were met more than once.
func explored(t testing.TB, model string, s *scenario.Scenario, v *scenario.Variant) (Stats, int) {
	t.Helper()
	var mutex sync.Mutex
	seen := map[string]int{}
	stats, err := Explore(Config{Scenario: s, Variant: v, Model: model, Workers: 2, CheckDefaults: true, Restart: func() { clear(seen) }, Visit: func(e *Execution) {
		mutex.Lock()
		defer mutex.Unlock()
		seen[e.Graph.Key()]++
		if e.Violation != nil && !e.Violation.Kind.Stuck() {
			t.Errorf("unexpected violation: %v", e.Violation)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	twice := 0
	for _, n := range seen {
		twice += n - 1
	}
	return stats, twice
}

func repeat(n int, run body) []body {
	tasks := make([]body, n)
	for i := range tasks {
		tasks[i] = run
	}
	return tasks
}
