package evict

import (
	"sync"
	"testing"

	"benign/impl/kernel"
)

func TestIdleInodeStaysUntilUnmount(t *testing.T) {
	forEachMode(t, func(t *testing.T, b *bench) {
		inode := Create(b.task, b.root, 257)
		b.cache(inode)
		if got := inode.State(b.task); got != 0 {
			t.Errorf("a new inode has the flags %v", got)
		}
		inode.Put(b.task)
		if b.find(257) != inode {
			t.Fatal("an idle inode with a name has gone")
		}
		for range 2 { // idle, in use, idle again
			if !inode.Grab(b.task) {
				t.Fatal("an idle inode cannot be grabbed")
			}
			inode.Put(b.task)
		}
		b.unmount(t)
	})
}

func TestUnlinkedInodeGoesWithItsLastReference(t *testing.T) {
	forEachMode(t, func(t *testing.T, b *bench) {
		inode := Create(b.task, b.root, 257)
		b.cache(inode)
		inode.Grab(b.task)
		inode.Unlink(b.task)
		inode.Put(b.task)
		if b.find(257) != inode {
			t.Fatal("the inode has gone while it was in use")
		}
		inode.Put(b.task)
		if b.find(257) != nil || inode.Alive() {
			t.Error("the inode has survived its last reference")
		}
		if n := b.mount.Filesystem.Evictable.Load(b.task, kernel.Once); n != 0 {
			t.Errorf("%d extent maps are left", n)
		}
		b.unmount(t)
	})
}

// An inode that was idle once, so that the cache may have a reference, goes
// like any other when it has lost its name.
func TestCachedInodeGoesWhenUnlinked(t *testing.T) {
	forEachMode(t, func(t *testing.T, b *bench) {
		inode := Create(b.task, b.root, 257)
		inode.Put(b.task)
		inode.Grab(b.task)
		inode.Unlink(b.task)
		inode.Put(b.task)
		if inode.Alive() {
			t.Error("the inode has survived its last reference")
		}
		b.unmount(t)
	})
}

func TestNobodyGrabsAnInodeThatGoes(t *testing.T) {
	for _, flag := range []State{WillFree, Freeing} {
		b := newBench(GrabByFlags)
		inode := Create(b.task, b.root, 257)
		inode.state |= flag
		if inode.Grab(b.task) {
			t.Errorf("an inode with the flag %d was grabbed", flag)
		}
	}
	b := newBench(GrabByCount)
	inode := Create(b.task, b.root, 257)
	inode.count.Store(b.task, kernel.Once, 0)
	if inode.Grab(b.task) {
		t.Error("an inode with the count zero was grabbed")
	}
}

func TestPutTooOften(t *testing.T) {
	forEachMode(t, func(t *testing.T, b *bench) {
		inode := Create(b.task, b.root, 257)
		inode.Put(b.task)
		if got := violation(func() { inode.Put(b.task) }); got != kernel.ReferenceUnderflow {
			t.Errorf("got %v, want a reference underflow", got)
		}
	})
}

func TestPutMaySleep(t *testing.T) {
	b := newBench(GrabByFlags)
	inode := Create(b.task, b.root, 257)
	inode.Maps.Lock.Lock(b.task)
	if got := violation(func() { inode.Put(b.task) }); got != kernel.SleepWhileSpinning {
		t.Errorf("got %v, want a sleep under a spinning lock", got)
	}
}

func TestDeactivateLeavesInodesInUseToTheirUsers(t *testing.T) {
	forEachMode(t, func(t *testing.T, b *bench) {
		used, idle := Create(b.task, b.root, 257), Create(b.task, b.root, 258)
		idle.Put(b.task)
		b.mount.Deactivate(b.task)
		if !used.Alive() || idle.Alive() {
			t.Errorf("used alive %v, idle alive %v", used.Alive(), idle.Alive())
		}
		used.Put(b.task)
		if used.Alive() {
			t.Error("the last user of an unmounted filesystem has left its inode")
		}
		b.unmount(t)
	})
}

