package explore

import (
	"fmt"
	"slices"
	"testing"

	"benign/checkers/memmodel"
	"benign/impl/kernel"
)

// The numbers of executions of small programs that others have counted. They
// are those that GenMC 0.11 keeps for its own tests (complete executions with
// the coherence order told apart), and of the lock and join programs those of
// Nidhugg's optimal mode; where a closed form is known it is used. Relaxed,
// acquire, release and sc accesses are Once, Acquire, Release and Sequential; an
// sc fence is a full barrier. Ours must agree whatever the order in which the
// tasks are listed. Three remarks on what "the same program" means:
//
//   - Under ra every access is a release or an acquire here. GenMC keeps relaxed
//     accesses relaxed under its model of that name, so that its numbers are
//     taken for programs without them only; those of the others follow from the
//     one outcome that is handed over by reading.
//   - Under tso a sequential store drains the buffer here, as compilers for x86
//     have it. GenMC lets an acquire load overtake it: 4 for SB+3sc+acq, not 3.
//   - For the kernel model nobody has counted: its numbers here are those that
//     programs of one word, of one lock or of sequential accesses only have under
//     every model that orders them, or that follow from the one outcome that the
//     models disagree about.
type counted struct {
	name  string
	words int
	from  []int // initial values, instead of words
	locks int
	tasks []body
	want  numbers
	// blocked is how many executions end with a task that waits for ever, or
	// unstated if that depends on how waiting is counted.
	blocked int
	// long keeps the program out of short runs and away from the Go race
	// detector, which makes it ten times slower.
	long bool
	// giant programs are only counted: they have too many executions to keep
	// them all, or to ask the model about each.
	giant bool
}

// numbers are the complete executions under the models of memmodel.Names, in
// their order; unknown where nobody has counted.
type numbers [5]int

const (
	unknown  = -1
	unstated = -1
)

// always is the same under every model. equal is the same under those that
// others have counted. interleaved is known under sc only.
func always(n int) numbers      { return numbers{n, n, n, n, n} }
func equal(n int) numbers       { return numbers{n, n, n, n, unknown} }
func interleaved(n int) numbers { return numbers{n, unknown, unknown, unknown, unknown} }

const (
	plain = kernel.Plain
	once  = kernel.Once
	acq   = kernel.Acquire
	rel   = kernel.Release
	seqc  = kernel.Sequential
)

func ld(at int, o kernel.Order) body {
	return func(t *kernel.Task, m *machine) { m.words[at].Load(t, o) }
}

func st(at int, o kernel.Order, value int) body {
	return func(t *kernel.Task, m *machine) { m.words[at].Store(t, o, value) }
}

func inc(at int) body { return func(t *kernel.Task, m *machine) { m.words[at].Add(t, once, 1) } }

func cas(at, old, updated int) body {
	return func(t *kernel.Task, m *machine) { m.words[at].CompareAndSwap(t, once, old, updated) }
}

func bar(b kernel.Barrier) body { return func(t *kernel.Task, m *machine) { t.Barrier(b) } }

var (
	mb  = bar(kernel.FullBarrier)
	rmb = bar(kernel.ReadBarrier)
	wmb = bar(kernel.WriteBarrier)
)

// seq does one thing after the other.
func seq(steps ...body) body {
	return func(t *kernel.Task, m *machine) {
		for _, step := range steps {
			step(t, m)
		}
	}
}

// ifEqual does something if the word, loaded with the order, is the value.
func ifEqual(at int, o kernel.Order, value int, then body) body {
	return func(t *kernel.Task, m *machine) {
		if m.words[at].Load(t, o) == value {
			then(t, m)
		}
	}
}

func locked(run body) body {
	return func(t *kernel.Task, m *machine) { m.locks[0].Lock(t); run(t, m); m.locks[0].Unlock(t) }
}

func tryLocked(run body) body {
	return func(t *kernel.Task, m *machine) {
		if m.locks[0].TryLock(t) {
			run(t, m)
			m.locks[0].Unlock(t)
		}
	}
}

// assume waits for ever unless the condition holds.
func assume(t *kernel.Task, condition bool) {
	if !condition {
		t.Join(t)
	}
}

// forEach makes one task for each number from 0 to n-1.
func forEach(n int, task func(i int) body) []body {
	tasks := make([]body, n)
	for i := range tasks {
		tasks[i] = task(i)
	}
	return tasks
}

func factorial(n int) int {
	if n < 2 {
		return 1
	}
	return n * factorial(n-1)
}

func power(base, exponent int) int {
	if exponent == 0 {
		return 1
	}
	return base * power(base, exponent-1)
}

