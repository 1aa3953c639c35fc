package inhibit

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"benign/impl/kernel"
)

// copied says which places a change has copied, and which of these again.
func (b *bench) copied(trail []Decision) (fresh, again int) {
	for _, d := range trail {
		switch {
		case d.Again:
			again++
		case d.Copied:
			fresh++
		}
	}
	return fresh, again
}

// A block is copied once in each transaction, unless it is written before it is changed
// again: which is what a set prevents.
func TestCopies(t *testing.T) {
	for _, p := range append(policies(), Policy{Track: TrackNone, Count: CountAtomic, OverwriteInPlace: true}) {
		b := newBench(p)
		tree := b.fs.NewTree(b.task, "T", Ordinary, 4, 2)
		if tree.height != 3 {
			t.Fatalf("height %d, want 3", tree.height)
		}
		h := b.begin(t, Start)
		check := func(what string, leaf, wantFresh, wantAgain int) {
			t.Helper()
			if fresh, again := b.copied(tree.Change(b.task, h, leaf)); fresh != wantFresh || again != wantAgain {
				t.Errorf("%+v: %s: %d copied, %d of them again; want %d and %d", p, what, fresh, again, wantFresh, wantAgain)
			}
		}
		check("at first", 0, 3, 0)
		check("the same leaf", 0, 0, 0)
		check("its neighbour", 1, 1, 0)
		check("the other half", 2, 2, 0)
		b.fs.WriteBack(b.task)
		lost := 0 // of the path to leaf 2
		if p.Track == TrackNone && !p.OverwriteInPlace {
			lost = 3
		}
		if p.Track == TrackClock {
			lost = 1 // the root was the first to come, and so the first to go
		}
		if p.Track == TrackFixed {
			lost = 2 // of the path to leaf 0 it has kept all, and of this one the root
		}
		check("after writeback", 2, 0, lost)
		h.End(b.task)
		b.fs.WriteBack(b.task)
		h = b.begin(t, Start)
		again := 3
		if p.OverwriteInPlace {
			again = 0
		}
		check("after writeback, and nobody kept it", 0, 0, again)
		if _, err := h.Commit(b.task); err != nil {
			t.Error(err)
		}
		h = b.begin(t, Start)
		check("in the next transaction", 3, 3, 0)
		h.End(b.task)
		if got := fmt.Sprint(tree.root.Load(b.task, kernel.Once).values(), b.fs.disk.values(b.task, b.fs.disk.roots[tree])); got != "[3 1 2 1] [3 1 2 0]" {
			t.Errorf("%+v: the tree says %s", p, got)
		}
		b.unmount(t, nil)
	}
}

// What is shared with a snapshot, or being moved, is copied however new it is; what is
// in a relocation tree is nobody's to keep.
func TestSpecialTrees(t *testing.T) {
	b := newBench(Clock(4))
	shared := b.fs.NewTree(b.task, "S", Ordinary, 1, 2)
	moved := b.fs.NewTree(b.task, "M", Ordinary, 1, 2)
	relocation := b.fs.NewTree(b.task, "R", Relocation, 1, 2)
	h := b.begin(t, Start)
	for _, tree := range []*Tree{shared, moved, relocation} {
		tree.Change(b.task, h, 0)
	}
	shared.forceCopy.Store(b.task, kernel.Once, 1)
	moved.root.Load(b.task, kernel.Once).relocated = true
	if d := shared.Change(b.task, h, 0)[0]; !d.Copied || d.Again || !d.Kept {
		t.Errorf("a shared block: %+v", d)
	}
	if d := moved.Change(b.task, h, 0)[0]; !d.Copied || d.Again || !d.Kept {
		t.Errorf("a block that is being moved: %+v", d)
	}
	if d := moved.Change(b.task, h, 0)[0]; d.Copied {
		t.Errorf("a block that has been moved: %+v", d)
	}
	if d := relocation.Change(b.task, h, 0)[0]; d.Copied || d.Kept {
		t.Errorf("a block of a relocation tree: %+v", d)
	}
	h.End(b.task)
	b.unmount(t, nil)
}

