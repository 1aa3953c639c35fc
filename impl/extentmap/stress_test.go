package extentmap

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"benign/impl/kernel"
)

// unlockedEmpty is the race of the stress test.
var unlockedEmpty = kernel.DataRaceSite("stress: unlocked emptiness", "the walker looks again under the lock")

// TestStress lets goroutines do everything at once, without the file-range
// locks that keep real callers apart, and looks at the tree when they have
// ended. The Go race detector watches the memory meanwhile.
func TestStress(t *testing.T) {
	const tasks, operations = 8, 3000
	var asked atomic.Uint64
	b := newBench(kernel.Options{
		AllocationFailure: true,
		Reschedule:        true,
		FailAllocation:    func(string) bool { return asked.Add(1)%5 == 0 },
	})
	var started []*kernel.Task
	for i := range uint64(tasks) {
		started = append(started, b.task.Go(fmt.Sprintf("worker %d", i), func(task *kernel.Task) {
			own := *b
			own.task = task
			w := worker{&own, rand.New(rand.NewPCG(i, 42))}
			for range operations {
				w.operation()
			}
		}))
	}
	for _, task := range started {
		b.task.Join(task)
	}
	b.check(t)
	entries := b.tree.Snapshot(b.task)
	if n := b.evictable(); n != int64(len(entries)) {
		t.Errorf("%d evictable entries are counted, there are %d", n, len(entries))
	}
	for _, m := range entries {
		if m.Flags.Has(Logging) {
			t.Errorf("nobody logs %v any more", m)
		}
	}
	const inodeAndFilesystem = 2
	if n := b.world.LiveObjects(); n != len(entries)+inodeAndFilesystem {
		t.Errorf("%d objects are alive with %d entries", n, len(entries))
	}
	b.tearDown(t)
}

// worker is one task of the stress test.
type worker struct {
	*bench
	random *rand.Rand
}

func (w *worker) operation() {
	switch w.random.IntN(10) {
	case 0, 1:
		w.read()
	case 2:
		w.shrink()
	case 3:
		w.write()
	case 4:
		w.fs.Generation.Add(w.task, kernel.Once, 1)
	default:
		randomOperation(w.bench, w.random)
	}
}

// read looks an entry up and then at it without the lock, twice: what a holder
// sees must not change.
func (w *worker) read() {
	place := uint64(w.random.IntN(6)) * BlockSize
	w.tree.Lock.RLock(w.task)
	e := w.tree.Search(w.task, place)
	w.tree.Lock.RUnlock(w.task)
	if e == nil {
		return
	}
	e.Get(w.task)
	first := e.Stable(w.task)
	e.InTreeUnlocked(w.task, kernel.Once, nil)
	w.task.Assert(first == e.Stable(w.task), "%s changed under its holder", e.Name())
	e.Put(w.task)
	e.Put(w.task)
}

// write inserts a write in flight, if there is room, and completes it.
func (w *worker) write() {
	start := uint64(w.random.IntN(6)) * BlockSize
	e := New(w.task, flagged(extent(start/kib, start/kib+4, (mib+start)/kib, 4, 0), Pinned))
	w.tree.Lock.Lock(w.task)
	err := w.tree.Insert(w.task, e, w.random.IntN(2) == 0)
	w.tree.Lock.Unlock(w.task)
	e.Put(w.task)
	if err == nil {
		// Somebody may have dropped it already.
		_ = w.tree.Unpin(w.task, start, BlockSize, 7)
	}
}

// shrink removes what may be removed, like the walker of the shrinker does.
func (w *worker) shrink() {
	tr := w.tree
	if tr.EmptyUnlocked(w.task, kernel.Once, unlockedEmpty) || !tr.Lock.TryLock(w.task) {
		return
	}
	if tr.MmapLock.TryRLock(w.task) {
		for e := tr.First(w.task); e != nil; {
			next := tr.Next(w.task, e)
			if !e.Flags.Has(Pinned) {
				if e.Listed() {
					tr.FullSync.Store(w.task, kernel.Once, 1)
				}
				tr.Remove(w.task, e)
				e.Put(w.task)
			}
			e = next
		}
		tr.MmapLock.RUnlock(w.task)
	}
	tr.Lock.Unlock(w.task)
}
