package extentmap

import (
	"strings"
	"sync"
	"testing"

	"benign/impl/kernel"
)

// reader reads the bench's file, whose index says what the mappings say, and
// counts how often it is asked.
func (b *bench) reader(asked *int, index ...Mapping) *Reader {
	return &Reader{Tree: b.tree, Index: func(offset uint64) Mapping {
		*asked++
		for _, m := range index {
			if m.Contains(offset) {
				return m
			}
		}
		panic("nothing is there")
	}}
}

func TestReader(t *testing.T) {
	b, asked := newBench(kernel.Options{}), 0
	first, second := blocksAt(0, 2, 64), compressed(blocksAt(2, 2, 80))
	r := b.reader(&asked, first, second)
	expect := func(n uint64, want Place, times int) {
		t.Helper()
		if got := r.Read(b.task, n*BlockSize); got != want || asked != times {
			t.Errorf("block %d is at %v, want %v; the index was asked %d times, want %d", n, got, want, asked, times)
		}
	}
	expect(0, Place{0, 64 * BlockSize}, 1)
	expect(1, Place{0, 65 * BlockSize}, 1) // by the entry that it keeps
	expect(3, Place{80 * BlockSize, BlockSize}, 2)
	if r.cached.entry.refs.Count(b.task) != 2 {
		t.Error("the entry that was used last is not kept")
	}
	b.tree.DropRange(b.task, second.Start, second.End()-1, false)
	expect(2, Place{80 * BlockSize, 0}, 3) // which has left the tree
	expect(0, Place{0, 64 * BlockSize}, 3)
	r.Close(b.task)
	r.Close(b.task)
	b.tearDown(t)
}

func TestAhead(t *testing.T) {
	b, asked := newBench(kernel.Options{}), 0
	r := b.reader(&asked)
	b.insert(t, compressed(blocksAt(0, 4, 64)), false)
	for offset, want := range map[uint64]uint64{0: 4 * BlockSize, BlockSize: 3 * BlockSize, 4 * BlockSize: 0} {
		if got := r.Ahead(b.task, offset); got != want {
			t.Errorf("%#x bytes from %#x on, want %#x", got, offset, want)
		}
	}
	if asked != 0 || r.cached.entry != nil {
		t.Error("looking ahead has left something behind")
	}
	b.tearDown(t)
}

// Nobody logs an entry that is at rest.
func TestCheckAtRest(t *testing.T) {
	b := newBench(kernel.Options{})
	b.insert(t, blocksAt(0, 1, 64), false)
	if err := b.tree.CheckAtRest(b.task); err != nil {
		t.Error(err)
	}
	e := b.hold(t, 0)
	e.Flags |= Logging
	if err := b.tree.CheckAtRest(b.task); err == nil || !strings.Contains(err.Error(), "is being logged, but by nobody") {
		t.Errorf("an entry that is logged by nobody: %v", err)
	}
	e.Flags &^= Logging
	e.Put(b.task)
	b.tearDown(t)
}

// Readers find every block where it is, while their entries are merged, released
// and cached anew. The race detector watches.
func TestReadersBesideOthers(t *testing.T) {
	const rounds, length = 300, 4
	b := newBench(kernel.Options{Reschedule: true})
	var wait sync.WaitGroup
	for n := range uint64(3) {
		wait.Go(func() {
			task, asked := b.world.NewTask("reader"), 0
			r := &Reader{Tree: b.tree, Index: func(offset uint64) Mapping {
				asked++
				at := offset / BlockSize
				return blocksAt(at, 1, 64+at)
			}}
			for round := range uint64(rounds) {
				at := (round*(n+1) + round/3) % length
				if got, want := r.Read(task, at*BlockSize), (Place{0, (64 + at) * BlockSize}); got != want {
					t.Errorf("block %d is at %v, want %v", at, got, want)
				}
			}
			r.Close(task)
			task.CheckExit()
		})
	}
	wait.Go(func() {
		task := b.world.NewTask("reclaim")
		for range rounds {
			b.tree.ReleaseFolio(task, 0, length*BlockSize, nil)
		}
		task.CheckExit()
	})
	wait.Wait()
	b.tearDown(t)
}
