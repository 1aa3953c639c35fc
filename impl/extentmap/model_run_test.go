package extentmap

import (
	"errors"
	"slices"

	"pgregory.net/rapid"

	"benign/impl/kernel"
	spec "benign/spec/extentmap"
)

// run carries out one operation of the specification on the tree.
func (m *machine) run(in spec.Input) spec.Output {
	t, tr := m.task, m.tree
	switch in.Op {
	case spec.OpLookup:
		return m.find(in, func() *Entry { return tr.Lookup(t, in.Start, in.Len) })
	case spec.OpSearch:
		return m.find(in, func() *Entry { return tr.Search(t, in.Start) })
	case spec.OpIsEmpty:
		tr.Lock.RLock(t)
		empty := tr.Empty(t)
		tr.Lock.RUnlock(t)
		return spec.Output{Status: spec.Done, Empty: empty && tr.EmptyUnlocked(t, kernel.Once, nil)}
	case spec.OpShare:
		m.held[in.From].Get(t)
		m.held[in.Hold] = m.held[in.From]
	case spec.OpPut:
		m.held[in.Hold].Put(t)
		delete(m.held, in.Hold)
	case spec.OpRead:
		e := m.held[in.Hold]
		return spec.Output{Status: spec.Done, Entry: entryOf(e.Stable(t)), InTree: e.InTreeUnlocked(t, kernel.Once, nil)}
	case spec.OpCommit:
		m.fs.Generation.Store(t, kernel.Once, in.Generation)
	case spec.OpIsFullSync:
		return spec.Output{Status: spec.Done, FullSync: m.fullSync()}
	case spec.OpSetFull:
		tr.FullSync.Store(t, kernel.Once, 1)
	case spec.OpDropRange:
		tr.DropRange(t, in.Start, in.End, in.SkipPinned)
	case spec.OpDropAll:
		tr.DropAll(t)
	case spec.OpReplaceRange:
		tr.ReplaceRange(t, mappingOf(in.New), in.Modified)
	case spec.OpUnpin:
		return outcome(tr.Unpin(t, in.Start, in.Len, in.Generation))
	case spec.OpSplit:
		return outcome(tr.SplitForOrdered(t, in.Start, in.Len, in.Pre, in.NewLogical))
	case spec.OpReleaseFolio:
		return spec.Output{Status: spec.Done, Removed: tr.ReleaseFolio(t, in.Start, in.Len, lockedIn(in.Locked))}
	case spec.OpReleaseStep:
		return m.releaseStep(in)
	case spec.OpInsert, spec.OpRemove, spec.OpReplace, spec.OpInsertOrAdopt:
		return m.runOne(in)
	default:
		return m.runFsync(in)
	}
	return spec.Output{Status: spec.Done}
}

// runOne carries out the operations that add or remove one entry.
func (m *machine) runOne(in spec.Input) spec.Output {
	t, tr := m.task, m.tree
	if in.Op == spec.OpInsertOrAdopt {
		e := tr.InsertOrAdopt(t, mappingOf(in.New), in.Start)
		out := spec.Output{Status: spec.Done, Entry: entryOf(e.Mapping), InTree: e.tree == tr}
		m.keep(e, in.Hold)
		return out
	}
	var e *Entry
	if in.Op != spec.OpRemove {
		e = New(t, mappingOf(in.New))
		for hold := spec.Hold(1); hold <= spec.MaxHold; hold++ {
			if in.Others.Has(hold) {
				e.Get(t)
				m.held[hold] = e
			}
		}
	}
	tr.Lock.Lock(t)
	var old *Entry
	var err error
	if in.Op == spec.OpInsert {
		err = tr.Insert(t, e, in.Modified)
	} else {
		old = tr.Lookup(t, in.Start, 1)
		if in.Op == spec.OpRemove {
			tr.Remove(t, old)
		} else {
			tr.Replace(t, old, e, in.Modified)
		}
	}
	tr.Lock.Unlock(t)
	if old != nil {
		old.Put(t)
		old.Put(t)
	}
	if e != nil {
		m.keepNew(e, in, err)
	}
	return outcome(err)
}

// keepNew keeps or drops the creator's reference; nobody holds what could not
// be inserted.
func (m *machine) keepNew(e *Entry, in spec.Input, err error) {
	if err == nil {
		m.keep(e, in.Hold)
		return
	}
	for hold, held := range m.held {
		if held == e {
			e.Put(m.task)
			delete(m.held, hold)
		}
	}
	e.Put(m.task)
}

// keep gives the reference a name, or drops it if the name is zero.
func (m *machine) keep(e *Entry, hold spec.Hold) {
	if hold == 0 {
		e.Put(m.task)
		return
	}
	m.held[hold] = e
}

func (m *machine) find(in spec.Input, find func() *Entry) spec.Output {
	m.tree.Lock.RLock(m.task)
	e := find()
	m.tree.Lock.RUnlock(m.task)
	if e == nil {
		return spec.Output{Status: spec.NotFound}
	}
	out := spec.Output{Status: spec.Done, Entry: entryOf(e.Mapping), InTree: e.tree == m.tree}
	m.keep(e, in.Hold)
	return out
}

