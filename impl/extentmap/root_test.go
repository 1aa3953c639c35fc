package extentmap

import (
	"math/rand/v2"
	"testing"

	"benign/impl/kernel"
)

// recorder is an engine for one task: it does what the task asks for at once
// and keeps a record of the accesses that matter here.
type recorder struct {
	values  map[*kernel.Location]uint64
	choose  func(op *kernel.Op) int
	roots   []uint64 // root stores of this tree operation
	links   []uint64 // its stores to the "in tree" word of any entry
	entries int      // how many entries are in the tree

	section []uint64 // the roots of this critical section, the first one from before it
	broken  string   // what went wrong
	written []string // regions that were written, and barriers

	released func() // called when the tree lock is dropped, unless nil
}

func (r *recorder) Perform(_ *kernel.Task, op *kernel.Op) kernel.Result {
	switch op.Kind {
	case kernel.OpLoad:
		return kernel.Result{Value: r.value(op.Location)}
	case kernel.OpStore:
		r.store(op)
	case kernel.OpUpdate:
		old := r.value(op.Location)
		updated, writes := op.Apply(old)
		if writes {
			r.values[op.Location] = updated
		}
		return kernel.Result{Value: old, OK: writes}
	case kernel.OpAcquire:
		if op.Location.Field() == "tree lock" {
			r.section = r.section[max(0, len(r.section)-1):]
		}
	case kernel.OpBarrier:
		r.written = append(r.written, op.Barrier.String())
	case kernel.OpRelease:
		if op.Location.Field() == "tree lock" && r.released != nil {
			r.released()
		}
	case kernel.OpChoose:
		return kernel.Result{Choice: r.choose(op)}
	}
	return kernel.Result{OK: true}
}

func (r *recorder) value(l *kernel.Location) uint64 {
	if v, ok := r.values[l]; ok {
		return v
	}
	return l.Initial()
}

// store checks every store to the root word at the moment it happens.
func (r *recorder) store(op *kernel.Op) {
	old := r.value(op.Location)
	r.values[op.Location] = op.Value
	switch op.Location.Field() {
	case "in tree":
		r.links = append(r.links, op.Value)
		r.entries += int(op.Value) - int(old)
	case "root":
		r.roots = append(r.roots, op.Value)
		r.checkRoot(old, op)
		r.section = append(r.section, op.Value)
	}
}

func (r *recorder) checkRoot(old uint64, op *kernel.Op) {
	const null = 0
	switch {
	case op.Order != kernel.Once:
		r.broken = "the store is not marked"
	case op.Value == old:
		r.broken = "the root is stored again"
	case op.Value == null && r.entries != 0:
		r.broken = "the root is nil while there are entries"
	case old == null && r.entries != 1:
		r.broken = "the root was nil while there were entries"
	}
	for i := 1; i < len(r.section); i++ {
		if r.section[i] == null && r.section[i-1] != null && op.Value != null {
			r.broken = "the root went to nil and back in one critical section"
		}
	}
}

func (r *recorder) Access(_ *kernel.Task, region *kernel.Region, write bool) {
	if write {
		r.written = append(r.written, region.Name())
	}
}

func (r *recorder) Violate(_ *kernel.Task, v *kernel.Violation) { panic(v) }

// newRecorded returns a bench whose task is driven by a recorder.
func newRecorded(options kernel.Options) (*bench, *recorder) {
	r := &recorder{values: make(map[*kernel.Location]uint64), choose: func(*kernel.Op) int { return 0 }, section: []uint64{0}}
	b := &bench{world: kernel.NewExploredWorld(r, options)}
	b.task = b.world.NewTask("set-up")
	b.fill(7)
	b.task = b.world.NewEngineTask("test", 1)
	return b, r
}

// begin forgets what the previous tree operation did.
func (r *recorder) begin() { r.roots, r.links, r.written = nil, nil, nil }

