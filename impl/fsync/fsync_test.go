package fsync

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"benign/impl/extentmap"
	"benign/impl/kernel"
)

// What a crash leaves of four blocks, one call after the other.
func TestAfterCrash(t *testing.T) {
	const old = "0x0:0x10000 0x1000:0x11000 0x2000:0x12000 0x3000:0x13000 "
	m, part := blocks(1, 2, 64), blocks(2, 1, 80)
	for _, c := range []struct {
		name string
		do   func(b *bench)
		want string
	}{
		{"nothing is written", func(b *bench) { b.Fsync(b.task) }, old},
		{"no fsync", func(b *bench) { b.Write(b.task, m) }, old},
		{"written back, no fsync", func(b *bench) { b.Write(b.task, m); b.Writeback(b.task) }, old},
		{"write, fsync", func(b *bench) { b.Write(b.task, m); b.Fsync(b.task) },
			"0x0:0x10000 0x1000:0x40000 0x2000:0x41000 0x3000:0x13000 "},
		{"mmap write, fsync", func(b *bench) { b.MmapWrite(b.task, m); b.Fsync(b.task) },
			"0x0:0x10000 0x1000:0x40000 0x2000:0x41000 0x3000:0x13000 "},
		{"direct write, fsync", func(b *bench) { b.DirectWrite(b.task, m, false); b.Fsync(b.task) },
			"0x0:0x10000 0x1000:0x40000 0x2000:0x41000 0x3000:0x13000 "},
		{"fsync, write", func(b *bench) { b.Fsync(b.task); b.Write(b.task, m) }, old},
		{"write, fsync, write a part", func(b *bench) { b.Write(b.task, m); b.Fsync(b.task); b.settle(b.task); b.Write(b.task, part) },
			"0x0:0x10000 0x1000:0x40000 0x2000:0x41000 0x3000:0x13000 "},
		{"write, write a part, fsync", func(b *bench) { b.Written(b.task, m); b.Write(b.task, part); b.Fsync(b.task) },
			"0x0:0x10000 0x1000:0x40000 0x2000:0x50000 0x3000:0x13000 "},
	} {
		for _, full := range []bool{false, true} {
			b := newBench(kernel.Options{})
			if full {
				b.Maps.FullSync.Store(b.task, kernel.Once, 1)
			}
			c.do(b)
			if got := b.AfterCrash(b.task); got != c.want {
				t.Errorf("%s, full-sync %v: a crash leaves %s, want %s", c.name, full, got, c.want)
			}
			b.tearDown(t)
		}
	}
}

// The long way is gone when the flag says so, and by nobody twice.
func TestFsyncGoesTheLongWay(t *testing.T) {
	b := newBench(kernel.Options{})
	b.Maps.FullSync.Store(b.task, kernel.Once, 1)
	b.Write(b.task, blocks(0, 1, 64))
	if first, second := b.Fsync(b.task), b.Fsync(b.task); !first || second {
		t.Errorf("the long way: %v, then %v", first, second)
	}
	b.tearDown(t)
}

// More extent maps than an fsync is willing to log are an answer of their own.
func TestFsyncGivesUp(t *testing.T) {
	b := newBench(kernel.Options{})
	for n := range uint64(32769) {
		e := extentmap.New(b.task, blocks(2*n, 1, 64+2*n))
		b.Maps.Lock.Lock(b.task)
		err := b.Maps.Insert(b.task, e, true)
		b.Maps.Lock.Unlock(b.task)
		if err != nil {
			t.Fatal(err)
		}
		e.Put(b.task)
	}
	if !b.Fsync(b.task) {
		t.Error("everything was logged")
	}
	if got, want := len(b.disk.Describe()), len("0x0:0x10000 0x1000:0x11000 0x2000:0x12000 0x3000:0x13000 "); got != want {
		t.Errorf("the log has something else than the items: %d bytes to describe it, want %d", got, want)
	}
	b.Free(b.task)
}

// Check notices what an fsync would miss, here by hand.
func TestCheckFails(t *testing.T) {
	m := blocks(1, 2, 64)
	for _, c := range []struct {
		name, fault string
		do          func(b *bench)
	}{
		{"an extent map is lost", "the block at 0x1000 would read 0x11000, and fsync has vouched for 0x40000",
			func(b *bench) { b.Written(b.task, m); b.Maps.DropRange(b.task, m.Start, m.End()-1, false) }},
		{"an extent map of nothing", "would read 0x40000, which was never written",
			func(b *bench) { b.Maps.ReplaceRange(b.task, m, true) }},
		{"a count is off", "1 extent maps are evictable, but there are 0",
			func(b *bench) { b.fs.Evictable.Add(b.task, kernel.Once, 1) }},
	} {
		b := newBench(kernel.Options{})
		c.do(b)
		if err := b.Check(b.task); err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: %v", c.name, err)
		}
		b.Free(b.task)
	}
}

// Many write blocks of their own, in every way, while others make them durable
// and take away what they can. Some allocations fail. Every fsync judges what it
// vouches for; the race detector watches.
func TestEverythingAtOnce(t *testing.T) {
	const rounds = 60
	var allocations atomic.Int64
	b := newBench(kernel.Options{Reschedule: true, FailAllocation: func(string) bool { return allocations.Add(1)%5 == 0 }})
	var wait sync.WaitGroup
	user := func(name string, do func(t *kernel.Task, round uint64)) {
		wait.Go(func() {
			task := b.world.NewTask(name)
			for round := range uint64(rounds) {
				do(task, round)
			}
			task.CheckExit()
		})
	}
	mine := func(user, round uint64) extentmap.Mapping { n := 3*round + user; return blocks(n, 1, 64+n) }
	user("writer", func(t *kernel.Task, round uint64) { b.Write(t, mine(0, round)) })
	user("mapper", func(t *kernel.Task, round uint64) { b.MmapWrite(t, mine(1, round)) })
	user("direct writer", func(t *kernel.Task, round uint64) { b.DirectWrite(t, mine(2, round), false) })
	user("flusher", func(t *kernel.Task, _ uint64) { b.Writeback(t) })
	user("reclaim", func(t *kernel.Task, round uint64) {
		b.Maps.ReleaseFolio(t, round*extentmap.BlockSize, 8*extentmap.BlockSize, nil)
	})
	for range 2 {
		user("fsync", func(t *kernel.Task, _ uint64) { b.Fsync(t) })
	}
	wait.Wait()
	b.Fsync(b.task)
	left := b.AfterCrash(b.task)
	for user := range uint64(3) {
		for round := range uint64(rounds) {
			m := mine(user, round)
			if want := m.PlaceOf(m.Start).String(); !strings.Contains(left, ":"+want+" ") {
				t.Errorf("the block at %#x is not at %s after a crash", m.Start, want)
			}
		}
	}
	b.tearDown(t)
}
