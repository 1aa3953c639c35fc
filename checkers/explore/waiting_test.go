package explore_test

import (
	"fmt"
	"slices"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/memmodel"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// bench has one of every object that waits, an event in a word, and what is
// freed after a grace period.
type bench struct {
	kernel.Object
	event     kernel.Word[int]
	data      kernel.Region
	queue     kernel.WaitQueue
	other     kernel.WaitQueue
	completed kernel.Completion
	condition kernel.Condition
	mutex     kernel.Mutex
	once      kernel.OnceOnly
	rcu       kernel.RCU
	current   kernel.Pointer[thing]
}

func newBench(t *kernel.Task) *bench {
	b := &bench{}
	b.Init(t, "bench", b)
	b.event.Init(&b.Object, "event", 0)
	b.data.Init(&b.Object, "data")
	b.queue.Init(&b.Object, "queue")
	b.other.Init(&b.Object, "other")
	b.completed.Init(&b.Object, "completed")
	b.condition.Init(&b.Object, "condition")
	b.mutex.Init(&b.Object, "mutex")
	b.once.Init(&b.Object, "once")
	b.rcu.Init(&b.Object, "rcu")
	b.current.Init(&b.Object, "current", newThing(t, 1))
	return b
}

type benchStep func(t *kernel.Task, b *bench)

// benchScene is a scenario whose tasks A, B, … run one step each.
func benchScene(steps []benchStep) *scenario.Scenario {
	build := func(setup *kernel.Task) *scenario.Instance {
		b := newBench(setup)
		i := &scenario.Instance{Teardown: func(t *kernel.Task) {
			if x := b.current.Load(t, kernel.Once); x != nil {
				x.Free(t)
			}
			b.Free(t)
		}}
		for n, run := range steps {
			op := scenario.Operation{Name: "run", Run: func(t *kernel.Task) scenario.Result { run(t, b); return scenario.Result{} }}
			i.Tasks = append(i.Tasks, scenario.Task{Name: string(rune('A' + n)), Operations: []scenario.Operation{op}})
		}
		return i
	}
	return &scenario.Scenario{Name: "bench", Variants: []scenario.Variant{{Name: "only", Role: scenario.Candidate, Build: build}}}
}

// verdictOf explores and says what is broken, if anything, in how many of the
// executions.
func verdictOf(t *testing.T, steps []benchStep, model string) (kinds []kernel.ViolationKind, broken, all int) {
	t.Helper()
	for _, e := range exhausted(t, benchScene(steps), model) {
		all++
		if e.Violation == nil {
			continue
		}
		broken++
		if !slices.Contains(kinds, e.Violation.Kind) {
			kinds = append(kinds, e.Violation.Kind)
		}
		again, _, err := explore.Replay(configure(benchScene(steps), model), parsed(t, e))
		if err != nil || again.Violation == nil || again.Violation.Kind != e.Violation.Kind ||
			e.Violation.Kind != kernel.DataRace && again.Violation.Error() != e.Violation.Error() { // a race has two sides
			t.Errorf("%v: replayed it is %v, %v", e.Violation, again, err)
		}
	}
	return kinds, broken, all
}

func happened(t *kernel.Task, b *bench) func() bool {
	return func() bool { return b.event.Load(t, kernel.Acquire) == 1 }
}

func happen(t *kernel.Task, b *bench) { b.event.Store(t, kernel.Release, 1) }

// TestObjectsThatWait: each mistake is found, under every model, and its twin
// without the mistake is clean.
func TestObjectsThatWait(t *testing.T) {
	waitForEvent := func(t *kernel.Task, b *bench) { b.queue.Wait(t, happened(t, b)); b.data.Read(t) }
	announce := func(t *kernel.Task, b *bench) { b.data.Write(t); happen(t, b); b.queue.WakeAll(t) }
	complete := func(t *kernel.Task, b *bench) { b.data.Write(t); b.completed.Complete(t) }
	await := func(t *kernel.Task, b *bench) { b.completed.Wait(t); b.data.Read(t) }
	underMutex := func(s benchStep) benchStep {
		return func(t *kernel.Task, b *bench) { b.mutex.Lock(t); s(t, b); b.mutex.Unlock(t) }
	}
	read := func(t *kernel.Task, b *bench) {
		b.rcu.ReadLock(t)
		if x := b.current.Load(t, kernel.Acquire); x != nil {
			x.value.Load(t, kernel.Once)
		}
		b.rcu.ReadUnlock(t)
	}
	remove := func(grace func(t *kernel.Task, b *bench, x *thing)) benchStep {
		return func(t *kernel.Task, b *bench) {
			x := b.current.Load(t, kernel.Once)
			b.current.Store(t, kernel.Release, nil)
			grace(t, b, x)
		}
	}
	for _, c := range []struct {
		name  string
		steps []benchStep
		kind  kernel.ViolationKind // 0 if it is clean
	}{
		{"wait queue", []benchStep{waitForEvent, announce}, 0},
		{"wait queue of two", []benchStep{waitForEvent, waitForEvent, func(t *kernel.Task, b *bench) { happen(t, b); b.queue.WakeAll(t) }}, 0},
		{"wait queue: looks before it prepares", []benchStep{func(t *kernel.Task, b *bench) {
			w := &kernel.Waiter{}
			w.Init(t)
			if !happened(t, b)() {
				b.queue.Prepare(t, w)
				w.Sleep(t)
				b.queue.Finish(t, w)
			}
			w.Free(t)
		}, announce}, kernel.LostWakeup},
		{"wait queue: wakes before it says why", []benchStep{waitForEvent, func(t *kernel.Task, b *bench) { b.queue.WakeAll(t); happen(t, b) }}, kernel.LostWakeup},
		{"wait queue: wakes one of two", []benchStep{waitForEvent, waitForEvent, func(t *kernel.Task, b *bench) { happen(t, b); b.queue.WakeOne(t) }}, kernel.LostWakeup},
		{"wait queue: frees a waiter in the queue", []benchStep{func(t *kernel.Task, b *bench) {
			w := &kernel.Waiter{}
			w.Init(t)
			b.queue.Prepare(t, w)
			w.Free(t)
		}, func(t *kernel.Task, b *bench) { b.queue.WakeAll(t) }}, kernel.UseAfterFree},

		{"wait queue: the waker sleeps in it", []benchStep{func(t *kernel.Task, b *bench) {
			t.Owe(&b.queue)
			waitForEvent(t, b)
			t.Settle(&b.queue)
		}}, kernel.Deadlock},
		{"wait queue: the waker joins who sleeps", []benchStep{func(t *kernel.Task, b *bench) {
			t.Owe(&b.queue)
			t.Join(t.Go("sleeper", func(t *kernel.Task) { waitForEvent(t, b) }))
			announce(t, b)
			t.Settle(&b.queue)
		}}, kernel.Deadlock},
		{"wait queue: the waker sleeps in another one", []benchStep{waitForEvent, func(t *kernel.Task, b *bench) {
			t.Owe(&b.queue)
			await(t, b)
			announce(t, b)
			t.Settle(&b.queue)
		}}, kernel.LostWakeup},
		{"wait queue: the waker has settled", []benchStep{waitForEvent, func(t *kernel.Task, b *bench) {
			t.Owe(&b.queue)
			announce(t, b)
			t.Settle(&b.queue)
		}}, 0},
		{"wait queue: the waker ends", []benchStep{func(t *kernel.Task, b *bench) { t.Owe(&b.queue) }}, kernel.HeldAtExit},
		{"wait queue: a stranger settles", []benchStep{func(t *kernel.Task, b *bench) { t.Settle(&b.queue) }}, kernel.UnlockByStranger},

		{"completion", []benchStep{await, complete}, 0},
		{"completion: the task that completes sleeps in it", []benchStep{func(t *kernel.Task, b *bench) {
			t.Owe(&b.completed)
			await(t, b)
			t.Settle(&b.completed)
		}}, kernel.Deadlock},
		{"completion of all", []benchStep{await, await, func(t *kernel.Task, b *bench) { b.data.Write(t); b.completed.CompleteAll(t) }}, 0},
		{"completion: one for two", []benchStep{await, await, complete}, kernel.LostWakeup},
		{"completion: data after it", []benchStep{await, func(t *kernel.Task, b *bench) { b.completed.Complete(t); b.data.Write(t) }}, kernel.DataRace},
		{"completion: waits under the lock of who completes", []benchStep{underMutex(await), underMutex(complete)}, kernel.Deadlock},
		{"completion: waits beside the lock of who completes", []benchStep{await, underMutex(complete)}, 0},
		{"completion: does not look", []benchStep{func(t *kernel.Task, b *bench) { b.completed.TryWait(t); b.data.Read(t) }, complete}, kernel.DataRace},

		{"condition", []benchStep{underMutex(func(t *kernel.Task, b *bench) {
			for b.event.Load(t, kernel.Once) == 0 {
				b.condition.Wait(t, &b.mutex)
			}
			b.data.Read(t)
		}), underMutex(func(t *kernel.Task, b *bench) {
			b.data.Write(t)
			b.event.Store(t, kernel.Once, 1)
			b.condition.Signal(t)
		})}, 0},
		{"condition: not told under the mutex", []benchStep{underMutex(func(t *kernel.Task, b *bench) {
			for b.event.Load(t, kernel.Once) == 0 {
				b.condition.Wait(t, &b.mutex)
			}
		}), func(t *kernel.Task, b *bench) {
			b.event.Store(t, kernel.Once, 1)
			b.condition.Signal(t)
		}}, kernel.LostWakeup},
		{"condition: waits without looking", []benchStep{underMutex(func(t *kernel.Task, b *bench) { b.condition.Wait(t, &b.mutex) }),
			underMutex(func(t *kernel.Task, b *bench) { b.condition.Broadcast(t) })}, kernel.LostWakeup},

		{"once", slices.Repeat([]benchStep{func(t *kernel.Task, b *bench) {
			b.once.Do(t, func(t *kernel.Task) { b.data.Write(t) })
			b.data.Read(t)
		}}, 3), 0},
		{"once: calls itself", []benchStep{func(t *kernel.Task, b *bench) {
			b.once.Do(t, func(t *kernel.Task) { b.once.Do(t, func(*kernel.Task) {}) })
		}}, kernel.LostWakeup},
		{"once: on its own", slices.Repeat([]benchStep{func(t *kernel.Task, b *bench) {
			if b.event.Load(t, kernel.Acquire) == 0 {
				b.data.Write(t)
				happen(t, b)
			}
			b.data.Read(t)
		}}, 2), kernel.DataRace},

		{"rcu", []benchStep{read, read, remove(func(t *kernel.Task, b *bench, x *thing) { b.rcu.Synchronize(t); x.Free(t) })}, 0},
		{"rcu: frees at once", []benchStep{read, remove(func(t *kernel.Task, b *bench, x *thing) { x.Free(t) })}, kernel.UseAfterFree},
		{"rcu: frees after a call", []benchStep{read, read, remove(func(t *kernel.Task, b *bench, x *thing) { b.rcu.Free(t, &x.Object) })}, 0},
		{"rcu: does not wait for the callback", []benchStep{remove(func(t *kernel.Task, b *bench, x *thing) {
			b.rcu.Call(t, "callback", func(t *kernel.Task) { b.data.Write(t) })
			b.data.Read(t)
			x.Free(t)
		})}, kernel.DataRace},
		{"rcu: takes it away after the grace period", []benchStep{read, func(t *kernel.Task, b *bench) {
			x := b.current.Load(t, kernel.Once)
			b.rcu.Synchronize(t)
			b.current.Store(t, kernel.Release, nil)
			x.Free(t)
		}}, kernel.UseAfterFree},
		{"rcu: keeps it after the section", []benchStep{func(t *kernel.Task, b *bench) {
			b.rcu.ReadLock(t)
			x := b.current.Load(t, kernel.Acquire)
			b.rcu.ReadUnlock(t)
			if x != nil {
				x.value.Load(t, kernel.Once)
			}
		}, remove(func(t *kernel.Task, b *bench, x *thing) { b.rcu.Synchronize(t); x.Free(t) })}, kernel.UseAfterFree},
		{"rcu: sections are nested", []benchStep{func(t *kernel.Task, b *bench) {
			b.rcu.ReadLock(t)
			x := b.current.Load(t, kernel.Acquire)
			read(t, b)
			if x != nil {
				x.value.Load(t, kernel.Once)
			}
			b.rcu.ReadUnlock(t)
		}, remove(func(t *kernel.Task, b *bench, x *thing) { b.rcu.Synchronize(t); x.Free(t) })}, 0},
		{"rcu: waits in a section", []benchStep{func(t *kernel.Task, b *bench) {
			b.rcu.ReadLock(t)
			b.rcu.Synchronize(t)
			b.rcu.ReadUnlock(t)
		}}, kernel.Deadlock},
		{"rcu: sleeps in a section", []benchStep{func(t *kernel.Task, b *bench) {
			b.rcu.ReadLock(t)
			b.completed.Wait(t)
			b.rcu.ReadUnlock(t)
		}}, kernel.SleepWhileSpinning},
		{"rcu: ends in a section", []benchStep{func(t *kernel.Task, b *bench) { b.rcu.ReadLock(t) }}, kernel.HeldAtExit},
		{"rcu: a reader waits for who waits for it", []benchStep{func(t *kernel.Task, b *bench) {
			b.rcu.ReadLock(t)
			b.event.Await(t, kernel.Acquire, isOne)
			b.rcu.ReadUnlock(t)
		}, func(t *kernel.Task, b *bench) { b.rcu.Synchronize(t); happen(t, b) }}, kernel.Deadlock},
		{"rcu: a reader waits for another reader", []benchStep{func(t *kernel.Task, b *bench) {
			b.rcu.ReadLock(t)
			b.event.Await(t, kernel.Acquire, isOne)
			b.rcu.ReadUnlock(t)
		}, func(t *kernel.Task, b *bench) { read(t, b); happen(t, b) }, func(t *kernel.Task, b *bench) { b.rcu.Synchronize(t) }}, 0},
	} {
		for _, model := range memmodel.Names() {
			t.Run(fmt.Sprintf("%s under %s", c.name, model), func(t *testing.T) {
				kinds, broken, all := verdictOf(t, c.steps, model)
				if want := (c.kind != 0); want != slices.Contains(kinds, c.kind) || len(kinds) > 0 && !want {
					t.Errorf("%v in %d of %d executions, want %v", kinds, broken, all, c.kind)
				}
			})
		}
	}
}

// TestStandstillSaysWhoWaitsForWhom names the queue that each task sleeps in and
// the task that has to wake it.
func TestStandstillSaysWhoWaitsForWhom(t *testing.T) {
	steps := []benchStep{
		func(t *kernel.Task, b *bench) {
			t.Owe(&b.queue)
			b.other.Wait(t, happened(t, b))
			t.Settle(&b.queue)
		},
		func(t *kernel.Task, b *bench) {
			t.Owe(&b.other)
			b.queue.Wait(t, happened(t, b))
			t.Settle(&b.other)
		},
	}
	const want = "A sleeps in bench#1.other until B wakes it; B sleeps in bench#1.queue until A wakes it"
	told := 0
	for _, e := range exhausted(t, benchScene(steps), "sc") {
		if v := e.Violation; v == nil || v.Kind != kernel.Deadlock {
			t.Errorf("got %v, want a deadlock", v)
		} else if v.Message == want {
			told++
		}
	}
	if told == 0 {
		t.Errorf("no execution says: %s", want)
	}
}