// litmusCounts are straight-line programs.
func litmusCounts() []counted {
	return []counted{
		{name: "SB", words: 2, tasks: []body{seq(st(0, rel, 1), ld(1, acq)), seq(st(1, rel, 1), ld(0, acq))}, want: numbers{3, 4, 4, 4, 4}},
		{name: "SB once", words: 2, tasks: []body{seq(st(0, once, 1), ld(1, once)), seq(st(1, once, 1), ld(0, once))}, want: numbers{3, 4, 4, 4, 4}},
		{name: "SB+scfs", words: 2, tasks: []body{seq(st(0, once, 1), mb, ld(1, once)), seq(st(1, once, 1), mb, ld(0, once))}, want: numbers{3, 3, 4, 3, 3}},
		{name: "SB, one barrier", words: 2, tasks: []body{seq(st(0, once, 1), mb, ld(1, once)), seq(st(1, once, 1), ld(0, once))}, want: numbers{3, 4, 4, 4, 4}},
		{name: "MP", words: 2, tasks: []body{seq(st(0, rel, 1), st(1, rel, 1)), seq(ld(1, acq), ld(0, acq))}, want: always(3)},
		{name: "MP once", words: 2, tasks: []body{seq(st(0, once, 1), st(1, once, 1)), seq(ld(1, once), ld(0, once))}, want: numbers{3, 3, 3, 4, 4}},
		{name: "MP+rel+acq", words: 2, tasks: []body{seq(st(0, plain, 1), st(1, rel, 1)), ifEqual(1, acq, 1, ld(0, plain))}, want: always(2)},
		{name: "MP+relf+acq", words: 2, tasks: []body{seq(st(0, plain, 1), wmb, st(1, once, 1)), ifEqual(1, acq, 1, ld(0, plain))}, want: always(2)},
		{name: "MP+rel+acqf", words: 2, tasks: []body{seq(st(0, plain, 1), st(1, rel, 1)), ifEqual(1, once, 1, seq(rmb, ld(0, plain)))}, want: always(2)},
		{name: "MP+relf+acqf", words: 2, tasks: []body{seq(st(0, plain, 1), wmb, st(1, once, 1)), ifEqual(1, once, 1, seq(rmb, ld(0, plain)))}, want: always(2)},
		{name: "MP+rels+acq", words: 2, tasks: []body{seq(st(0, once, 1), st(1, rel, 2), st(1, once, 1)), ifEqual(1, acq, 1, ld(0, once))}, want: numbers{3, 3, 3, 4, 4}},
		{name: "MP+rels+acqf", words: 2, tasks: []body{seq(st(0, once, 1), st(1, rel, 2), st(1, once, 1)), ifEqual(1, once, 1, seq(rmb, ld(0, once)))}, want: numbers{3, 3, 3, 4, 4}},
		{name: "S+rel+acq", words: 2, tasks: []body{seq(st(0, plain, 1), st(1, rel, 1)), ifEqual(1, acq, 1, st(0, plain, 2))}, want: always(2)},
		{name: "S+rels+acq", words: 2, tasks: []body{seq(st(0, once, 1), st(1, rel, 2), st(1, once, 1)), ifEqual(1, acq, 1, st(0, once, 2))}, want: numbers{3, 3, 3, 4, 4}},
		{name: "S", words: 2, tasks: []body{seq(st(0, once, 2), st(1, once, 1)), seq(ld(1, once), st(0, once, 1))}, want: numbers{3, 3, 3, 4, 4}},
		{name: "2+2W", words: 2, tasks: []body{seq(st(0, rel, 1), st(1, rel, 2)), seq(st(1, rel, 1), st(0, rel, 2))}, want: numbers{3, 3, 4, 4, 4}},
		{name: "2+2W+scfs", words: 2, tasks: []body{seq(st(0, once, 1), mb, st(1, once, 2)), seq(st(1, once, 1), mb, st(0, once, 2))}, want: numbers{3, 3, 4, 3, 3}},
		{name: "LB", words: 2, tasks: []body{seq(ld(1, acq), st(0, rel, 1)), seq(ld(0, acq), st(1, rel, 1))}, want: always(3)},
		{name: "LB2", words: 2, tasks: []body{seq(ld(1, once), st(0, once, 1)), seq(ld(0, once), st(1, once, 1))}, want: always(3)},
		{name: "LB3", words: 3, tasks: forEach(3, func(i int) body { return seq(ld(i, once), st((i+1)%3, once, 1)) }), want: always(7)},
	}
}

