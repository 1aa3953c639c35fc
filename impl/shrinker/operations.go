package shrinker

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"benign/impl/evict"
	"benign/impl/extentmap"
	"benign/impl/kernel"
	"benign/impl/reclaim"
	"benign/impl/scenario"
	mapspec "benign/spec/extentmap"
	spec "benign/spec/shrinker"
)

// The operations that the tasks of a scenario run. Each returns what its caller
// got to see, as text for the outcome and as effects for the specification.

// operation is an operation without arguments for the trace.
func operation(name string, run func(*kernel.Task) scenario.Result) scenario.Operation {
	return scenario.Operation{Name: name, Run: run}
}

// task is one thread of a scenario.
func task(name string, operations ...scenario.Operation) scenario.Task {
	return scenario.Task{Name: name, Operations: operations}
}

// scan is a run of the worker with the given budget.
func (f *fixture) scan(budget int64) scenario.Operation {
	return operation(fmt.Sprintf("scan(%d)", budget), func(t *kernel.Task) scenario.Result {
		report := f.shrinker.Run(t, budget)
		t.Assert(report.Scanned <= budget, "looked at %d extent maps, with a budget of %d", report.Scanned, budget)
		return scenario.Result{Value: describe(report), Effects: lookEffects(report, budget)}
	})
}

// describe renders a report as text.
func describe(r Report) string {
	if len(r.Visits) == 0 {
		return "nothing"
	}
	visits := make([]string, len(r.Visits))
	for i, v := range r.Visits {
		var b strings.Builder
		fmt.Fprintf(&b, "inode %d scanned %d", v.Inode, v.Scanned)
		for _, m := range v.Dropped {
			fmt.Fprintf(&b, " -[%#x,%#x)", m.Start, m.End())
		}
		if v.FullSync {
			b.WriteString(" full-sync")
		}
		visits[i] = b.String()
	}
	return strings.Join(visits, ", ")
}

// request asks for a run of the real worker.
func (f *fixture) request(budget int64) scenario.Operation {
	return operation(fmt.Sprintf("request(%d)", budget), func(t *kernel.Task) scenario.Result {
		return scenario.Result{Value: choose(f.shrinker.Request(t, budget), "accepted", "dropped")}
	})
}

// adopt caches what the on-disk index says about a range, as a reader does.
func adopt(inode *evict.Inode, m extentmap.Mapping) scenario.Operation {
	return operation(fmt.Sprintf("adopt(%#x,%#x)", m.Start, m.End()), func(t *kernel.Task) scenario.Result {
		e := inode.Maps.InsertOrAdopt(t, m, m.Start)
		adopted := e.Stable(t)
		e.Put(t)
		// Whoever else maps the range in a scenario is of the same kind.
		adopted.Generation, adopted.Flags = m.Generation, m.Flags
		in := mapspec.Input{Op: mapspec.OpInsertOrAdopt, Start: m.Start, New: specEntry(m)}
		out := mapspec.Output{Status: mapspec.Done, Entry: specEntry(adopted), InTree: true}
		return scenario.Result{Value: span(adopted), Effects: []scenario.Effect{mapEffect(t, inode, in, out)}}
	})
}

// lookup finds the first mapping of a range.
func lookup(inode *evict.Inode, start, length uint64) scenario.Operation {
	return operation(fmt.Sprintf("lookup(%#x,%#x)", start, start+length), func(t *kernel.Task) scenario.Result {
		inode.Maps.Lock.RLock(t)
		e := inode.Maps.Lookup(t, start, length)
		found, out := "nothing", mapspec.Output{Status: mapspec.NotFound}
		if e != nil {
			found = span(e.Mapping)
			out = mapspec.Output{Status: mapspec.Done, Entry: specEntry(e.Mapping), InTree: true}
		}
		inode.Maps.Lock.RUnlock(t)
		if e != nil {
			e.Put(t)
		}
		in := mapspec.Input{Op: mapspec.OpLookup, Start: start, Len: length}
		return scenario.Result{Value: found, Effects: []scenario.Effect{mapEffect(t, inode, in, out)}}
	})
}

