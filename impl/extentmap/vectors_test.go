package extentmap

import (
	"fmt"
	"slices"
	"testing"

	"benign/impl/kernel"
)

// listed is a mapping and whether it is on the modified list.
type listed struct {
	Mapping
	modified bool
}

// extent is an uncompressed extent: file range, place on disk, offset, all in
// KiB.
func extent(start, end, disk, size, offset uint64) Mapping {
	return Mapping{
		Start: start * kib, Len: (end - start) * kib,
		DiskBytenr: disk * kib, DiskNumBytes: size * kib, Offset: offset * kib, RAMBytes: size * kib,
		Generation: 7,
	}
}

// hole is a hole as drop-range leaves it.
func hole(start, end uint64) Mapping {
	return Mapping{Start: start * kib, Len: (end - start) * kib, DiskBytenr: Hole, RAMBytes: (end - start) * kib, Generation: 7}
}

func flagged(m Mapping, flags Flags) Mapping {
	m.Flags |= flags
	return m
}

func (b *bench) state() []listed {
	modified := b.tree.Modified(b.task)
	var all []listed
	for _, m := range b.tree.Snapshot(b.task) {
		all = append(all, listed{m, slices.Contains(modified, m)})
	}
	return all
}

// failing makes all allocations fail from the given one on.
func failing(from int) func(string) bool {
	asked := 0
	return func(string) bool {
		asked++
		return asked > from
	}
}

var v1 = extent(0, 64, 1024, 128, 16)

// part is what a part of the compressed extent of V8 says.
func part(start, end, offset uint64) Mapping {
	m := extent(start, end, 1024, 8, offset)
	m.RAMBytes = 36 * kib
	return flagged(m, Zlib)
}

// drop drops [from, to) KiB.
func drop(from, to uint64, skipPinned bool) func(*testing.T, *bench) {
	return func(_ *testing.T, b *bench) { b.tree.DropRange(b.task, from*kib, to*kib-1, skipPinned) }
}

// vectors are known answers.
var vectors = []struct {
	name     string
	before   []listed
	spares   int
	do       func(*testing.T, *bench)
	after    []listed
	fullSync bool
}{
	{"V1 cut a hole", []listed{{v1, false}}, 2, drop(16, 48, false),
		[]listed{{extent(0, 16, 1024, 128, 16), false}, {extent(48, 64, 1024, 128, 64), false}}, false},
	{"V2 shorten a hole", []listed{{hole(0, 64), false}}, 2, drop(0, 16, false),
		[]listed{{hole(16, 64), false}}, false},
	{"V3 no memory to cut", []listed{{v1, true}}, 0, drop(16, 48, false), nil, true},
	{"V3b memory for one piece", []listed{{v1, true}}, 1, drop(16, 48, false),
		[]listed{{extent(0, 16, 1024, 128, 16), true}}, false},
	{"V4 skip a pinned entry",
		[]listed{{flagged(extent(0, 16, 1024, 16, 0), Pinned), true}, {extent(32, 48, 2048, 16, 0), false}},
		2, drop(0, 36, true),
		[]listed{{flagged(extent(0, 16, 1024, 16, 0), Pinned), true}, {extent(36, 48, 2048, 16, 4), false}}, false},
	{"V5 merge two extents", []listed{{extent(0, 64, 1024, 64, 0), false}}, 2,
		func(t *testing.T, b *bench) { b.insert(t, extent(64, 128, 1024+64, 64, 0), false) },
		[]listed{{flagged(extent(0, 128, 1024, 128, 0), Merged), false}}, false},
	{"V6 survivor in use", []listed{{extent(0, 64, 1024, 64, 0), false}}, 2, insertHeld,
		[]listed{{extent(0, 64, 1024, 64, 0), false}, {extent(64, 128, 1024+64, 64, 0), false}}, false},
	{"V7 absorbed in use", []listed{{extent(0, 64, 1024, 64, 0), false}}, 2, insertBesideHeld,
		[]listed{{flagged(extent(0, 128, 1024, 128, 0), Merged), false}}, false},
	{"V8 adopt a compressed extent", []listed{{extent(120, 128, 4096, 8, 0), false}}, 2,
		func(t *testing.T, b *bench) {
			e := b.tree.InsertOrAdopt(b.task, part(108, 144, 0), 140*kib)
			if !e.Contains(140 * kib) {
				t.Errorf("adopted %v", e.Mapping)
			}
			e.Put(b.task)
		},
		[]listed{{extent(120, 128, 4096, 8, 0), false}, {part(128, 144, 20), false}}, false},
	{"V9 four writes complete", fourWrites(), 2,
		func(t *testing.T, b *bench) {
			for i := range uint64(4) {
				if err := b.tree.Unpin(b.task, i*64*kib, 64*kib, 7); err != nil {
					t.Error(err)
				}
			}
		},
		[]listed{{flagged(extent(0, 256, 1024, 256, 0), Merged), false}}, false},
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			b := newBench(kernel.Options{AllocationFailure: true, FailAllocation: failing(v.spares)})
			for _, l := range v.before {
				b.insert(t, l.Mapping, l.modified)
			}
			v.do(t, b)
			if got := b.state(); fmt.Sprint(got) != fmt.Sprint(v.after) || !slices.Equal(got, v.after) {
				t.Errorf("after:\n%v\nwant:\n%v", got, v.after)
			}
			if got := b.fullSync(); got != v.fullSync {
				t.Errorf("full sync is %v", got)
			}
			if got := b.evictable(); got != int64(len(v.after)) {
				t.Errorf("%d evictable entries, want %d", got, len(v.after))
			}
			b.check(t)
			b.tearDown(t)
		})
	}
}

// insertHeld is V6: somebody else holds the new entry while it is inserted.
func insertHeld(t *testing.T, b *bench) {
	e := New(b.task, extent(64, 128, 1024+64, 64, 0))
	e.Get(b.task)
	if err := b.insertEntry(e, false); err != nil {
		t.Error(err)
	}
	e.Put(b.task)
	e.Put(b.task)
}

// insertBesideHeld is V7: somebody holds the entry that is absorbed, and goes on
// seeing what it was.
func insertBesideHeld(t *testing.T, b *bench) {
	old := b.hold(t, 0)
	b.insert(t, extent(64, 128, 1024+64, 64, 0), false)
	want := extent(0, 64, 1024, 64, 0)
	want.Generation = 0 // not stable, so not shown
	if got := old.Stable(b.task); got != want {
		t.Errorf("the holder sees %v", got)
	}
	if old.InTreeUnlocked(b.task, kernel.Once, nil) {
		t.Error("the absorbed entry says that it is in the tree")
	}
	old.Put(b.task)
}

// fourWrites are four writes in flight that follow each other in the file and
// on disk and that no fsync has to log any more.
func fourWrites() []listed {
	var writes []listed
	for i := range uint64(4) {
		m := flagged(extent(i*64, i*64+64, 1024+i*64, 64, 0), Pinned)
		m.Generation = InFlight
		writes = append(writes, listed{m, false})
	}
	return writes
}
