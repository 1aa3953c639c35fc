package practice

import (
	"fmt"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// LastTransactionSite is the unlocked read of the transaction that a root was
// last recorded in.
var LastTransactionSite = kernel.DataRaceSite("last-transaction", "it is this transaction's number only if somebody has stored it, after the root was recorded; anything else takes the mutex and looks again")

func lastTransaction() scenario.Race {
	unordered := alternative("no-barrier", "has no barrier between the number and what it stands for", recordRoot(recordForm{noBarrier: true}))
	unordered.ExpectByModel = map[string]scenario.Class{"rc11": scenario.Harmful, "kernel": scenario.Harmful}
	straggling := alternative("straggler", "a task of the transaction before stores its number late", recordNext(recordForm{}, false))
	straggling.ExpectOn32 = scenario.Harmful
	return scenario.Race{
		Name:  "last-transaction",
		Title: "whether a root is recorded in this transaction is read without the mutex",
		Question: "The number of the transaction that a root was last recorded in has 64 bits. " +
			"A 32-bit machine reads it in halves: can it look like the number of this transaction too early?",
		Sites: []*kernel.RaceSite{LastTransactionSite},
		Scenarios: []scenario.Scenario{{
			Name:   "record",
			About:  "two tasks change a root for the first time in the transaction whose number is the first with more than 32 bits",
			Racing: true, On32: true,
			Variants: []scenario.Variant{
				baseline("locked", "takes the mutex first", recordRoot(recordForm{locked: true})),
				candidate("unlocked", scenario.Indistinguishable, "takes the mutex only if the number is another one, and looks again", recordRoot(recordForm{})),
				unordered,
				planted("early", "stores the number before the root is recorded", recordRoot(recordForm{early: true})),
				planted("no-recheck", "does not look again under the mutex", recordRoot(recordForm{noRecheck: true})),
			},
		}, {
			Name:  "next",
			About: "a root was recorded in an earlier transaction, and is changed in one whose number has the low half of the old number and the high half of the newer one",
			On32:  true,
			Variants: []scenario.Variant{
				baseline("locked", "takes the mutex first", recordNext(recordForm{locked: true}, true)),
				candidate("unlocked", scenario.Indistinguishable, "takes the mutex only if the number is another one; a transaction begins when the one before has ended", recordNext(recordForm{}, true)),
				straggling,
			},
		}},
	}
}

// recordForm says how a root is recorded.
type recordForm struct{ locked, noBarrier, early, noRecheck bool }

// recordedRoot is the root of a tree, which has to be recorded in a transaction
// before it is changed there, once.
type recordedRoot struct {
	kernel.Object
	mutex    kernel.Mutex
	current  int64 // number of the transaction that is running
	memory   kernel.Region
	last     kernel.Word[int64] // transaction
	recorded kernel.Word[int]   // 1 if it is, in this one
	times    int                // it was recorded; under the mutex
	ended    kernel.Completion  // of the transaction before
}

// recordRoot has two tasks record the root in the same transaction. Its number
// differs from the one before in both halves.
func recordRoot(form recordForm) builder {
	return func(setup *kernel.Task) *scenario.Instance {
		r := newRecordedRoot(setup, 1<<32-1, 1<<32)
		change := r.change(form)
		return r.instance(task("one", change), task("two", change))
	}
}

// recordNext has one task record the root, after or while a task of an earlier
// transaction stores the number of that.
func recordNext(form recordForm, ordered bool) builder {
	return func(setup *kernel.Task) *scenario.Instance {
		const oldest, earlier, current int64 = 5, 1 << 32, 1<<32 + 5
		r := newRecordedRoot(setup, oldest, current)
		begin := operation("begin", func(t *kernel.Task) string {
			if ordered {
				r.ended.Wait(t)
			}
			return "begun"
		})
		end := operation("store and end", func(t *kernel.Task) string {
			r.mutex.Lock(t)
			if r.last.Load(t, kernel.Once) < earlier {
				r.last.StoreRacy(t, kernel.Once, earlier, LastTransactionSite)
			}
			r.mutex.Unlock(t)
			r.ended.Complete(t)
			return "ended"
		})
		return r.instance(task("earlier", end), task("now", begin, r.change(form)))
	}
}

func newRecordedRoot(setup *kernel.Task, last, current int64) *recordedRoot {
	r := &recordedRoot{current: current}
	r.Init(setup, "root", r)
	r.mutex.Init(&r.Object, "mutex")
	r.memory.Init(&r.Object, "record")
	r.last.Init(&r.Object, "last transaction", last)
	r.recorded.Init(&r.Object, "recorded", 0)
	r.ended.Init(&r.Object, "ended")
	return r
}

func (r *recordedRoot) instance(tasks ...scenario.Task) *scenario.Instance {
	return &scenario.Instance{
		Tasks: tasks,
		Check: func(*kernel.Task) error {
			if r.times != 1 {
				return fmt.Errorf("the root was recorded %d times", r.times)
			}
			return nil
		},
		Observe:  func(t *kernel.Task) string { return fmt.Sprintf("transaction %d", r.last.Load(t, kernel.Once)) },
		Teardown: r.Free,
	}
}

// change needs the root recorded.
func (r *recordedRoot) change(form recordForm) scenario.Operation {
	return operation("change", func(t *kernel.Task) string {
		r.record(t, form)
		t.Assert(r.recorded.Load(t, kernel.Once) == 1, "the root is changed before it is recorded")
		return "changed"
	})
}

// record makes sure that the root is recorded in this transaction.
func (r *recordedRoot) record(t *kernel.Task, form recordForm) {
	if !form.locked && r.last.LoadRacy(t, kernel.Once, LastTransactionSite) == r.current {
		if !form.noBarrier {
			t.Barrier(kernel.ReadBarrier)
		}
		return
	}
	r.mutex.Lock(t)
	defer r.mutex.Unlock(t)
	if !form.noRecheck && r.last.Load(t, kernel.Once) == r.current {
		return
	}
	if form.early {
		r.last.StoreRacy(t, kernel.Once, r.current, LastTransactionSite)
	}
	r.memory.Write(t)
	r.times++
	r.recorded.Store(t, kernel.Once, 1)
	if !form.noBarrier {
		t.Barrier(kernel.WriteBarrier)
	}
	r.last.StoreRacy(t, kernel.Once, r.current, LastTransactionSite)
}
