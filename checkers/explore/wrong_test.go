package explore

import (
	"fmt"
	"slices"
	"testing"

	"benign/checkers/memmodel"
	"benign/impl/kernel"
)

// Programs in which a fault must be found, each with a twin that has none: those
// that GenMC keeps for this, as far as they are about words. Those about objects
// and locks are in violations_test.go.

// flawed is a program and what is wrong with it.
type flawed struct {
	name          string
	from          []int
	kind          kernel.ViolationKind
	under         []string // the models under which it is wrong; nil for all
	wrong, proper []body
}

func flawedPrograms() []flawed {
	weak := memmodel.Names()[1:] // store buffering is seen under all but sc
	all := []flawed{
		{"fib_bench(3), bound lowered by one", []int{1, 1}, kernel.Assertion, nil, boundedFibonacci(3, 20), boundedFibonacci(3, 21)},
		{"dekker without barriers", make([]int, 3), kernel.Assertion, weak, dekkerEntry(func(*kernel.Task, *machine) {}), nil},
		{"two plain stores", make([]int, 1), kernel.DataRace, nil, repeat(2, st(0, plain, 1)), repeat(2, st(0, once, 1))},
		{"plain store beside a marked one", make([]int, 1), kernel.DataRace, nil, []body{st(0, plain, 1), st(0, rel, 2)}, []body{st(0, once, 1), st(0, rel, 2)}},
		{"plain store beside an update", make([]int, 1), kernel.DataRace, nil, []body{st(0, plain, 1), inc(0)}, []body{st(0, once, 1), inc(0)}},
		{"plain load beside an update", make([]int, 1), kernel.DataRace, nil, []body{ld(0, plain), inc(0)}, []body{ld(0, once), inc(0)}},
		{"store after a message without order", make([]int, 2), kernel.DataRace, nil,
			[]body{seq(ld(0, plain), st(1, once, 1)), ifEqual(1, acq, 1, st(0, plain, 1))}, []body{seq(ld(0, plain), st(1, rel, 1)), ifEqual(1, acq, 1, st(0, plain, 1))}},
		{"release sequence broken by a store of another", make([]int, 2), kernel.DataRace, nil,
			[]body{seq(st(0, plain, 1), st(1, rel, 1)), st(1, once, 2), ifEqual(1, acq, 2, ld(0, plain))},
			[]body{seq(st(0, plain, 1), st(1, rel, 1)), ifEqual(1, once, 1, cas(1, 1, 2)), ifEqual(1, acq, 2, ld(0, plain))}},
	}
	return append(all, weakMessages()...)
}

// weakMessages are message passing with each side weakened, and both.
func weakMessages() []flawed {
	writers := map[string]body{
		"a release": st(1, rel, 1), "a write barrier": seq(wmb, st(1, once, 1)), "a full barrier": seq(mb, st(1, once, 1)),
		"nothing": st(1, once, 1), "a read barrier": seq(rmb, st(1, once, 1)),
	}
	readers := map[string]body{
		"an acquire": ifEqual(1, acq, 1, ld(0, plain)), "a read barrier": ifEqual(1, once, 1, seq(rmb, ld(0, plain))), "a full barrier": ifEqual(1, once, 1, seq(mb, ld(0, plain))),
		"nothing": ifEqual(1, once, 1, ld(0, plain)), "a write barrier": ifEqual(1, once, 1, seq(wmb, ld(0, plain))),
	}
	var all []flawed
	for by, write := range writers {
		for of, read := range readers {
			tasks := []body{seq(st(0, plain, 1), write), read}
			weak := by == "nothing" || by == "a read barrier" || of == "nothing" || of == "a write barrier"
			f := flawed{name: fmt.Sprintf("message with %s, taken with %s", by, of), from: make([]int, 2), kind: kernel.DataRace}
			if weak {
				f.wrong = tasks
			} else {
				f.proper = tasks
			}
			all = append(all, f)
		}
	}
	return all
}

// boundedFibonacci asserts that neither number exceeds the bound.
func boundedFibonacci(n, bound int) []body {
	tasks := fibonacci(n)
	tasks[2] = func(t *kernel.Task, m *machine) {
		x, y := m.words[0].Load(t, acq), m.words[1].Load(t, acq)
		t.Assert(x <= bound && y <= bound, "a number exceeds %d", bound)
	}
	return tasks
}

// dekkerEntry lets in who does not see the flag of the other.
func dekkerEntry(between body) []body {
	return forEach(2, func(i int) body {
		return seq(st(1-i, once, 1), between, ifEqual(i, once, 0, func(t *kernel.Task, m *machine) {
			m.words[2].Store(t, once, i)
			t.Assert(m.words[2].Load(t, once) == i, "somebody else is inside")
		}))
	})
}

// TestFlawedPrograms finds each fault under the models that show it, and nothing
// else in the program or its twin, whatever the order of the tasks.
func TestFlawedPrograms(t *testing.T) {
	for _, f := range flawedPrograms() {
		t.Run(f.name, func(t *testing.T) {
			for _, model := range memmodel.Names() {
				if f.wrong != nil {
					shown := f.under == nil || slices.Contains(f.under, model)
					f.check(t, model, f.wrong, shown)
				}
				if f.proper != nil {
					f.check(t, model, f.proper, false)
				}
			}
		})
	}
}

func (f *flawed) check(t *testing.T, model string, tasks []body, wrong bool) {
	t.Helper()
	reversed := slices.Clone(tasks)
	slices.Reverse(reversed)
	for _, tasks := range [][]body{tasks, reversed} {
		found, other := 0, 0
		s, v := programFrom(f.from, 0, 0, tasks...)
		if _, err := Explore(Config{Scenario: s, Variant: v, Model: model, Restart: func() { found, other = 0, 0 }, Visit: func(e *Execution) {
			switch {
			case e.Violation == nil:
			case e.Violation.Kind == f.kind:
				found++
			default:
				other++
			}
		}}); err != nil {
			t.Fatal(err)
		}
		if (found > 0) != wrong || other > 0 {
			t.Errorf("%s: %d times a %v and %d times something else; wrong: %v", model, found, f.kind, other, wrong)
		}
	}
}

// TestLargestFlaw finds the one violation among two hundred thousand executions.
func TestLargestFlaw(t *testing.T) {
	if testing.Short() || underRaceDetector {
		t.Skip("too many executions for a short run or the race detector; go test ./... explores them")
	}
	for bound, wrong := range map[int]bool{143: true, 144: false} {
		s, v := programFrom([]int{1, 1}, 0, 0, boundedFibonacci(5, bound)...)
		stats, err := Explore(Config{Scenario: s, Variant: v, Model: "sc", Workers: 2})
		if err != nil || (stats.Violating > 0) != wrong || stats.Executions() != 218243 {
			t.Errorf("bound %d: %+v, %v", bound, stats, err)
		}
	}
}