// sequentialCounts are straight-line programs with sc accesses.
func sequentialCounts() []counted {
	return []counted{
		{name: "SB+4sc", words: 2, tasks: []body{seq(st(0, seqc, 1), ld(1, seqc)), seq(st(1, seqc, 1), ld(0, seqc))}, want: numbers{3, 3, 4, 3, 3}},
		{name: "SB+3sc+acq", words: 2, tasks: []body{seq(st(0, seqc, 1), ld(1, seqc)), seq(st(1, seqc, 1), ld(0, acq))}, want: numbers{3, 3, 4, 4, 3}},
		{name: "SB+3sc+rel", words: 2, tasks: []body{seq(st(0, seqc, 1), ld(1, seqc)), seq(st(1, rel, 1), ld(0, seqc))}, want: numbers{3, 4, 4, 4, 3}},
		{name: "SB+2sc+scf", words: 2, tasks: []body{seq(st(0, seqc, 1), ld(1, seqc)), seq(st(1, once, 1), mb, ld(0, once))}, want: numbers{3, 3, 4, 3, 3}},
		{name: "SB+rfis", words: 2, tasks: []body{seq(st(0, rel, 1), ld(0, seqc), ld(1, seqc)), seq(st(1, rel, 1), ld(1, seqc), ld(0, seqc))}, want: numbers{3, 4, 4, 4, 3}},
		{name: "2+2W+4sc", words: 2, tasks: []body{seq(st(0, seqc, 1), st(1, seqc, 2)), seq(st(1, seqc, 1), st(0, seqc, 2))}, want: numbers{3, 3, 4, 3, 3}},
		{name: "2+2W+3sc+rel1", words: 2, tasks: []body{seq(st(0, rel, 1), st(1, seqc, 2)), seq(st(1, seqc, 1), st(0, seqc, 2))}, want: numbers{3, 3, 4, 4, 3}},
		{name: "2+2W+3sc+rel2", words: 2, tasks: []body{seq(st(0, seqc, 1), st(1, seqc, 2)), seq(st(1, seqc, 1), st(0, rel, 2))}, want: numbers{3, 3, 4, 4, 3}},
		{name: "2+2W+2sc+scf", words: 2, tasks: []body{seq(st(0, seqc, 1), st(1, seqc, 2)), seq(st(1, once, 1), mb, st(0, once, 2))}, want: numbers{3, 3, 4, 3, 3}},
		{name: "IRIW-acq-sc", words: 2, tasks: []body{st(0, seqc, 1), seq(ld(0, acq), ld(1, seqc)), seq(ld(1, acq), ld(0, seqc)), st(1, seqc, 1)}, want: numbers{15, 15, 16, 16, 15}},
	}
}

// coherenceCounts are straight-line programs of one word.
func coherenceCounts() []counted {
	return []counted{
		{name: "CoRR", words: 1, tasks: []body{seq(st(0, rel, 1), st(0, rel, 2)), seq(ld(0, acq), ld(0, acq))}, want: always(6)},
		{name: "CoRR0", words: 1, tasks: []body{st(0, once, 1), ld(0, once), ld(0, once)}, want: always(4)},
		{name: "CoRR1", words: 1, tasks: []body{st(0, once, 1), st(0, once, 2), seq(ld(0, once), ld(0, once)), ld(0, once)}, want: always(36)},
		{name: "CoRR2", words: 1, tasks: []body{st(0, once, 1), st(0, once, 2), seq(ld(0, once), ld(0, once)), seq(ld(0, once), ld(0, once))}, want: always(72)},
		{name: "CoRW", words: 1, tasks: []body{seq(ld(0, once), st(0, once, 1)), st(0, once, 2)}, want: always(3)},
		{name: "CoWR", words: 1, tasks: []body{seq(st(0, once, 1), ld(0, once)), st(0, once, 2)}, want: always(3)},
		{name: "2CoWR", words: 2, tasks: []body{ld(1, once), ld(0, once), st(0, once, 1), st(1, once, 1)}, want: always(4)},
		{name: "W+RRR+W", words: 1, tasks: []body{st(0, once, 1), seq(ld(0, once), ld(0, once), ld(0, once)), st(0, once, 2)}, want: always(20)},
		{name: "fr+w+w+w+reads", words: 1, tasks: []body{st(0, once, 1), st(0, once, 2), st(0, once, 3),
			seq(ld(0, once), ld(0, once), ld(0, once), ld(0, once))}, want: always(210)},
		{name: "wrc11_fp", words: 1, tasks: []body{func(t *kernel.Task, m *machine) {
			a, b := 0, 0
			first := t.Go("first", func(t *kernel.Task) { m.words[0].Store(t, rel, 1) })
			second := t.Go("second", func(t *kernel.Task) {
				m.words[0].Store(t, rel, 2)
				a, b = m.words[0].Load(t, acq), m.words[0].Load(t, acq)
			})
			t.Join(first)
			t.Join(second)
			t.Assert(a != 1 || b != 2, "the value came back")
		}}, want: always(4)},
	}
}

