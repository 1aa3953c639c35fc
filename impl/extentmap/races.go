package extentmap

import (
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// Races returns the questions about a single tree.
func Races() []scenario.Race {
	return []scenario.Race{mapReaders(), mapWriters(), oneSpare()}
}

// oneSpare is the question about a lack of memory in the middle of a cut.
func oneSpare() scenario.Race {
	return scenario.Race{
		Name:  "drop-range-one-spare",
		Title: "an extent map is cut in two while there is memory for one piece only",
		Question: "A write lands in the middle of data that the next fsync has to log. " +
			"If memory for what is left of the old extent map is short, does the fsync still learn of all of it?",
		Finding: true,
		Scenarios: []scenario.Scenario{{
			Name:              "fsync",
			About:             "a writer unmaps the middle of a modified extent map, where either allocation may fail, and an fsync runs beside it or follows",
			AllocationFailure: true,
			Variants: []scenario.Variant{
				cutVariant("both-or-none", scenario.Baseline, scenario.Indistinguishable, asWriter(cutBothOrNone),
					"gives up both pieces, and sets the full-sync flag, unless there is memory for both"),
				cutVariant("as-is", scenario.Candidate, scenario.Harmful, asWriter(cutAsIs),
					"keeps the left piece if there is memory for one; the right one is lost, and no fsync is told"),
				cutVariant("announced", scenario.Alternative, scenario.Indistinguishable, asWriter(cutAnnounced),
					"keeps the left piece if there is memory for one, and sets the full-sync flag for the right one"),
				cutVariant("silent", scenario.Planted, scenario.Harmful, asWriter(cutSilently),
					"gives up both pieces and does not set the full-sync flag"),
				cutVariant("no-inode-lock", scenario.Planted, scenario.Harmful, cutBothOrNone,
					"does not hold the inode lock: an fsync has read the full-sync flag by the time it is set"),
			},
		}},
	}
}

// cutter unmaps the bytes [from, to) in the middle of the tree's one entry.
type cutter func(t *kernel.Task, tr *Tree, from, to uint64)

// asWriter cuts with the inode lock held, as a write does.
func asWriter(cut cutter) cutter {
	return func(t *kernel.Task, tr *Tree, from, to uint64) {
		tr.InodeLock.Lock(t)
		cut(t, tr, from, to)
		tr.InodeLock.Unlock(t)
	}
}

// cutAsIs is what the kernel does, as its behaviour was understood.
func cutAsIs(t *kernel.Task, tr *Tree, from, to uint64) { tr.DropRange(t, from, to-1, false) }

// cutBothOrNone never uses a single spare.
func cutBothOrNone(t *kernel.Task, tr *Tree, from, to uint64) {
	tr.cutWith(t, from, to, bothOrNone(t), nil)
}

// cutAnnounced sets the full-sync flag whenever a piece is lost.
func cutAnnounced(t *kernel.Task, tr *Tree, from, to uint64) {
	spare := allocateSpares(t)
	short := len(spare) < 2
	tr.cutWith(t, from, to, spare, func(listed bool) {
		if short && listed {
			tr.FullSync.Store(t, kernel.Once, 1)
		}
	})
}

// cutSilently takes the flag back before anybody can see it.
func cutSilently(t *kernel.Task, tr *Tree, from, to uint64) {
	tr.cutWith(t, from, to, bothOrNone(t), func(bool) { tr.FullSync.Store(t, kernel.Once, 0) })
}

func bothOrNone(t *kernel.Task) spares {
	spare := allocateSpares(t)
	if len(spare) < 2 {
		spare.free(t)
		return nil
	}
	return spare
}

// cutWith cuts the first entry of the range with the given spares. Afterwards,
// still under the lock, it calls then, if there is one, with whether the entry
// was on a list.
func (tr *Tree) cutWith(t *kernel.Task, from, to uint64, spare spares, then func(listed bool)) {
	tr.Lock.Lock(t)
	e := tr.Lookup(t, from, to-from)
	listed := e.Listed()
	tr.cut(t, e, from, to, &spare)
	if then != nil {
		then(listed)
	}
	e.Put(t)
	tr.Lock.Unlock(t)
	spare.free(t)
}

// cutVariant is the scenario with one way to cut.
func cutVariant(name string, role scenario.Role, expect scenario.Class, cut cutter, about string) scenario.Variant {
	return scenario.Variant{Name: name, Role: role, Expect: expect, About: about,
		Build: func(setup *kernel.Task) *scenario.Instance {
			f := newMappedFile(setup)
			f.written(setup, blocksAt(0, 3, 64))
			f.disk.Exempt(BlockSize, 2*BlockSize) // which another write replaces
			return f.instance(f.toLog,
				task("writer", operation("drop the middle", func(t *kernel.Task) string {
					cut(t, &f.maps, BlockSize, 2*BlockSize)
					return "done"
				})),
				task("fsync", operation("fsync", f.fsync)))
		}}
}