// A log is on disk after a sync, kept or not, and before a commit.
func TestSync(t *testing.T) {
	b := newBench(Policy{Track: TrackXArray, Count: CountAtomic, OverwriteInPlace: true})
	log := b.fs.NewTree(b.task, "L", Log, 3, 2)
	h := b.begin(t, Start)
	log.Change(b.task, h, 0)
	log.Change(b.task, h, 2)
	b.fs.WriteBack(b.task)
	if looks := b.fs.Sync(b.task, log); len(looks) != 5 || slices.ContainsFunc(looks, func(l Look) bool { return !l.Wrote }) {
		t.Errorf("of the root, two nodes and two leaves: %v", looks)
	}
	if got := fmt.Sprint(b.fs.disk.values(b.task, b.fs.disk.roots[log])); got != "[1 0 1]" {
		t.Errorf("the disk says %s", got)
	}
	if _, again := b.copied(log.Change(b.task, h, 0)); again != 3 {
		t.Errorf("%d blocks of a log that is on disk are copied, want 3", again)
	}
	h.End(b.task)
	b.unmount(t, nil)
}

// What writeback is at is left alone by other background writeback, and waited for by a
// commit.
func TestWriteUnderWay(t *testing.T) {
	b := newBench(Clock(2))
	tree := b.fs.NewTree(b.task, "A", Ordinary, 1, 2)
	h := b.begin(t, Start)
	tree.Change(b.task, h, 0)
	h.End(b.task)
	block := tree.root.Load(b.task, kernel.Once)
	image, started := block.lockForWrite(b.task, Background)
	if !started || image.value != 1 {
		t.Fatalf("%v, %+v", started, image)
	}
	if _, started := block.lockForWrite(b.task, Background); started {
		t.Error("a block is written by two")
	}
	waiting := b.task.Go("commit", func(task *kernel.Task) {
		h, _ := b.fs.Begin(task, Join)
		if _, err := h.Commit(task); err != nil {
			t.Error(err)
		}
	})
	block.complete(b.task, image)
	b.task.Join(waiting)
	b.unmount(t, nil)
}

// Many tasks change, end and commit while others write back, and nothing is lost.
func TestStress(t *testing.T) {
	const tasks, rounds, leaves = 4, 150, 8
	for _, p := range append(policies(), Policy{Track: TrackClock, Slots: 4, Count: CountAtomic, OverwriteInPlace: true}) {
		b := newBench(p)
		tree := b.fs.NewTree(b.task, "T", Ordinary, leaves, 2)
		log := b.fs.NewTree(b.task, "L", Log, 1, 2)
		var wait sync.WaitGroup
		for n := range tasks {
			wait.Go(func() {
				task := b.world.NewTask("writer")
				for i := range rounds {
					h, err := b.fs.Begin(task, Kind(1+i%2))
					if err != nil {
						t.Errorf("begin: %v", err)
						return
					}
					tree.Change(task, h, (n+i)%leaves)
					tree.Change(task, h, (3*n+i)%leaves)
					switch (n + i) % 9 {
					case 0:
						if _, err := h.Commit(task); err != nil {
							t.Errorf("commit: %v", err)
							return
						}
						continue
					case 1:
						log.Change(task, h, 0)
						b.fs.Sync(task, log)
					case 2, 3:
						b.fs.WriteBack(task)
					}
					h.End(task)
				}
			})
		}
		wait.Wait()
		sum := 0
		for _, value := range tree.root.Load(b.task, kernel.Once).values() {
			sum += value
		}
		if sum != 2*tasks*rounds {
			t.Errorf("%+v: %d changes are left of %d", p, sum, 2*tasks*rounds)
		}
		b.unmount(t, nil)
	}
}