// chainCounts hand values on from task to task.
func chainCounts() []counted {
	nothing := func(*kernel.Task, *machine) {}
	return []counted{
		{name: "IRIWish", words: 2, tasks: []body{st(0, once, 1),
			func(t *kernel.Task, m *machine) { m.words[1].Store(t, rel, m.words[0].Load(t, once)) },
			seq(ld(0, once), rmb, ld(1, once)), seq(ld(1, once), rmb, ld(0, once))}, want: numbers{27, 27, 28, 28, unknown}},
		{name: "WRC+dep", words: 2, tasks: []body{st(0, once, 1),
			func(t *kernel.Task, m *machine) { m.words[1].Store(t, once, m.words[0].Load(t, once)) },
			seq(ld(1, once), ld(0, once))}, want: numbers{7, 7, 7, 8, 8}},
		{name: "Z6+acq", words: 3, tasks: []body{seq(st(0, once, 1), mb, st(1, once, 1)), seq(ld(1, acq), st(2, once, 1)),
			seq(st(2, once, 2), mb, ld(0, once))}, want: numbers{7, 7, 8, 7, 7}},
		{name: "riwi", words: 2, tasks: []body{seq(ld(1, once), inc(0)), seq(inc(0), st(1, rel, 1))}, want: always(3)},
		{name: "cii", words: 1, tasks: []body{cas(0, 1, 2), inc(0), inc(0)}, want: always(6)},
		{name: "ccr", words: 1, tasks: []body{cas(0, 0, 42), seq(cas(0, 0, 17), ld(0, once))}, want: always(2)},
		{name: "casdep", words: 3, tasks: []body{func(t *kernel.Task, m *machine) {
			a := m.words[0].Load(t, once)
			old, _ := m.words[1].Update(t, once, func(old int) (int, bool) { return 1, old == a })
			m.words[2].Store(t, once, old)
		}, st(1, once, 2)}, want: always(2)},
		{name: "RMWFix", words: 2, tasks: []body{func(t *kernel.Task, m *machine) {
			if m.words[1].Load(t, seqc) != 0 {
				m.words[0].Add(t, seqc, 1)
				m.words[0].Add(t, seqc, 1)
			}
		}, func(t *kernel.Task, m *machine) { m.words[0].Add(t, seqc, 1) }, st(1, seqc, 42)}, want: always(4)},
		{name: "small1", words: 3, tasks: []body{seq(ld(1, acq), ld(2, acq), ld(0, acq)), st(0, rel, 1), seq(st(1, rel, 1), st(2, rel, 1))}, want: always(8)},
		{name: "W+JW", words: 3, tasks: []body{joinByIdentity}, want: always(1)},
		{name: "lock-inplace2", words: 1, locks: 1, tasks: []body{seq(inc(0), locked(nothing)), locked(inc(0))}, want: always(3)},
	}
}

// joinByIdentity hands the identity of a task on in a word; the join with it
// must order as any join does.
func joinByIdentity(t *kernel.Task, m *machine) {
	first := t.Go("first", func(t *kernel.Task) { m.words[0].Store(t, once, 42) })
	m.words[1].Store(t, once, first.ID())
	t.Go("second", func(t *kernel.Task) {
		if m.words[1].Load(t, once) != first.ID() {
			t.Violate(kernel.Assertion, "the identity is not there")
		}
		t.Join(first)
		t.Assert(m.words[0].Load(t, once) == 42, "the join does not order")
		m.words[2].Store(t, once, 1)
	})
}

