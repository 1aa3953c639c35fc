package checkers_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"benign/checkers"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// ring is a queue between one producer and one consumer, without a lock: each
// index has one writer, and a store to it hands slots over to the other side.
type ring struct {
	kernel.Object
	head, tail kernel.Word[int] // how many were taken out, and put in
	slots      [2]kernel.Word[int]
	publish    kernel.Order // of the stores to the indices
}

// The deliberate races: each side reads the index that the other side writes.
var (
	ringHead = kernel.DataRaceSite("ring-head", "an old head only makes the ring look fuller than it is")
	ringTail = kernel.DataRaceSite("ring-tail", "an old tail only makes the ring look emptier than it is")
)

func newRing(setup *kernel.Task, publish kernel.Order) *ring {
	r := &ring{publish: publish}
	r.Init(setup, "ring", r)
	r.head.Init(&r.Object, "head", 0)
	r.tail.Init(&r.Object, "tail", 0)
	for i := range r.slots {
		r.slots[i].Init(&r.Object, fmt.Sprintf("slot %d", i), 0)
	}
	return r
}

// slot is where the n-th value goes.
func (r *ring) slot(n int) *kernel.Word[int] { return &r.slots[n%len(r.slots)] }

// put appends a value unless the ring is full, and reports whether it did.
func (r *ring) put(t *kernel.Task, value int) bool {
	tail := r.tail.Load(t, kernel.Once)
	if tail-r.head.LoadRacy(t, kernel.Acquire, ringHead) == len(r.slots) {
		return false
	}
	r.slot(tail).Store(t, kernel.Once, value)
	r.tail.Store(t, r.publish, tail+1)
	return true
}

// get takes the oldest value out; ok is false if the ring is empty.
func (r *ring) get(t *kernel.Task) (value int, ok bool) {
	head := r.head.Load(t, kernel.Once)
	if head == r.tail.LoadRacy(t, kernel.Acquire, ringTail) {
		return 0, false
	}
	value = r.slot(head).Load(t, kernel.Once)
	r.head.Store(t, r.publish, head+1)
	return value, true
}

// hasty is the ring with a fault: it publishes the slot before it fills it.
type hasty struct{ *ring }

func (r hasty) put(t *kernel.Task, value int) bool {
	tail := r.tail.Load(t, kernel.Once)
	if tail-r.head.LoadRacy(t, kernel.Acquire, ringHead) == len(r.slots) {
		return false
	}
	r.tail.Store(t, r.publish, tail+1)
	r.slot(tail).Store(t, kernel.Once, value)
	return true
}

// locked is the queue that nobody doubts: plain memory under a lock.
type locked struct {
	kernel.Object
	lock   kernel.SpinLock
	memory kernel.Region // of values
	values []int         // under the lock
}

func newLocked(setup *kernel.Task) *locked {
	q := &locked{}
	q.Init(setup, "queue", q)
	q.lock.Init(&q.Object, "lock")
	q.memory.Init(&q.Object, "values")
	return q
}

func (q *locked) put(t *kernel.Task, value int) bool {
	q.lock.Lock(t)
	defer q.lock.Unlock(t)
	q.memory.Read(t)
	if len(q.values) == 2 {
		return false
	}
	q.memory.Write(t)
	q.values = append(q.values, value)
	return true
}

func (q *locked) get(t *kernel.Task) (value int, ok bool) {
	q.lock.Lock(t)
	defer q.lock.Unlock(t)
	q.memory.Read(t)
	if len(q.values) == 0 {
		return 0, false
	}
	q.memory.Write(t)
	value, q.values = q.values[0], q.values[1:]
	return value, true
}

// queue is what the scenario needs of any of them.
type queue interface {
	put(t *kernel.Task, value int) bool
	get(t *kernel.Task) (value int, ok bool)
	Free(t *kernel.Task)
}

// exchange has a producer who puts one more than fits, and a consumer.
func exchange(gets int, build func(setup *kernel.Task) queue) func(*kernel.Task) *scenario.Instance {
	return func(setup *kernel.Task) *scenario.Instance {
		q := build(setup)
		return &scenario.Instance{
			Tasks: []scenario.Task{
				{Name: "producer", Operations: []scenario.Operation{put(q, 1), put(q, 2), put(q, 3)}},
				{Name: "consumer", Operations: slices.Repeat([]scenario.Operation{get(q)}, gets)},
			},
			Observe:  func(t *kernel.Task) string { return fmt.Sprint("left ", drain(t, q)) },
			Teardown: q.Free,
			Spec:     &fifo,
		}
	}
}

// drain takes out what the tasks have left.
func drain(t *kernel.Task, q queue) (left []int) {
	for value, ok := q.get(t); ok; value, ok = q.get(t) {
		left = append(left, value)
	}
	return left
}

