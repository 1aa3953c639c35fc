package explore

import (
	"fmt"

	"benign/impl/kernel"
)

// The programs that wait: each loop that only looks again is an await, so that a
// round without success is not counted. That is what GenMC and Nidhugg make of
// such loops too.

// until waits for the word to have the value.
func until(at int, o kernel.Order, value int) body {
	return func(t *kernel.Task, m *machine) {
		m.words[at].Await(t, o, func(seen int) bool { return seen == value })
	}
}

// unlike waits for the word to have another value.
func unlike(at int, o kernel.Order, value int) body {
	return func(t *kernel.Task, m *machine) {
		m.words[at].Await(t, o, func(seen int) bool { return seen != value })
	}
}

func add(at, n int) body { return func(t *kernel.Task, m *machine) { m.words[at].Add(t, once, n) } }

// casUntil compares and swaps until it succeeds.
func casUntil(at int, o kernel.Order, old, updated int) body {
	return func(t *kernel.Task, m *machine) {
		m.words[at].AwaitUpdate(t, o, func(seen int) bool { return seen == old }, func(int) (int, bool) { return updated, true })
	}
}

// countUp stores the numbers from 1 to n to each of the words.
func countUp(n int, words ...int) body {
	return func(t *kernel.Task, m *machine) {
		for i := 1; i <= n; i++ {
			for _, at := range words {
				m.words[at].Store(t, once, i)
			}
		}
	}
}

// meet waits until n tasks have come to the barrier, which is a word.
func meet(at, n int) body {
	return func(t *kernel.Task, m *machine) {
		m.words[at].Add(t, kernel.AcquireRelease, 1)
		until(at, acq, n)(t, m)
	}
}

// inside is a section of a lock that works on a word.
func inside(at, me int) body {
	return func(t *kernel.Task, m *machine) {
		m.words[at].Store(t, plain, me)
		t.Assert(m.words[at].Load(t, plain) == me, "somebody else is inside")
	}
}

// ticketLock takes a ticket from word 0, waits for word 1 to show it and works
// on word 2.
func ticketLock(me int) body {
	return func(t *kernel.Task, m *machine) {
		ticket := m.words[0].Add(t, once, 1) - 1
		until(1, acq, ticket)(t, m)
		inside(2, me)(t, m)
		m.words[1].Store(t, rel, m.words[1].Load(t, once)+1)
	}
}

// lockLoop waits for word 0 to be zero and tries to take it, until that
// succeeds, and works on word 1. If rounds that fail are not counted, the task
// must not fail.
func lockLoop(me int, counts bool, take func(t *kernel.Task, l *kernel.Word[int]) bool) body {
	return func(t *kernel.Task, m *machine) {
		until(0, once, 0)(t, m)
		for !take(t, &m.words[0]) {
			assume(t, counts)
			until(0, once, 0)(t, m)
		}
		inside(1, me)(t, m)
		m.words[0].Store(t, rel, 0)
	}
}

func bySwap(t *kernel.Task, l *kernel.Word[int]) bool { return l.Swap(t, acq, 1) == 0 }
func byCAS(t *kernel.Task, l *kernel.Word[int]) bool  { return l.CompareAndSwap(t, acq, 0, 1) }

// rounds is in how many ways the last of n tasks can take the lock of lockLoop,
// when it has seen the lock free for the kth time: at once, or after a failure
// because of one of the later sections.
func rounds(n, k int) int {
	ways := 1
	for section := k + 1; section < n; section++ {
		for free := section; free < n; free++ {
			ways += rounds(n, free)
		}
	}
	return ways
}

// rawLockLoops is how many executions n tasks with lockLoop have: for each order
// of their sections, what each can have seen before.
func rawLockLoops(n int) int {
	product := factorial(n)
	for last := 1; last <= n; last++ {
		sum := 0
		for k := range last {
			sum += rounds(last, k)
		}
		product *= sum
	}
	return product
}

