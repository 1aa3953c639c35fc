package verdict_test

import (
	"fmt"
	"testing"

	"benign/checkers/verdict"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// The sites of the races below.
var (
	peek    = kernel.DataRaceSite("box-peek", "whoever sees it looks again under the lock")
	glimpse = kernel.DataRaceSite("box-glimpse", "nobody relies on it")
)

// box is what the tasks of these scenarios share.
type box struct {
	kernel.Object
	lock  kernel.SpinLock
	items kernel.Word[int]
	flag  kernel.Word[int]
}

// filling says what runs in an instance with a new box.
type filling func(setup *kernel.Task, b *box, i *scenario.Instance)

// variant builds a box for each execution and lets the function fill in the
// instance.
func variant(name string, role scenario.Role, expect scenario.Class, fill filling) scenario.Variant {
	return scenario.Variant{Name: name, Role: role, Expect: expect, About: name, Build: func(setup *kernel.Task) *scenario.Instance {
		b := &box{}
		b.Init(setup, "box", b)
		b.lock.Init(&b.Object, "lock")
		b.items.Init(&b.Object, "items", 0)
		b.flag.Init(&b.Object, "flag", 0)
		i := &scenario.Instance{Observe: b.state, Teardown: b.Free}
		fill(setup, b, i)
		return i
	}}
}

func (b *box) state(t *kernel.Task) string {
	return fmt.Sprintf("%d items", b.items.Load(t, kernel.Plain))
}

// locked runs f under the lock.
func (b *box) locked(t *kernel.Task, f func() string) string {
	b.lock.Lock(t)
	defer b.lock.Unlock(t)
	return f()
}

// add changes the number of items by a load and a store.
func (b *box) add(t *kernel.Task, n int) {
	b.items.Store(t, kernel.Once, b.items.Load(t, kernel.Once)+n)
}

// run is an operation whose result is only printed.
func run(name string, f func(*kernel.Task) string) scenario.Operation {
	return scenario.Operation{Name: name, Run: func(t *kernel.Task) scenario.Result { return scenario.Result{Value: f(t)} }}
}

func task(name string, operations ...scenario.Operation) scenario.Task {
	return scenario.Task{Name: name, Operations: operations}
}

// ask is a question with one scenario. The sites are those of the question.
func ask(t *testing.T, o verdict.Options, sites []*kernel.RaceSite, variants ...scenario.Variant) (*verdict.Question, *scenario.Race) {
	t.Helper()
	race := &scenario.Race{Name: "box", Title: "the box", Sites: sites, Barrier: "the next round",
		Scenarios: []scenario.Scenario{{Name: "small", Racing: len(sites) > 0, Variants: variants}}}
	q, err := verdict.Ask(race, o)
	if err != nil {
		t.Fatal(err)
	}
	return q, race
}

// answer is the verdict on the candidate under sc.
func answer(t *testing.T, sites []*kernel.RaceSite, variants ...scenario.Variant) *verdict.Verdict {
	t.Helper()
	q, _ := ask(t, verdict.Options{Models: []string{"sc"}}, sites, variants...)
	if len(q.Verdicts) != 1 || q.Class != q.Verdicts[0].Class {
		t.Fatalf("%d answers, class %s", len(q.Verdicts), q.Class)
	}
	return q.Verdicts[0]
}

// takers are two tasks that want the one item of a box. Each looks whether
// there is one and, if so, takes it under the lock; a careful one looks again.
func takers(peeks, careful bool) filling {
	return func(setup *kernel.Task, b *box, i *scenario.Instance) {
		b.items.Store(setup, kernel.Plain, 1)
		take := run("take", func(t *kernel.Task) string {
			if peeks && b.items.LoadRacy(t, kernel.Once, peek) == 0 {
				return "nothing"
			}
			return b.locked(t, func() string {
				if careful && b.items.Load(t, kernel.Once) == 0 {
					return "nothing"
				}
				b.add(t, -1)
				return "an item"
			})
		})
		i.Tasks = []scenario.Task{task("one", take), task("two", take)}
		i.Check = func(t *kernel.Task) error {
			if n := b.items.Load(t, kernel.Plain); n < 0 {
				return fmt.Errorf("%d items", n)
			}
			return nil
		}
	}
}

// worker is a task that clears the box which another fills. A lazy one looks at
// a flag first, and leaves everything to the next round if that is not up.
func worker(lazy bool) filling {
	return func(_ *kernel.Task, b *box, i *scenario.Instance) {
		put := run("put", func(t *kernel.Task) string {
			return b.locked(t, func() string {
				b.add(t, 1)
				b.flag.Store(t, kernel.Once, 1)
				return ""
			})
		})
		work := run("work", func(t *kernel.Task) string {
			skips := lazy && b.flag.LoadRacy(t, kernel.Once, peek) == 0
			return b.locked(t, func() string {
				n := b.items.Load(t, kernel.Once)
				if !skips {
					b.items.Store(t, kernel.Once, 0)
				}
				return fmt.Sprintf("%d there, skips %v", n, skips && n > 0)
			})
		})
		i.Tasks = []scenario.Task{task("filler", put), task("worker", work)}
		i.Debt = func(t *kernel.Task) int { return b.items.Load(t, kernel.Plain) }
		i.Quiesce = func(t *kernel.Task) bool {
			changed := b.items.Load(t, kernel.Plain) > 0
			b.items.Store(t, kernel.Plain, 0)
			return changed
		}
	}
}

// message puts an item into the box and raises the flag, with an order that a
// receiver can rely on or not.
func message(order kernel.Order) filling {
	return func(_ *kernel.Task, b *box, i *scenario.Instance) {
		send := run("send", func(t *kernel.Task) string {
			b.items.Store(t, kernel.Once, 1)
			b.flag.Store(t, order, 1)
			return ""
		})
		receive := run("receive", func(t *kernel.Task) string {
			if b.flag.Load(t, kernel.Acquire) == 1 {
				t.Assert(b.items.Load(t, kernel.Once) == 1, "the flag was up before its time")
			}
			return ""
		})
		i.Tasks = []scenario.Task{task("sender", send), task("receiver", receive)}
	}
}
