package explore

import (
	"testing"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// estimated is a program with what its executions are estimated at, as a
// multiple of what they are, when a tenth and a half of them have been explored.
// docs/long-runs.md has the figures.
type estimated struct {
	name, model string
	tenth, half float64
	words       []int
	locks       int
	tasks       []body
}

func estimatedPrograms() []estimated {
	return []estimated{
		{"readers(13)", "sc", 1.00, 1.00, make([]int, 1), 0, append([]body{st(0, once, 42)}, repeat(13, ld(0, once))...)},
		{"lastzero(11)", "sc", 0.75, 0.89, make([]int, 12), 0, append([]body{lastZeroReader(11)}, forEach(11, func(i int) body { return copyUp(i) })...)},
		{"ainc(7)", "sc", 1.00, 1.00, make([]int, 1), 0, repeat(7, inc(0))},
		{"casrot(9)", "sc", 24.7, 15.7, make([]int, 1), 0, forEach(9, func(i int) body { return cas(0, i, i+1) })},
		{"fib_bench(4)", "sc", 1.56, 0.76, []int{1, 1}, 0, fibonacci(4)},
		{"fib_bench(4)", "rc11", 0.40, 0.60, []int{1, 1}, 0, fibonacci(4)},
		{"lockinc(7)", "sc", 1.00, 1.00, make([]int, 1), 1, repeat(7, locked(func(t *kernel.Task, m *machine) {
			m.words[0].Store(t, once, m.words[0].Load(t, once)+1)
		}))},
		{"trylock(5)", "kernel", 2.55, 1.23, make([]int, 1), 1, repeat(5, tryLocked(inc(0)))},
	}
}

// TestEstimates is about one worker: which executions are explored first depends
// on how many there are. It leaves some room for another order.
func TestEstimates(t *testing.T) {
	for _, c := range estimatedPrograms() {
		t.Run(c.name+" under "+c.model, func(t *testing.T) {
			s, v := programFrom(c.words, c.locks, 0, c.tasks...)
			whole := estimate(t, s, v, c.model, 0)
			if !whole.Exhaustive || whole.Share != 0 || whole.EstimatedExecutions() != float64(whole.Executions()) {
				t.Errorf("at the end: %+v", whole)
			}
			for percent, want := range map[int]float64{10: c.tenth, 50: c.half} {
				part := estimate(t, s, v, c.model, whole.Executions()*percent/100)
				got := part.EstimatedExecutions() / float64(whole.Executions())
				if got < want*0.8 || got > want*1.25 || part.Share <= 0 || part.Share >= 1 {
					t.Errorf("when %d%% of %d are explored, %.2f times as many are expected, want %.2f", percent, whole.Executions(), got, want)
				}
			}
		})
	}
}

// estimate explores so many executions, or all.
func estimate(t *testing.T, s *scenario.Scenario, v *scenario.Variant, model string, most int) Stats {
	t.Helper()
	stats, err := Explore(Config{Scenario: s, Variant: v, Model: model, MaxExecutions: most})
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// TestStrata is a tree that is small enough to count by hand: the first run
// offers two graphs with 2 events and one with 3; one of the former has been
// run, and has offered one with 3 events, which has been run too.
func TestStrata(t *testing.T) {
	var first, second, all strata
	first.run(0)
	first.offer(0, 2)
	first.offer(0, 2)
	first.offer(0, 3)
	second.run(2)
	second.offer(2, 3)
	all.take(&first)
	all.take(&second)
	// Left are one with 2 events, which is worth two runs, as the other is by
	// now, and two with 3 events; of those nothing is known but what came after
	// the third event of the run that began with 2: nothing.
	if got, want := all.share(), 2.0/(2+2+1+1); got != want {
		t.Errorf("share %v, want %v", got, want)
	}
	second.run(3)
	all.take(&second)
	if got, want := all.share(), 3.0/(3+2+1); got != want {
		t.Errorf("share %v, want %v", got, want)
	}
	all.take(&second)
	if got, want := all.share(), 3.0/(3+2+1); got != want {
		t.Errorf("what was taken once is counted again: share %v, want %v", got, want)
	}
	for range 2 {
		second.run(3)
	}
	second.run(2)
	second.offer(2, 3)
	all.take(&second)
	if got := all.share(); got != 1 {
		t.Errorf("share %v of all", got)
	}
}

// TestStrataOfRevisits: graphs that lead back to their own stratum lead to more.
func TestStrataOfRevisits(t *testing.T) {
	var s strata
	s.run(0)
	for range 3 {
		s.offer(0, 5)
	}
	s.run(5)
	s.run(5)
	s.offer(5, 5) // one of two: half a graph each, which makes two of every one
	if got, want := s.share(), 3.0/(3+2*2); got != want {
		t.Errorf("share %v, want %v", got, want)
	}
	s.offer(5, 4)
	if got := s.share(); got <= 0 || got >= 0.5 {
		t.Errorf("share %v, of a tree that may have no end", got)
	}
}

func TestCutShort(t *testing.T) {
	for _, c := range []struct {
		stats Stats
		want  string
	}{
		{Stats{}, ""},
		{Stats{Cut: "time budget"}, "time budget"},
		{Stats{Cut: "time budget", Share: 0.005}, "time budget, when less than 1% had been explored, by estimate"},
		{Stats{Cut: "time budget", Share: 0.12}, "time budget, when about 12% had been explored, by estimate"},
		{Stats{Cut: "time budget", Share: 0.9999}, "time budget, when about 99% had been explored, by estimate"},
	} {
		if got := c.stats.CutShort(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.stats, got, c.want)
		}
	}
}