// mcs is the queued lock of Mellor-Crummey and Scott: word 0 is the tail, 1 what
// the section works on; then each task has its successor and whether it may go on.
func mcs(me int) body {
	return func(t *kernel.Task, m *machine) {
		next, free := 2*me, 2*me+1
		m.words[next].Store(t, once, 0)
		m.words[free].Store(t, once, 0)
		if before := m.words[0].Swap(t, kernel.AcquireRelease, me); before != 0 {
			m.words[2*before].Store(t, rel, me)
			until(free, acq, 1)(t, m)
		}
		inside(1, me)(t, m)
		if m.words[next].Load(t, acq) == 0 {
			if m.words[0].CompareAndSwap(t, rel, me, 0) {
				return
			}
			unlike(next, acq, 0)(t, m)
		}
		m.words[2*m.words[next].Load(t, acq)+1].Store(t, rel, 1)
	}
}

// seqRead reads word 1 under the sequence count in word 0. A round in which the
// count has changed meanwhile is not counted.
func seqRead(t *kernel.Task, m *machine) {
	before := m.words[0].Await(t, acq, func(count int) bool { return count%2 == 0 })
	value := m.words[1].Load(t, once)
	t.Barrier(kernel.ReadBarrier)
	assume(t, m.words[0].Load(t, once) == before)
	t.Assert(value == before/2, "the value is not of its count")
}

func seqWrite(t *kernel.Task, m *machine) {
	m.words[0].Store(t, once, 1)
	t.Barrier(kernel.WriteBarrier)
	m.words[1].Store(t, once, 1)
	m.words[0].Store(t, rel, 2)
}

// turnstile is a barrier for two that counts its rounds: word 0 is the round, 1
// how many wait.
func turnstile(t *kernel.Task, m *machine) {
	round := m.words[0].Load(t, seqc)
	if m.words[1].Add(t, seqc, 1) == 2 {
		m.words[1].Store(t, seqc, 0)
		m.words[0].Add(t, seqc, 1)
		return
	}
	unlike(0, seqc, round)(t, m)
}

// awaitCounts are programs about waiting as such.
func awaitCounts() []counted {
	exchange := func(t *kernel.Task, m *machine) {
		m.words[0].AwaitUpdate(t, once, func(seen int) bool { return seen != 2 }, func(int) (int, bool) { return 0, true })
	}
	all := []counted{
		{name: "spinloop", words: 1, tasks: []body{unlike(0, once, 0), st(0, once, 42)}, want: always(1)},
		{name: "simplified_dekker", words: 2, tasks: forEach(2, func(i int) body {
			return seq(st(i, once, 1), until(1-i, once, 0), st(i, once, 0))
		}), want: numbers{2, 3, 3, 3, 3}, blocked: 1},
		{name: "revealed_write", words: 2, tasks: []body{seq(st(0, once, 1), until(1, once, 1)), seq(until(0, once, 0), st(1, once, 1))}, want: always(1), blocked: 1},
		{name: "broken_mutual_exclusion", words: 1, tasks: repeat(2, seq(until(0, once, 0), st(0, once, 1))), want: always(2), blocked: 2},
		{name: "await_mud", words: 4, tasks: []body{st(1, once, 1), ifEqual(1, once, 0, mud), until(2, once, 42)}, want: always(2), blocked: 1},
		{name: "xchgawait_vs_inc_chain", words: 1, tasks: []body{seq(inc(0), inc(0), inc(0)), exchange}, want: always(3)},
		{name: "await_vs_indep_inc, raw", words: 1, tasks: []body{until(0, once, 7), add(0, 2), add(0, 4), add(0, 3), add(0, 1)}, want: always(10), blocked: 24},
		{name: "dsa-live", from: []int{1, 0}, tasks: []body{seq(st(1, plain, 1), st(0, rel, 0)), func(t *kernel.Task, m *machine) {
			for until(0, once, 0)(t, m); !bySwap(t, &m.words[0]); until(0, once, 0)(t, m) {
			}
			t.Assert(m.words[1].Load(t, plain) == 1, "published data is missing")
		}}, want: always(1)},
		{name: "IRIW-iter", words: 2, tasks: []body{countUp(42, 0), countUp(42, 1), seq(until(0, once, 42), until(1, once, 0)), seq(until(1, once, 0), until(0, once, 42))},
			want: always(1), blocked: 3},
		{name: "assume-conj", words: 2, tasks: []body{countUp(42, 0, 1), seq(until(0, once, 42), until(1, once, 42))}, want: always(1)},
		{name: "spin-cas1", words: 1, tasks: []body{casUntil(0, once, 1, 42), st(0, once, 1), st(0, once, 2)}, want: always(2), blocked: 1},
		{name: "spin-cas2", words: 1, tasks: append(repeat(3, func(t *kernel.Task, m *machine) {
			casUntil(0, once, m.words[0].Load(t, once), 42)(t, m)
		}), st(0, once, 1)), want: always(42), blocked: unstated},
		{name: "spin-dowhile1", words: 1, tasks: []body{func(t *kernel.Task, m *machine) {
			if m.words[0].Load(t, acq) != 42 {
				until(0, once, 0)(t, m)
			}
		}, countUp(42, 0)}, want: always(2), blocked: 42},
		{name: "seqlock", words: 2, tasks: []body{seqRead, seqWrite}, want: always(2), blocked: unstated},
	}
	for n := 2; n <= 5; n++ {
		all = append(all, counted{name: fmt.Sprintf("spin-cas3(%d)", n), words: 1, tasks: repeat(n, seq(casUntil(0, seqc, 0, 1), st(0, seqc, 0))),
			want: always(factorial(n)), long: n > 4})
	}
	return all
}

