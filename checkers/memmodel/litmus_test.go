package memmodel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/memmodel"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// A litmus test is a small program, one outcome of it, and for each model
// whether that outcome is allowed. It is run by the explorer, so that the model
// and the way it is used are tested together.
type litmus struct {
	name  string
	tasks []program
	// outcome is one line: what each task returns, tasks separated by |, then
	// the final values of x, y and z if final is set.
	outcome string
	final   bool
	// allowed holds one letter for each of sc, tso, ra, rc11 and kernel: y or n.
	allowed string
	// why says where the answer comes from.
	why string
}

// cpu is what a task of a litmus test sees of the machine.
type cpu struct {
	t       *kernel.Task
	x, y, z *kernel.Word[int]
	s, u    *kernel.SpinLock
	seen    []string
}

type program func(c *cpu)

const (
	plain = kernel.Plain
	once  = kernel.Once
	acq   = kernel.Acquire
	rel   = kernel.Release
	full  = kernel.Full
	seqc  = kernel.Sequential
)

// r loads and records.
func (c *cpu) r(w *kernel.Word[int], order kernel.Order) int {
	v := w.Load(c.t, order)
	c.note(v)
	return v
}

func (c *cpu) w(w *kernel.Word[int], order kernel.Order, v int) { w.Store(c.t, order, v) }
func (c *cpu) note(v any)                                       { c.seen = append(c.seen, fmt.Sprint(v)) }
func (c *cpu) mb()                                              { c.t.Barrier(kernel.FullBarrier) }
func (c *cpu) rmb()                                             { c.t.Barrier(kernel.ReadBarrier) }
func (c *cpu) wmb()                                             { c.t.Barrier(kernel.WriteBarrier) }

type litmusMachine struct {
	kernel.Object
	x, y, z kernel.Word[int]
	s, u    kernel.SpinLock
}

func (l *litmus) scenario() *scenario.Scenario {
	build := func(setup *kernel.Task) *scenario.Instance {
		m := &litmusMachine{}
		m.Init(setup, "machine", m)
		m.x.Init(&m.Object, "x", 0)
		m.y.Init(&m.Object, "y", 0)
		m.z.Init(&m.Object, "z", 0)
		m.s.Init(&m.Object, "s")
		m.u.Init(&m.Object, "u")
		i := &scenario.Instance{Observe: func(t *kernel.Task) string {
			return fmt.Sprint(m.x.Load(t, once), m.y.Load(t, once), m.z.Load(t, once))
		}}
		for n, run := range l.tasks {
			i.Tasks = append(i.Tasks, scenario.Task{Name: fmt.Sprintf("T%d", n+1), Operations: []scenario.Operation{{
				Name: "run", Run: func(t *kernel.Task) scenario.Result {
					c := &cpu{t: t, x: &m.x, y: &m.y, z: &m.z, s: &m.s, u: &m.u}
					run(c)
					return scenario.Result{Value: strings.Join(c.seen, " ")}
				}}}})
		}
		return i
	}
	return &scenario.Scenario{Name: l.name, Variants: []scenario.Variant{{Name: "only", Role: scenario.Candidate, Build: build}}}
}

// outcomes explores the program and returns what it can show.
func (l *litmus) outcomes(t *testing.T, model string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	s := l.scenario()
	stats, err := explore.Explore(explore.Config{Scenario: s, Variant: &s.Variants[0], Model: model, CheckDefaults: true,
		Visit: func(e *explore.Execution) {
			if e.Violation != nil {
				t.Errorf("%s under %s: %v", l.name, model, e.Violation)
				return
			}
			results := make([]string, len(e.Operations))
			for i, op := range e.Operations {
				results[i] = op.Result.Value
			}
			text := strings.Join(results, "|")
			if l.final {
				text += " final " + e.State
			}
			found[text] = true
		}})
	if err != nil {
		t.Fatal(err)
	}
	if !stats.Exhaustive {
		t.Errorf("%s under %s: not exhaustive: %s", l.name, model, stats.Cut)
	}
	return found
}

func TestLitmus(t *testing.T) {
	for _, l := range slices.Concat(twoTasks, manyTasks, lockTests, updateTests, sequentialTests, plainTests, taskTests) {
		t.Run(l.name, func(t *testing.T) {
			interleaved := map[string]bool{}
			for i, model := range memmodel.Names() {
				found := l.outcomes(t, model)
				if want := l.allowed[i] == 'y'; found[l.outcome] != want {
					t.Errorf("%s: outcome %q allowed is %v, want %v (%s)", model, l.outcome, found[l.outcome], want, l.why)
				}
				if model == "sc" {
					interleaved = found
				}
				for outcome := range interleaved {
					if !found[outcome] {
						t.Errorf("%s forbids %q, which an interleaving shows", model, outcome)
					}
				}
			}
		})
	}
}

// TestLitmusTableIsWellFormed keeps a typing error in an outcome from passing as
// "forbidden": every outcome has one part a task, and the weakest way to write
// the same program would show it or the test says why nothing can.
func TestLitmusTableIsWellFormed(t *testing.T) {
	names := map[string]bool{}
	for _, l := range slices.Concat(twoTasks, manyTasks, lockTests, updateTests, sequentialTests, plainTests, taskTests) {
		if names[l.name] {
			t.Errorf("%s is there twice", l.name)
		}
		names[l.name] = true
		if n := strings.Count(l.outcome, "|") + 1; n != len(l.tasks) {
			t.Errorf("%s: the outcome has %d parts for %d tasks", l.name, n, len(l.tasks))
		}
		if len(l.allowed) != len(memmodel.Names()) || strings.Trim(l.allowed, "yn") != "" || l.why == "" {
			t.Errorf("%s: no answer and reason for every model", l.name)
		}
		if l.final != strings.Contains(l.outcome, " final ") {
			t.Errorf("%s: final is %v, the outcome is %q", l.name, l.final, l.outcome)
		}
		shape := map[string]bool{}
		for outcome := range l.outcomes(t, "rc11") {
			shape[shapeOf(outcome)] = true
		}
		if !shape[shapeOf(l.outcome)] {
			t.Errorf("%s: no execution returns as many values as %q: %v", l.name, l.outcome, shape)
		}
	}
}

// shapeOf replaces every value by a dash.
func shapeOf(outcome string) string {
	parts := strings.Split(outcome, "|")
	for i, p := range parts {
		fields := strings.Fields(p)
		for j := range fields {
			fields[j] = "-"
		}
		parts[i] = strings.Join(fields, " ")
	}
	return strings.Join(parts, "|")
}
