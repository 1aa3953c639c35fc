package extentmap

import (
	"slices"
	"testing"

	"benign/impl/kernel"
)

// TestFastSync: what is logged, and what becomes of the modified list.
func TestFastSync(t *testing.T) {
	old := extent(0, 64, 1024, 64, 0)
	old.Generation = 6
	data := extent(64, 128, 4096, 64, 0)
	reserved := flagged(extent(256, 320, 8192, 64, 0), Prealloc)
	last := extent(320, 384, 9216, 64, 0)

	b := newBench(kernel.Options{})
	for _, m := range []Mapping{last, old, reserved, data} {
		b.insert(t, m, true)
	}
	b.tree.FileSize.Store(b.task, kernel.Once, 256*kib)
	logged, full := b.tree.FastSync(b.task, 7)
	if want := []Mapping{data, last}; full || !slices.Equal(logged, want) {
		t.Errorf("logged %v, full %v, want %v", logged, full, want)
	}
	if left := b.tree.Modified(b.task); left != nil {
		t.Errorf("on the list are still %v", left)
	}
	want := []listed{{old, false}, {data, false}, {reserved, false}, {last, false}}
	if got := b.state(); !slices.Equal(got, want) {
		t.Errorf("after:\n%v\nwant:\n%v", got, want)
	}
	if again, _ := b.tree.FastSync(b.task, 7); again != nil {
		t.Errorf("logged again: %v", again)
	}
	b.check(t)
	b.tearDown(t)
}

// TestFastSyncMerges: an entry is merged once it is logged, with those that
// were logged before it.
func TestFastSyncMerges(t *testing.T) {
	b := newBench(kernel.Options{})
	for i := range uint64(3) {
		b.insert(t, extent(i*64, i*64+64, 1024+i*64, 64, 0), true)
	}
	logged, _ := b.tree.FastSync(b.task, 7)
	if len(logged) != 3 {
		t.Errorf("logged %v", logged)
	}
	want := []Mapping{flagged(extent(0, 192, 1024, 192, 0), Merged)}
	if got := b.tree.Snapshot(b.task); !slices.Equal(got, want) {
		t.Errorf("after: %v, want %v", got, want)
	}
	b.tearDown(t)
}

// TestFullSync: the flag makes the next fsync a full one, and only that.
func TestFullSync(t *testing.T) {
	b := newBench(kernel.Options{})
	b.insert(t, extent(0, 64, 1024, 64, 0), true)
	b.tree.FullSync.Store(b.task, kernel.Once, 1)
	logged, full := b.tree.FastSync(b.task, 7)
	if !full || logged != nil || b.fullSync() || b.tree.Modified(b.task) != nil {
		t.Errorf("full %v, logged %v, flag %v, list %v", full, logged, b.fullSync(), b.tree.Modified(b.task))
	}
	if _, full = b.tree.FastSync(b.task, 7); full {
		t.Error("the next fsync is full as well")
	}
	b.tearDown(t)
}

// TestFastSyncTooBig: as many as the limit are logged; one more, and none is.
func TestFastSyncTooBig(t *testing.T) {
	b := newBench(kernel.Options{})
	fill := func(n uint64) {
		for i := range n {
			b.insert(t, Mapping{Start: i * BlockSize, Len: BlockSize, DiskBytenr: Hole, Generation: 7}, true)
		}
	}
	fill(maxLogged)
	if logged, full := b.tree.FastSync(b.task, 7); full || len(logged) != maxLogged {
		t.Errorf("logged %d, full %v", len(logged), full)
	}
	b.tree.DropAll(b.task)
	fill(maxLogged + 1)
	if logged, full := b.tree.FastSync(b.task, 7); !full || logged != nil {
		t.Errorf("logged %d, full %v", len(logged), full)
	}
	// The first entry is the last of the list, so it is the one too many.
	if left := b.tree.Modified(b.task); len(left) != 1 || left[0].Start != 0 {
		t.Errorf("%d entries are left on the list", len(left))
	}
	if n := b.evictable(); n != 2 {
		t.Errorf("%d entries, want the one on the list and all others merged", n)
	}
	b.check(t)
	b.tearDown(t)
}

// TestSyncSeesEntriesGo: what is dropped, cut or replaced while an fsync has it
// on its private list is logged all the same, as it was.
func TestSyncSeesEntriesGo(t *testing.T) {
	b := newBench(kernel.Options{})
	for i := range uint64(3) {
		b.insert(t, extent(i*64, i*64+64, 1024+i*128, 64, 0), true)
	}
	var private kernel.List[Entry]
	b.tree.Lock.Lock(b.task)
	complete := b.tree.collect(b.task, 7, &private)
	b.tree.Lock.Unlock(b.task)

	b.tree.DropRange(b.task, 0, 80*kib-1, false) // takes the first, cuts the second
	b.tree.ReplaceRange(b.task, hole(128, 192), true)

	var logged []Mapping
	b.tree.Lock.Lock(b.task)
	for e := b.tree.takeFirst(b.task, &private); e != nil; e = b.tree.takeFirst(b.task, &private) {
		logged = append(logged, e.Mapping)
		b.tree.ClearLogging(b.task, e)
		e.Put(b.task)
	}
	b.tree.Lock.Unlock(b.task)
	if !complete || len(logged) != 3 || logged[1].Len != 64*kib {
		t.Errorf("logged %v", logged)
	}
	want := []listed{{extent(80, 128, 1024+128, 64, 16), true}, {hole(128, 192), true}}
	if got := b.state(); !slices.Equal(got, want) {
		t.Errorf("after:\n%v\nwant:\n%v", got, want)
	}
	b.check(t)
	b.tearDown(t)
}

// TestDropAllDisownsFsync: drop-all takes entries off the private list of an
// fsync too, which therefore must not be running: it would neither log them nor
// drop its references.
func TestDropAllDisownsFsync(t *testing.T) {
	b := newBench(kernel.Options{})
	b.insert(t, extent(0, 64, 1024, 64, 0), true)
	e := b.hold(t, 0)
	var private kernel.List[Entry]
	b.tree.Lock.Lock(b.task)
	b.tree.collect(b.task, 7, &private)
	b.tree.Lock.Unlock(b.task)
	b.tree.DropAll(b.task)
	if private.Len() != 0 || e.Flags.Has(Logging) {
		t.Errorf("%d entries are on the private list, flags %v", private.Len(), e.Flags)
	}
	e.Put(b.task) // the fsync's
	e.Put(b.task)
	b.tearDown(t)
}
