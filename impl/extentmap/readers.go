package extentmap

import (
	"fmt"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// mapReaders is the question about what readers rely on.
func mapReaders() scenario.Race {
	return scenario.Race{
		Name:  "map-readers",
		Title: "an extent map is read without the tree lock, by who holds a reference",
		Question: "A reader takes a reference under the tree lock, and looks at the range only after it has let go of the lock. " +
			"For the next read it uses the same entry again if that still seems to be in the tree. " +
			"Entries are merged, cut and removed meanwhile; does it read what it would have read under the lock?",
		Sites: []*kernel.RaceSite{CachedSite},
		Scenarios: []scenario.Scenario{
			reading("fsync-merges", "an fsync has logged the entry, and merges it with the one before",
				false, besideFsync),
			reading("completion-merges", "a write completes, and its entry takes in the one that is read",
				false, besideCompletion),
			reading("gap", "a compressed extent is cached, after a write of its middle has been: only what fits is",
				false, besideEncodedWrite),
			reading("ahead", "memory pressure takes the entry that says how far to read ahead",
				false, aheadOfRelease),
			withoutReference(reading("cached", "memory pressure takes the entry that is used twice",
				true, besideRelease)),
		},
	}
}

// look reads a block, in one way or another.
type look func(t *kernel.Task, f *mappedFile, r *Reader, at uint64) Place

// byReference is what a [Reader] does.
func byReference(t *kernel.Task, _ *mappedFile, r *Reader, at uint64) Place { return r.Read(t, at) }

// underLock keeps the tree lock for as long as it looks at the entry.
func underLock(t *kernel.Task, f *mappedFile, r *Reader, at uint64) Place {
	f.maps.Lock.Lock(t)
	e := f.maps.Lookup(t, at, 1)
	if e == nil {
		fresh := New(t, r.Index(at))
		if e = f.maps.insertOrAdopt(t, fresh, at); e != fresh {
			fresh.Put(t)
		}
	}
	place := e.PlaceOf(at)
	e.Put(t)
	f.maps.Lock.Unlock(t)
	return place
}

// looking is an experiment in which somebody looks.
type looking func(setup *kernel.Task, look look) *scenario.Instance

// reading is a scenario with a reader.
func reading(name, about string, racing bool, e looking) scenario.Scenario {
	variant := func(name string, role scenario.Role, l look, about string) scenario.Variant {
		return scenario.Variant{Name: name, Role: role, About: about, Expect: scenario.Indistinguishable,
			Build: func(setup *kernel.Task) *scenario.Instance { return e(setup, l) }}
	}
	return scenario.Scenario{Name: name, About: about, Racing: racing, Variants: []scenario.Variant{
		variant("under-lock", scenario.Baseline, underLock, "looks the entry up for each read, and reads it under the tree lock"),
		variant("by-reference", scenario.Candidate, byReference, "keeps a reference, and reads without the lock"),
	}}
}

// noReference reads an entry that it does not hold any more.
func noReference(t *kernel.Task, f *mappedFile, r *Reader, at uint64) Place {
	h := r.lookup(t, at)
	if h.entry == nil {
		return r.Read(t, at)
	}
	h.entry.Put(t)
	return h.mapping(t).PlaceOf(at)
}

// withoutReference plants a reader that lets go too early.
func withoutReference(s scenario.Scenario) scenario.Scenario {
	s.Variants = append(s.Variants, scenario.Variant{
		Name: "no-reference", Role: scenario.Planted, Expect: scenario.Harmful,
		About: "drops the reference before it looks at the range",
		Build: func(setup *kernel.Task) *scenario.Instance { return besideRelease(setup, noReference) },
	})
	return s
}

// besideFsync reads a block that is being logged; the one before it is not.
func besideFsync(setup *kernel.Task, look look) *scenario.Instance {
	f := newMappedFile(setup)
	f.committed(setup, blocksAt(0, 1, 64))
	f.written(setup, blocksAt(1, 1, 65))
	return f.instance(f.places, task("reader", f.read(look, 1)), task("fsync", operation("fsync", f.fsync)))
}

// besideCompletion reads a block whose neighbour's write completes.
func besideCompletion(setup *kernel.Task, look look) *scenario.Instance {
	f := newMappedFile(setup)
	f.committed(setup, blocksAt(0, 1, 64))
	f.inFlight(setup, blocksAt(1, 1, 65), false)
	return f.instance(f.places, task("reader", f.read(look, 0)), task("completion", f.unpin(1, 1)))
}

// besideEncodedWrite reads the end of a compressed extent, which is not cached.
// Its middle is being overwritten.
func besideEncodedWrite(setup *kernel.Task, look look) *scenario.Instance {
	f := newMappedFile(setup)
	f.index = []Mapping{compressed(blocksAt(0, 4, 64))}
	f.disk.Exempt(BlockSize, 2*BlockSize) // nobody waits for the write
	return f.instance(f.places,
		task("reader", f.read(look, 3, 2)),
		task("writer", f.write(compressed(blocksAt(1, 1, 80)))))
}

// compressed is a mapping of an extent that takes one block on disk.
func compressed(m Mapping) Mapping {
	m.DiskNumBytes, m.Flags = BlockSize, Zlib
	return m
}

// aheadOfRelease asks how far to read ahead. That is a guess which nothing can
// make wrong; so it reads as well, and has only that to show.
func aheadOfRelease(setup *kernel.Task, look look) *scenario.Instance {
	f := newMappedFile(setup)
	f.committed(setup, compressed(blocksAt(0, 4, 64)))
	ahead := operation("read ahead", func(t *kernel.Task) string {
		r := f.reader()
		bytes := r.Ahead(t, BlockSize)
		t.Assert(bytes == 0 || bytes == 3*BlockSize, "%#x bytes follow", bytes)
		return "done"
	})
	return f.instance(f.places, task("reader", ahead, f.read(look, 1)), task("reclaim", f.release(0, 4)))
}

// besideRelease reads two blocks of one entry.
func besideRelease(setup *kernel.Task, look look) *scenario.Instance {
	f := newMappedFile(setup)
	f.committed(setup, blocksAt(0, 2, 64))
	return f.instance(f.places, task("reader", f.read(look, 0, 1)), task("reclaim", f.release(0, 2)))
}

// reader returns a reader of the file.
func (f *mappedFile) reader() *Reader {
	return &Reader{Tree: &f.maps, Index: func(offset uint64) Mapping {
		for _, m := range f.index {
			if m.Contains(offset) {
				return m
			}
		}
		panic(fmt.Sprintf("the index has nothing at %#x", offset))
	}}
}

// read reads blocks in one go, as one that has their range locked.
func (f *mappedFile) read(look look, numbers ...uint64) scenario.Operation {
	return scenario.Operation{Name: fmt.Sprintf("read%d", numbers), Run: func(t *kernel.Task) scenario.Result {
		r := f.reader()
		var at []uint64
		var places []Place
		for _, n := range numbers {
			at = append(at, n*BlockSize)
			places = append(places, look(t, f, r, n*BlockSize))
		}
		r.Close(t)
		return reads(at, places)
	}}
}

// write maps blocks anew, as one that has their range locked.
func (f *mappedFile) write(m Mapping) scenario.Operation {
	m.Generation, m.Flags = InFlight, m.Flags|Pinned
	return scenario.Operation{Name: fmt.Sprintf("write(%#x,%#x)", m.Start, m.End()), Run: func(t *kernel.Task) scenario.Result {
		f.maps.ReplaceRange(t, m, true)
		return writes(m)
	}}
}

// unpin ends the write of blocks, whose entry may not be what it was.
func (f *mappedFile) unpin(start, length uint64) scenario.Operation {
	return operation(fmt.Sprintf("unpin[%d,%d)", start, start+length), func(t *kernel.Task) string {
		if err := f.maps.Unpin(t, start*BlockSize, length*BlockSize, fileTransaction); err != nil {
			return err.Error()
		}
		return "done"
	})
}

// release lets go of the entries that map blocks. How many there were is nobody's
// concern.
func (f *mappedFile) release(start, length uint64) scenario.Operation {
	return operation(fmt.Sprintf("release[%d,%d)", start, start+length), func(t *kernel.Task) string {
		f.maps.ReleaseFolio(t, start*BlockSize, length*BlockSize, nil)
		return "done"
	})
}

// drop unmaps blocks.
func (f *mappedFile) drop(start, length uint64, skipPinned bool) scenario.Operation {
	return operation(fmt.Sprintf("drop[%d,%d)", start, start+length), func(t *kernel.Task) string {
		f.maps.DropRange(t, start*BlockSize, (start+length)*BlockSize-1, skipPinned)
		return "done"
	})
}
