package explore

import (
	"fmt"
	"testing"

	"benign/checkers/memmodel"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// Data structures without locks, and locks made of words, that others have
// counted. Nodes are numbers; a counted pointer is a node and how often the
// word was changed before. Loops that try again are counted in two ways: as they
// are, and cut, which ends a task whose round has changed nothing as one that
// waits for ever. That is what GenMC and Nidhugg do by default.

// structureCounts are stacks and queues whose loops are as they are.
func structureCounts() []counted {
	var all []counted
	for _, c := range []struct {
		pops, pushes, both int
		want               numbers
	}{
		{1, 2, 0, equal(22)}, {2, 2, 0, equal(220)}, {1, 3, 0, equal(1062)}, {0, 0, 2, equal(46)},
		{2, 3, 0, publishedOnly(39276)}, {0, 0, 3, publishedOnly(76338)},
	} {
		s := treiber{nodes: c.pushes + c.both, data: dataOrder(c.want[0])}
		all = append(all, counted{name: "treiber-stack " + crew(c.pops, c.pushes, c.both), words: s.words(), tasks: s.tasks(c.pops, c.pushes, c.both),
			want: c.want, long: c.want[0] > 1000, giant: c.want[0] > 10_000})
	}
	for _, c := range []struct{ dequeues, enqueues, both, want, blocked int }{
		{1, 1, 0, 4, 0}, {2, 1, 0, 51, 16}, {1, 2, 0, 148, 0}, {0, 0, 2, 114, 64}, {2, 2, 0, 5974, 1700},
	} {
		q := michaelScott{nodes: c.enqueues + c.both, tail: acq, data: dataOrder(c.want)}
		all = append(all, counted{name: "ms-queue " + crew(c.dequeues, c.enqueues, c.both), from: q.words(), tasks: q.tasks(c.dequeues, c.enqueues, c.both),
			want: equal(c.want), blocked: c.blocked, long: c.want > 1000})
	}
	owner := seq(append(append(repeat(5, deque.push), repeat(3, deque.pop)...), repeat(2, deque.push)...)...)
	return append(all, counted{name: "chase-lev", words: 2 + deque.room, tasks: []body{owner, deque.steal}, want: numbers{59, 59, unknown, 65, unknown}})
}

var deque = workStealing{room: 10}

// cutCounts are the same and others, with rounds that change nothing cut. What is blocked is
// what Nidhugg counts without awaits; GenMC counts fewer, as it takes such
// rounds for awaits and meets several ways to wait as one.
func cutCounts() []counted {
	var all []counted
	for _, c := range []struct {
		pops, pushes, both int
		want               numbers
		blocked            int
	}{
		{1, 2, 0, equal(18), 4}, {2, 2, 0, equal(80), 76}, {1, 3, 0, equal(666), 180}, {0, 0, 2, equal(18), 16},
		{2, 3, 0, publishedOnly(6120), unstated}, {0, 0, 3, publishedOnly(3600), unstated},
	} {
		s := treiber{nodes: c.pushes + c.both, cut: true, data: dataOrder(c.want[0])}
		all = append(all, counted{name: "treiber-stack " + crew(c.pops, c.pushes, c.both) + ", cut", words: s.words(), tasks: s.tasks(c.pops, c.pushes, c.both),
			want: c.want, blocked: c.blocked, long: c.want[0] > 100, giant: c.want[0] > 1000})
	}
	for _, c := range []struct {
		dequeues, enqueues, both, want, blocked int
	}{{1, 1, 0, 3, 1}, {1, 2, 0, 94, unstated}, {0, 0, 2, 50, 128}, {2, 2, 0, 634, unstated}} {
		q := michaelScott{nodes: c.enqueues + c.both, tail: acq, cut: true, data: dataOrder(c.want)}
		all = append(all, counted{name: "ms-queue " + crew(c.dequeues, c.enqueues, c.both) + ", cut", from: q.words(), tasks: q.tasks(c.dequeues, c.enqueues, c.both),
			want: equal(c.want), blocked: c.blocked, long: c.want > 100})
	}
	for i, want := range []numbers{{3, 3, 3, 4, unknown}, {94, 94, 94, 130, unknown}} {
		enqueues := i + 1
		q := michaelScott{nodes: enqueues, tail: once, cut: true, data: once}
		all = append(all, counted{name: "ms-queue " + crew(1, enqueues, 0) + ", relaxed tail, cut", from: q.words(), tasks: q.tasks(1, enqueues, 0), want: want, blocked: unstated})
	}
	q := boundedQueue{room: 4, cut: true}
	reader := func(t *kernel.Task, m *machine) {
		for q.read(t, m) {
		}
	}
	return append(all, counted{name: "mpmc-queue, cut", from: []int{1, 0, 1, 0, 0, 0, 0}, tasks: []body{q.write, reader}, want: equal(3), blocked: unstated},
		counted{name: "seqlock, cut", words: 2, tasks: []body{sequenceWriter, sequenceReader}, want: equal(2), blocked: unstated})
}

// crew names the tasks as the tools' programs do.
func crew(readers, writers, both int) string {
	if both > 0 {
		return fmt.Sprintf("%dRW", both)
	}
	return fmt.Sprintf("%dR%dW", readers, writers)
}

// dataOrder is plain, so that races are looked for, except where there are so
// many executions that the code had better not run in each.
func dataOrder(executions int) kernel.Order {
	if executions > 1000 {
		return once
	}
	return plain
}

// publishedOnly is for programs that take long: the models that others have
// counted.
func publishedOnly(n int) numbers { return numbers{n, unknown, unknown, n, unknown} }

// wordLockCounts are locks made of words, and loops of a number of rounds, whose
// tasks end when these are over.
func wordLockCounts() []counted {
	all := []counted{
		{name: "linuxrwlocks(2), cut", from: []int{bias, 0}, tasks: repeat(2, readThenWrite), want: equal(14), blocked: unstated},
		{name: "mcs_spinlock(2), cut", words: 6, tasks: forEach(2, func(i int) body { return queueLock(1+i, 2) }), want: equal(6), blocked: unstated},
		{name: "ttaslock(2), cut", words: 2, tasks: forEach(2, exchangeLock), want: equal(4), blocked: unstated},
		{name: "twalock(2)", words: 6, tasks: forEach(2, arrayTicketLock), want: equal(4), blocked: unstated},
		{name: "mutex(2)", words: 3, tasks: forEach(2, futexLock), want: equal(12), blocked: unstated},
		{name: "pgsql, 3 rounds", from: []int{0, 1, 0, 1}, tasks: forEach(2, func(i int) body { return handsOver(i, 3) }), want: numbers{1, 1, unknown, 4, unknown}, blocked: unstated},
		{name: "commits(2), 6 rounds", from: []int{0, 2}, tasks: forEach(2, func(i int) body { return commit(1+i, 6) }), want: equal(1734), long: true},
	}
	for n := 3; n <= 5; n++ {
		all = append(all, counted{name: fmt.Sprintf("spin-cas3(%d), cut", n), words: 1, tasks: repeat(n, func(t *kernel.Task, m *machine) {
			assume(t, m.words[0].CompareAndSwap(t, seqc, 0, 1))
			m.words[0].Store(t, seqc, 0)
		}), want: always(factorial(n)), blocked: unstated})
	}
	return all
}

// giantCounts are the programs that others have published times for.
func giantCounts() []counted {
	readers := append([]body{st(0, once, 42)}, repeat(13, ld(0, once))...)
	lastzero := append([]body{lastZeroReader(15)}, forEach(15, func(i int) body { return copyUp(i) })...)
	return []counted{
		{name: "readers(13)", words: 1, tasks: readers, want: always(8192), long: true, giant: true},
		{name: "lastzero(15)", words: 16, tasks: lastzero, want: publishedOnly(147456), long: true, giant: true},
		{name: "ainc(8)", words: 1, tasks: repeat(8, inc(0)), want: publishedOnly(40320), long: true, giant: true},
		{name: "fib_bench(5), rc11", from: []int{1, 1}, tasks: fibonacci(5), want: numbers{unknown, unknown, unknown, 525630, unknown}, long: true, giant: true},
		{name: "ticketlock(6)", words: 3, tasks: forEach(6, ticketLock), want: interleaved(720), blocked: unstated, long: true, giant: true},
		{name: "indexer(15)", words: 128, tasks: forEach(15, indexer), want: interleaved(4096), long: true, giant: true},
		{name: "lockinc(7)", words: 1, locks: 1, tasks: repeat(7, locked(seq(ld(0, once), st(0, once, 1)))), want: publishedOnly(5040), long: true, giant: true},
	}
}

// counting explores a program and keeps no execution.
func counting(t testing.TB, model string, s *scenario.Scenario, v *scenario.Variant) Stats {
	t.Helper()
	stats, err := Explore(Config{Scenario: s, Variant: v, Model: model, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// TestRelaxedTail has two tasks dequeue with a relaxed load of the tail: where
// that is no acquire, one of them moves the head past the end, and the other
// finds itself at a node that nobody has prepared.
func TestRelaxedTail(t *testing.T) {
	for _, tail := range []kernel.Order{once, acq} {
		q := michaelScott{nodes: 2, tail: tail, cut: true, data: once}
		for _, model := range memmodel.Names() {
			s, v := programFrom(q.words(), 0, 0, q.tasks(2, 2, 0)...)
			stats, err := Explore(Config{Scenario: s, Variant: v, Model: model})
			if err != nil {
				t.Fatal(err)
			}
			weak := model == "rc11" || model == "kernel"
			if want := weak && tail == once; (stats.Violating > 0) != want {
				t.Errorf("%s, %v: %+v", model, tail, stats)
			}
		}
	}
}

// pointer is a node, and a count above it.
func pointer(node, count int) int { return count<<8 | node }
func nodeOf(pointer int) int      { return pointer & 0xff }
func countOf(pointer int) int     { return pointer >> 8 }

// treiber is a stack of up to so many nodes: its words are the top, what each
// task announces, and of each node the value and the next.
type treiber struct {
	nodes int
	// cut ends a pop whose exchange fails, as it has changed nothing.
	cut bool
	// data is the order of what the nodes carry.
	data kernel.Order
}

func (s treiber) words() int          { return 1 + 3*s.nodes }
func (s treiber) announced(i int) int { return i }
func (s treiber) value(i int) int     { return s.nodes + i }
func (s treiber) next(i int) int      { return 2*s.nodes + i }

func (s treiber) push(node int) body {
	return func(t *kernel.Task, m *machine) {
		m.words[s.announced(node)].Store(t, once, node)
		m.words[s.value(node)].Store(t, s.data, node)
		for {
			top := m.words[0].Load(t, acq)
			m.words[s.next(node)].Store(t, once, top)
			if m.words[0].CompareAndSwap(t, rel, top, pointer(node, countOf(top)+1)) {
				return
			}
		}
	}
}

func (s treiber) pop(t *kernel.Task, m *machine) {
	for {
		top := m.words[0].Load(t, acq)
		node := nodeOf(top)
		if node == 0 {
			return
		}
		next := nodeOf(m.words[s.next(node)].Load(t, once))
		if m.words[0].CompareAndSwap(t, rel, top, pointer(next, countOf(top)+1)) {
			value := m.words[s.value(node)].Load(t, s.data)
			m.words[s.announced(value)].Load(t, once)
			return
		}
		assume(t, !s.cut)
	}
}

// tasks are poppers, pushers, and tasks that push and then pop.
func (s treiber) tasks(pops, pushes, both int) []body {
	tasks := repeat(pops, s.pop)
	for node := 1; node <= pushes; node++ {
		tasks = append(tasks, s.push(node))
	}
	for node := pushes + 1; node <= pushes+both; node++ {
		tasks = append(tasks, seq(s.push(node), s.pop))
	}
	return tasks
}

// michaelScott is a queue of up to so many nodes after the first, which is a
// dummy: its words are head and tail, and of each node the value and the next.
type michaelScott struct {
	nodes int
	// tail is the order in which a dequeue loads the tail; with less than an
	// acquire, a node may be seen before it was prepared.
	tail kernel.Order
	// cut ends a round that has changed nothing.
	cut  bool
	data kernel.Order
}

// unprepared is what the next of a node holds before an enqueue has taken it.
const unprepared = 0xff

func (q michaelScott) value(node int) int { return 2 + node }
func (q michaelScott) next(node int) int  { return 4 + q.nodes + node }

// words returns the initial state: node 1 is the dummy, with nothing after it.
func (q michaelScott) words() []int {
	words := make([]int, 6+2*q.nodes)
	words[0], words[1] = pointer(1, 0), pointer(1, 0)
	for node := range q.nodes + 2 {
		if node != 1 {
			words[q.next(node)] = unprepared
		}
	}
	return words
}

func (q michaelScott) enqueue(node int) body {
	return func(t *kernel.Task, m *machine) {
		m.words[q.value(node)].Store(t, q.data, node)
		next := &m.words[q.next(node)]
		next.Store(t, once, pointer(0, countOf(next.Load(t, once))))
		for {
			tail := m.words[1].Load(t, acq)
			after := &m.words[q.next(nodeOf(tail))]
			next := after.Load(t, acq)
			if m.words[1].Load(t, once) != tail {
				continue
			}
			t.Assert(nodeOf(next) != unprepared, "the node after the last is not prepared")
			if nodeOf(next) == 0 && after.CompareAndSwap(t, rel, next, pointer(node, countOf(next)+1)) {
				m.words[1].CompareAndSwap(t, rel, tail, pointer(node, countOf(tail)+1))
				return
			}
			m.words[1].CompareAndSwap(t, rel, tail, pointer(nodeOf(after.Load(t, acq)), countOf(tail)+1))
		}
	}
}

func (q michaelScott) dequeue(t *kernel.Task, m *machine) {
	for {
		head := m.words[0].Load(t, acq)
		tail := m.words[1].Load(t, q.tail)
		next := m.words[q.next(nodeOf(head))].Load(t, acq)
		if m.words[0].Load(t, once) != head {
			assume(t, !q.cut)
			continue
		}
		t.Assert(nodeOf(next) != unprepared, "the node after the first is not prepared")
		if nodeOf(head) != nodeOf(tail) {
			m.words[q.value(nodeOf(next))].Load(t, q.data)
			assume(t, m.words[0].CompareAndSwap(t, rel, head, pointer(nodeOf(next), countOf(head)+1)))
			return
		}
		if nodeOf(next) == 0 {
			return
		}
		helped := m.words[1].CompareAndSwap(t, rel, tail, pointer(nodeOf(next), countOf(tail)+1))
		assume(t, helped || !q.cut)
	}
}

// tasks are dequeuers, enqueuers, and tasks that enqueue and then dequeue.
func (q michaelScott) tasks(dequeues, enqueues, both int) []body {
	tasks := repeat(dequeues, q.dequeue)
	for node := 2; node < 2+enqueues; node++ {
		tasks = append(tasks, q.enqueue(node))
	}
	for node := 2 + enqueues; node < 2+enqueues+both; node++ {
		tasks = append(tasks, seq(q.enqueue(node), q.dequeue))
	}
	return tasks
}

// bias is what a writer takes from the word of a lock with readers.
const bias = 0x100000

// countedLock takes so much from word 0 and has the lock if all was there that it
// needs; otherwise it gives it back, and has changed nothing.
func countedLock(t *kernel.Task, m *machine, amount int, enough func(left int) bool) {
	if !enough(m.words[0].Add(t, acq, -amount) + amount) {
		m.words[0].Add(t, once, amount)
		assume(t, false)
	}
}

// readThenWrite has a section of each kind, under a lock with readers in word 0.
func readThenWrite(t *kernel.Task, m *machine) {
	countedLock(t, m, 1, func(left int) bool { return left > 0 })
	m.words[1].Load(t, plain)
	m.words[0].Add(t, rel, 1)
	countedLock(t, m, bias, func(left int) bool { return left == bias })
	m.words[1].Store(t, plain, 1)
	m.words[0].Add(t, rel, bias)
}

// exchangeLock waits for word 0 to be zero and exchanges it for one.
func exchangeLock(me int) body {
	return func(t *kernel.Task, m *machine) {
		assume(t, m.words[0].Load(t, once) == 0)
		assume(t, m.words[0].Swap(t, acq, 1) == 0)
		section(t, m, 1, me)
		m.words[0].Store(t, rel, 0)
	}
}

// arrayTicketLock is a ticket lock whose tasks wait far from each other: word 0
// has the tickets, word 2 the one that is served, and those from 3 on are where
// tasks would wait whose turn is more than one away.
func arrayTicketLock(me int) body {
	return func(t *kernel.Task, m *machine) {
		ticket := m.words[0].Add(t, once, 1) - 1
		if m.words[2].Load(t, acq) != ticket {
			assume(t, m.words[2].Load(t, acq) == ticket)
		}
		section(t, m, 1, me)
		m.words[2].Store(t, rel, ticket+1)
		m.words[3+(ticket+2)%3].Add(t, once, 1)
	}
}

// futexLock is a mutex of three states in word 0: free, taken, and taken with
// others waiting. They wait for word 2 to change.
func futexLock(me int) body {
	return func(t *kernel.Task, m *machine) {
		if !m.words[0].CompareAndSwap(t, acq, 0, 1) {
			for m.words[0].Swap(t, acq, 2) != 0 {
				signal := m.words[2].Load(t, acq)
				if m.words[0].Load(t, acq) == 2 {
					assume(t, m.words[2].Load(t, acq) != signal)
				}
			}
		}
		section(t, m, 1, me)
		if m.words[0].Swap(t, rel, 0) == 2 {
			m.words[2].Add(t, rel, 1)
		}
	}
}

// section works on a word that only one task may use.
func section(t *kernel.Task, m *machine, at, me int) {
	m.words[at].Store(t, plain, me)
	t.Assert(m.words[at].Load(t, plain) == me, "somebody else is inside")
}

// commit stores its number and looks whether it stays, until it has stayed
// twice, or for so many rounds. Word 1 holds the two.
func commit(me, rounds int) body {
	return func(t *kernel.Task, m *machine) {
		stayed := 0
		for range rounds {
			if stayed >= m.words[1].Load(t, acq) {
				return
			}
			m.words[0].Store(t, rel, me)
			if m.words[0].Load(t, acq) == me {
				stayed++
			}
		}
	}
}

// handsOver waits for its latch, word me, and if its flag, word 2+me, is up it
// passes both on, for so many rounds.
func handsOver(me, rounds int) body {
	return func(t *kernel.Task, m *machine) {
		for range rounds {
			assume(t, m.words[me].Load(t, once) != 0)
			m.words[me].Store(t, once, 0)
			if m.words[2+me].Load(t, once) != 0 {
				m.words[2+me].Store(t, once, 0)
				m.words[3-me].Store(t, once, 1)
				t.Barrier(kernel.FullBarrier)
				m.words[1-me].Store(t, once, 1)
			}
		}
	}
}

// sequenceReader reads word 1, if word 0 is even and stays so.
func sequenceReader(t *kernel.Task, m *machine) {
	before := m.words[0].Load(t, acq)
	assume(t, before%2 == 0)
	m.words[1].Load(t, acq)
	assume(t, m.words[0].Load(t, once) == before)
}

// sequenceWriter makes word 0 odd, writes, and makes it even.
func sequenceWriter(t *kernel.Task, m *machine) {
	before := m.words[0].Load(t, once)
	assume(t, before%2 == 0)
	assume(t, m.words[0].CompareAndSwap(t, once, before, before+1))
	m.words[1].Store(t, rel, 1)
	m.words[0].Add(t, rel, 1)
}

// queueLock is a lock whose tasks each wait at a word of their own: word 0 is the
// last in the queue, word 1 what the section works on, and the others are, of
// each task, who comes next and whether it may go on.
func queueLock(me, n int) body {
	next := func(i int) int { return 1 + i }
	free := func(i int) int { return 1 + n + i }
	return func(t *kernel.Task, m *machine) {
		m.words[next(me)].Store(t, once, 0)
		m.words[free(me)].Store(t, once, 0)
		if last := m.words[0].Swap(t, kernel.AcquireRelease, me); last != 0 {
			m.words[next(last)].Store(t, rel, me)
			assume(t, m.words[free(me)].Load(t, acq) != 0)
		}
		section(t, m, 1, me)
		after := m.words[next(me)].Load(t, once)
		if after == 0 {
			if m.words[0].CompareAndSwap(t, rel, me, 0) {
				return
			}
			after = m.words[next(me)].Load(t, acq)
			assume(t, after != 0)
		}
		m.words[free(after)].Store(t, rel, 1)
	}
}

// boundedQueue has room for so many elements: word 0 counts the writes that
// have begun, and above them the reads; words 1 and 2 those that have ended.
type boundedQueue struct {
	room int
	cut  bool
}

func (q boundedQueue) write(t *kernel.Task, m *machine) {
	var state int
	for {
		state = m.words[0].Load(t, acq)
		reads, writes := state>>8, state&0xff
		if writes-reads == q.room {
			return
		}
		if m.words[0].CompareAndSwap(t, kernel.AcquireRelease, state, state+1) {
			break
		}
		assume(t, !q.cut)
	}
	assume(t, m.words[1].Load(t, acq) == state>>8)
	m.words[3+state&0xff%q.room].Store(t, plain, 1)
	m.words[2].Add(t, rel, 1)
}

func (q boundedQueue) read(t *kernel.Task, m *machine) bool {
	var state int
	for {
		state = m.words[0].Load(t, acq)
		reads, writes := state>>8, state&0xff
		if writes == reads {
			return false
		}
		if m.words[0].CompareAndSwap(t, kernel.AcquireRelease, state, state+1<<8) {
			break
		}
		assume(t, !q.cut)
	}
	assume(t, m.words[2].Load(t, acq) == state&0xff)
	m.words[3+state>>8%q.room].Load(t, plain)
	m.words[1].Add(t, rel, 1)
	return true
}

// workStealing is a queue whose owner pushes and pops at word 1, the bottom, and
// from which others steal at word 0, the top.
type workStealing struct{ room int }

func (q workStealing) push(t *kernel.Task, m *machine) {
	bottom := m.words[1].Load(t, once)
	if bottom-m.words[0].Load(t, acq) == q.room {
		return
	}
	m.words[2+bottom%q.room].Store(t, once, bottom)
	m.words[1].Store(t, rel, bottom+1)
}

func (q workStealing) pop(t *kernel.Task, m *machine) {
	bottom := m.words[1].Load(t, once) - 1
	m.words[1].Store(t, once, bottom)
	t.Barrier(kernel.FullBarrier)
	top := m.words[0].Load(t, once)
	switch {
	case top > bottom:
		m.words[1].Store(t, once, top)
		return
	case top < bottom:
		m.words[2+bottom%q.room].Load(t, once)
		return
	}
	m.words[2+bottom%q.room].Load(t, once)
	m.words[0].CompareAndSwap(t, rel, top, top+1)
	m.words[1].Store(t, once, top+1)
}

func (q workStealing) steal(t *kernel.Task, m *machine) {
	top := m.words[0].Load(t, once)
	t.Barrier(kernel.FullBarrier)
	bottom := m.words[1].Load(t, acq)
	if top >= bottom {
		return
	}
	m.words[2+top%q.room].Load(t, once)
	m.words[0].CompareAndSwap(t, rel, top, top+1)
}
