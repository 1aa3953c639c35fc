package explore

import (
	"testing"

	"benign/impl/kernel"
)

// The tests in this file state what an ideal explorer would do and skip, each
// with the reason, so that docs/limits.md can be checked against them.

// TestLoadBuffering: the kernel's model allows both loads to see the other
// task's later store.
func TestLoadBuffering(t *testing.T) {
	s, v := program(2, 0, 0, loadThenStore(0, 1), loadThenStore(1, 0))
	if stats, _ := explored(t, "kernel", s, v); stats.Executions() != 4 {
		t.Skipf("load buffering is not explored: %d executions, the kernel's model has 4", stats.Executions())
	}
}

func loadThenStore(from, to int) body {
	return func(t *kernel.Task, m *machine) {
		m.words[from].Load(t, kernel.Once)
		m.words[to].Store(t, kernel.Once, 1)
	}
}

// TestRereadOfTheOlder: a compiler may take the value of the first of two loads
// for the second use of a variable, and that of the second for the first.
func TestRereadOfTheOlder(t *testing.T) {
	site := kernel.DataRaceSite("older", "it is read only")
	older := 0
	s, v := program(1, 0, 0,
		func(t *kernel.Task, m *machine) { m.words[0].Store(t, kernel.Once, 1) },
		func(t *kernel.Task, m *machine) {
			value := m.words[0].Local(t, kernel.Plain, site)
			if first := value.Get(t); first > value.Get(t) {
				older++
			}
		})
	if _, err := Explore(Config{Scenario: s, Variant: v, Model: "kernel"}); err != nil {
		t.Fatal(err)
	}
	if older == 0 {
		t.Skip("a value that is read again is never older than before")
	}
}

// TestControlDependency: the kernel orders a plain write after the marked load
// that it depends on.
func TestControlDependency(t *testing.T) {
	var region kernel.Region
	s, v := program(1, 0, 0,
		func(t *kernel.Task, m *machine) {
			region.Init(&m.Object, "data")
			region.Read(t)
			m.words[0].Store(t, kernel.Release, 1)
		},
		func(t *kernel.Task, m *machine) {
			if m.words[0].Load(t, kernel.Once) == 1 {
				region.Write(t)
			}
		})
	alarms := 0
	_, err := Explore(Config{Scenario: s, Variant: v, Model: "kernel", Visit: func(e *Execution) {
		if e.Violation != nil {
			alarms++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if alarms > 0 {
		t.Skipf("a control dependency does not order plain memory: %d false alarms", alarms)
	}
}
