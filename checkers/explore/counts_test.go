package explore

import (
	"fmt"
	"slices"
	"testing"

	"benign/impl/kernel"
)

// The numbers of executions of small programs that others have counted. They
// are those that GenMC 0.11 keeps for its own tests (complete executions with
// the coherence order told apart), and of the lock and join programs those of
// Nidhugg's optimal mode; where a closed form is known it is used. Relaxed,
// acquire and release accesses are Once, Acquire and Release; an sc fence is a
// full barrier; programs that need sc loads or stores are left out. Ours must
// agree under sc and rc11 whatever the order in which the tasks are listed. For
// the kernel model nobody has counted: its numbers here are those that programs
// of one word or one lock have under every model, or that follow from the one
// outcome that the models disagree about.
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
}

// numbers are the complete executions under sc, rc11 and kernel; unknown where
// nobody has counted.
type numbers [3]int

const (
	unknown  = -1
	unstated = -1
)

// always is the same under every model, equal under sc and rc11, weaker the same
// under the two weak models.
func always(n int) numbers           { return numbers{n, n, n} }
func equal(n int) numbers            { return numbers{n, n, unknown} }
func published(sc, rc11 int) numbers { return numbers{sc, rc11, unknown} }
func weaker(sc, weak int) numbers    { return numbers{sc, weak, weak} }