func (m *machine) releaseStep(in spec.Input) spec.Output {
	m.tree.Lock.Lock(m.task)
	next, removed := m.tree.releaseFirst(m.task, in.Start, in.Range().End, lockedIn(in.Locked))
	m.tree.Lock.Unlock(m.task)
	if next == in.Start {
		return spec.Output{Status: spec.NotFound}
	}
	out := spec.Output{Status: spec.Done, Next: next}
	if removed {
		out.Removed = 1
	}
	return out
}

// runFsync carries out fsyncs, whole and in the critical sections that they are
// made of.
func (m *machine) runFsync(in spec.Input) spec.Output {
	t, tr := m.task, m.tree
	if in.Op == spec.OpFastFsync || in.Op == spec.OpFsyncCollect {
		tr.FileSize.Store(t, kernel.Once, in.Size)
	}
	switch in.Op {
	case spec.OpFastFsync, spec.OpFullFsync:
		return m.wholeFsync(in)
	case spec.OpFsyncFinish:
		return spec.Output{Status: spec.Done}
	}
	out := spec.Output{Status: spec.Done}
	tr.Lock.Lock(t)
	switch in.Op {
	case spec.OpFsyncCollect:
		tr.collect(t, in.Generation, &m.private)
		out.Taken = m.private.Len()
	case spec.OpFsyncTake:
		m.inHand = tr.takeFirst(t, &m.private)
		out.Entry = entryOf(m.inHand.Mapping)
	case spec.OpFsyncLogged:
		tr.ClearLogging(t, m.inHand)
		m.inHand.Put(t)
		m.inHand = nil
	}
	tr.Lock.Unlock(t)
	return out
}

// wholeFsync checks that the fsync goes the way that the full-sync flag says,
// and logs what the model says has to be logged.
func (m *machine) wholeFsync(in spec.Input) spec.Output {
	full := in.Op == spec.OpFullFsync
	if full != m.fullSync() {
		m.tree.FullSync.Store(m.task, kernel.Once, map[bool]uint8{true: 1}[full])
	}
	logged, wentFull := m.tree.FastSync(m.task, in.Generation)
	if wentFull != full {
		return spec.Output{}
	}
	if in.Op == spec.OpFastFsync && m.model.FullSync {
		m.tree.FullSync.Store(m.task, kernel.Once, 1)
	}
	out := spec.Output{Status: spec.Done, Taken: len(logged)}
	for _, l := range logged {
		if !slices.Contains(m.model.Modified(), entryOf(l)) {
			return spec.Output{}
		}
	}
	return out
}

func lockedIn(ranges []spec.Range) RangeLocked {
	return func(_ *kernel.Task, start, end uint64) bool {
		return slices.ContainsFunc(ranges, spec.Range{Start: start, End: end}.Intersects)
	}
}

func outcome(err error) spec.Output {
	switch {
	case err == nil:
		return spec.Output{Status: spec.Done}
	case errors.Is(err, ErrExists):
		return spec.Output{Status: spec.Exists}
	case errors.Is(err, ErrNotFound):
		return spec.Output{Status: spec.NotFound}
	case errors.Is(err, ErrCorrupt):
		return spec.Output{Status: spec.Corrupt}
	case errors.Is(err, ErrNoMemory):
		return spec.Output{Status: spec.NoMemory}
	}
	return spec.Output{}
}

// blocks is the size of the file in the random tests.
const blocks = 16

// draw makes up the arguments of an operation, with a liking for places where
// there is an entry and for references that are held.
func (m *machine) draw(rt *rapid.T, op spec.Op) spec.Input {
	in := spec.Input{Op: op, Spares: rapid.SampledFrom([]int{2, 2, 1, 0}).Draw(rt, "spares")}
	in.Start = m.drawStart(rt)
	in.Len = uint64(rapid.IntRange(1, 6).Draw(rt, "length")) * BlockSize
	in.Modified = op != spec.OpInsertOrAdopt && rapid.Bool().Draw(rt, "modified")
	in.SkipPinned = rapid.Bool().Draw(rt, "skip pinned")
	in.Generation = rapid.SampledFrom([]uint64{6, 7, 8, 9}).Draw(rt, "generation")
	switch op {
	case spec.OpPut, spec.OpRead:
		in.Hold = m.drawHeld(rt)
	case spec.OpShare:
		in.From, in.Hold = m.drawHeld(rt), m.drawFree(rt)
	case spec.OpLookup, spec.OpSearch:
		in.Hold = m.drawFree(rt)
	case spec.OpInsert, spec.OpReplace:
		in.New, in.Hold = m.drawEntry(rt, in), m.drawFree(rt)
		if other := m.drawFree(rt); other != in.Hold {
			in.Others = spec.HoldersOf(other)
		}
	case spec.OpInsertOrAdopt:
		in.New, in.Hold = m.drawEntry(rt, in), m.drawFree(rt)
		inside := rapid.IntRange(0, int(in.New.Len/BlockSize)-1).Draw(rt, "inside")
		in.Start = in.New.Start + uint64(inside)*BlockSize
	case spec.OpReplaceRange:
		in.New = m.drawEntry(rt, in)
	case spec.OpDropRange:
		in.End = in.Range().End - 1
		if rapid.IntRange(0, 9).Draw(rt, "to the end") == 0 {
			in.End = spec.MaxOffset
		}
	}
	m.drawWrite(rt, &in)
	return in
}