// mud is the part of await_mud that one task does if it is not too late.
func mud(t *kernel.Task, m *machine) {
	child := t.Go("V", func(t *kernel.Task) { seq(st(0, once, 1), st(3, once, 1))(t, m) })
	m.words[0].Load(t, once)
	t.Join(child)
	seq(st(2, once, 1), ld(3, once), st(2, once, 42))(t, m)
}

// waitingCounts are locks and barriers that are made of awaits.
func waitingCounts() []counted {
	var all []counted
	add := func(c counted) { all = append(all, c) }
	for n := 2; n <= 5; n++ {
		add(counted{name: fmt.Sprintf("ticketlock(%d)", n), words: 3, tasks: forEach(n, ticketLock), want: always(factorial(n)), long: n > 4})
		add(counted{name: fmt.Sprintf("barrier1(%d), raw", n), words: 1, tasks: repeat(n, meet(0, n)), want: always(factorial(n)), long: n > 4})
	}
	for i, reduced := range []int{4, 36} {
		n := i + 2
		loops := func(counts bool) []body { return forEach(n, func(me int) body { return lockLoop(me, counts, byCAS) }) }
		add(counted{name: fmt.Sprintf("spinlock(%d)", n), words: 2, tasks: loops(false), want: always(reduced), blocked: unstated})
		add(counted{name: fmt.Sprintf("spinlock(%d), raw", n), words: 2, tasks: loops(true), want: always(rawLockLoops(n))})
		add(counted{name: fmt.Sprintf("barrier2(%d), raw", n), words: 2, tasks: repeat(n, seq(meet(0, n), meet(1, n))), want: always(power(factorial(n), 2))})
		add(counted{name: fmt.Sprintf("barrier3(%d), raw", n), words: 2,
			tasks: append(repeat(n, seq(casUntil(1, acq, 0, 1), st(1, rel, 0))), repeat(n, meet(0, n))...), want: always(power(factorial(n), 2))})
	}
	add(counted{name: "ttaslock(2)", words: 2, tasks: forEach(2, func(me int) body { return lockLoop(me, false, bySwap) }), want: always(4), blocked: unstated})
	add(counted{name: "mcs_spinlock(2)", words: 6, tasks: forEach(2, func(i int) body { return mcs(i + 1) }), want: always(6)})
	add(counted{name: "barrier4, raw", words: 2, tasks: []body{seq(st(1, plain, 42), meet(0, 2)), seq(meet(0, 2), ld(1, plain))}, want: always(2)})
	add(counted{name: "barrier", words: 2, tasks: repeat(2, turnstile), want: always(2)})
	add(counted{name: "barrier-lock, raw", words: 4, tasks: forEach(2, barrierLock), want: always(16)})
	add(counted{name: "lamport(3)", words: 5, tasks: forEach(3, func(i int) body { return lamport(i+1, 3) }), want: interleaved(9216), blocked: unstated, long: true})
	return all
}

// barrierLock meets the other task and then increments word 2 under a lock, word
// 3, twice.
func barrierLock(int) body {
	round := func(at int) body {
		return seq(meet(at, 2), casUntil(3, acq, 0, 1), ld(2, plain), func(t *kernel.Task, m *machine) {
			m.words[2].Store(t, plain, m.words[2].Load(t, plain)+1)
		}, st(3, rel, 0))
	}
	return seq(round(0), round(1))
}
