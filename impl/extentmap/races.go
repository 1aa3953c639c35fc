package extentmap

import (
	"fmt"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// Races returns the questions about a single tree.
func Races() []scenario.Race {
	return []scenario.Race{{
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
	}}
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

// writtenFile is a file whose three blocks are mapped by one entry that waits
// for an fsync.
type writtenFile struct {
	kernel.Object
	maps Tree
	fs   *Filesystem
	disk Disk // the fsync's task only
}

const fileTransaction = 7

func newWrittenFile(t *kernel.Task) *writtenFile {
	f := &writtenFile{fs: NewFilesystem(t, fileTransaction)}
	f.Object.Init(t, "file", f)
	f.maps.Init(t, &f.Object, f.fs, true)
	e := New(t, Mapping{
		Len: 3 * BlockSize, DiskBytenr: 64 * BlockSize, DiskNumBytes: 3 * BlockSize, RAMBytes: 3 * BlockSize,
		Generation: fileTransaction,
	})
	f.maps.Lock.Lock(t)
	err := f.maps.Insert(t, e, true)
	f.maps.Lock.Unlock(t)
	t.Assert(err == nil, "set-up: %v", err)
	f.disk.Write(e.Mapping)
	f.disk.Store(e.Mapping)
	f.disk.Exempt(BlockSize, 2*BlockSize) // which another write replaces
	e.Put(t)
	return f
}

// cutVariant is the scenario with one way to cut.
func cutVariant(name string, role scenario.Role, expect scenario.Class, cut cutter, about string) scenario.Variant {
	return scenario.Variant{Name: name, Role: role, Expect: expect, About: about,
		Build: func(setup *kernel.Task) *scenario.Instance {
			f := newWrittenFile(setup)
			return &scenario.Instance{
				Tasks: []scenario.Task{
					{Name: "writer", Operations: []scenario.Operation{{Name: "drop the middle", Run: f.dropMiddle(cut)}}},
					{Name: "fsync", Operations: []scenario.Operation{{Name: "fsync", Run: f.fsync}}},
				},
				Check: f.check, Observe: f.observe, Teardown: f.teardown,
			}
		}}
}

func (f *writtenFile) dropMiddle(cut cutter) func(*kernel.Task) scenario.Result {
	return func(t *kernel.Task) scenario.Result {
		cut(t, &f.maps, BlockSize, 2*BlockSize)
		return scenario.Result{Value: "done"}
	}
}

func (f *writtenFile) fsync(t *kernel.Task) scenario.Result {
	logged, full := f.maps.FastSync(t, fileTransaction)
	for _, m := range logged {
		f.disk.Log(m)
	}
	if full {
		f.disk.LogWrites()
	}
	err := f.disk.Vouch(f.disk.Writes())
	t.Assert(err == nil, "fsync has returned: %v", err)
	if full {
		return scenario.Result{Value: "full"}
	}
	return scenario.Result{Value: fmt.Sprintf("fast, %d logged", len(logged))}
}

// check judges the tree, the counter, and whether the next fsync makes the outer
// blocks durable, if they are not yet.
func (f *writtenFile) check(t *kernel.Task) error {
	if err := f.maps.CheckInvariants(t); err != nil {
		return err
	}
	entries := len(f.maps.Snapshot(t))
	if evictable := f.fs.Evictable.Load(t, kernel.Once); evictable != int64(entries) {
		return fmt.Errorf("%d extent maps are evictable, but there are %d", evictable, entries)
	}
	if f.maps.FullSync.Load(t, kernel.Once) != 0 {
		return f.disk.Check()
	}
	return f.disk.CheckNext(f.maps.Modified(t))
}

// observe tells what the next fsync will do. Which maps are cached is nobody's
// concern: they can be read again.
func (f *writtenFile) observe(t *kernel.Task) string {
	return fmt.Sprintf("full-sync %d, modified %v", f.maps.FullSync.Load(t, kernel.Once), f.maps.Modified(t))
}

func (f *writtenFile) teardown(t *kernel.Task) {
	f.maps.DropAll(t)
	f.Object.Free(t)
	f.fs.Free(t)
}