// drawWrite makes up what only writeback, release and fsync need.
func (m *machine) drawWrite(rt *rapid.T, in *spec.Input) {
	switch in.Op {
	case spec.OpCommit:
		in.Generation = m.model.Generation + 1
	case spec.OpSplit:
		pinned := slices.Collect(func(yield func(spec.Node) bool) {
			for _, n := range m.model.Tree {
				if n.Flags.Has(spec.Pinned) && n.Len > spec.BlockSize && !yield(n) {
					return
				}
			}
		})
		if len(pinned) == 0 {
			rt.Skip("nothing to split")
		}
		n := rapid.SampledFrom(pinned).Draw(rt, "pinned")
		in.Start, in.Len = n.Start, n.Len
		in.Pre = uint64(rapid.IntRange(1, int(n.Len/BlockSize)-1).Draw(rt, "pre")) * BlockSize
		in.NewLogical = uint64(rapid.IntRange(0, 64).Draw(rt, "new place")) * BlockSize
	case spec.OpReleaseFolio, spec.OpReleaseStep:
		if rapid.Bool().Draw(rt, "locked") {
			start := m.drawStart(rt)
			in.Locked = []spec.Range{{Start: start, End: start + BlockSize}}
		}
	case spec.OpFastFsync, spec.OpFsyncCollect:
		in.Size = uint64(rapid.IntRange(0, blocks).Draw(rt, "size")) * BlockSize
	case spec.OpFsyncTake:
		if e := m.private.Front(); e != nil {
			in.Start = e.Start
		}
	case spec.OpFsyncLogged:
		if m.inHand == nil {
			rt.Skip("nothing is being logged")
		}
		in.Start = m.inHand.Start
	}
}

func (m *machine) drawStart(rt *rapid.T) uint64 {
	if n := len(m.model.Tree); n > 0 && rapid.Bool().Draw(rt, "at an entry") {
		return m.model.Tree[rapid.IntRange(0, n-1).Draw(rt, "entry")].Start
	}
	return uint64(rapid.IntRange(0, blocks-1).Draw(rt, "start")) * BlockSize
}

// drawFree returns a name that is not in use, or more often zero: references
// that are kept forbid merges.
func (m *machine) drawFree(rt *rapid.T) spec.Hold {
	hold := spec.Hold(rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3, 4}).Draw(rt, "hold"))
	if m.held[hold] != nil {
		return 0
	}
	return hold
}

func (m *machine) drawHeld(rt *rapid.T) spec.Hold {
	var names []spec.Hold
	for hold := spec.Hold(1); hold <= 4; hold++ {
		if m.held[hold] != nil {
			names = append(names, hold)
		}
	}
	if names == nil {
		rt.Skip("nothing is held")
	}
	return rapid.SampledFrom(names).Draw(rt, "held")
}

// drawEntry makes up a well-formed entry at the place of the operation. Most
// extents lie on disk as they lie in the file, so that neighbours merge.
func (m *machine) drawEntry(rt *rapid.T, in spec.Input) spec.Entry {
	e := spec.Entry{Start: in.Start, Len: in.Len, Generation: in.Generation}
	kind := rapid.SampledFrom([]string{"extent", "extent", "extent", "prealloc", "compressed", "hole", "inline"}).Draw(rt, "kind")
	switch kind {
	case "hole", "inline":
		e.DiskBytenr, e.RAMBytes = spec.Hole, e.Len
		if kind == "inline" && e.Start == 0 {
			e.DiskBytenr, e.Len, e.RAMBytes = spec.Inline, BlockSize, BlockSize // never more than a block
		}
		return e
	}
	before := uint64(rapid.IntRange(0, 2).Draw(rt, "extent before")) * BlockSize
	before = min(before, e.Start)
	after := uint64(rapid.IntRange(0, 2).Draw(rt, "extent after")) * BlockSize
	away := uint64(rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(rt, "elsewhere")) * BlockSize
	e.DiskBytenr = mib + e.Start - before + away
	e.Offset = before
	e.RAMBytes = before + e.Len + after
	e.DiskNumBytes = e.RAMBytes
	switch kind {
	case "prealloc":
		e.Flags = spec.Prealloc
	case "compressed":
		e.Flags = rapid.SampledFrom([]spec.Flags{spec.Zlib, spec.LZO, spec.Zstd}).Draw(rt, "algorithm")
		e.DiskNumBytes = BlockSize
	}
	if in.Op != spec.OpInsertOrAdopt && rapid.IntRange(0, 2).Draw(rt, "in flight") == 0 {
		e.Flags |= spec.Pinned
		e.Generation = spec.InFlight
	}
	return e
}
