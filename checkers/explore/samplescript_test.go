package explore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"benign/impl/kernel"
)

// TestScriptedSamples draws samples without running code, and again with it: the
// same seeds must draw the same executions.
func TestScriptedSamples(t *testing.T) {
	for _, p := range peerPrograms() {
		if p.final {
			continue
		}
		for _, strategy := range []Strategy{RandomWalk{}, PCT{Constraints: 3}, POS{}} {
			var drawn [2][]string
			for i, wordsOnly := range []bool{true, false} {
				s, v := p.scenario()
				s.WordsOnly = wordsOnly
				stats, err := Sample(Config{Scenario: s, Variant: v, Model: "sc", Restart: func() { drawn[i] = nil }, Visit: func(e *Execution) {
					drawn[i] = append(drawn[i], fmt.Sprintf("%d %x %s", e.Seed, e.Graph.Key(), e.Outcome()))
				}}, strategy, 200, 1)
				if err != nil {
					t.Fatal(err)
				}
				drawn[i] = append(drawn[i], fmt.Sprintf("%+v", stats))
			}
			if !slices.Equal(drawn[0], drawn[1]) {
				t.Errorf("%s, %s: samples by script differ from those of the code", p.name, strategy.Name())
			}
		}
	}
}

// TestScriptedSamplesOfLocksInBothOrders: that two tasks take locks in both orders
// is nothing that either of them shows alone, so the code must run.
func TestScriptedSamplesOfLocksInBothOrders(t *testing.T) {
	both := func(first, second int) body {
		return func(t *kernel.Task, m *machine) {
			m.locks[first].Lock(t)
			m.locks[second].Lock(t)
			m.locks[second].Unlock(t)
			m.locks[first].Unlock(t)
		}
	}
	cycles, restarts := 0, 0
	s, v := program(0, 2, 0, both(0, 1), both(1, 0))
	stats, err := Sample(Config{Scenario: s, Variant: v, Model: "sc", Restart: func() { cycles, restarts = 0, restarts+1 }, Visit: func(e *Execution) {
		if e.Violation != nil && e.Violation.Kind == kernel.LockOrderCycle {
			cycles++
		}
	}}, RandomWalk{}, 100, 1)
	if err != nil {
		t.Fatal(err)
	}
	if cycles == 0 || restarts == 0 {
		t.Errorf("%d of the samples show the cycle, after %d restarts: %+v", cycles, restarts, stats)
	}
}

// TestSamplesAfterAViolation: a sample that ends in the middle of an update leaves
// nothing behind for the next one.
func TestSamplesAfterAViolation(t *testing.T) {
	show := func(samples int, seed uint64) (drawn []string) {
		s, v := program(2, 0, 0, st(0, plain, 1), seq(inc(0), ld(1, once)), st(1, once, 1))
		if _, err := Sample(Config{Scenario: s, Variant: v, Model: "sc", Restart: func() { drawn = nil }, Visit: func(e *Execution) {
			drawn = append(drawn, fmt.Sprintf("%x %v", e.Graph.Key(), e.Violation))
		}}, RandomWalk{}, samples, seed); err != nil {
			t.Fatal(err)
		}
		return drawn
	}
	for at, want := range show(30, 1) {
		if alone := show(1, uint64(1+at)); !slices.Equal(alone, []string{want}) {
			t.Errorf("sample %d shows %q among others, and %q alone", at, want, alone)
		}
	}
}

// sequence draws the given numbers from 0 to 1, one after the other.
type sequence []float64

func (s *sequence) Uint64() uint64 {
	next := (*s)[0]
	*s = (*s)[1:]
	return uint64(next * (1 << 53))
}

// TestPOSDrawsAgain: who has lost a race has a new priority for the next one.
func TestPOSDrawsAgain(t *testing.T) {
	at := &kernel.Location{}
	race := func(step int32) []Pending {
		return []Pending{{Task: 0, Step: step, Location: at, Writes: true}, {Task: 1, Location: at, Writes: true}}
	}
	schedule := POS{}.Begin(rand.New(&sequence{0.9, 0.1, 0.5, 0.8}), 0)
	if first := schedule(race(0)); first != 0 {
		t.Errorf("task %d goes first, not the one with the highest priority", first)
	}
	if second := schedule(race(1)); second != 1 {
		t.Error("the task that has lost a race has kept its priority")
	}
}
