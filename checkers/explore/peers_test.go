package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// The small programs that loom and shuttle, the explorers of Rust code, were
// measured with, and what they found. Loom 0.7.2 was run to the end, with its
// own Arc and with that of the standard library, which it does not see.

// peerProgram is one of them.
type peerProgram struct {
	name  string
	words int
	tasks []peerTask
	final bool // the outcome has the final value of word 0
	// classes is how many executions there are under rc11, counted by hand.
	classes int
	// loom and loomStd are how many loom runs, with each kind of Arc.
	loom, loomStd int
	// outcomes are what can be seen under rc11, if that has been compared, and
	// peers what loom and shuttle make of it.
	outcomes []string
	peers    string
}

// peerTask is what one task does; what it returns is part of the outcome.
type peerTask func(t *kernel.Task, m *machine) string

func peerPrograms() []peerProgram {
	return slices.Concat(peerCounters(), peerMessages(), peerLocks())
}

func peerCounters() []peerProgram {
	adds := func(n int) peerTask { return quiet(seq(repeat(n, inc(0))...)) }
	main := func(t *kernel.Task, m *machine) string {
		child := t.Go("thread", func(t *kernel.Task) { adds(3)(t, m) })
		adds(3)(t, m)
		t.Join(child)
		return ""
	}
	lost := quiet(func(t *kernel.Task, m *machine) { m.words[0].Store(t, once, m.words[0].Load(t, once)+1) })
	return []peerProgram{
		{name: "fa2x3", words: 1, tasks: same(2, adds(3)), classes: 20, loom: 315, loomStd: 105},
		{name: "fa2x3main", words: 1, tasks: same(1, main), classes: 20, loom: 50, loomStd: 50},
		{name: "fa2x5", words: 1, tasks: same(2, adds(5)), classes: 252, loom: 4158, loomStd: 1386},
		{name: "fa3x2", words: 1, tasks: same(3, adds(2)), classes: 90, loom: 116319, loomStd: 7847},
		{name: "fa3x3", words: 1, tasks: same(3, adds(3)), classes: 1680, loom: 2398545, loomStd: 162390},
		{name: "lost", words: 1, tasks: same(2, lost), classes: 4, loom: 90, loomStd: 30, final: true,
			outcomes: []string{"x=1", "x=2"}, peers: "both find both"},
		{name: "arcdrop", words: 3, tasks: []peerTask{quiet(seq(inc(1), dropReference)), quiet(seq(inc(1), dropReference)), quiet(dropReference)},
			classes: 12, loom: 282, loomStd: 282},
	}
}

// dropReference is what the drop of an Arc does to its count, in word 0 from 0 to
// -3; the last one destroys the value.
func dropReference(t *kernel.Task, m *machine) {
	if m.words[0].Add(t, rel, -1) == -3 {
		t.Barrier(kernel.ReadBarrier)
		t.Assert(m.words[2].Add(t, once, 1) == 1, "destroyed twice")
	}
}

func peerMessages() []peerProgram {
	message := func(store, load kernel.Order) []peerTask {
		return []peerTask{quiet(seq(st(0, once, 1), st(1, store, 1))), func(t *kernel.Task, m *machine) string {
			flag := m.words[1].Load(t, load)
			return fmt.Sprint(flag, m.words[0].Load(t, once))
		}}
	}
	buffer := func(store, load kernel.Order, between body) []peerTask {
		task := func(i int) peerTask {
			return func(t *kernel.Task, m *machine) string {
				m.words[i].Store(t, store, 1)
				between(t, m)
				return fmt.Sprint(m.words[1-i].Load(t, load))
			}
		}
		return []peerTask{task(0), task(1)}
	}
	nothing := func(*kernel.Task, *machine) {}
	all := []string{"0 0", "0 1", "1 0", "1 1"}
	return []peerProgram{
		{name: "mp_rlx", words: 2, tasks: message(once, once), classes: 4, loom: 399, loomStd: 57,
			outcomes: all, peers: "shuttle misses 1 0"},
		{name: "mp_ra", words: 2, tasks: message(rel, acq), classes: 3, loom: 336, loomStd: 48,
			outcomes: []string{"0 0", "0 1", "1 1"}, peers: "both right"},
		{name: "sb_rlx", words: 2, tasks: buffer(once, once, nothing), classes: 4, loom: 420, loomStd: 60,
			outcomes: all, peers: "shuttle misses 0 0"},
		{name: "sb_sc", words: 2, tasks: buffer(seqc, seqc, nothing), classes: 3, loom: 420, loomStd: 60,
			outcomes: all[1:], peers: "loom reports 0 0, which cannot be"},
		{name: "sb_fence", words: 2, tasks: buffer(once, once, mb), classes: 3, loom: 210, loomStd: 30,
			outcomes: all[1:], peers: "both right"},
	}
}

func peerLocks() []peerProgram {
	count := locked(func(t *kernel.Task, m *machine) { m.words[0].Store(t, plain, m.words[0].Load(t, plain)+1) })
	const tries = 6 + 2*2 // orders of three sections, and those of two of which one is in the way of the try
	outcomes := []string{"0 false", "0 true", "1 false", "1 true", "10 true", "11 true"}
	return []peerProgram{
		{name: "mutex2x2", words: 1, tasks: same(2, quiet(seq(count, count))), classes: 6, loom: 90, loomStd: 30},
		{name: "mutex3x1", words: 1, tasks: same(3, quiet(count)), classes: 6, loom: 6225, loomStd: 414},
		{name: "mutex3x2", words: 1, tasks: same(3, quiet(seq(count, count))), classes: 90, loom: 116319, loomStd: 7847},
		{name: "rwtry3", words: 2, tasks: readWriteTry(false), classes: tries, loom: 6225, loomStd: 414,
			outcomes: outcomes, peers: "to loom the try never fails: two are missed"},
		{name: "rwtry3pt", words: 2, tasks: readWriteTry(true), classes: tries, loom: 35599, loomStd: 649,
			outcomes: outcomes, peers: "both right"},
		{name: "trylock", words: 1, tasks: []peerTask{quiet(locked(inc(0))), func(t *kernel.Task, m *machine) string {
			taken := m.locks[0].TryLock(t)
			if taken {
				m.locks[0].Unlock(t)
			}
			return fmt.Sprint(taken)
		}}, classes: 3, loom: 27, loomStd: 9, outcomes: []string{"false", "true"}, peers: "to loom the try never fails"},
	}
}

