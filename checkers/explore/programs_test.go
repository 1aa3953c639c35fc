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
	locks []kernel.SpinLock
	rw    []kernel.RWLock
}

func newMachine(t *kernel.Task, words, locks, rw int) *machine {
	m := &machine{words: make([]kernel.Word[int], words), locks: make([]kernel.SpinLock, locks), rw: make([]kernel.RWLock, rw)}
	m.Init(t, "machine", m)
	for i := range m.words {
		m.words[i].Init(&m.Object, fmt.Sprintf("x%d", i), 0)
	}
	for i := range m.locks {
		m.locks[i].Init(&m.Object, fmt.Sprintf("lock%d", i))
	}
	for i := range m.rw {
		m.rw[i].Init(&m.Object, fmt.Sprintf("rw%d", i))
	}
	return m
}

type body func(t *kernel.Task, m *machine)

// program is a scenario of one variant whose tasks are plain functions.
func program(words, locks, rw int, tasks ...body) (*scenario.Scenario, *scenario.Variant) {
	v := scenario.Variant{Name: "only", Role: scenario.Candidate, Build: func(setup *kernel.Task) *scenario.Instance {
		m := newMachine(setup, words, locks, rw)
		i := &scenario.Instance{}
		for n, run := range tasks {
			i.Tasks = append(i.Tasks, scenario.Task{Name: fmt.Sprintf("T%d", n+1), Operations: []scenario.Operation{{
				Name: "body", Run: func(t *kernel.Task) scenario.Result { run(t, m); return scenario.Result{} }}}})
		}
		return i
	}}
	s := &scenario.Scenario{Name: "program", Variants: []scenario.Variant{v}}
	return s, &s.Variants[0]
}

// explored runs a program and returns its statistics and how many executions
// were met more than once.
func explored(t testing.TB, model string, s *scenario.Scenario, v *scenario.Variant) (Stats, int) {
	t.Helper()
	var mutex sync.Mutex
	seen := map[string]int{}
	stats, err := Explore(Config{Scenario: s, Variant: v, Model: model, Workers: 2, CheckDefaults: true, Visit: func(e *Execution) {
		mutex.Lock()
		defer mutex.Unlock()
		seen[e.Graph.Key()]++
		if e.Violation != nil && e.Violation.Kind != kernel.Deadlock {
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

func TestSmoke(t *testing.T) {
	lockinc := func(t *kernel.Task, m *machine) { m.locks[0].Lock(t); m.locks[0].Unlock(t) }
	try := func(t *kernel.Task, m *machine) {
		if m.locks[0].TryLock(t) {
			m.locks[0].Unlock(t)
		}
	}
	inc := func(t *kernel.Task, m *machine) { m.words[0].Add(t, kernel.Once, 1) }
	reader := func(t *kernel.Task, m *machine) { m.rw[0].RLock(t); m.rw[0].RUnlock(t) }
	writer := func(t *kernel.Task, m *machine) { m.rw[0].Lock(t); m.rw[0].Unlock(t) }
	sb := func(a, b int) body {
		return func(t *kernel.Task, m *machine) {
			m.words[a].Store(t, kernel.Once, 1)
			m.words[b].Load(t, kernel.Once)
		}
	}
	for _, c := range []struct {
		name  string
		tasks []body
		want  map[string]int
	}{
		{"sb", []body{sb(0, 1), sb(1, 0)}, map[string]int{"sc": 3, "rc11": 4, "kernel": 4}},
		{"ainc2", repeat(2, inc), map[string]int{"sc": 2}},
		{"ainc4", repeat(4, inc), map[string]int{"sc": 24, "kernel": 24}},
		{"lockinc3", repeat(3, lockinc), map[string]int{"sc": 6, "kernel": 6}},
		{"lockinc5", repeat(5, lockinc), map[string]int{"sc": 120}},
		{"try2", repeat(2, try), map[string]int{"sc": 4}},
		{"try3", repeat(3, try), map[string]int{"sc": 21}},
		{"try4", repeat(4, try), map[string]int{"sc": 148}},
		{"try1lock1", append(repeat(1, try), lockinc), map[string]int{"sc": 3}},
		{"try2lock1", append(repeat(2, try), lockinc), map[string]int{"sc": 15}},
		{"try3lock1", append(repeat(3, try), lockinc), map[string]int{"sc": 103}},
		{"lock1try3", append([]body{lockinc}, repeat(3, try)...), map[string]int{"sc": 103}},
		{"readers4", repeat(4, reader), map[string]int{"sc": 1}},
		{"readers3writer", append(repeat(3, reader), writer), map[string]int{"sc": 8}},
		{"writer,readers3", append([]body{writer}, repeat(3, reader)...), map[string]int{"sc": 8}},
		{"deadlock3", repeat(3, func(t *kernel.Task, m *machine) {
			m.locks[0].Lock(t)
			m.words[0].Store(t, kernel.Once, 1)
			m.locks[1].Lock(t)
			m.locks[1].Unlock(t)
			m.locks[0].Unlock(t)
		}), map[string]int{"sc": 6}},
	} {
		s, v := program(2, 2, 1, c.tasks...)
		for model, want := range c.want {
			stats, twice := explored(t, model, s, v)
			if stats.Executions() != want || twice != 0 {
				t.Errorf("%s under %s: %+v, want %d; %d met twice", c.name, model, stats, want, twice)
			}
		}
	}
}