const (
	plain = kernel.Plain
	once  = kernel.Once
	acq   = kernel.Acquire
	rel   = kernel.Release
	full  = kernel.Full
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
		{name: "SB", words: 2, tasks: []body{seq(st(0, rel, 1), ld(1, acq)), seq(st(1, rel, 1), ld(0, acq))}, want: weaker(3, 4)},
		{name: "SB once", words: 2, tasks: []body{seq(st(0, once, 1), ld(1, once)), seq(st(1, once, 1), ld(0, once))}, want: weaker(3, 4)},
		{name: "SB+scfs", words: 2, tasks: []body{seq(st(0, once, 1), mb, ld(1, once)), seq(st(1, once, 1), mb, ld(0, once))}, want: always(3)},
		{name: "SB, one barrier", words: 2, tasks: []body{seq(st(0, once, 1), mb, ld(1, once)), seq(st(1, once, 1), ld(0, once))}, want: weaker(3, 4)},
		{name: "MP", words: 2, tasks: []body{seq(st(0, rel, 1), st(1, rel, 1)), seq(ld(1, acq), ld(0, acq))}, want: always(3)},
		{name: "MP once", words: 2, tasks: []body{seq(st(0, once, 1), st(1, once, 1)), seq(ld(1, once), ld(0, once))}, want: weaker(3, 4)},
		{name: "MP+rel+acq", words: 2, tasks: []body{seq(st(0, plain, 1), st(1, rel, 1)), ifEqual(1, acq, 1, ld(0, plain))}, want: always(2)},
		{name: "MP+relf+acq", words: 2, tasks: []body{seq(st(0, plain, 1), wmb, st(1, once, 1)), ifEqual(1, acq, 1, ld(0, plain))}, want: always(2)},
		{name: "MP+rel+acqf", words: 2, tasks: []body{seq(st(0, plain, 1), st(1, rel, 1)), ifEqual(1, once, 1, seq(rmb, ld(0, plain)))}, want: always(2)},
		{name: "MP+relf+acqf", words: 2, tasks: []body{seq(st(0, plain, 1), wmb, st(1, once, 1)), ifEqual(1, once, 1, seq(rmb, ld(0, plain)))}, want: always(2)},
		{name: "MP+rels+acq", words: 2, tasks: []body{seq(st(0, once, 1), st(1, rel, 2), st(1, once, 1)), ifEqual(1, acq, 1, ld(0, once))}, want: weaker(3, 4)},
		{name: "MP+rels+acqf", words: 2, tasks: []body{seq(st(0, once, 1), st(1, rel, 2), st(1, once, 1)), ifEqual(1, once, 1, seq(rmb, ld(0, once)))}, want: weaker(3, 4)},
		{name: "S+rel+acq", words: 2, tasks: []body{seq(st(0, plain, 1), st(1, rel, 1)), ifEqual(1, acq, 1, st(0, plain, 2))}, want: always(2)},
		{name: "S+rels+acq", words: 2, tasks: []body{seq(st(0, once, 1), st(1, rel, 2), st(1, once, 1)), ifEqual(1, acq, 1, st(0, once, 2))}, want: weaker(3, 4)},
		{name: "S", words: 2, tasks: []body{seq(st(0, once, 2), st(1, once, 1)), seq(ld(1, once), st(0, once, 1))}, want: weaker(3, 4)},
		{name: "2+2W", words: 2, tasks: []body{seq(st(0, rel, 1), st(1, rel, 2)), seq(st(1, rel, 1), st(0, rel, 2))}, want: weaker(3, 4)},
		{name: "2+2W+scfs", words: 2, tasks: []body{seq(st(0, once, 1), mb, st(1, once, 2)), seq(st(1, once, 1), mb, st(0, once, 2))}, want: always(3)},
		{name: "LB", words: 2, tasks: []body{seq(ld(1, acq), st(0, rel, 1)), seq(ld(0, acq), st(1, rel, 1))}, want: always(3)},
		{name: "LB2", words: 2, tasks: []body{seq(ld(1, once), st(0, once, 1)), seq(ld(0, once), st(1, once, 1))}, want: always(3)},
		{name: "LB3", words: 3, tasks: forEach(3, func(i int) body { return seq(ld(i, once), st((i+1)%3, once, 1)) }), want: always(7)},
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
			seq(ld(0, once), rmb, ld(1, once)), seq(ld(1, once), rmb, ld(0, once))}, want: published(27, 28)},
		{name: "WRC+dep", words: 2, tasks: []body{st(0, once, 1),
			func(t *kernel.Task, m *machine) { m.words[1].Store(t, once, m.words[0].Load(t, once)) },
			seq(ld(1, once), ld(0, once))}, want: weaker(7, 8)},
		{name: "Z6+acq", words: 3, tasks: []body{seq(st(0, once, 1), mb, st(1, once, 1)), seq(ld(1, acq), st(2, once, 1)),
			seq(st(2, once, 2), mb, ld(0, once))}, want: always(7)},
		{name: "riwi", words: 2, tasks: []body{seq(ld(1, once), inc(0)), seq(inc(0), st(1, rel, 1))}, want: always(3)},
		{name: "cii", words: 1, tasks: []body{cas(0, 1, 2), inc(0), inc(0)}, want: always(6)},
		{name: "ccr", words: 1, tasks: []body{cas(0, 0, 42), seq(cas(0, 0, 17), ld(0, once))}, want: always(2)},
		{name: "casdep", words: 3, tasks: []body{func(t *kernel.Task, m *machine) {
			a := m.words[0].Load(t, once)
			old, _ := m.words[1].Update(t, once, func(old int) (int, bool) { return 1, old == a })
			m.words[2].Store(t, once, old)
		}, st(1, once, 2)}, want: always(2)},
		{name: "RMWFix", words: 2, tasks: []body{func(t *kernel.Task, m *machine) {
			if m.words[1].Load(t, once) != 0 {
				m.words[0].Add(t, full, 1)
				m.words[0].Add(t, full, 1)
			}
		}, func(t *kernel.Task, m *machine) { m.words[0].Add(t, full, 1) }, st(1, once, 42)}, want: always(4)},
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
	for n, want := range []numbers{published(4, 4), published(15, 16), published(130, 144), published(2028, 2304)} {
		add(counted{name: fmt.Sprintf("CoA(%d)", n+1), words: 3, tasks: coherenceOfA(n + 1), want: want, long: n > 2})
	}
	for n := 2; n <= 6; n++ {
		tasks := forEach(n, func(i int) body { return seq(st(i, rel, 1), ld((i+1)%n, acq)) })
		add(counted{name: fmt.Sprintf("sb-ring(%d)", n), words: n, tasks: tasks, want: weaker(power(2, n)-1, power(2, n))})
	}
	for n, want := range []int{5, 18, 90, 600, 5160} {
		add(counted{name: fmt.Sprintf("control_flow(%d)", n+1), words: 3, tasks: controlFlow(n + 1), want: numbers{want, unknown, unknown}, long: n > 2})
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
	for n, want := range map[int]numbers{2: published(140, 153), 3: published(1698, 2258), 4: published(19605, 34205), 5: {218243, unknown, unknown}} {
		add(counted{name: fmt.Sprintf("fib_bench(%d)", n), from: []int{1, 1}, tasks: fibonacci(n), want: want, long: n > 2})
	}
	add(counted{name: "eratosthenes(5)", words: 5, tasks: repeat(2, sieve(5)), want: published(398, 1512)})
	add(counted{name: "indexer(11)", words: 128, tasks: forEach(11, indexer), want: always(1)})
	add(counted{name: "indexer(12)", words: 128, tasks: forEach(12, indexer), want: always(8), long: true})
	add(counted{name: "par_length(20)", words: 3, tasks: forEach(2, func(i int) body { return parLength(i, 20) }), want: always(4)})
	add(counted{name: "par_length(100)", words: 3, tasks: forEach(2, func(i int) body { return parLength(i, 100) }), want: numbers{4, unknown, unknown}, long: true})
	for n, want := range map[int]numbers{10: equal(50), 20: equal(90), 100: {410, unknown, unknown}} {
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
	}), want: always(3)})
	add(counted{name: "peterson", words: 4, tasks: []body{peterson(0), peterson(1)}, want: published(4, 22), blocked: unstated})
	for n := 2; n <= 4; n++ {
		add(counted{name: fmt.Sprintf("ticketlock(%d)", n), words: 3, tasks: forEach(n, ticketLock), want: always(factorial(n)), blocked: unstated, long: n > 3})
	}
	for n, want := range map[int]int{2: 4, 3: 36} {
		add(counted{name: fmt.Sprintf("spinlock(%d)", n), words: 2, tasks: forEach(n, spinLock), want: equal(want), blocked: unstated})
	}
	add(counted{name: "lamport(2)", words: 4, tasks: []body{lamport(1), lamport(2)}, want: numbers{16, unknown, unknown}, blocked: unstated})
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