// readWriteTry has a writer, a reader and a task that tries to write, perhaps
// with something that others can see inside of the first two sections.
func readWriteTry(inside bool) []peerTask {
	look := func(t *kernel.Task, m *machine) {
		if inside {
			m.words[1].Add(t, once, 1)
		}
	}
	add := func(t *kernel.Task, m *machine, n int) { m.words[0].Store(t, plain, m.words[0].Load(t, plain)+n) }
	return []peerTask{
		func(t *kernel.Task, m *machine) string {
			m.rw[0].Lock(t)
			look(t, m)
			add(t, m, 1)
			m.rw[0].Unlock(t)
			return ""
		},
		func(t *kernel.Task, m *machine) string {
			m.rw[0].RLock(t)
			look(t, m)
			seen := m.words[0].Load(t, plain)
			m.rw[0].RUnlock(t)
			return fmt.Sprint(seen)
		},
		func(t *kernel.Task, m *machine) string {
			taken := m.rw[0].TryLock(t)
			if taken {
				add(t, m, 10)
				m.rw[0].Unlock(t)
			}
			return fmt.Sprint(taken)
		},
	}
}

// quiet is a task that says nothing about what it saw, and same is n of them.
func quiet(run body) peerTask {
	return func(t *kernel.Task, m *machine) string { run(t, m); return "" }
}

func same(n int, task peerTask) []peerTask { return slices.Repeat([]peerTask{task}, n) }

// scenario asks for the program. It can be explored without running its code
// unless the final value is looked at.
func (p *peerProgram) scenario() (*scenario.Scenario, *scenario.Variant) {
	v := scenario.Variant{Name: "only", Role: scenario.Candidate, Build: func(setup *kernel.Task) *scenario.Instance {
		m := newMachine(setup, make([]int, p.words), 1, 1)
		i := &scenario.Instance{}
		for n, run := range p.tasks {
			i.Tasks = append(i.Tasks, scenario.Task{Name: fmt.Sprintf("T%d", n+1), Operations: []scenario.Operation{{
				Name: "body", Run: func(t *kernel.Task) scenario.Result { return scenario.Result{Value: run(t, m)} }}}})
		}
		if p.final {
			i.Observe = func(t *kernel.Task) string { return fmt.Sprintf("x=%d", m.words[0].Load(t, once)) }
		}
		return i
	}}
	s := &scenario.Scenario{Name: p.name, WordsOnly: true, Variants: []scenario.Variant{v}}
	return s, &s.Variants[0]
}

// explore returns how many executions there are, and what they show.
func (p *peerProgram) explore(t testing.TB, model string) (executions int, outcomes []string) {
	t.Helper()
	found := map[string]bool{}
	s, v := p.scenario()
	stats, twice := explored(t, model, s, v)
	if twice > 0 || stats.Complete != stats.Executions() || !stats.Exhaustive {
		t.Errorf("%s under %s: %+v, %d of them met twice", p.name, model, stats, twice)
	}
	if _, err := Explore(Config{Scenario: s, Variant: v, Model: model, Restart: func() { clear(found) }, Visit: func(e *Execution) {
		var shown []string
		for _, op := range e.Operations {
			shown = append(shown, op.Result.Value)
		}
		found[strings.TrimSpace(strings.Join(append(shown, e.State), " "))] = true
	}}); err != nil {
		t.Fatal(err)
	}
	return stats.Complete, slices.Sorted(maps.Keys(found))
}

// TestPeerPrograms has as many executions as there are by hand, and shows what
// C11 allows: no more, as loom does, and no less, as loom and shuttle do.
func TestPeerPrograms(t *testing.T) {
	for _, p := range peerPrograms() {
		t.Run(p.name, func(t *testing.T) {
			if p.classes > 1000 && (testing.Short() || underRaceDetector) {
				t.Skip("too many executions for a short run or the race detector; go test ./... explores them")
			}
			executions, outcomes := p.explore(t, "rc11")
			if executions != p.classes {
				t.Errorf("%d executions, want %d", executions, p.classes)
			}
			if p.outcomes != nil && !slices.Equal(outcomes, p.outcomes) {
				t.Errorf("shows %q, want %q", outcomes, p.outcomes)
			}
		})
	}
}

// peerTable is what docs/counts.md says of them.
func peerTable() string {
	var table strings.Builder
	table.WriteString("| program | executions | loom, its Arc | loom, std Arc | outcomes | loom and shuttle |\n| --- | ---: | ---: | ---: | ---: | --- |\n")
	for _, p := range peerPrograms() {
		outcomes := ""
		if p.outcomes != nil {
			outcomes = fmt.Sprint(len(p.outcomes))
		}
		fmt.Fprintf(&table, "| %s | %d | %d | %d | %s | %s |\n", p.name, p.classes, p.loom, p.loomStd, outcomes, p.peers)
	}
	return table.String()
}
