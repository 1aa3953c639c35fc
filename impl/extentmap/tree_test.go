package extentmap

import (
	"slices"
	"strings"
	"testing"

	"benign/impl/kernel"
)

var whole = extent(0, 64, 1024, 64, 0)

// misuses are what callers may not do, and what it is reported as.
var misuses = []struct {
	name string
	kind kernel.ViolationKind
	do   func(b *bench)
}{
	{"lookup without the lock", kernel.MissingLock, func(b *bench) { b.tree.Lookup(b.task, 0, 1) }},
	{"first without the lock", kernel.MissingLock, func(b *bench) { b.tree.First(b.task) }},
	{"empty without the lock", kernel.MissingLock, func(b *bench) { b.tree.Empty(b.task) }},
	{"fsync without the sleeping locks", kernel.MissingLock, func(b *bench) { b.tree.FastSyncLocked(b.task, 7) }},
	{"insert under a read lock", kernel.MissingLock, func(b *bench) {
		b.tree.Lock.RLock(b.task)
		_ = b.tree.Insert(b.task, New(b.task, whole), false)
	}},
	{"insert of what is malformed", kernel.Assertion, func(b *bench) {
		_ = b.insertEntry(New(b.task, Mapping{Len: 1, DiskBytenr: Hole}), false)
	}},
	{"insert twice", kernel.Assertion, func(b *bench) {
		e := New(b.task, whole)
		_ = b.insertEntry(e, false)
		_ = b.insertEntry(e, false)
	}},
	{"remove while pinned", kernel.Assertion, func(b *bench) {
		e := New(b.task, flagged(whole, Pinned))
		_ = b.insertEntry(e, true)
		b.tree.Lock.Lock(b.task)
		b.tree.Remove(b.task, e)
	}},
	{"remove twice", kernel.Assertion, func(b *bench) {
		e := New(b.task, whole)
		_ = b.insertEntry(e, true)
		b.tree.Lock.Lock(b.task)
		b.tree.Remove(b.task, e)
		b.tree.Remove(b.task, e)
	}},
	{"the tree's reference dropped too early", kernel.Assertion, func(b *bench) {
		e := New(b.task, whole)
		_ = b.insertEntry(e, false)
		e.Put(b.task)
		e.Put(b.task)
	}},
	{"freed while on the modified list", kernel.Assertion, func(b *bench) {
		e := New(b.task, whole)
		_ = b.insertEntry(e, true)
		b.tree.Lock.Lock(b.task)
		e.Flags |= Logging // so that remove leaves the link alone
		b.tree.Remove(b.task, e)
		e.Put(b.task)
		e.Put(b.task)
	}},
	{"read after the last reference", kernel.UseAfterFree, func(b *bench) {
		e := New(b.task, whole)
		e.Put(b.task)
		e.Stable(b.task)
	}},
	{"adopt at a place outside", kernel.Assertion, func(b *bench) { b.tree.InsertOrAdopt(b.task, whole, 64*kib) }},
	{"drop backwards", kernel.Assertion, func(b *bench) { b.tree.DropRange(b.task, 4096, 0, false) }},
	{"fsync under the tree lock", kernel.SleepWhileSpinning, func(b *bench) {
		b.tree.Lock.Lock(b.task)
		b.tree.FastSync(b.task, 7)
	}},
}

func TestViolations(t *testing.T) {
	for _, c := range misuses {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(kernel.Options{})
			v := violation(func() { c.do(b) })
			if v == nil || v.Kind != c.kind {
				t.Errorf("got %v, want %v", v, c.kind)
			}
		})
	}
}