// wordCounts are programs of a growing number of tasks, or of growing tasks.
func wordCounts() []counted {
	var all []counted
	add := func(c counted) { all = append(all, c) }
	for _, n := range []int{2, 5, 8, 12} {
		add(counted{name: fmt.Sprintf("readers(%d)", n), words: 1, tasks: append([]body{st(0, once, 42)}, repeat(n, ld(0, once))...),
			want: always(power(2, n)), long: n > 8})
	}
	for _, n := range []int{5, 7, 10} {
		tasks := append([]body{lastZeroReader(n)}, forEach(n, func(i int) body { return copyUp(i) })...)
		add(counted{name: fmt.Sprintf("lastzero(%d)", n), words: n + 1, tasks: tasks, want: equal((n + 3) * power(2, n-2)), long: n > 7})
	}
	for n := 2; n <= 7; n++ {
		add(counted{name: fmt.Sprintf("ainc(%d)", n), words: 1, tasks: repeat(n, inc(0)), want: always(factorial(n)), long: n > 5})
	}
	for n := 2; n <= 4; n++ {
		add(counted{name: fmt.Sprintf("binc(%d)", n), words: 2, tasks: repeat(n, seq(inc(0), inc(1))), want: equal(power(factorial(n), 2)), long: n > 3})
		add(counted{name: fmt.Sprintf("cinc(%d)", n), words: 3, tasks: repeat(n, seq(inc(0), inc(1), inc(2))), want: equal(power(factorial(n), 3)), long: n > 3})
		add(counted{name: fmt.Sprintf("wainc(%d)", n), words: 1, tasks: append([]body{st(0, once, 42)}, repeat(n, inc(0))...), want: always(factorial(n + 1))})
		add(counted{name: fmt.Sprintf("inc(%d)", n), words: 1, tasks: forEach(n, func(i int) body {
			return func(t *kernel.Task, m *machine) { m.words[0].Store(t, rel, m.words[0].Load(t, once)+power(2, i)) }
		}), want: always(power(factorial(n), 2)), long: n > 3})
		add(counted{name: fmt.Sprintf("rw(%d)", n), words: 1, tasks: forEach(n, func(i int) body { return seq(ld(0, once), st(0, once, i)) }),
			want: always(power(factorial(n), 2)), long: n > 3})
		add(counted{name: fmt.Sprintf("N_writers+reader(%d)", n), words: 1, tasks: append(forEach(n+1, func(i int) body { return st(0, once, i) }), ld(0, once)),
			want: always(factorial(n + 2)), long: n > 3})
	}
	for n := 2; n <= 9; n++ {
		add(counted{name: fmt.Sprintf("cas(%d)", n), words: 1, tasks: forEach(n, func(i int) body { return cas(0, 0, i+1) }), want: always(n)})
		add(counted{name: fmt.Sprintf("casrot(%d)", n), words: 1, tasks: forEach(n, func(i int) body { return cas(0, i, i+1) }),
			want: always([]int{2, 5, 14, 43, 144, 523, 2048, 8597}[n-2]), long: n > 6})
		add(counted{name: fmt.Sprintf("wcas(%d)", n), words: 1, tasks: append([]body{st(0, rel, 2)}, repeat(n, cas(0, 2, 3))...),
			want: always(n*power(2, n-1) + 1), long: n > 6})
	}
	for n, want := range []numbers{equal(4), {15, 16, 16, 16, unknown}, {130, 144, 144, 144, unknown}, {2028, 2304, 2304, 2304, unknown}} {
		add(counted{name: fmt.Sprintf("CoA(%d)", n+1), words: 3, tasks: coherenceOfA(n + 1), want: want, long: n > 2})
	}
	for n := 2; n <= 6; n++ {
		tasks := forEach(n, func(i int) body { return seq(st(i, rel, 1), ld((i+1)%n, acq)) })
		weak := power(2, n)
		add(counted{name: fmt.Sprintf("sb-ring(%d)", n), words: n, tasks: tasks, want: numbers{weak - 1, weak, weak, weak, weak}})
	}
	for n, want := range []int{5, 18, 90, 600, 5160, 55440} {
		add(counted{name: fmt.Sprintf("control_flow(%d)", n+1), words: 3, tasks: controlFlow(n + 1), want: interleaved(want), long: n > 2})
	}
	return all
}

// lastZeroReader looks for the last zero of the array, from its end.
func lastZeroReader(n int) body {
	return func(t *kernel.Task, m *machine) {
		for i := n; m.words[i].Load(t, acq) != 0; i-- {
		}
	}
}

// copyUp makes an element one more than the element before it.
func copyUp(i int) body {
	return func(t *kernel.Task, m *machine) { m.words[i+1].Store(t, rel, m.words[i].Load(t, acq)+1) }
}

func coherenceOfA(n int) []body {
	return append([]body{seq(st(0, rel, 1), ld(1, acq), ld(0, acq)), seq(st(0, rel, 2), ld(2, acq), ld(0, acq))},
		forEach(n-1, func(i int) body { return seq(st(1, rel, i), st(2, rel, i)) })...)
}

// controlFlow has readers of x, writers of y, and two tasks whose stores depend
// on what they read.
func controlFlow(n int) []body {
	tasks := append(repeat(n, ld(0, once)), repeat(n, st(1, once, 1))...)
	return append(tasks, ifEqual(1, once, 0, st(2, once, 1)), ifEqual(2, once, 1, ifEqual(1, once, 0, st(0, once, 1))))
}