func TestNewInodesAreNotIdle(t *testing.T) {
	b := newBench(GrabByFlags)
	inode := Create(b.task, b.root, 257)
	inode.Put(b.task)
	inode.state |= New
	b.mount.Deactivate(b.task)
	if !inode.Alive() {
		t.Fatal("an inode was evicted while it was being created")
	}
	inode.state &^= New
	b.unmount(t)
}

// Two inodes may have one number for a moment. The old one must not take the
// new one out of the index.
func TestEvictionSparesItsSuccessor(t *testing.T) {
	forEachMode(t, func(t *testing.T, b *bench) {
		old := Create(b.task, b.root, 257)
		old.Unlink(b.task)
		successor := Create(b.task, b.root, 257)
		old.Put(b.task)
		if b.find(257) != successor {
			t.Error("the successor is not in the index any more")
		}
		successor.Put(b.task)
		b.unmount(t)
	})
}

// Whoever asks for a number gets the inode that has it, idle or in use, and another
// one only when that has gone.
func TestGet(t *testing.T) {
	forEachMode(t, func(t *testing.T, b *bench) {
		inode := Get(b.task, b.root, 257)
		if again := Get(b.task, b.root, 257); again != inode {
			t.Error("an inode in use has a double")
		}
		inode.Put(b.task)
		inode.Put(b.task)
		if idle := Get(b.task, b.root, 257); idle != inode || b.find(257) != inode {
			t.Error("an idle inode has a double")
		}
		if n := b.root.evictIdle(b.task); n != 0 {
			t.Errorf("%d inodes in use were evicted", n)
		}
		inode.Put(b.task)
		if n := b.root.evictIdle(b.task); n != 1 || inode.Alive() {
			t.Errorf("%d inodes were evicted, and it is alive: %v", n, inode.Alive())
		}
		next := Get(b.task, b.root, 257)
		if next == inode || b.find(257) != next {
			t.Error("the number has no new inode")
		}
		next.Put(b.task)
		b.unmount(t)
	})
}

// Who asks for the number of an inode that is on its way out waits for its end.
func TestGetWaitsForAnEviction(t *testing.T) {
	for name, forget := range map[string]func(*kernel.Task, *Inode){"unhash first": unhashFirst, "erase first": eraseFirst} {
		t.Run(name, func(t *testing.T) {
			b := newBench(GrabByFlags)
			b.mount.forget = forget
			old := Get(b.task, b.root, 257)
			old.state |= Freeing
			var next *Inode
			opener := b.task.Go("opener", func(task *kernel.Task) { next = Get(task, b.root, 257) })
			old.evict(b.task)
			b.task.Join(opener)
			if next == nil || next == old || b.find(257) != next {
				t.Errorf("got %v, and the index has %v", next, b.find(257))
			}
			next.Put(b.task)
			b.unmount(t)
		})
	}
}

// An unlinked inode takes what is on disk along, if there is room to do that.
func TestEvictionDeletesItems(t *testing.T) {
	for _, c := range []struct {
		name         string
		unlink       bool
		room, pinned int
		want         int // room after a commit
	}{
		{"a file with a name", false, 1, 0, 1},
		{"a file without", true, 1, 0, 2},
		{"room comes with a commit", true, 0, 1, 2},
		{"no room", true, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(GrabByFlags)
			b.mount.StartTransactions(b.task, c.room)
			h, err := b.mount.Transactions.Join(b.task)
			if err != nil {
				t.Fatal(err)
			}
			h.Pin(b.task, c.pinned)
			h.End(b.task)
			inode := Create(b.task, b.root, 257)
			if c.unlink {
				inode.Unlink(b.task)
			}
			inode.Put(b.task)
			if err := b.mount.Transactions.Sync(b.task); err != nil {
				t.Error(err)
			}
			if room := b.mount.Transactions.Room(b.task); room != c.want {
				t.Errorf("room for %d, want %d", room, c.want)
			}
			b.unmount(t)
		})
	}
}