// put and get are the operations: what an outcome shows of them, and what the
// specification is told.
func put(q queue, value int) scenario.Operation {
	return scenario.Operation{Name: fmt.Sprintf("put(%d)", value), Run: func(t *kernel.Task) scenario.Result {
		return result(value, fmt.Sprint(q.put(t, value)))
	}}
}

func get(q queue) scenario.Operation {
	return scenario.Operation{Name: "get", Run: func(t *kernel.Task) scenario.Result {
		if value, ok := q.get(t); ok {
			return result(nil, fmt.Sprint(value))
		}
		return result(nil, "empty")
	}}
}

func result(input any, output string) scenario.Result {
	return scenario.Result{Value: output, Effects: []scenario.Effect{{Partition: "queue", Input: input, Output: output}}}
}

// fifo is the sequential queue. Its state is the values in it, one digit each;
// the input of a put is its value, and a get has none.
var fifo = scenario.Spec{
	Name:    "first in, first out",
	Initial: func(string) any { return "" },
	Step: func(state, input, output any) (ok bool, next any) {
		values := state.(string)
		switch {
		case input == nil && values == "":
			return output == "empty", values
		case input == nil:
			return output == values[:1], values[1:]
		case len(values) == 2:
			return output == "false", values
		}
		return output == "true", values + fmt.Sprint(input)
	},
	Equal: func(a, b any) bool { return a == b },
	Describe: func(input, output any) string {
		if input == nil {
			return fmt.Sprintf("get = %v", output)
		}
		return fmt.Sprintf("put(%v) = %v", input, output)
	},
}

// ringScenario is the question: is the ring as good as the locked queue?
func ringScenario(publish kernel.Order, gets int) *scenario.Scenario {
	return &scenario.Scenario{
		Name: "ring", About: "a producer fills the ring while a consumer empties it", Racing: true,
		Variants: []scenario.Variant{
			{Name: "locked", Role: scenario.Baseline, Expect: scenario.Indistinguishable,
				Build: exchange(gets, func(setup *kernel.Task) queue { return newLocked(setup) })},
			{Name: "ring", Role: scenario.Candidate, Expect: scenario.Indistinguishable,
				Build: exchange(gets, func(setup *kernel.Task) queue { return newRing(setup, publish) })},
			{Name: "hasty", Role: scenario.Planted, Expect: scenario.Harmful, About: "publishes a slot before it is filled",
				Build: exchange(gets, func(setup *kernel.Task) queue { return hasty{newRing(setup, publish)} })},
		},
	}
}

// TestRing asks under sc and kernel; the planted fault must be caught.
func TestRing(t *testing.T) {
	checkers.Verify(t, ringScenario(kernel.Release, 1))
}

// TestRingFullAndEmpty shows what release and acquire leave out: the producer
// can find the ring full while the consumer, who took a value, finds it empty.
func TestRingFullAndEmpty(t *testing.T) {
	s := ringScenario(kernel.Release, 2)
	s.Variant(scenario.Candidate).ExpectByModel = map[string]scenario.Class{"kernel": scenario.Harmful}
	checkers.Verify(t, s)
}

// TestRingNatively runs the same source on goroutines, for the race detector.
func TestRingNatively(t *testing.T) {
	const values = 1000
	main := kernel.NewWorld(kernel.Options{}).NewTask("main")
	r := newRing(main, kernel.Release)
	producer := main.Go("producer", func(t *kernel.Task) {
		for n := 1; n <= values; n++ {
			for !r.put(t, n) {
				runtime.Gosched()
			}
		}
	})
	for want := 1; want <= values; want++ {
		got, ok := r.get(main)
		for ; !ok; got, ok = r.get(main) {
			runtime.Gosched()
		}
		if got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	main.Join(producer)
	r.Free(main)
}

// The ring whose indices are marked but not ordered is wrong on a weak machine
// only: sc has nothing to say against it.
func ExampleVerify_ring() {
	checkers.Verify(printer{}, ringScenario(kernel.Once, 1), "sc", "kernel")
	// Output:
	// ring, variant ring, under kernel: HARMFUL, expected INDISTINGUISHABLE: 5 of 11 executions break something: not linearizable
	//   not needed, and left out: producer: put(2); producer: put(3)
	//   producer: once load of ring#1.tail = 0
	//   producer: acquire load of ring#1.head = 0
	//   producer: once store to ring#1.slot 0 = 1
	//   producer: once store to ring#1.tail = 1
	//   consumer: once load of ring#1.head = 0
	//   consumer: acquire load of ring#1.tail = 1
	//   consumer: once load of ring#1.slot 0 = 0 (stale: the newest value was 1)
	//   consumer: once store to ring#1.head = 1
	//   not linearizable: no order of the operations on queue satisfies first in, first out: task 1: put(1) = true; task 2: get = 0
}