// drop unmaps the bytes [start, end).
func drop(inode *evict.Inode, start, end uint64) scenario.Operation {
	return operation(fmt.Sprintf("drop(%#x,%#x)", start, end), func(t *kernel.Task) scenario.Result {
		inode.Maps.DropRange(t, start, end-1, false)
		return scenario.Result{Value: "done", Effects: []scenario.Effect{
			mapEffect(t, inode, dropInput(start, end), mapspec.Output{Status: mapspec.Done})}}
	})
}

// replace maps a range anew, in two critical sections, because it is written.
// A writer holds the inode lock.
func (f *fixture) replace(inode *evict.Inode, m extentmap.Mapping) scenario.Operation {
	return operation(fmt.Sprintf("replace(%#x,%#x)", m.Start, m.End()), func(t *kernel.Task) scenario.Result {
		inode.Maps.InodeLock.Lock(t)
		inode.Maps.ReplaceRange(t, m, true)
		f.write(m)
		inode.Maps.InodeLock.Unlock(t)
		done := mapspec.Output{Status: mapspec.Done}
		return scenario.Result{Value: "done", Effects: []scenario.Effect{
			mapEffect(t, inode, dropInput(m.Start, m.End()), done),
			mapEffect(t, inode, mapspec.Input{Op: mapspec.OpInsert, New: specEntry(m), Modified: true}, done),
		}}
	})
}

// cut unmaps the bytes [start, end) out of the middle of a mapping, which takes
// memory for two pieces: without, more than that goes. What the caller does not
// see, the specification leaves open.
func cut(inode *evict.Inode, start, end uint64) scenario.Operation {
	return operation(fmt.Sprintf("cut(%#x,%#x)", start, end), func(t *kernel.Task) scenario.Result {
		inode.Maps.DropRange(t, start, end-1, false)
		may := make(step, 3)
		for spares := range may {
			may[spares] = spec.Input{Op: spec.Map, Map: dropInput(start, end)}
			may[spares].Map.Spares = spares
		}
		out := spec.Output{Map: mapspec.Output{Status: mapspec.Done}}
		return scenario.Result{Value: "done", Effects: []scenario.Effect{effect(inode.Number(t), []step{may}, []spec.Output{out})}}
	})
}

// release lets go of a mapping because a page of the file cache goes.
func release(inode *evict.Inode, m extentmap.Mapping) scenario.Operation {
	return operation(fmt.Sprintf("release(%#x,%#x)", m.Start, m.End()), func(t *kernel.Task) scenario.Result {
		removed := inode.Maps.ReleaseFolio(t, m.Start, m.Len, nil)
		in := mapspec.Input{Op: mapspec.OpReleaseFolio, Start: m.Start, Len: m.Len}
		out := mapspec.Output{Status: mapspec.Done, Removed: removed}
		return scenario.Result{Value: fmt.Sprint(removed), Effects: []scenario.Effect{mapEffect(t, inode, in, out)}}
	})
}

// tryTree tries the tree lock, shared, and tells whether it was in use.
func tryTree(inode *evict.Inode) scenario.Operation {
	return operation("trylock", func(t *kernel.Task) scenario.Result {
		free := inode.Maps.Lock.TryRLock(t)
		if free {
			inode.Maps.Lock.RUnlock(t)
		}
		return scenario.Result{Value: choose(free, "free", "busy")}
	})
}

// unpin ends the write of a mapping.
func unpin(inode *evict.Inode, m extentmap.Mapping) scenario.Operation {
	return operation(fmt.Sprintf("unpin(%#x,%#x)", m.Start, m.End()), func(t *kernel.Task) scenario.Result {
		err := inode.Maps.Unpin(t, m.Start, m.Len, transaction)
		in := mapspec.Input{Op: mapspec.OpUnpin, Start: m.Start, Len: m.Len, Generation: transaction}
		return scenario.Result{Value: fmt.Sprint(err), Effects: []scenario.Effect{
			mapEffect(t, inode, in, mapspec.Output{Status: statusOf(err)})}}
	})
}