func parLength(id, n int) body {
	return func(t *kernel.Task, m *machine) {
		for i := range n {
			m.words[id].Store(t, once, i)
			m.words[id].Load(t, once)
		}
		m.words[2].Store(t, once, id)
		m.words[2].Load(t, once)
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

// peterson is Peterson's lock with release stores and acquire loads: words 0 and
// 1 are the flags, 2 the turn, 3 what the section writes.
func peterson(me int) body {
	return func(t *kernel.Task, m *machine) {
		m.words[me].Store(t, rel, 1)
		m.words[2].Store(t, rel, 1-me)
		assume(t, m.words[1-me].Load(t, acq) != 1 || m.words[2].Load(t, acq) != 1-me)
		m.words[3].Store(t, rel, me)
		m.words[3].Load(t, acq)
		m.words[me].Store(t, rel, 0)
	}
}

// ticketLock takes a ticket from word 0, waits for word 1 to show it and works
// on word 2.
func ticketLock(me int) body {
	return func(t *kernel.Task, m *machine) {
		ticket := m.words[0].Add(t, once, 1) - 1
		assume(t, m.words[1].Load(t, acq) == ticket)
		m.words[2].Store(t, plain, me)
		t.Assert(m.words[2].Load(t, plain) == me, "somebody else is inside")
		m.words[1].Store(t, rel, m.words[1].Load(t, once)+1)
	}
}

// spinLock waits for word 0 to be zero, makes it one, and works on word 1. A
// round of the loop that ends without the lock has changed nothing and is not
// counted.
func spinLock(me int) body {
	return func(t *kernel.Task, m *machine) {
		assume(t, m.words[0].Load(t, once) == 0)
		assume(t, m.words[0].CompareAndSwap(t, acq, 0, 1))
		m.words[1].Store(t, plain, me)
		t.Assert(m.words[1].Load(t, plain) == me, "somebody else is inside")
		m.words[0].Store(t, rel, 0)
	}
}

// lamport is Lamport's fast lock for two: words 0 and 1 are b, 2 is x, 3 is y.
func lamport(me int) body {
	return func(t *kernel.Task, m *machine) {
		b, x, y := m.words[:2], &m.words[2], &m.words[3]
		for {
			b[me-1].Store(t, once, 1)
			x.Store(t, once, me)
			if y.Load(t, once) != 0 {
				b[me-1].Store(t, once, 0)
				assume(t, y.Load(t, once) == 0)
				continue
			}
			y.Store(t, once, me)
			if x.Load(t, once) == me {
				break
			}
			b[me-1].Store(t, once, 0)
			for j := range b {
				assume(t, b[j].Load(t, once) == 0)
			}
			if y.Load(t, once) == me {
				break
			}
			assume(t, y.Load(t, once) == 0)
		}
		y.Store(t, once, 0)
		b[me-1].Store(t, once, 0)
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
		add(counted{name: fmt.Sprintf("mutex_trylock_unlock(%d)", n+1), words: 1, locks: 1, tasks: repeat(n+1, tryLocked(count)), want: numbers{want, unknown, unknown}})
	}
	for n, want := range []int{3, 15, 103} {
		tasks := append([]body{locked(count)}, repeat(n+1, tryLocked(count))...)
		add(counted{name: fmt.Sprintf("mutex_vs_trylock(%d)", n+1), words: 1, locks: 1, tasks: tasks, want: numbers{want, unknown, unknown}})
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
	}
	add(counted{name: "mutex_deadlock_one", words: 1, locks: 1, tasks: []body{locked(count), locked(count), locked(seq(count, forever))}, want: always(0), blocked: 5})
	return all
}

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

// TestCounts explores every program under every model for which its number is
// known, with its tasks in both orders (the one giant in one): as many executions as others have
// counted, and none of them twice.
func TestCounts(t *testing.T) {
	for _, c := range slices.Concat(litmusCounts(), coherenceCounts(), chainCounts(), wordCounts(), algorithmCounts(), lockCounts()) {
		t.Run(c.name, func(t *testing.T) {
			if c.long && (testing.Short() || underRaceDetector) {
				t.Skip("many executions")
			}
			reversed := slices.Clone(c.tasks)
			slices.Reverse(reversed)
			for i, model := range []string{"sc", "rc11", "kernel"} {
				if c.want[i] == unknown {
					continue
				}
				c.check(t, model, c.want[i], c.tasks)
				if c.want[i] < 100_000 {
					c.check(t, model, c.want[i], reversed)
				}
			}
		})
	}
}

func (c *counted) check(t *testing.T, model string, want int, tasks []body) {
	t.Helper()
	from := c.from
	if from == nil {
		from = make([]int, c.words)
	}
	s, v := programFrom(from, c.locks, 1, tasks...)
	stats, twice := explored(t, model, s, v)
	if stats.Complete != want || twice != 0 || !stats.Exhaustive || c.blocked != unstated && stats.Blocked != c.blocked {
		t.Errorf("%s: %+v, want %d complete and %d blocked; %d met twice", model, stats, want, c.blocked, twice)
	}
}
