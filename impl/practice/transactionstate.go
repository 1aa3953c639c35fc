package practice

import (
	"errors"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// TransactionStateSite is the unlocked read of the state that a task waits for.
var TransactionStateSite = kernel.DataRaceSite("transaction-state", "who sees an old state is in the queue by then, and is woken after the state has changed")

func transactionState() scenario.Race {
	bare := alternative("bare-read", "reads the state with READ_ONCE only", awaitCommit(stateForm{load: kernel.Once, store: kernel.Once}))
	bare.ExpectByModel = map[string]scenario.Class{"rc11": scenario.Harmful, "kernel": scenario.Harmful}
	return scenario.Race{
		Name:  "transaction-state",
		Title: "a task waits for the state of a transaction and looks at it without the lock",
		Question: "The state changes under a lock, and who waits for it looks without. " +
			"Is an old state only latency, or does somebody sleep for ever?",
		Sites: []*kernel.RaceSite{TransactionStateSite},
		Scenarios: []scenario.Scenario{{
			Name:   "commit",
			About:  "a transaction is committed while a task waits for that, and then uses what was written",
			Racing: true,
			Variants: []scenario.Variant{
				baseline("locked", "looks under the lock", awaitCommit(stateForm{locked: true, load: kernel.Once, store: kernel.Once})),
				candidate("acquire", scenario.Indistinguishable, "looks with an acquire load, and the state is stored with release", awaitCommit(stateForm{load: kernel.Acquire, store: kernel.Release})),
				bare,
				planted("no-wake-up", "changes the state and wakes nobody", awaitCommit(stateForm{load: kernel.Acquire, store: kernel.Release, wake: never})),
				planted("wakes-first", "wakes those who wait before the state has changed", awaitCommit(stateForm{load: kernel.Acquire, store: kernel.Release, wake: before})),
				planted("looks-once", "looks, enters the queue, and does not look again before it sleeps", awaitCommit(stateForm{load: kernel.Acquire, store: kernel.Release, looksOnce: true})),
			},
		}, {
			Name:   "abort",
			About:  "a transaction is aborted and then cleaned up while a task waits for its end",
			Racing: true,
			Variants: []scenario.Variant{
				baseline("locked", "looks under the lock, and the abort wakes those who wait", awaitAbort(stateForm{locked: true, load: kernel.Once, store: kernel.Once}, true)),
				candidate("late-wake-up", scenario.Indistinguishable, "the abort wakes nobody: only the clean-up does", awaitAbort(stateForm{load: kernel.Acquire, store: kernel.Release, wake: never}, true)),
				planted("no-wake-up", "the clean-up wakes nobody either", awaitAbort(stateForm{load: kernel.Acquire, store: kernel.Release, wake: never}, false)),
			},
		}},
	}
}

// stateForm says how the state is kept, waited for, and announced.
type stateForm struct {
	locked, looksOnce bool
	load, store       kernel.Order
	wake              wakeUp
}

// wakeUp is when those who wait are woken: after the state has changed, unless
// something else is said.
type wakeUp int

const (
	after wakeUp = iota
	before
	never
)

// States of a transaction.
const (
	running = iota
	committed
	aborted
)

// endingTransaction comes to its end while somebody waits for that.
type endingTransaction struct {
	kernel.Object
	lock    kernel.SpinLock
	state   kernel.Word[int] // changes under the lock
	waiting kernel.WaitQueue
	written kernel.Word[int] // 1 if what was to be written is
	form    stateForm
}

func newEndingTransaction(setup *kernel.Task, form stateForm) *endingTransaction {
	x := &endingTransaction{form: form}
	x.Init(setup, "transaction", x)
	x.lock.Init(&x.Object, "lock")
	x.state.Init(&x.Object, "state", running)
	x.waiting.Init(&x.Object, "waiting")
	x.written.Init(&x.Object, "written", 0)
	return x
}

func awaitCommit(form stateForm) builder {
	return func(setup *kernel.Task) *scenario.Instance {
		x := newEndingTransaction(setup, form)
		return x.instance(
			task("committer", operation("commit", func(t *kernel.Task) string {
				x.written.Store(t, kernel.Once, 1)
				x.enter(t, committed)
				return "committed"
			})),
			task("waiter", operation("wait", func(t *kernel.Task) string {
				x.wait(t)
				t.Assert(x.written.Load(t, kernel.Once) == 1, "the transaction is committed, and what it has written is not there")
				return "done"
			})))
	}
}

func awaitAbort(form stateForm, cleanUpWakes bool) builder {
	return func(setup *kernel.Task) *scenario.Instance {
		x := newEndingTransaction(setup, form)
		return x.instance(
			task("aborter",
				operation("abort", func(t *kernel.Task) string { x.enter(t, aborted); return "aborted" }),
				operation("clean up", func(t *kernel.Task) string {
					if cleanUpWakes {
						x.waiting.WakeAll(t)
					}
					return "cleaned up"
				})),
			task("waiter", operation("wait", func(t *kernel.Task) string { x.wait(t); return "done" })))
	}
}

func (x *endingTransaction) instance(tasks ...scenario.Task) *scenario.Instance {
	return &scenario.Instance{
		Tasks: tasks,
		Check: func(t *kernel.Task) error {
			if x.state.Load(t, kernel.Once) == running {
				return errors.New("the transaction has not ended")
			}
			return nil
		},
		Teardown: x.Free,
	}
}

// enter changes the state and announces it.
func (x *endingTransaction) enter(t *kernel.Task, state int) {
	if x.form.wake == before {
		x.waiting.WakeAll(t)
	}
	x.lock.Lock(t)
	x.state.StoreRacy(t, x.form.store, state, TransactionStateSite)
	x.lock.Unlock(t)
	if x.form.wake == after {
		x.waiting.WakeAll(t)
	}
}

// wait returns when the transaction has ended.
func (x *endingTransaction) wait(t *kernel.Task) {
	if !x.form.looksOnce {
		x.waiting.Wait(t, func() bool { return x.ended(t) })
		return
	}
	if x.ended(t) {
		return
	}
	w := &kernel.Waiter{}
	w.Init(t)
	x.waiting.Prepare(t, w)
	w.Sleep(t)
	w.Free(t)
}

func (x *endingTransaction) ended(t *kernel.Task) bool {
	if x.form.locked {
		x.lock.Lock(t)
		defer x.lock.Unlock(t)
	}
	return x.state.LoadRacy(t, x.form.load, TransactionStateSite) != running
}
