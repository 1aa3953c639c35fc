package explain

import (
	"encoding/json"
	"fmt"
	"testing"

	"benign/checkers/explore"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

var peek = kernel.DataRaceSite("box-peek", "whoever sees it looks again under the lock")

// box is what the tasks of these scenarios share.
type box struct {
	kernel.Object
	lock, other kernel.SpinLock
	shared      kernel.RWLock
	items       kernel.Word[int]
	size        kernel.Word[int64]
	references  kernel.Refcount
	first       kernel.Pointer[box]
}

// task is a task with one operation.
func task(name string, f func(t *kernel.Task)) scenario.Task {
	return scenario.Task{Name: name, Operations: []scenario.Operation{{Name: name,
		Run: func(t *kernel.Task) scenario.Result { f(t); return scenario.Result{} }}}}
}

// program makes tasks that share a new box.
type program func(setup *kernel.Task, b *box) []scenario.Task

// config explores a program under a model.
func config(p program, model string) explore.Config {
	v := &scenario.Variant{Name: "it", Build: func(setup *kernel.Task) *scenario.Instance {
		b := &box{}
		b.Init(setup, "box", b)
		b.lock.Init(&b.Object, "lock")
		b.other.Init(&b.Object, "other")
		b.shared.Init(&b.Object, "shared")
		b.items.Init(&b.Object, "items", 0)
		b.size.Init(&b.Object, "size", 0)
		b.references.Init(&b.Object, "references", 0)
		b.first.Init(&b.Object, "first", nil)
		return &scenario.Instance{Tasks: p(setup, b)}
	}}
	return explore.Config{Scenario: &scenario.Scenario{Name: "box"}, Variant: v, Model: model, Workers: 1}
}

// collect is Collect for a program with one annotated race.
func collect(t *testing.T, p program, model string) Race {
	t.Helper()
	races, err := Collect(config(p, model))
	if err != nil {
		t.Fatal(err)
	}
	if len(races) != 1 || races[0].Site != peek.Name || races[0].Reason != peek.Reason {
		t.Fatalf("%d races: %+v", len(races), races)
	}
	return races[0]
}

// value returns the value with a text.
func (r *Race) value(t *testing.T, text string) *Value {
	t.Helper()
	for i := range r.Values {
		if r.Values[i].Text == text {
			return &r.Values[i]
		}
	}
	t.Fatalf("no value %s in %s", text, shown(r))
	return nil
}

func shown(x any) string {
	text, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(text)
}

// checks lists the checks of a value's continuations that are out of date.
func (v *Value) checks() []Check {
	var list []Check
	for _, c := range v.Continuations {
		if c.Stale > 0 {
			list = append(list, c.Check)
		}
	}
	return list
}

// taking is a program in which somebody takes the only item under the lock, after
// somebody else has peeked, who then does the rest.
func taking(rest func(t *kernel.Task, b *box)) program {
	return func(setup *kernel.Task, b *box) []scenario.Task {
		b.items.Store(setup, kernel.Plain, 1)
		return []scenario.Task{
			task("peeker", func(t *kernel.Task) {
				if b.items.LoadRacy(t, kernel.Once, peek) > 0 {
					rest(t, b)
				}
			}),
			task("taker", func(t *kernel.Task) {
				b.lock.Lock(t)
				b.items.Store(t, kernel.Once, 0)
				b.lock.Unlock(t)
			}),
		}
	}
}