// The fault that is planted needs no race with the machine's memory, only the wrong
// order.
func TestWipingTakesTheSuccessorAlong(t *testing.T) {
	b := newBench(GrabByFlags)
	old := Get(b.task, b.root, 257)
	old.unhash(b.task)
	next := Get(b.task, b.root, 257)
	unhashThenWipe(b.task, old)
	if b.find(257) != nil || !next.Alive() {
		t.Errorf("the index has %v", b.find(257))
	}
}

func TestCleanerDropsTheLastReferenceLater(t *testing.T) {
	forEachMode(t, func(t *testing.T, b *bench) {
		inode := Create(b.task, b.root, 257)
		inode.Grab(b.task)
		inode.Unlink(b.task)
		b.mount.Cleaner.Put(b.task, inode)
		if n := b.mount.Cleaner.Run(b.task); n != 0 {
			t.Errorf("the cleaner had %d references, though another one was left", n)
		}
		b.mount.Cleaner.Put(b.task, inode)
		if !inode.Alive() {
			t.Fatal("the inode was evicted right away")
		}
		inode.Grab(b.task) // somebody else comes, and goes first
		b.mount.Cleaner.Put(b.task, inode)
		if n := b.mount.Cleaner.Run(b.task); n != 1 || inode.Alive() {
			t.Errorf("the cleaner dropped %d references, and the inode is alive: %v", n, inode.Alive())
		}
		b.unmount(t)
	})
}

func TestNextRoot(t *testing.T) {
	b := newBench(GrabByFlags)
	dying := b.mount.NewRoot(b.task, 7, false)
	dying.references.Put(b.task) // the last one, but it is still in the mount
	for _, c := range []struct {
		from, number uint64
		root         *Root
		found        bool
	}{
		{0, 5, b.root, true},
		{5, 5, b.root, true},
		{6, 7, nil, true},
		{8, 0, nil, false},
	} {
		number, root, found := b.mount.NextRoot(b.task, c.from)
		if number != c.number || root != c.root || found != c.found {
			t.Errorf("from %d: got %d, %v, %v", c.from, number, root, found)
		}
	}
}

func TestGrabModeMustBeChosen(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the invalid mode was accepted")
		}
	}()
	newBench(GrabMode(0))
}

func TestGrabModeString(t *testing.T) {
	for mode, want := range map[GrabMode]string{0: "invalid", GrabByFlags: "flags", GrabByCount: "count only", 9: "invalid"} {
		if got := mode.String(); got != want {
			t.Errorf("%d prints as %q, want %q", mode, got, want)
		}
	}
}

// Walkers grab inodes under the lock of the index while their users unlink
// them, drop them and create new ones under the same number.
func TestWalkersAndUsers(t *testing.T) {
	const users, walkers, rounds, numbers = 3, 2, 200, 2
	forEachMode(t, func(t *testing.T, b *bench) {
		var wait sync.WaitGroup
		for n := range users {
			wait.Go(func() {
				task := b.world.NewTask("user")
				for i := range rounds {
					inode := Create(task, b.root, uint64(257+(n+i)%numbers))
					inode.Unlink(task)
					inode.Put(task)
				}
			})
		}
		for range walkers {
			wait.Go(func() {
				task := b.world.NewTask("walker")
				for i := range rounds {
					b.root.Inodes.Lock(task)
					inode := b.root.Inodes.Load(task, uint64(257+i%numbers))
					grabbed := inode != nil && inode.Grab(task)
					b.root.Inodes.Unlock(task)
					switch {
					case grabbed && i%2 == 0:
						b.mount.Cleaner.Put(task, inode)
					case grabbed:
						inode.Put(task)
					}
					if i%8 == 0 {
						b.mount.Cleaner.Run(task)
					}
				}
			})
		}
		wait.Wait()
		b.unmount(t)
	})
}
