package fsync

import (
	"fmt"

	"benign/impl/extentmap"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// Races returns the question about an fsync and what goes on beside it.
func Races() []scenario.Race {
	return []scenario.Race{{
		Name:  "fsync",
		Title: "a file is made durable while it is written, written back, and its pages are released",
		Question: "A fast fsync trusts the list of modified extent maps, lets go of the tree lock while it logs one, " +
			"and waits for data but not for completions. After a crash, is everything there that it has vouched for, and nothing else?",
		Scenarios: []scenario.Scenario{
			besides("release", "memory pressure drops the page of a write that has completed, and wants its extent map too",
				releasing),
			besides("two-writes", "one write has completed and another one is going on",
				writing),
			besides("failed-write", "the disk may refuse a direct write, and the completion that drops its extent map comes later",
				refusing),
			besides("mapped", "a page is written through a mapping of the file and written back, while the long way copies its neighbours' items",
				mapped),
			shortOfMemory(besides("no-memory", "a write cuts an extent map that waits for the fsync, where memory for what is left may be short",
				cutting)),
			besides("crowd", "one page is written, another one is released, and an fsync wants both",
				crowding),
		},
	}}
}

// experiment sets a file up, and says who does what with it.
type experiment func(setup *kernel.Task) *scenario.Instance

// besides is a scenario in which an fsync has company.
func besides(name, about string, e experiment) scenario.Scenario {
	return scenario.Scenario{Name: name, About: about, Variants: []scenario.Variant{
		{Name: "alone", Role: scenario.Baseline, Expect: scenario.Indistinguishable,
			About: "lets nothing but completions run beside an operation",
			Build: func(setup *kernel.Task) *scenario.Instance { return e(setup).Alone(setup) }},
		{Name: "beside", Role: scenario.Candidate, Expect: scenario.Indistinguishable,
			About: "keeps others away by the locks of the inode only, and by the tree lock for moments",
			Build: e},
	}}
}

// shortOfMemory makes a scenario try every way in which allocations may fail.
func shortOfMemory(s scenario.Scenario) scenario.Scenario {
	s.AllocationFailure = true
	return s
}

// instance is what every scenario here has in common.
func (f *File) instance(tasks ...scenario.Task) *scenario.Instance {
	return &scenario.Instance{Tasks: tasks, Check: f.Check, Observe: f.AfterCrash, Teardown: f.Free}
}

// blocks is a mapping of blocks of the file to blocks on disk.
func blocks(start, length, disk uint64) extentmap.Mapping {
	const b = extentmap.BlockSize
	return extentmap.Mapping{Start: start * b, Len: length * b, DiskBytenr: disk * b, DiskNumBytes: length * b, RAMBytes: length * b,
		Generation: transaction}
}

// releasing has reclaim want the extent map that an fsync wants.
func releasing(setup *kernel.Task) *scenario.Instance {
	f := NewFile(setup)
	f.Written(setup, blocks(0, 1, 64))
	return f.instance(task("reclaim", f.release(0)), task("fsync", f.fsync()))
}

// writing has one write to log already when another one comes.
func writing(setup *kernel.Task) *scenario.Instance {
	f := NewFile(setup)
	f.Written(setup, blocks(0, 1, 64))
	return f.instance(task("writer", f.write(blocks(1, 1, 65))), task("fsync", f.fsync()))
}

// refusing has a write fail.
func refusing(setup *kernel.Task) *scenario.Instance {
	f := NewFile(setup, blocks(0, 1, 32))
	return f.instance(task("writer", f.directWrite(blocks(0, 1, 64), true)), task("fsync", f.fsync()))
}

// mapped has a page written without the inode lock, in the middle of an item
// that the long way copies.
func mapped(setup *kernel.Task) *scenario.Instance {
	f := NewFile(setup, blocks(0, 2, 32))
	f.Maps.FullSync.Store(setup, kernel.Once, 1)
	return f.instance(task("mapper", f.mmapWrite(blocks(1, 1, 64)), f.writeback()), task("fsync", f.fsync()))
}

// cutting has a write take the second half of what an fsync has to log.
func cutting(setup *kernel.Task) *scenario.Instance {
	f := NewFile(setup)
	f.Written(setup, blocks(0, 2, 64))
	return f.instance(task("writer", f.directWrite(blocks(1, 1, 80), false)), task("fsync", f.fsync()))
}

// crowding has an fsync in the company of a writer and of reclaim.
func crowding(setup *kernel.Task) *scenario.Instance {
	f := NewFile(setup)
	f.Written(setup, blocks(0, 1, 64))
	return f.instance(task("writer", f.write(blocks(1, 1, 65))), task("reclaim", f.release(0)),
		task("fsync", f.fsync()))
}

func task(name string, operations ...scenario.Operation) scenario.Task {
	return scenario.Task{Name: name, Operations: operations}
}

func (f *File) fsync() scenario.Operation {
	return scenario.Operation{Name: "fsync", Run: func(t *kernel.Task) scenario.Result {
		f.Fsync(t)
		return scenario.Result{Value: "done"}
	}}
}

func (f *File) write(m extentmap.Mapping) scenario.Operation {
	return operation("write", m, func(t *kernel.Task) string { f.Write(t, m); return "done" })
}

func (f *File) mmapWrite(m extentmap.Mapping) scenario.Operation {
	return operation("mmap write", m, func(t *kernel.Task) string { f.MmapWrite(t, m); return "done" })
}

func (f *File) directWrite(m extentmap.Mapping, mayFail bool) scenario.Operation {
	return operation("direct write", m, func(t *kernel.Task) string {
		if !f.DirectWrite(t, m, mayFail) {
			return "failed"
		}
		return "done"
	})
}

func (f *File) writeback() scenario.Operation {
	return scenario.Operation{Name: "writeback", Run: func(t *kernel.Task) scenario.Result {
		f.Writeback(t)
		return scenario.Result{Value: "done"}
	}}
}

// release lets go of the extent maps of the nth block. Whether there was one to
// let go of is nobody's concern.
func (f *File) release(n uint64) scenario.Operation {
	m := blocks(n, 1, 0)
	return operation("release", m, func(t *kernel.Task) string { f.Maps.ReleaseFolio(t, m.Start, m.Len, nil); return "done" })
}

func operation(name string, m extentmap.Mapping, run func(*kernel.Task) string) scenario.Operation {
	return scenario.Operation{Name: fmt.Sprintf("%s(%#x,%#x)", name, m.Start, m.End()),
		Run: func(t *kernel.Task) scenario.Result { return scenario.Result{Value: run(t)} }}
}