func statusOf(err error) mapspec.Status {
	switch {
	case errors.Is(err, extentmap.ErrNotFound):
		return mapspec.NotFound
	case errors.Is(err, extentmap.ErrCorrupt):
		return mapspec.Corrupt
	}
	return mapspec.Done
}

// fsync makes the file durable. When it returns, everything that was written
// must be in the log, or have become durable in the long way.
func (f *fixture) fsync(inode *evict.Inode) scenario.Operation {
	return operation("fsync", func(t *kernel.Task) scenario.Result {
		tree := &inode.Maps
		tree.InodeLock.Lock(t)
		tree.MmapLock.Lock(t)
		logged, full := tree.FastSyncLocked(t, transaction)
		f.synced(t, logged, full)
		tree.MmapLock.Unlock(t)
		tree.InodeLock.Unlock(t)
		value := "full"
		if !full {
			value = fmt.Sprintf("fast %v", spans(logged))
		}
		return scenario.Result{Value: value, Effects: []scenario.Effect{fsyncEffect(t, inode, len(logged), full)}}
	})
}

// create makes an inode that stays open and caches one mapping in it.
func (f *fixture) create(number uint64, m extentmap.Mapping) scenario.Operation {
	return operation(fmt.Sprintf("create(%d)", number), func(t *kernel.Task) scenario.Result {
		inode := evict.Create(t, f.root, number)
		f.open = append(f.open, inode)
		insert(t, inode, m, false)
		in := mapspec.Input{Op: mapspec.OpInsert, New: specEntry(m)}
		out := mapspec.Output{Status: mapspec.Done}
		return scenario.Result{Value: "done", Effects: []scenario.Effect{mapEffect(t, inode, in, out)}}
	})
}

// find looks a range up in the inode with the number, if there is one that is
// not going away.
func (f *fixture) find(number, start, length uint64) scenario.Operation {
	return operation(fmt.Sprintf("find(%d)", number), func(t *kernel.Task) scenario.Result {
		f.root.Inodes.Lock(t)
		inode := f.root.Inodes.Load(t, number)
		got := inode != nil && inode.Grab(t)
		f.root.Inodes.Unlock(t)
		if !got {
			return scenario.Result{Value: "no inode"}
		}
		result := lookup(inode, start, length).Run(t)
		inode.Put(t)
		return result
	})
}

// put drops the reference of a user of the inode.
func put(inode *evict.Inode) scenario.Operation {
	return operation("iput", func(t *kernel.Task) scenario.Result {
		inode.Put(t)
		return scenario.Result{Value: "done"}
	})
}

// allocateInTransaction changes something on disk, and needs memory for it.
func (f *fixture) allocateInTransaction() scenario.Operation {
	return operation("allocate in a transaction", func(t *kernel.Task) scenario.Result {
		h, err := f.mount.Transactions.Join(t)
		t.Assert(err == nil, "join: %v", err)
		reclaim.New(f.shrinker).Allocate(t, f.form.allocate)
		h.End(t)
		return scenario.Result{Value: "done"}
	})
}

// sync makes everything durable that was done before.
func (f *fixture) sync() scenario.Operation {
	return operation("sync", func(t *kernel.Task) scenario.Result {
		err := f.mount.Transactions.Sync(t)
		return scenario.Result{Value: fmt.Sprint(err)}
	})
}

// unmount begins to unmount the filesystem.
func (f *fixture) unmount() scenario.Operation {
	return operation("unmount", func(t *kernel.Task) scenario.Result {
		f.mount.Deactivate(t)
		f.shrinker.Close(t)
		return scenario.Result{Value: "done"}
	})
}

func choose(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

func span(m extentmap.Mapping) string {
	return "[0x" + strconv.FormatUint(m.Start, 16) + ",0x" + strconv.FormatUint(m.End(), 16) + ")"
}

func spans(mappings []extentmap.Mapping) []string {
	texts := make([]string, len(mappings))
	for i, m := range mappings {
		texts[i] = span(m)
	}
	return texts
}
