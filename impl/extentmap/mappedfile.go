package extentmap

import (
	"fmt"

	"benign/impl/kernel"
	"benign/impl/scenario"
	"benign/spec/file"
)

// fileTransaction is the running transaction of every mappedFile.
const fileTransaction = 7

// mappedFile is a file with extent maps in its tree, for a scenario.
type mappedFile struct {
	kernel.Object
	maps  Tree
	fs    *Filesystem
	index []Mapping // what the on-disk index says; nobody changes it
	disk  Disk      // the fsync's task only
}

func newMappedFile(t *kernel.Task) *mappedFile {
	f := &mappedFile{fs: NewFilesystem(t, fileTransaction)}
	f.Object.Init(t, "file", f)
	f.maps.Init(t, &f.Object, f.fs, true)
	return f
}

// blocksAt is a mapping of blocks of the file to blocks on disk, that an older
// transaction has made.
func blocksAt(start, length, disk uint64) Mapping {
	return Mapping{
		Start: start * BlockSize, Len: length * BlockSize,
		DiskBytenr: disk * BlockSize, DiskNumBytes: length * BlockSize, RAMBytes: length * BlockSize,
		Generation: fileTransaction - 1,
	}
}

// committed caches a mapping that is in the index. It runs before the tasks, as
// do the next two.
func (f *mappedFile) committed(t *kernel.Task, m Mapping) {
	f.cache(t, m, false)
	f.index = append(f.index, m)
	f.disk.Commit(m)
}

// written caches a mapping whose write has completed and that waits for an fsync.
func (f *mappedFile) written(t *kernel.Task, m Mapping) {
	m.Generation = fileTransaction
	f.cache(t, m, true)
	f.disk.Write(m)
	f.disk.Store(m)
}

// inFlight caches a mapping whose data is on disk and whose write has not
// completed. It is not modified if an fsync has logged it meanwhile.
func (f *mappedFile) inFlight(t *kernel.Task, m Mapping, modified bool) {
	m.Generation, m.Flags = InFlight, m.Flags|Pinned
	f.cache(t, m, modified)
	f.disk.Write(m)
	f.disk.Store(m)
	if !modified {
		f.disk.Log(m)
	}
}

func (f *mappedFile) cache(t *kernel.Task, m Mapping, modified bool) {
	e := New(t, m)
	f.maps.Lock.Lock(t)
	err := f.maps.Insert(t, e, modified)
	f.maps.Lock.Unlock(t)
	t.Assert(err == nil, "set-up: %v", err)
	e.Put(t)
}

// instance is what scenarios with such a file have in common.
func (f *mappedFile) instance(observe func(*kernel.Task) string, tasks ...scenario.Task) *scenario.Instance {
	return &scenario.Instance{Tasks: tasks, Check: f.check, Observe: observe, Teardown: f.teardown, Spec: f.spec()}
}

// operation is an operation without effects that anybody else could see.
func operation(name string, run func(t *kernel.Task) string) scenario.Operation {
	return scenario.Operation{Name: name, Run: func(t *kernel.Task) scenario.Result { return scenario.Result{Value: run(t)} }}
}

func task(name string, operations ...scenario.Operation) scenario.Task {
	return scenario.Task{Name: name, Operations: operations}
}

// fsync makes the file durable, and everything that was written must be so when
// it returns.
func (f *mappedFile) fsync(t *kernel.Task) string {
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
		return "full"
	}
	return fmt.Sprintf("fast, %d logged", len(logged))
}

// check judges the tree, the counter, and whether the next fsync makes durable
// what is not yet.
func (f *mappedFile) check(t *kernel.Task) error {
	if err := f.maps.CheckAtRest(t); err != nil {
		return err
	}
	entries := len(f.maps.Snapshot(t))
	if evictable := f.fs.Evictable.Load(t, kernel.Once); evictable != int64(entries) {
		return fmt.Errorf("%d extent maps are evictable, but there are %d", evictable, entries)
	}
	if f.maps.FullSync.Load(t, kernel.Once) != 0 {
		return f.disk.Check()
	}
	return f.disk.CheckNext(nil, f.maps.Modified(t))
}

// toLog tells what the next fsync will do. Which maps are cached is nobody's
// concern: they can be read again.
func (f *mappedFile) toLog(t *kernel.Task) string {
	return fmt.Sprintf("full-sync %d, modified %v", f.maps.FullSync.Load(t, kernel.Once), f.maps.Modified(t))
}

// places tells where every block comes from, by way of the cache where there is
// something.
func (f *mappedFile) places(t *kernel.Task) string {
	items := f.index
	for _, m := range f.maps.Snapshot(t) {
		items = Overlay(items, m)
	}
	text := ""
	for _, m := range items {
		for at := m.Start; at < m.End(); at += BlockSize {
			text += fmt.Sprintf("%#x:%v ", at, m.PlaceOf(at))
		}
	}
	return text
}

// entries tells how many entries there are, and for what.
func (f *mappedFile) entries(t *kernel.Task) string {
	text := ""
	for _, m := range f.maps.Snapshot(t) {
		text += fmt.Sprintf("[%#x,%#x) ", m.Start, m.End())
	}
	return text
}

// spec says that a block has one place at a time. It begins where the set-up has
// put it.
func (f *mappedFile) spec() *scenario.Spec {
	initial := f.index
	for _, m := range f.disk.writes {
		initial = Overlay(initial, m)
	}
	return &scenario.Spec{
		Name: "each block is in one place at a time",
		Initial: func(partition string) any {
			for _, m := range initial {
				for at := m.Start; at < m.End(); at += BlockSize {
					if blockName(at) == partition {
						return file.Place(m.PlaceOf(at))
					}
				}
			}
			return file.Place(Place{Extent: Hole})
		},
		Step: func(state, in, out any) (bool, any) {
			return file.Step(state.(file.Place), in.(file.Input), out.(file.Place))
		},
		Equal: func(a, b any) bool { return a == b },
		Describe: func(in, out any) string {
			verb := "read"
			if in.(file.Input).Write {
				verb = "write"
			}
			return fmt.Sprintf("%s = %v", verb, Place(out.(file.Place)))
		},
	}
}

func blockName(at uint64) string { return fmt.Sprintf("block %#x", at) }

// reads are the effects of reads of blocks, and what they returned as text.
func reads(at []uint64, places []Place) scenario.Result {
	r := scenario.Result{Value: fmt.Sprint(places)}
	for n, place := range places {
		r.Effects = append(r.Effects, scenario.Effect{Partition: blockName(at[n]), Output: file.Place(place), Input: file.Input{}})
	}
	return r
}

// writes are the effects of a write.
func writes(m Mapping) scenario.Result {
	r := scenario.Result{Value: "done"}
	for at := m.Start; at < m.End(); at += BlockSize {
		place := file.Place(m.PlaceOf(at))
		r.Effects = append(r.Effects, scenario.Effect{Partition: blockName(at), Input: file.Input{Write: true, To: place}, Output: place})
	}
	return r
}

func (f *mappedFile) teardown(t *kernel.Task) {
	f.maps.DropAll(t)
	f.Object.Free(t)
	f.fs.Free(t)
}
