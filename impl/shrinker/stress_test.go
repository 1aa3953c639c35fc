package shrinker

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"benign/impl/evict"
	"benign/impl/extentmap"
	"benign/impl/kernel"
	"benign/impl/scenario"
	mapspec "benign/spec/extentmap"
)

// stress runs users that each pick operations at random beside a worker that
// scans for as long as they are at it, and judges the histories of all inodes.
// What happens depends on the machine; that it is right must not.
func stress(t *testing.T, f form, operations int, pick ...func(*fixture, *rand.Rand) scenario.Operation) {
	w := kernel.NewWorld(kernel.Options{Reschedule: true})
	setup := w.NewTask("set-up")
	x := newFixture(setup, f)
	for n := range uint64(3) {
		x.inode(setup, firstInode+n)
	}
	r := newRecorder()
	var users, worker sync.WaitGroup
	for client, choose := range pick {
		users.Go(func() {
			task, random := w.NewTask("user"), rand.New(rand.NewPCG(1, uint64(client)))
			for range operations {
				r.run(task, client, choose(x, random))
			}
			task.CheckExit()
		})
	}
	done := make(chan struct{})
	worker.Go(func() {
		task, random := w.NewTask("worker"), rand.New(rand.NewPCG(2, 0))
		for {
			r.run(task, len(pick), x.scan(1+random.Int64N(4)))
			select {
			case <-done:
				return
			default:
			}
		}
	})
	users.Wait()
	close(done)
	worker.Wait()
	i := x.instance()
	r.judge(t, i.Spec)
	settle(t, setup, i)
	i.Teardown(setup)
	if live := w.LiveObjects(); live != 0 {
		t.Errorf("%d objects are left", live)
	}
}

// forEachForm runs a test with every form that is meant to be safe.
func forEachForm(t *testing.T, test func(t *testing.T, f form)) {
	for _, f := range []form{base, patched, delayedIput, countOnly, tolerantScan} {
		t.Run(f.name, func(t *testing.T) { test(t, f) })
	}
}

// readOrDrop is what readers and writers of committed data do.
func readOrDrop(f *fixture, random *rand.Rand) scenario.Operation {
	inode, m := f.open[random.IntN(len(f.open))], block(random.Uint64N(3))
	switch random.IntN(3) {
	case 0:
		return lookup(inode, m.Start, m.Len)
	case 1:
		return drop(inode, m.Start, m.End())
	}
	return adopt(inode, m)
}

func TestReadersAndShrinker(t *testing.T) {
	forEachForm(t, func(t *testing.T, f form) {
		stress(t, f, 150, readOrDrop, readOrDrop)
	})
}

// writeOrDrop is what writers do to data that an fsync will want.
func writeOrDrop(f *fixture, random *rand.Rand) scenario.Operation {
	inode, m := f.open[random.IntN(len(f.open))], written(random.Uint64N(3))
	if random.IntN(2) == 0 {
		return drop(inode, m.Start, m.End())
	}
	return write(inode, m)
}

// fsyncAny is what makes it durable.
func fsyncAny(f *fixture, random *rand.Rand) scenario.Operation {
	return f.fsync(f.open[random.IntN(len(f.open))])
}

// write caches a mapping that the next fsync has to log, unless the range is
// mapped already.
func write(inode *evict.Inode, m extentmap.Mapping) scenario.Operation {
	return operation(fmt.Sprintf("write(%#x,%#x)", m.Start, m.End()), func(t *kernel.Task) scenario.Result {
		e := extentmap.New(t, m)
		inode.Maps.Lock.Lock(t)
		out := mapspec.Output{Status: mapspec.Done}
		if err := inode.Maps.Insert(t, e, true); err != nil {
			out.Status = mapspec.Exists
		}
		inode.Maps.Lock.Unlock(t)
		e.Put(t)
		in := mapspec.Input{Op: mapspec.OpInsert, New: specEntry(m), Modified: true}
		return scenario.Result{Effects: []scenario.Effect{mapEffect(t, inode, in, out)}}
	})
}

func TestWritersFsyncAndShrinker(t *testing.T) {
	forEachForm(t, func(t *testing.T, f form) {
		stress(t, f, 150, writeOrDrop, writeOrDrop, fsyncAny)
	})
}

// Inodes come and go under the worker, which is asked by many at once.
func TestUsersComeAndGo(t *testing.T) {
	const users, rounds = 3, 100
	forEachForm(t, func(t *testing.T, f form) {
		w := kernel.NewWorld(kernel.Options{Reschedule: true})
		setup := w.NewTask("set-up")
		x := newFixture(setup, f)
		var wait sync.WaitGroup
		for n := range uint64(users) {
			wait.Go(func() {
				task := w.NewTask("user")
				for i := range uint64(rounds) {
					inode := evict.Create(task, x.root, firstInode+users*(i%4)+n)
					for b := range i % 3 {
						insert(task, inode, block(b), false)
					}
					x.shrinker.Request(task, 1+int64(i%5))
					inode.Unlink(task)
					inode.Put(task)
					if i%10 == 0 {
						x.mount.Cleaner.Run(task)
					}
				}
			})
		}
		wait.Wait()
		i := x.instance()
		settle(t, setup, i)
		i.Teardown(setup)
		if live := w.LiveObjects(); live != 0 {
			t.Errorf("%d objects are left", live)
		}
	})
}