// algorithmCounts are programs with loops and with data that other data points
// to.
func algorithmCounts() []counted {
	var all []counted
	add := func(c counted) { all = append(all, c) }
	for i, want := range []numbers{{140, unknown, 153, 153, unknown}, {1698, unknown, 2258, 2258, unknown}, {19605, unknown, 34205, 34205, unknown}, interleaved(218243)} {
		n := i + 2
		add(counted{name: fmt.Sprintf("fib_bench(%d)", n), from: []int{1, 1}, tasks: fibonacci(n), want: want, long: n > 2})
	}
	add(counted{name: "eratosthenes(5)", words: 5, tasks: repeat(2, sieve(5)), want: numbers{398, 1202, 1512, 1512, unknown}})
	add(counted{name: "indexer(11)", words: 128, tasks: forEach(11, indexer), want: always(1)})
	add(counted{name: "indexer(12)", words: 128, tasks: forEach(12, indexer), want: always(8), long: true})
	add(counted{name: "par_length(20)", words: 3, tasks: forEach(2, func(i int) body { return parLength(i, 20, once) }), want: always(4)})
	add(counted{name: "par_length, sc(20)", words: 3, tasks: forEach(2, func(i int) body { return parLength(i, 20, seqc) }), want: always(4)})
	add(counted{name: "par_length(100)", words: 3, tasks: forEach(2, func(i int) body { return parLength(i, 100, once) }), want: interleaved(4), long: true})
	for _, n := range []int{10, 20, 100} {
		want := equal(4*n + 10)
		if n == 100 {
			want = interleaved(4*n + 10) // the others are as many, and slow to check
		}
		add(counted{name: fmt.Sprintf("SharedPtr(%d)", n), from: []int{3, 4, 0}, tasks: []body{throughPointer(n, 1, 0), throughPointer(n, 0, 1)}, want: want, long: n > 10})
	}
	add(counted{name: "publish", words: 2, tasks: []body{seq(st(0, plain, 42), st(1, rel, 1)), func(t *kernel.Task, m *machine) {
		for range 41 {
			if m.words[1].Load(t, acq) == 1 {
				t.Assert(m.words[0].Load(t, plain) == 42, "published data is missing")
				return
			}
		}
	}}, want: always(42)})
	add(counted{name: "dekker_f", words: 3, tasks: forEach(2, func(i int) body {
		return seq(st(1-i, once, 1), mb, ifEqual(i, once, 0, func(t *kernel.Task, m *machine) {
			m.words[2].Store(t, plain, i)
			t.Assert(m.words[2].Load(t, plain) == i, "somebody else is inside")
		}))
	}), want: numbers{3, 3, unknown, 3, 3}})
	add(counted{name: "peterson", words: 4, tasks: []body{peterson(0, rel, acq), peterson(1, rel, acq)}, want: numbers{4, 22, 22, 22, unknown}, blocked: unstated})
	add(counted{name: "peterson-sc", words: 4, tasks: []body{peterson(0, seqc, seqc), peterson(1, seqc, seqc)}, want: numbers{4, 4, 22, 4, 4}, blocked: unstated})
	for n := 2; n <= 4; n++ {
		add(counted{name: fmt.Sprintf("dekker2-fixed(%d)", n), words: 4, tasks: dekker(n), want: numbers{6, 6, unknown, 6, 6}})
	}
	add(counted{name: "doubleloop", words: 2, tasks: []body{func(t *kernel.Task, m *machine) {
		assume(t, m.words[0].Load(t, seqc) != 0 || m.words[1].Load(t, seqc) != 0) // a round that finds neither changes nothing
	}, ifEqual(0, seqc, 0, st(1, seqc, 1)), ifEqual(1, seqc, 0, st(0, seqc, 1))}, want: always(4), blocked: unstated})
	add(counted{name: "lamport(2)", words: 4, tasks: []body{lamport(1, 2), lamport(2, 2)}, want: numbers{16, 16, 28, 16, 16}, blocked: unstated})
	return all
}

func fibonacci(n int) []body {
	step := func(at int) body {
		return func(t *kernel.Task, m *machine) {
			for range n {
				a := m.words[0].Load(t, acq)
				b := m.words[1].Load(t, acq)
				m.words[at].Store(t, rel, a+b)
			}
		}
	}
	return []body{step(0), step(1), seq(ld(0, acq), ld(1, acq))}
}

func sieve(n int) body {
	return func(t *kernel.Task, m *machine) {
		for i := range n {
			if m.words[i].Load(t, acq) == 0 {
				m.words[i].Store(t, rel, 1)
				for j := 2*i + 2; j < n; j += i + 2 {
					m.words[j].Store(t, rel, 2)
				}
			}
		}
	}
}

// indexer puts four numbers into a hash table, looking for free places.
func indexer(id int) body {
	return func(t *kernel.Task, m *machine) {
		for i := range 4 {
			value := 11*i + id
			h := 7 * value % len(m.words)
			for !m.words[h].CompareAndSwap(t, once, 0, value) {
				h = (h + 1) % len(m.words)
			}
		}
	}
}

func parLength(id, n int, o kernel.Order) body {
	return func(t *kernel.Task, m *machine) {
		for i := range n {
			m.words[id].Store(t, o, i)
			m.words[id].Load(t, o)
		}
		m.words[2].Store(t, o, id)
		m.words[2].Load(t, o)
	}
}

// throughPointer points word 2 to one of the first two, reads the other several
// times, and adds to what the pointer points to.
func throughPointer(n, target, other int) body {
	return func(t *kernel.Task, m *machine) {
		m.words[2].Store(t, rel, target)
		for range n {
			m.words[other].Load(t, acq)
		}
		at := m.words[2].Load(t, acq)
		m.words[at].Store(t, rel, m.words[at].Load(t, acq)+3)
	}
}