// TestCheckInvariants breaks a sound tree in each way that the check claims to
// notice.
func TestCheckInvariants(t *testing.T) {
	for _, c := range []struct {
		name, want string
		damage     func(tr *Tree, e []*Entry)
	}{
		{"red root", "is red or has a parent", func(_ *Tree, e []*Entry) { e[1].red = true }},
		{"red below red", "are red", func(_ *Tree, e []*Entry) { e[1].red, e[0].red = true, true }},
		{"out of balance", "black entries below", func(_ *Tree, e []*Entry) { e[0].red = !e[0].red }},
		{"strange parent", "does not know it", func(_ *Tree, e []*Entry) { e[0].parent = e[2] }},
		{"wrong order", "is followed by", func(_ *Tree, e []*Entry) { e[0].Start = 128 * kib }},
		{"overlap", "is followed by", func(_ *Tree, e []*Entry) { e[0].Len = 128 * kib }},
		{"malformed", "empty range", func(_ *Tree, e []*Entry) { e[0].Len = 0 }},
		{"stranger", "does not know it", func(_ *Tree, e []*Entry) { e[0].tree = nil }},
		{"logging on the modified list", "on the modified list", func(_ *Tree, e []*Entry) { e[0].Flags |= Logging }},
		{"private without logging", "on a private list", func(_ *Tree, e []*Entry) {
			e[0].list.Unlink()
			new(kernel.List[Entry]).PushBack(&e[0].list, e[0])
		}},
		{"listed out of the tree", "not in the tree", func(tr *Tree, e []*Entry) {
			tr.modified.PushBack(&e[3].list, e[3])
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(kernel.Options{})
			var entries []*Entry
			for i := range uint64(3) {
				e := New(b.task, hole(i*64, i*64+64))
				if err := b.insertEntry(e, true); err != nil {
					t.Fatal(err)
				}
				entries = append(entries, e)
			}
			b.check(t)
			c.damage(b.tree, append(entries, New(b.task, hole(0, 64))))
			err := b.tree.CheckInvariants(b.task)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestUnreferencedEntry: an entry in the tree that nobody holds is noticed.
func TestUnreferencedEntry(t *testing.T) {
	b := newBench(kernel.Options{})
	e := New(b.task, hole(0, 64))
	if err := b.insertEntry(e, false); err != nil {
		t.Fatal(err)
	}
	e.refs.Put(b.task)
	e.refs.Put(b.task)
	if err := b.tree.CheckInvariants(b.task); err == nil || !strings.Contains(err.Error(), "without a reference") {
		t.Errorf("got %v", err)
	}
}

func TestWellFormed(t *testing.T) {
	good := extent(0, 64, 1024, 64, 0)
	for _, c := range []struct {
		want string
		edit func(m *Mapping)
	}{
		{"", func(*Mapping) {}},
		{"", func(m *Mapping) { *m = hole(4, 8) }},
		{"", func(m *Mapping) { *m = Mapping{Len: BlockSize, DiskBytenr: Inline} }},
		{"", func(m *Mapping) { m.Flags, m.DiskNumBytes = LZO, BlockSize }},
		{"empty range", func(m *Mapping) { m.Len = 0 }},
		{"range is not block aligned", func(m *Mapping) { m.Start = 1 }},
		{"range is not block aligned", func(m *Mapping) { m.Len-- }},
		{"two compression algorithms", func(m *Mapping) { m.Flags = Zlib | Zstd }},
		{"disk location has no meaning", func(m *Mapping) { m.DiskBytenr = FirstSentinel }},
		{"disk location has no meaning", func(m *Mapping) { m.DiskBytenr = MaxOffset }},
		{"offset without an extent", func(m *Mapping) { m.DiskBytenr, m.Offset = Hole, BlockSize }},
		{"inline data does not start the file", func(m *Mapping) { m.DiskBytenr, m.Start = Inline, BlockSize }},
		{"extent without a size on disk", func(m *Mapping) { m.DiskNumBytes = 0 }},
		{"range ends behind the decompressed extent", func(m *Mapping) { m.Offset = BlockSize }},
		{"extent is not block aligned", func(m *Mapping) { m.DiskBytenr++ }},
		{"range ends behind the extent on disk", func(m *Mapping) { m.DiskNumBytes = BlockSize }},
		{"uncompressed extent with two sizes", func(m *Mapping) { m.RAMBytes += BlockSize }},
	} {
		m := good
		c.edit(&m)
		got := ""
		if err := m.WellFormed(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: got %q, want %q", m, got, c.want)
		}
	}
}

func TestDerivedPlaces(t *testing.T) {
	plain := extent(0, 16, 1024, 64, 32)
	compressed := flagged(plain, Zstd)
	compressed.DiskNumBytes = 8 * kib
	for _, c := range []struct {
		m               Mapping
		start, len, end uint64
	}{
		{plain, mib + 32*kib, 16 * kib, mib + 48*kib},
		{compressed, mib, 8 * kib, mib + 8*kib},
		{hole(0, 16), Hole, 16 * kib, MaxOffset},
	} {
		if c.m.BlockStart() != c.start || c.m.BlockLen() != c.len || c.m.BlockEnd() != c.end {
			t.Errorf("%v: %#x %#x %#x", c.m, c.m.BlockStart(), c.m.BlockLen(), c.m.BlockEnd())
		}
	}
	if got := (Mapping{Start: BlockSize, Len: MaxOffset}).End(); got != MaxOffset {
		t.Errorf("the end overflows to %#x", got)
	}
}

func TestMappingString(t *testing.T) {
	inFlight := flagged(extent(0, 4, 1024, 4, 0), Pinned|Prealloc)
	inFlight.Generation = InFlight
	for _, c := range []struct {
		m    Mapping
		want string
	}{
		{inFlight, "[0x0,0x1000) 0x100000/0x1000 off 0x0 ram 0x1000 in flight pinned+prealloc"},
		{hole(4, 8), "[0x1000,0x2000) hole off 0x0 ram 0x1000 g7 -"},
		{Mapping{Len: BlockSize, DiskBytenr: Inline}, "[0x0,0x1000) inline off 0x0 ram 0x0 g0 -"},
	} {
		if got := c.m.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// TestMergeIsAnEdit: a merge writes the survivor's stable fields, and nobody
// else's, in the eyes of the race checker, and does so behind the barrier that
// orders it after the count of the references.
func TestMergeIsAnEdit(t *testing.T) {
	b, r := newRecorded(kernel.Options{})
	b.insert(t, extent(0, 64, 1024, 64, 0), false)
	e := New(b.task, extent(64, 128, 1024+64, 64, 0))
	r.begin()
	if err := b.insertEntry(e, false); err != nil {
		t.Fatal(err)
	}
	edits := slices.DeleteFunc(r.written, func(name string) bool {
		return !strings.HasSuffix(name, ".range") && name != kernel.ReadBarrier.String()
	})
	if want := []string{kernel.ReadBarrier.String(), e.Name() + ".range"}; !slices.Equal(edits, want) {
		t.Errorf("edited are %v, want %v", edits, want)
	}
}

// TestDropAllBreaks: at a break the lock is dropped, and what somebody else puts
// in front meanwhile is dropped as well.
func TestDropAllBreaks(t *testing.T) {
	b, r := newRecorded(kernel.Options{Reschedule: true})
	for i := range uint64(4) {
		b.insert(t, extent(i*64+16, i*64+32, 1024, 16, 0), true)
	}
	other := *b
	other.task = b.world.NewEngineTask("other", 2)
	chances, breaks := 0, 0
	r.choose = func(*kernel.Op) int {
		chances++
		return chances % 2 // break after the first, the third, ...
	}
	r.released = func() {
		if breaks++; breaks == 2 {
			r.released = nil
			other.insert(t, extent(0, 16, 1024, 16, 0), true)
		}
	}
	b.tree.DropAll(b.task)
	if chances != 5 || breaks != 2 || !b.tree.EmptyUnlocked(b.task, kernel.Once, nil) {
		t.Errorf("%d chances, %d breaks, empty %v", chances, breaks, b.tree.EmptyUnlocked(b.task, kernel.Once, nil))
	}
}

// TestSplitForOrdered covers the results of a split: both halves, and every
// reason not to.
func TestSplitForOrdered(t *testing.T) {
	pinned := flagged(extent(0, 64, 1024, 64, 0), Pinned)
	pinned.Generation = InFlight
	half := func(start, end, disk uint64) Mapping {
		m := flagged(extent(start, end, disk, end-start, 0), Pinned)
		m.Generation = InFlight
		return m
	}
	for _, c := range []struct {
		name     string
		before   Mapping
		modified bool
		spares   int
		want     error
	}{
		{"done", pinned, true, 2, nil},
		{"no memory", pinned, true, 0, ErrNoMemory},
		{"memory for one half", pinned, true, 1, ErrNoMemory},
		{"not there", half(128, 192, 1024), true, 2, ErrNotFound},
		{"longer", half(0, 128, 1024), true, 2, ErrCorrupt},
		{"not pinned", extent(0, 64, 1024, 64, 0), true, 2, ErrCorrupt},
		{"not on the list", pinned, false, 2, ErrCorrupt},
		{"compressed", flagged(pinned, Zlib), true, 2, ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(kernel.Options{AllocationFailure: true, FailAllocation: failing(c.spares)})
			b.insert(t, c.before, c.modified)
			if got := b.tree.SplitForOrdered(b.task, 0, 64*kib, 16*kib, 2*mib); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
			want := []listed{{c.before, c.modified}}
			if c.want == nil {
				want = []listed{{half(0, 16, 2048), true}, {half(16, 64, 1024+16), true}}
			}
			if got := b.state(); !slices.Equal(got, want) {
				t.Errorf("after:\n%v\nwant:\n%v", got, want)
			}
			b.check(t)
			b.tearDown(t)
		})
	}
}
