package practice

import (
	"fmt"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// GroupUsedSite is the unlocked read of how much of a block group is used.
var GroupUsedSite = kernel.DataRaceSite("group-used", "an old or torn number makes the cleaner come later or for nothing; before it deletes, it looks again under the lock")

func groupUsed() scenario.Race {
	phantom := alternative("no-recheck", "does not look again: on a 64-bit machine it never sees an empty one here", keepGroup(groupForm{site: GroupUsedSite, noRecheck: true}))
	phantom.ExpectOn32 = scenario.Harmful
	return scenario.Race{
		Name:  "group-used",
		Title: "the cleaner looks for empty block groups without their locks",
		Question: "The bytes used in a block group are read without its lock to decide whether it is worth deleting. " +
			"Can an old or torn number delete one that is in use?",
		Sites:   []*kernel.RaceSite{GroupUsedSite},
		Barrier: "the next run of the cleaner",
		Scenarios: []scenario.Scenario{{
			Name:   "delete",
			About:  "a big extent of a block group is freed and a small one allocated, while the cleaner looks whether it is empty",
			Racing: true, On32: true,
			Variants: []scenario.Variant{
				baseline("locked", "looks under the lock", deleteGroup(groupForm{locked: true})),
				candidate("unlocked", scenario.Indistinguishable, "looks without the lock, and again under it before it deletes", deleteGroup(groupForm{site: GroupUsedSite})),
				planted("no-recheck", "does not look again", deleteGroup(groupForm{site: GroupUsedSite, noRecheck: true})),
				planted("not-annotated", "looks without the lock, and nothing says that this is meant", deleteGroup(groupForm{})),
			},
		}, {
			Name:   "keep",
			About:  "a small extent of a block group is allocated and then a big one freed, so that it is never empty, while the cleaner looks",
			Racing: true, On32: true,
			Variants: []scenario.Variant{
				baseline("locked", "looks under the lock", keepGroup(groupForm{locked: true})),
				candidate("unlocked", scenario.Indistinguishable, "looks without the lock, and again under it before it deletes", keepGroup(groupForm{site: GroupUsedSite})),
				phantom,
			},
		}, {
			Name:   "leave",
			About:  "the only extent of a block group is freed while the cleaner looks whether it is empty: if it looks too early, the next run deletes it",
			Racing: true, On32: true,
			Variants: []scenario.Variant{
				baseline("locked", "looks under the lock", leaveGroup(groupForm{locked: true})),
				candidate("unlocked", scenario.Indistinguishable, "looks without the lock, and again under it before it deletes", leaveGroup(groupForm{site: GroupUsedSite})),
				planted("not-annotated", "looks without the lock, and nothing says that this is meant", leaveGroup(groupForm{})),
			},
		}},
	}
}

// groupForm says how the cleaner looks.
type groupForm struct {
	locked, noRecheck bool
	site              *kernel.RaceSite
}

// blockGroup is space for extents. What it has is under the lock.
type blockGroup struct {
	kernel.Object
	lock    kernel.SpinLock
	memory  kernel.Region
	used    kernel.Word[int64] // bytes
	deleted bool
}

func deleteGroup(form groupForm) builder {
	return func(setup *kernel.Task) *scenario.Instance {
		g := newBlockGroup(setup)
		return g.cleaned(form, task("deleter", operation("free(4 GiB)", g.free)), task("allocator", operation("allocate(4 KiB)", g.allocate)))
	}
}

func keepGroup(form groupForm) builder {
	return func(setup *kernel.Task) *scenario.Instance {
		g := newBlockGroup(setup)
		return g.cleaned(form, task("user", operation("allocate(4 KiB)", g.allocate), operation("free(4 GiB)", g.free)))
	}
}

func leaveGroup(form groupForm) builder {
	return func(setup *kernel.Task) *scenario.Instance {
		g := newBlockGroup(setup)
		return g.cleaned(form, task("deleter", operation("free(4 GiB)", g.free)))
	}
}

func newBlockGroup(setup *kernel.Task) *blockGroup {
	g := &blockGroup{}
	g.Init(setup, "block group", g)
	g.lock.Init(&g.Object, "lock")
	g.memory.Init(&g.Object, "state")
	g.used.Init(&g.Object, "used", atBoundary)
	return g
}

// cleaned has the cleaner look while others use the group.
func (g *blockGroup) cleaned(form groupForm, others ...scenario.Task) *scenario.Instance {
	clean := func(t *kernel.Task) string { return g.clean(t, form) }
	return &scenario.Instance{
		Tasks: append(others, task("cleaner", operation("clean", clean))),
		Check: g.check, Debt: g.debt, Quiesce: func(t *kernel.Task) bool { return clean(t) == "deleted" },
		Observe: g.observe, Teardown: g.Free,
	}
}

func (g *blockGroup) free(t *kernel.Task) string {
	g.lock.Lock(t)
	g.used.StoreRacy(t, kernel.Plain, g.used.Load(t, kernel.Plain)-atBoundary, GroupUsedSite)
	g.lock.Unlock(t)
	return "freed"
}

func (g *blockGroup) allocate(t *kernel.Task) string {
	g.lock.Lock(t)
	defer g.lock.Unlock(t)
	g.memory.Read(t)
	if g.deleted {
		return "no space"
	}
	g.used.StoreRacy(t, kernel.Plain, g.used.Load(t, kernel.Plain)+4096, GroupUsedSite)
	return "allocated"
}

func (g *blockGroup) clean(t *kernel.Task, form groupForm) string {
	if !form.locked && g.used.LoadRacy(t, kernel.Plain, form.site) != 0 {
		return "kept"
	}
	g.lock.Lock(t)
	defer g.lock.Unlock(t)
	if !form.noRecheck && g.used.Load(t, kernel.Plain) != 0 {
		return "kept"
	}
	g.memory.Write(t)
	if g.deleted {
		return "gone"
	}
	g.deleted = true
	return "deleted"
}

func (g *blockGroup) check(t *kernel.Task) error {
	if used := g.used.Load(t, kernel.Plain); g.deleted && used != 0 {
		return fmt.Errorf("the block group is deleted, and %d bytes of it are used", used)
	}
	return nil
}

// debt is an empty block group that nobody has deleted.
func (g *blockGroup) debt(t *kernel.Task) int {
	if !g.deleted && g.used.Load(t, kernel.Plain) == 0 {
		return 1
	}
	return 0
}

func (g *blockGroup) observe(t *kernel.Task) string {
	return fmt.Sprintf("%d bytes used, deleted %v", g.used.Load(t, kernel.Plain), g.deleted)
}