// peterson is Peterson's lock with the orders of its stores and loads: words
// 0 and 1 are the flags, 2 the turn, 3 what the section writes.
func peterson(me int, store, load kernel.Order) body {
	return func(t *kernel.Task, m *machine) {
		m.words[me].Store(t, store, 1)
		m.words[2].Store(t, store, 1-me)
		assume(t, m.words[1-me].Load(t, load) != 1 || m.words[2].Load(t, load) != 1-me)
		m.words[3].Store(t, store, me)
		m.words[3].Load(t, load)
		m.words[me].Store(t, store, 0)
	}
}

// dekker is Dekker's entry with n accesses behind it that nobody reaches: words
// 0 and 1 are the flags, 2 and 3 say who has entered.
func dekker(n int) []body {
	inside := func(access body) body {
		return ifEqual(2, seqc, 1, ifEqual(3, seqc, 1, seq(repeat(n, access)...)))
	}
	return []body{
		seq(st(1, seqc, 1), ifEqual(0, seqc, 0, st(2, seqc, 1))),
		seq(st(0, seqc, 1), ifEqual(1, seqc, 0, st(3, seqc, 1))),
		inside(st(0, once, 1)), inside(ld(0, once)),
	}
}

// lamport is Lamport's fast lock for n: the first n words are b, then come x and
// y. A wait for a zero is an await.
func lamport(me, n int) body {
	return func(t *kernel.Task, m *machine) {
		b, x, y := m.words[:n], &m.words[n], &m.words[n+1]
		for {
			b[me-1].Store(t, seqc, 1)
			x.Store(t, seqc, me)
			if y.Load(t, seqc) != 0 {
				b[me-1].Store(t, seqc, 0)
				until(n+1, seqc, 0)(t, m)
				continue
			}
			y.Store(t, seqc, me)
			if x.Load(t, seqc) == me {
				break
			}
			b[me-1].Store(t, seqc, 0)
			for j := range b {
				until(j, seqc, 0)(t, m)
			}
			if y.Load(t, seqc) == me {
				break
			}
			until(n+1, seqc, 0)(t, m)
		}
		y.Store(t, seqc, 0)
		b[me-1].Store(t, seqc, 0)
	}
}

// lockCounts are programs of one lock, and of starts and joins.
func lockCounts() []counted {
	var all []counted
	add := func(c counted) { all = append(all, c) }
	nothing := func(*kernel.Task, *machine) {}
	count := seq(ld(0, plain), st(0, plain, 1))
	forever := func(t *kernel.Task, m *machine) { assume(t, false) }
	for n := 2; n <= 6; n++ {
		long := n > 4
		add(counted{name: fmt.Sprintf("lockinc(%d)", n), words: 1, locks: 1, tasks: repeat(n, locked(count)), want: always(factorial(n)), long: long})
		add(counted{name: fmt.Sprintf("lock2inc(%d)", n), words: 2, locks: 1, tasks: repeat(n, locked(seq(count, ld(1, plain), st(1, plain, 1)))), want: always(factorial(n)), long: long})
		add(counted{name: fmt.Sprintf("empty sections(%d)", n), locks: 1, tasks: repeat(n, locked(nothing)), want: always(factorial(n)), long: long})
		add(counted{name: fmt.Sprintf("casrot-locks(%d)", n), words: 1, locks: 1, tasks: forEach(n, func(i int) body {
			return locked(ifEqual(0, plain, i, st(0, plain, i+1)))
		}), want: always(factorial(n)), long: long})
		add(counted{name: fmt.Sprintf("lastwrite(%d)", n), words: 1, tasks: []body{lastWrite(n, true)}, want: always(factorial(n)), long: long})
		add(counted{name: fmt.Sprintf("floating_read(%d)", n), words: 1, tasks: []body{lastWrite(n, false)}, want: always(factorial(n + 1)), long: long})
	}
	add(counted{name: "lazy01", words: 1, locks: 1, tasks: []body{locked(count), locked(count), locked(ifEqual(0, plain, 3, nothing))}, want: always(6)})
	for n, want := range []int{1, 4, 21, 148} {
		add(counted{name: fmt.Sprintf("mutex_trylock_unlock(%d)", n+1), words: 1, locks: 1, tasks: repeat(n+1, tryLocked(count)), want: interleaved(want)})
	}
	for n, want := range []int{3, 15, 103} {
		tasks := append([]body{locked(count)}, repeat(n+1, tryLocked(count))...)
		add(counted{name: fmt.Sprintf("mutex_vs_trylock(%d)", n+1), words: 1, locks: 1, tasks: tasks, want: interleaved(want)})
	}
	for n := 2; n <= 4; n++ {
		add(counted{name: fmt.Sprintf("mutex_deadlock(%d)", n), words: 1, locks: 1, tasks: repeat(n, locked(seq(count, forever))), want: always(0), blocked: n})
		add(counted{name: fmt.Sprintf("mutex_trylock_deadlock(%d)", n), words: 1, locks: 1, tasks: repeat(n, tryLocked(seq(count, forever))), want: always(0), blocked: n})
	}
	for n := 1; n <= 5; n++ {
		reader := func(t *kernel.Task, m *machine) { m.rw[0].RLock(t); m.rw[0].RUnlock(t) }
		writer := func(t *kernel.Task, m *machine) { m.rw[0].Lock(t); m.rw[0].Unlock(t) }
		add(counted{name: fmt.Sprintf("shared sections(%d)", n), tasks: repeat(n, reader), want: always(1)})
		add(counted{name: fmt.Sprintf("shared sections and an exclusive one(%d)", n), tasks: append(repeat(n, reader), writer), want: always(power(2, n))})
		add(counted{name: fmt.Sprintf("exclusive sections(%d)", n), tasks: repeat(n, writer), want: always(factorial(n))})
		add(counted{name: fmt.Sprintf("read sections(%d)", n), tasks: repeat(n, readSection), want: always(1)})
		add(counted{name: fmt.Sprintf("read sections and a grace period(%d)", n), tasks: append(repeat(n, readSection), gracePeriod), want: always(power(2, n))})
	}
	for n := 1; n <= 3; n++ { // each section orders the grace periods among each other
		add(counted{name: fmt.Sprintf("read sections and two grace periods(%d), raw", n), tasks: append(repeat(n, readSection), gracePeriod, gracePeriod), want: always(power(6, n))})
	}
	add(counted{name: "mutex_deadlock_one", words: 1, locks: 1, tasks: []body{locked(count), locked(count), locked(seq(count, forever))}, want: always(0), blocked: 5})
	return all
}

