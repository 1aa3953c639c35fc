package practice

import (
	"fmt"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// HeadCountSite is the unlocked read of how many delayed references there are.
var HeadCountSite = kernel.DataRaceSite("head-count", "one more or less is run now, and the commit runs all that are left, when nobody can add any")

func headCount() scenario.Race {
	return scenario.Race{
		Name:  "head-count",
		Title: "delayed references are run by a count that is read without their lock",
		Question: "A task runs as many delayed references as there were when it looked, and looks without the lock. " +
			"The count can be one off: is it enough that the commit runs all that are left?",
		Sites:   []*kernel.RaceSite{HeadCountSite},
		Barrier: "the commit",
		Scenarios: []scenario.Scenario{{
			Name:   "run",
			About:  "one delayed reference is there; a writer adds another one while somebody runs those that there are, and then the transaction commits",
			Racing: true,
			Variants: []scenario.Variant{
				baseline("locked", "counts and runs them in one section", runByCount(headForm{locked: true})),
				candidate("unlocked", scenario.Defers, "counts without the lock, and then runs so many", runByCount(headForm{})),
				planted("commit-by-count", "lets the commit go by the same count", runByCount(headForm{commitByCount: true})),
				planted("count-after", "brings the count up to date after the lock was dropped", runByCount(headForm{countAfter: true})),
			},
		}},
	}
}

// headForm says how the references are counted and run.
type headForm struct{ locked, commitByCount, countAfter bool }

// delayedReferences are what a transaction has put off. The list is under the
// lock, and so is every change of the count.
type delayedReferences struct {
	kernel.Object
	lock   kernel.SpinLock
	memory kernel.Region
	heads  int
	count  kernel.Word[int]

	form      headForm
	wanted    int // how many the runner has still to run, by its count
	left      int // how many the runner has found and left
	committed bool
}

func runByCount(form headForm) builder {
	return func(setup *kernel.Task) *scenario.Instance {
		d := &delayedReferences{heads: 1, form: form}
		d.Init(setup, "delayed references", d)
		d.lock.Init(&d.Object, "lock")
		d.memory.Init(&d.Object, "list")
		d.count.Init(&d.Object, "count", 1)
		return &scenario.Instance{
			Tasks: []scenario.Task{
				task("writer", operation("add", d.add)),
				task("runner", operation("run", d.run)),
			},
			Check: d.check, Debt: func(*kernel.Task) int { return d.left }, Quiesce: d.commit,
			Observe:  func(*kernel.Task) string { return fmt.Sprintf("%d delayed references", d.heads) },
			Teardown: d.Free,
		}
	}
}

func (d *delayedReferences) add(t *kernel.Task) string {
	d.lock.Lock(t)
	d.memory.Write(t)
	d.heads++
	d.count.StoreRacy(t, kernel.Plain, d.count.LoadRacy(t, kernel.Plain, HeadCountSite)+1, HeadCountSite)
	d.lock.Unlock(t)
	return "added"
}

func (d *delayedReferences) run(t *kernel.Task) string {
	if !d.form.locked {
		d.wanted = d.count.LoadRacy(t, kernel.Plain, HeadCountSite)
	}
	d.lock.Lock(t)
	if d.form.locked {
		d.wanted = d.count.Load(t, kernel.Plain)
	}
	d.memory.Write(t)
	found := d.heads
	ran := min(d.wanted, found)
	d.heads -= ran
	d.wanted -= ran
	d.left = d.heads
	if d.form.countAfter {
		d.lock.Unlock(t)
	}
	d.count.StoreRacy(t, kernel.Plain, d.count.LoadRacy(t, kernel.Plain, HeadCountSite)-ran, HeadCountSite)
	if !d.form.countAfter {
		d.lock.Unlock(t)
	}
	return fmt.Sprintf("ran %d of %d", ran, found)
}

// commit runs what is left; nobody adds anything any more.
func (d *delayedReferences) commit(t *kernel.Task) bool {
	d.committed = true
	todo := d.heads
	if d.form.commitByCount {
		todo = min(todo, d.wanted)
	}
	d.heads -= todo
	d.left = max(0, d.left-todo)
	d.count.Store(t, kernel.Plain, d.count.Load(t, kernel.Plain)-todo)
	return todo > 0
}

func (d *delayedReferences) check(t *kernel.Task) error {
	if count := d.count.Load(t, kernel.Plain); count != d.heads {
		return fmt.Errorf("the count is %d, and there are %d", count, d.heads)
	}
	if d.committed && d.heads > 0 {
		return fmt.Errorf("the transaction is committed, and %d delayed references were not run", d.heads)
	}
	return nil
}
