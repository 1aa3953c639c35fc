package shrinker

import (
	"slices"

	"benign/impl/evict"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// Races returns the questions about the shrinker.
func Races() []scenario.Race {
	return []scenario.Race{{
		Name:  "rb-empty",
		Title: "the shrinker reads the root of an extent map tree without its lock",
		Patch: "btrfs: skip the extent map tree lock for inodes without extent maps",
		Question: "The walk over all inodes leaves out those whose tree looks empty when read without the tree lock. " +
			"Can a stale answer do harm, or does it only delay?",
		Sites:     []*kernel.RaceSite{EmptyRootSite},
		Barrier:   "the next full scan",
		Scenarios: slices.Concat(mapScenarios(), inodeScenarios(), wideScenarios()),
	}, requests(), inReclaim()}
}

// mapScenarios are about the extent maps of inodes that stay.
func mapScenarios() []scenario.Scenario {
	return []scenario.Scenario{
		racing("insert", "a reader caches the first extent map of an inode: the shrinker may see it too late",
			inserting, plainRead, dataRaceRead, waitForTree),
		racing("remove", "a writer unmaps the last extent map of an inode: the shrinker may see it too long",
			removing, noRecheck, tolerantScan, dataRaceRead),
		racing("replace", "a writer maps a range anew: in between, the tree is empty",
			replacing, noFullSync),
		racing("insert-remove", "a reader caches an extent map and a writer unmaps it",
			insertingAndRemoving, noRecheck),
		racing("two-scans", "one extent map goes and another one comes while the shrinker looks twice, the first time for one map only",
			scanningTwice),
		racing("two-inodes", "one inode loses its last extent map, then the next one gets its first",
			crossing),
		racing("two-roots", "the same with one inode in each of two roots, and a second run that goes on in between",
			crossingRoots),
		racing("two-requests", "two tasks want memory, and one of them caches an extent map",
			requesting),
		racing("unordered", "an inode gets its first extent map before another one gets one; the shrinker finds that one locked, but nothing orders the first for it",
			unordered),
		guarding("idle", "nobody has an extent map and nobody writes: whoever tries a tree lock may find the shrinker holding it, before the patch",
			idling),
		guarding("fsync", "an fsync wants to log the extent map that the shrinker removes",
			syncing, noFullSync, lateFullSync, waitForMmap),
		guarding("writeback", "the write of an extent map completes",
			completing, noPinnedCheck),
	}
}

// inodeScenarios are about inodes that come and go.
func inodeScenarios() []scenario.Scenario {
	return []scenario.Scenario{
		racing("create", "an inode is created and gets its first extent map",
			creating),
		rescheduling(racing("evict", "the last user of an unlinked inode goes, and it is evicted, with a pause wherever there may be one",
			evicting, delayedIput, countOnly, noGrab, keptPointer)),
		racing("unmount", "the filesystem is unmounted: idle inodes are evicted, by the shrinker too if it has one in hand",
			unmounting, countOnly),
	}
}

// wideScenarios repeat the others with more of everything.
func wideScenarios() []scenario.Scenario {
	return []scenario.Scenario{
		racing("crowd", "a reader caches an extent map, a writer unmaps another one, a second reader looks, page reclaim takes what it finds",
			crowding),
		racing("replace-wide", "a writer maps a range anew while a reader looks at it and the shrinker comes twice",
			replacingWide, noRecheck),
		racing("two-inodes-wide", "one inode loses two extent maps and the next one gets two, while the shrinker comes twice",
			crossingWide),
		racing("budgets", "the shrinker comes three times, for one, two and three maps in two inodes",
			rationing),
		racing("fsync-wide", "two fsyncs, a writer and two runs of the shrinker want the same extent map",
			syncingWide, noFullSync, lateFullSync),
		racing("writeback-wide", "the writes of two extent maps complete, and a reader caches what lies between them",
			completingWide, noPinnedCheck),
		shortOfMemory(racing("cut", "a writer cuts a hole into the only extent map, with or without memory for the pieces, and a reader fills it",
			cutting)),
		racing("create-wide", "an inode is created and gets its first extent map, and somebody finds it by its number",
			creatingWide),
		rescheduling(racing("evict-wide", "an unlinked inode has two users, one of whom still caches an extent map; the last one to go evicts it",
			evictingWide, delayedIput, countOnly, noGrab, keptPointer)),
		racing("unmount-wide", "the filesystem is unmounted while a user lets go of an inode",
			unmountingWide),
	}
}

// base tries the lock of every tree.
var base = form{
	name: "base", role: scenario.Baseline, expect: scenario.Indistinguishable,
	about:  "tries the tree lock of every inode and looks for extent maps under it",
	policy: Base,
}

// patched is on trial.
var patched = form{
	name: "patched", role: scenario.Candidate, expect: scenario.Indistinguishable,
	about:  "skips inodes whose root reads nil without the lock, and looks again under the lock",
	policy: Patched,
}

// delayedIput lets the cleaner evict.
var delayedIput = form{
	name: "delayed-iput", role: scenario.Alternative, expect: scenario.Indistinguishable,
	about:  "hands the reference to the cleaner instead of dropping it in the worker",
	policy: Policy{Read: ReadUnlocked, Iput: IputDelayed, Run: RunByWorker},
}

// countOnly grabs inodes without i_lock.
var countOnly = form{
	name: "igrab-by-count", role: scenario.Alternative, expect: scenario.Indistinguishable,
	about:  "grabs an inode by incrementing its count unless it is zero, without looking at its flags",
	policy: Patched,
	grab:   evict.GrabByCount,
}

// experiment sets one execution up and says what runs.
type experiment func(t *kernel.Task, f *fixture) *scenario.Instance

// racing is a scenario in which the unlocked read meets writes.
func racing(name, about string, e experiment, others ...form) scenario.Scenario {
	s := guarding(name, about, e, others...)
	s.Racing = true
	return s
}

// guarding is a scenario in which nobody but the shrinker itself writes the
// root, and in which its other rules are on trial.
func guarding(name, about string, e experiment, others ...form) scenario.Scenario {
	return comparing(name, about, e, append([]form{base, patched}, others...)...)
}

// comparing is a scenario with the given forms.
func comparing(name, about string, e experiment, forms ...form) scenario.Scenario {
	s := scenario.Scenario{Name: name, About: about}
	for _, f := range forms {
		s.Variants = append(s.Variants, f.variant(e))
	}
	return s
}

// rescheduling makes a scenario try every point at which a lock may be dropped
// and retaken.
func rescheduling(s scenario.Scenario) scenario.Scenario {
	s.Reschedule = true
	return s
}

// shortOfMemory makes a scenario try every way in which allocations may fail.
func shortOfMemory(s scenario.Scenario) scenario.Scenario {
	s.AllocationFailure = true
	return s
}

// variant is the form in an experiment.
func (f form) variant(e experiment) scenario.Variant {
	return scenario.Variant{
		Name: f.name, Role: f.role, About: f.about, Expect: f.expect,
		Build: func(setup *kernel.Task) *scenario.Instance { return e(setup, newFixture(setup, f)) },
	}
}
