package extentmap

import (
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// mapWriters is the question about those who change the tree.
func mapWriters() scenario.Race {
	return scenario.Race{
		Name:  "map-writers",
		Title: "completions, drops and an fsync change one extent map tree",
		Question: "What holds no inode lock keeps out of the others' way by the tree lock alone, and an fsync lets go of that while it logs an extent map. " +
			"Do they leave what they would have left one after the other?",
		Scenarios: []scenario.Scenario{
			changing("completions", "two writes complete, next to each other and to what is there; nobody looks, so all becomes one extent map",
				completing),
			changing("completion-cut", "a write completes whose extent map has lost its beginning",
				completingCut),
			changing("logging", "an extent map is cut that an fsync has on its private list, and a piece of it is released",
				cuttingLogged),
			changing("beside-pinned", "a range is dropped that begins with a write in flight and ends before data that an fsync has to log",
				droppingBesidePinned),
			shortOfMemory(changing("both-sides", "the middle of what an fsync has to log is dropped, by one who cuts both pieces or none",
				cuttingBothSides)),
		},
	}
}

// changing is a scenario with several writers.
func changing(name, about string, e func(setup *kernel.Task) *scenario.Instance) scenario.Scenario {
	return scenario.Scenario{Name: name, About: about, Variants: []scenario.Variant{
		{Name: "alone", Role: scenario.Baseline, Expect: scenario.Indistinguishable,
			About: "does one operation after the other",
			Build: func(setup *kernel.Task) *scenario.Instance { return e(setup).Alone(setup) }},
		{Name: "beside", Role: scenario.Candidate, Expect: scenario.Indistinguishable,
			About: "takes the locks that each operation takes", Build: e},
	}}
}

// shortOfMemory makes a scenario try every way in which allocations may fail.
func shortOfMemory(s scenario.Scenario) scenario.Scenario {
	s.AllocationFailure = true
	return s
}

// completing has two writes complete in either order. An fsync has logged both.
func completing(setup *kernel.Task) *scenario.Instance {
	f := newMappedFile(setup)
	f.committed(setup, blocksAt(0, 1, 64))
	f.inFlight(setup, blocksAt(1, 1, 65), false)
	f.inFlight(setup, blocksAt(2, 1, 66), false)
	return f.instance(f.entries, task("first", f.unpin(1, 1)), task("second", f.unpin(2, 1)))
}

// completingCut has a completion find something else than its own entry.
func completingCut(setup *kernel.Task) *scenario.Instance {
	f := newMappedFile(setup)
	f.inFlight(setup, blocksAt(0, 2, 64), true)
	f.disk.Exempt(0, BlockSize)
	return f.instance(f.entries, task("completion", f.unpin(0, 2)), task("dropper", f.drop(0, 1, false)))
}

// cuttingLogged has an entry cut while an fsync is logging the one before it, or
// that one itself. The pieces are not to be taken away from the next fsync.
func cuttingLogged(setup *kernel.Task) *scenario.Instance {
	f := newMappedFile(setup)
	f.written(setup, blocksAt(0, 1, 64))
	f.written(setup, blocksAt(2, 3, 70))
	f.disk.Exempt(3*BlockSize, 4*BlockSize)
	return f.instance(f.entries, task("fsync", operation("fsync", f.sync)), task("dropper", f.drop(3, 1, false), f.release(2, 1)))
}

// droppingBesidePinned has a relocation forget where the second block was. The
// first one is being written, and none of its business.
func droppingBesidePinned(setup *kernel.Task) *scenario.Instance {
	f := newMappedFile(setup)
	f.inFlight(setup, blocksAt(0, 1, 64), true)
	f.committed(setup, blocksAt(1, 1, 32))
	f.written(setup, blocksAt(2, 1, 80))
	return f.instance(f.entries, task("relocation", f.drop(0, 2, true)), task("fsync", operation("fsync", f.sync)))
}

// cuttingBothSides has a writer drop the middle block, and never use the memory
// for one piece alone. DropRange does, see the race drop-range-one-spare.
func cuttingBothSides(setup *kernel.Task) *scenario.Instance {
	f := newMappedFile(setup)
	f.written(setup, blocksAt(0, 3, 64))
	f.disk.Exempt(BlockSize, 2*BlockSize)
	cut := asWriter(cutBothOrNone)
	return f.instance(f.toLog,
		task("writer", operation("drop the middle", func(t *kernel.Task) string {
			cut(t, &f.maps, BlockSize, 2*BlockSize)
			return "done"
		})),
		task("fsync", operation("fsync", f.fsync)))
}

// sync is fsync for a caller who does not care which way it goes.
func (f *mappedFile) sync(t *kernel.Task) string {
	f.fsync(t)
	return "done"
}