// TestOneRootStoreForEachChange: inserting, removing and replacing one entry,
// without merges, stores the root once if it changes and else not at all.
func TestOneRootStoreForEachChange(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	b, r := newRecorded(kernel.Options{})
	changed, kept := 0, 0
	for range 3000 {
		start := uint64(random.IntN(12)) * BlockSize
		m := Mapping{Start: start, Len: BlockSize, DiskBytenr: Hole, RAMBytes: BlockSize}
		r.begin()
		b.tree.Lock.Lock(b.task)
		old := b.tree.Lookup(b.task, start, 1)
		before := r.value(rootOf(b.tree))
		switch {
		case old == nil:
			e := New(b.task, m)
			if err := b.tree.Insert(b.task, e, true); err != nil {
				t.Fatal(err)
			}
			e.Put(b.task)
		case random.IntN(2) == 0:
			e := New(b.task, m)
			b.tree.Replace(b.task, old, e, true)
			e.Put(b.task)
		default:
			b.tree.Remove(b.task, old)
		}
		after := r.value(rootOf(b.tree))
		b.tree.Lock.Unlock(b.task)
		if old != nil {
			old.Put(b.task)
			old.Put(b.task)
		}
		if r.broken != "" {
			t.Fatal(r.broken)
		}
		stores := 0
		if before != after {
			stores = 1
			changed++
		} else {
			kept++
		}
		if len(r.roots) != stores {
			t.Fatalf("the root went from %d to %d in %d stores", before, after, len(r.roots))
		}
	}
	if changed < 300 || kept < 300 {
		t.Errorf("the root changed %d times and stayed %d times", changed, kept)
	}
}

func rootOf(tr *Tree) *kernel.Location { return &tr.root.Location }

// TestNoTransientNil runs random whole operations, merges, cuts and failing
// allocations included. The root becomes nil when the last entry goes, and
// only then; never does it go to nil and back while the lock is held.
func TestNoTransientNil(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	b, r := newRecorded(kernel.Options{AllocationFailure: true, Reschedule: true})
	r.choose = func(op *kernel.Op) int { return random.IntN(op.Choices) }
	emptied := 0
	for range 20_000 {
		r.begin()
		randomOperation(b, random)
		if r.broken != "" {
			t.Fatal(r.broken)
		}
		if changes := len(r.links); len(r.roots) > changes {
			t.Fatalf("%d root stores for %d changes", len(r.roots), changes)
		}
		if root := r.value(rootOf(b.tree)); (root == 0) != (r.entries == 0) {
			t.Fatalf("root %d with %d entries", root, r.entries)
		}
		if r.entries == 0 {
			emptied++
		}
	}
	if emptied < 100 || emptied > 19_000 {
		t.Errorf("the tree was empty after %d operations", emptied)
	}
}

// randomOperation runs one of the operations that take the lock themselves on a
// file of six blocks.
func randomOperation(b *bench, random *rand.Rand) {
	const size = 6
	from := uint64(random.IntN(size))
	to := from + 1 + uint64(random.IntN(size-int(from)))
	start, length := from*BlockSize, (to-from)*BlockSize
	m := extent(start/kib, (start+length)/kib, (mib+start)/kib, length/kib, 0)
	switch random.IntN(8) {
	case 0:
		b.tree.InsertOrAdopt(b.task, m, start).Put(b.task)
	case 1:
		b.tree.ReplaceRange(b.task, flagged(m, Pinned), true)
	case 2:
		b.tree.DropRange(b.task, start, start+length-1, random.IntN(2) == 0)
	case 3:
		// The entry that would be unpinned may be any, or none.
		_ = b.tree.Unpin(b.task, start, length, 7)
	case 4:
		b.tree.FastSync(b.task, 7)
	case 5:
		b.tree.ReleaseFolio(b.task, start, length, nil)
	case 6:
		if length > BlockSize {
			// Mostly there is no such entry.
			_ = b.tree.SplitForOrdered(b.task, start, length, BlockSize, 2*mib)
		}
	default:
		if random.IntN(8) == 0 {
			b.tree.InodeLock.Lock(b.task) // keeps fsyncs away
			b.tree.DropRange(b.task, 0, MaxOffset, false)
			b.tree.InodeLock.Unlock(b.task)
		}
	}
}
