package practice

import (
	"fmt"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// DropLockSite is the unlocked read of a size that only chooses a lock.
var DropLockSite = kernel.DataRaceSite("drop-lock", "a wrong size only takes a lock that is not needed, or searches once more; what is there is found under the lock")

func dropLock() scenario.Race {
	return scenario.Race{
		Name:  "drop-lock",
		Title: "the size of a file is read without the lock, to guess whether there are extents to drop",
		Question: "Beyond the end of a file there should be nothing to drop, so the tree is searched with its lock shared. " +
			"The size has 64 bits and is read without the lock: what if it is wrong?",
		Sites: []*kernel.RaceSite{DropLockSite},
		Scenarios: []scenario.Scenario{{
			Name:   "drop",
			About:  "a file grows past 4 GiB and its extents are looked at, while those beyond the old end are dropped",
			Racing: true, On32: true,
			Variants: []scenario.Variant{
				baseline("locked", "reads the size under the lock", dropExtents(dropForm{locked: true})),
				candidate("unlocked", scenario.Indistinguishable, "reads the size without the lock, and takes the tree lock exclusively if there is something to drop", dropExtents(dropForm{})),
				planted("drops-shared", "drops what it finds with the lock shared", dropExtents(dropForm{shared: true})),
			},
		}},
	}
}

// dropForm says how the size is read, and what is done if the guess was wrong.
type dropForm struct{ locked, shared bool }

// extentFile is a file with its extents, which have a lock of their own.
type extentFile struct {
	kernel.Object
	lock    kernel.SpinLock
	size    kernel.Word[int64]
	tree    kernel.RWLock
	memory  kernel.Region
	extents int // beyond the old end; under the tree lock
}

func dropExtents(form dropForm) builder {
	return func(setup *kernel.Task) *scenario.Instance {
		f := &extentFile{}
		f.Init(setup, "file", f)
		f.lock.Init(&f.Object, "lock")
		f.size.Init(&f.Object, "size", belowBoundary)
		f.tree.Init(&f.Object, "tree lock")
		f.memory.Init(&f.Object, "tree")
		return &scenario.Instance{
			Tasks: []scenario.Task{
				task("writer", operation("append", f.add), operation("look", f.look)),
				task("dropper", operation("drop", func(t *kernel.Task) string { return f.drop(t, form) })),
			},
			Check: func(*kernel.Task) error {
				if f.extents < 0 || f.extents > 1 {
					return fmt.Errorf("there are %d extents", f.extents)
				}
				return nil
			},
			Observe:  func(*kernel.Task) string { return fmt.Sprintf("%d extents", f.extents) },
			Teardown: f.Free,
		}
	}
}

// add has the extent in the tree before the size says so.
func (f *extentFile) add(t *kernel.Task) string {
	f.tree.Lock(t)
	f.memory.Write(t)
	f.extents++
	f.tree.Unlock(t)
	f.lock.Lock(t)
	f.size.StoreRacy(t, kernel.Plain, atBoundary, DropLockSite)
	f.lock.Unlock(t)
	return "added"
}

func (f *extentFile) look(t *kernel.Task) string {
	f.tree.RLock(t)
	defer f.tree.RUnlock(t)
	f.memory.Read(t)
	return fmt.Sprintf("%d extents", f.extents)
}

// drop removes what lies beyond the old end.
func (f *extentFile) drop(t *kernel.Task, form dropForm) string {
	if form.locked {
		f.lock.Lock(t)
	}
	size := f.size.LoadRacy(t, kernel.Plain, DropLockSite)
	if form.locked {
		f.lock.Unlock(t)
	}
	if size <= belowBoundary {
		f.tree.RLock(t)
		f.memory.Read(t)
		found := f.extents
		if form.shared && found > 0 {
			f.memory.Write(t)
			f.extents = 0
		}
		f.tree.RUnlock(t)
		if form.shared || found == 0 {
			return fmt.Sprintf("dropped %d", found)
		}
	}
	f.tree.Lock(t)
	defer f.tree.Unlock(t)
	f.memory.Write(t)
	found := f.extents
	f.extents = 0
	return fmt.Sprintf("dropped %d", found)
}