func readSection(t *kernel.Task, m *machine) { m.rcu.ReadLock(t); m.rcu.ReadUnlock(t) }
func gracePeriod(t *kernel.Task, m *machine) { m.rcu.Synchronize(t) }

// lastWrite starts writers and reads, after they have ended or meanwhile.
func lastWrite(n int, join bool) body {
	return func(t *kernel.Task, m *machine) {
		children := make([]*kernel.Task, n)
		for i := range children {
			children[i] = t.Go("writer", func(t *kernel.Task) { m.words[0].Store(t, once, i) })
		}
		for _, child := range children {
			if join {
				t.Join(child)
			}
		}
		m.words[0].Load(t, once)
	}
}

// chapter is a group of counted programs.
type chapter struct {
	title    string
	programs []counted
}

func countedPrograms() []chapter {
	return []chapter{
		{"Straight lines", litmusCounts()}, {"Straight lines with sequential accesses", sequentialCounts()}, {"One word", coherenceCounts()},
		{"Chains of tasks", chainCounts()}, {"Growing programs", wordCounts()}, {"Algorithms", algorithmCounts()},
		{"Awaits", awaitCounts()}, {"Locks and barriers made of awaits", waitingCounts()}, {"Locks, starts and joins", lockCounts()},
		{"Stacks and queues", structureCounts()}, {"Stacks and queues, cut", cutCounts()}, {"Locks of words, and rounds", wordLockCounts()},
		{"Giants", giantCounts()},
	}
}

// TestCounts explores every program under every model for which its number is
// known, with its tasks in both orders (the giants in one): as many
// executions as others have counted, and none of them twice.
func TestCounts(t *testing.T) {
	for _, chapter := range countedPrograms() {
		for _, c := range chapter.programs {
			t.Run(c.name, func(t *testing.T) { c.run(t) })
		}
	}
}

func (c *counted) run(t *testing.T) {
	if c.long && (testing.Short() || underRaceDetector) {
		t.Skip("too many executions for a short run or the race detector; go test ./... explores them")
	}
	reversed := slices.Clone(c.tasks)
	slices.Reverse(reversed)
	for i, model := range memmodel.Names() {
		if c.want[i] == unknown {
			continue
		}
		c.check(t, model, c.want[i], c.tasks)
		if c.want[i] < 10_000 {
			c.check(t, model, c.want[i], reversed)
		}
	}
}

func (c *counted) check(t *testing.T, model string, want int, tasks []body) {
	t.Helper()
	from := c.from
	if from == nil {
		from = make([]int, c.words)
	}
	s, v := programFrom(from, c.locks, 1, tasks...)
	var stats Stats
	var twice int
	if c.giant {
		stats = counting(t, model, s, v)
	} else {
		stats, twice = explored(t, model, s, v)
	}
	if stats.Complete != want || twice != 0 || !stats.Exhaustive || c.blocked != unstated && stats.Blocked != c.blocked {
		t.Errorf("%s: %+v, want %d complete and %d blocked; %d met twice", model, stats, want, c.blocked, twice)
	}
}
