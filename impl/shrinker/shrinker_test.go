package shrinker

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"benign/impl/evict"
	"benign/impl/extentmap"
	"benign/impl/kernel"
)

// visited renders a report as root/inode:dropped for each visit.
func visited(r Report) []string {
	visits := []string{}
	for _, v := range r.Visits {
		visits = append(visits, fmt.Sprintf("%d/%d:%d", v.Root, v.Inode, len(v.Dropped)))
	}
	return visits
}

func TestRunsGoOnWhereTheLastOneStopped(t *testing.T) {
	type step struct {
		budget      int64
		want        []string
		root, inode uint64 // the cursors afterwards
	}
	for _, c := range []struct {
		name   string
		first  []int // maps of the inodes of root 5
		second []int // and of root 9
		steps  []step
	}{
		{"one run for all", []int{2, 0, 1}, []int{3}, []step{
			{100, []string{"5/257:2", "5/259:1", "9/257:3"}, 10, 0},
			{100, []string{}, 10, 0},
		}},
		{"budget ends inside an inode", []int{3}, nil, []step{
			{2, []string{"5/257:2"}, 5, 257},
			{100, []string{"5/257:1"}, 10, 0}, // after the wrap
		}},
		{"budget ends with a root", []int{1, 1}, []int{1}, []step{
			{2, []string{"5/257:1", "5/258:1"}, 5, 258},
			{2, []string{"9/257:1"}, 10, 0},
		}},
		{"one at a time", []int{1, 1}, []int{1}, []step{
			{1, []string{"5/257:1"}, 5, 257},
			{1, []string{"5/258:1"}, 5, 258},
			{1, []string{"9/257:1"}, 9, 257},
			{1, []string{}, 10, 0},
		}},
		{"nothing there", nil, nil, []step{{5, []string{}, 10, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			forEachPolicy(t, func(t *testing.T, p Policy) {
				b := newBench(p)
				b.root(5, true, c.first...)
				b.root(7, false, 2) // holds no files
				b.root(9, true, c.second...)
				for i, s := range c.steps {
					report := b.shrinker.Run(b.task, s.budget)
					if got := visited(report); !slices.Equal(got, s.want) {
						t.Errorf("run %d: visited %v, want %v", i, got, s.want)
					}
					if report.Scanned > s.budget {
						t.Errorf("run %d: scanned %d of %d", i, report.Scanned, s.budget)
					}
					if root, inode := b.shrinker.Cursors(b.task); root != s.root || inode != s.inode {
						t.Errorf("run %d: cursors %d/%d, want %d/%d", i, root, inode, s.root, s.inode)
					}
				}
				if n := b.maps(7, firstInode); n != 2 {
					t.Errorf("the root without files has %d maps left of 2", n)
				}
				b.unmount(t)
			})
		})
	}
}

func TestPinnedMapsStayAndCount(t *testing.T) {
	b := newBench(Patched)
	inode := b.inode(b.root(5, true), firstInode)
	insert(b.task, inode, inFlight(0), true)
	insert(b.task, inode, block(1), false)
	insert(b.task, inode, block(2), false)
	report := b.shrinker.Run(b.task, 2)
	if report.Scanned != 2 || report.Dropped() != 1 {
		t.Errorf("scanned %d and dropped %d, want 2 and 1", report.Scanned, report.Dropped())
	}
	b.shrinker.Run(b.task, everything)
	if left := inode.Maps.Snapshot(b.task); len(left) != 1 || !left[0].Flags.Has(extentmap.Pinned) {
		t.Errorf("left are %v", left)
	}
	b.unmount(t)
}

func TestFullSyncIsAnnouncedWhenItMustBe(t *testing.T) {
	for _, c := range []struct {
		name     string
		mapping  extentmap.Mapping
		modified bool
		want     bool
	}{
		{"committed", block(0), false, false},
		{"committed, still listed", block(0), true, false},
		{"running transaction, logged", written(0), false, false},
		{"running transaction, listed", written(0), true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(Patched)
			inode := b.inode(b.root(5, true), firstInode)
			insert(b.task, inode, c.mapping, c.modified)
			report := b.shrinker.Run(b.task, 1)
			flag := inode.Maps.FullSync.Load(b.task, kernel.Once) != 0
			if flag != c.want || len(report.Visits) != 1 || report.Visits[0].FullSync != c.want {
				t.Errorf("full-sync %v, report %+v, want %v", flag, report, c.want)
			}
			b.unmount(t)
		})
	}
}

func TestBusyInodesAreSkipped(t *testing.T) {
	forEachPolicy(t, func(t *testing.T, p Policy) {
		b := newBench(p)
		b.root(5, true, 1, 1)
		other := b.world.NewTask("other")
		tree := &b.inodes[place{5, 257}].Maps
		tree.Lock.RLock(other)
		if got := visited(b.shrinker.Run(b.task, everything)); !slices.Equal(got, []string{"5/258:1"}) {
			t.Errorf("with a busy tree: visited %v", got)
		}
		tree.Lock.RUnlock(other)
		tree.MmapLock.Lock(other)
		report := b.shrinker.Run(b.task, everything)
		if len(report.Visits) == 0 || report.Dropped() != 0 || report.Scanned != 0 {
			t.Errorf("with a busy mmap lock: %+v", report)
		}
		tree.MmapLock.Unlock(other)
		if got := b.shrinker.Run(b.task, everything).Dropped(); got != 1 {
			t.Errorf("the skipped inode lost %d maps when it was not busy any more, want 1", got)
		}
		b.unmount(t)
	})
}

// The read without the lock is what keeps the patched walk from touching the
// lock of an empty tree.
func TestEmptyTreesAreNotLocked(t *testing.T) {
	for policy, want := range map[Policy]int{Base: 3, Patched: 1} { // of three inodes
		b := newBench(policy)
		b.root(5, true, 0, 1, 0)
		tries := 0
		lockTree := b.shrinker.steps.lockTree
		b.shrinker.steps.lockTree = func(t *kernel.Task, tree *extentmap.Tree) bool {
			tries++
			return lockTree(t, tree)
		}
		b.shrinker.Run(b.task, everything)
		if tries != want {
			t.Errorf("%v: %d tree locks were tried, want %d", policy.Read, tries, want)
		}
		b.unmount(t)
	}
}

func TestScanWantsAMap(t *testing.T) {
	b := newBench(Policy{ReadUnlockedOnly, IputPlain, RunByWorker})
	b.root(5, true, 0)
	b.shrinker.steps.looksEmpty = cannotTell
	if got := outcome(func() { b.shrinker.Run(b.task, 1) }); got != kernel.Crash {
		t.Errorf("an empty tree was scanned, which ended in %v, want a crash", got)
	}
}

func TestCountIsNeverNegative(t *testing.T) {
	b := newBench(Patched)
	b.root(5, true, 2)
	if got := b.shrinker.Count(b.task); got != 2 {
		t.Errorf("%d maps are counted, want 2", got)
	}
	b.mount.Filesystem.Evictable.Add(b.task, kernel.Once, -5)
	if got := b.shrinker.Count(b.task); got != 0 {
		t.Errorf("%d maps are counted, want 0", got)
	}
	b.mount.Filesystem.Evictable.Add(b.task, kernel.Once, 5)
	b.unmount(t)
}

func TestRequestsDuringARunAreDropped(t *testing.T) {
	b := newBench(Patched)
	b.root(5, true, 2)
	entered, leave := make(chan struct{}), make(chan struct{})
	b.shrinker.steps.scan = func(s *Shrinker, t *kernel.Task, inode *evict.Inode, r *run) {
		close(entered)
		<-leave
		s.scanInode(t, inode, r)
	}
	if !b.shrinker.Request(b.task, 1) {
		t.Error("the first request was dropped")
	}
	<-entered
	if b.shrinker.Request(b.task, 1) {
		t.Error("a request was accepted while one was being served")
	}
	if b.shrinker.Idle(b.task) {
		t.Error("the shrinker says that it is idle while it runs")
	}
	close(leave)
	b.shrinker.work.Flush(b.task)
	b.shrinker.steps.scan = (*Shrinker).scanInode
	if !b.shrinker.Idle(b.task) || b.maps(5, firstInode) != 1 {
		t.Errorf("idle %v, %d maps left, want 1", b.shrinker.Idle(b.task), b.maps(5, firstInode))
	}
	if !b.shrinker.Request(b.task, 1) {
		t.Error("a request was dropped though none was being served")
	}
	b.shrinker.work.Flush(b.task)
	b.unmount(t)
}

func TestRequestsNeverRunTogether(t *testing.T) {
	b := newBench(Patched)
	b.root(5, true, 3, 3, 3)
	var inside, most, accepted atomic.Int32
	b.shrinker.steps.scan = func(s *Shrinker, t *kernel.Task, inode *evict.Inode, r *run) {
		most.Store(max(most.Load(), inside.Add(1)))
		s.scanInode(t, inode, r)
		inside.Add(-1)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			task := b.world.NewTask("allocator")
			for range 200 {
				if b.shrinker.Request(task, 1) {
					accepted.Add(1)
				}
			}
		})
	}
	wait.Wait()
	b.shrinker.work.Flush(b.task)
	if most.Load() != 1 || accepted.Load() == 0 || !b.shrinker.Idle(b.task) {
		t.Errorf("%d runs at once, %d accepted, idle %v", most.Load(), accepted.Load(), b.shrinker.Idle(b.task))
	}
	b.unmount(t)
}

func TestClosingEndsARun(t *testing.T) {
	b := newBench(Patched)
	b.root(5, true, 3, 3)
	var inWorker func()
	b.shrinker.steps.keep = func(e *extentmap.Entry) bool {
		inWorker()
		return isPinned(e)
	}
	inWorker = func() { b.shrinker.closing.Store(b.task, kernel.Once, 1) }
	if report := b.shrinker.Run(b.task, everything); report.Scanned != 1 {
		t.Errorf("%d maps were scanned after the teardown began, want 1", report.Scanned)
	}
	if report := b.shrinker.Run(b.task, everything); len(report.Visits) != 0 {
		t.Errorf("a run after the teardown has visited %v", visited(report))
	}
	b.unmount(t)
}

func TestDelayedIputIsLeftToTheCleaner(t *testing.T) {
	b := newBench(Policy{ReadUnlocked, IputDelayed, RunByWorker})
	b.root(5, true, 2)
	inode := b.inodes[place{5, firstInode}]
	delete(b.inodes, place{5, firstInode})
	inode.Unlink(b.task)
	b.shrinker.steps.scan = func(s *Shrinker, t *kernel.Task, inode *evict.Inode, r *run) {
		s.scanInode(t, inode, r)
		inode.Maps.Lock.Unlock(t)
		inode.Put(t) // the user goes while the worker has a reference
		inode.Maps.Lock.Lock(t)
	}
	b.shrinker.Run(b.task, 1)
	if !inode.Alive() {
		t.Fatal("the worker has evicted the inode")
	}
	if n := b.mount.Cleaner.Run(b.task); n != 1 || inode.Alive() {
		t.Errorf("the cleaner has dropped %d references, and the inode is alive: %v", n, inode.Alive())
	}
	b.unmount(t)
}

// Callers run for themselves, as many at once as there are, and nobody is turned
// away.
func TestCallersRun(t *testing.T) {
	const callers, rounds = 4, 50
	b := newBench(Policy{ReadUnlocked, IputDelayed, RunByCaller})
	root := b.root(5, true, 3, 0, 3)
	var wait sync.WaitGroup
	for n := range callers {
		wait.Go(func() {
			task := b.world.NewTask("caller")
			inode := b.inodes[place{root.Number(), firstInode + uint64(n%3)}]
			for i := range rounds {
				adopt(inode, block(uint64(n*rounds+i))).Run(task)
				if !b.shrinker.Request(task, int64(1+i%3)) {
					t.Error("a caller was turned away")
				}
			}
		})
	}
	wait.Wait()
	if b.shrinker.Request(b.task, everything); b.unpinned() != 0 || !b.shrinker.Idle(b.task) {
		t.Errorf("%d maps are left, and the worker is idle: %v", b.unpinned(), b.shrinker.Idle(b.task))
	}
	b.unmount(t)
}

func TestPolicyMustBeChosen(t *testing.T) {
	for _, p := range []Policy{
		{}, {Read: ReadLocked}, {Iput: IputDelayed}, {Read: 9, Iput: IputPlain, Run: RunByWorker},
		{Read: ReadLocked, Iput: 9, Run: RunByWorker}, {Read: ReadLocked, Iput: IputPlain},
	} {
		if got := outcome(func() { newBench(p) }); got != kernel.Crash {
			t.Errorf("the policy %+v was accepted", p)
		}
	}
}

func TestPoliciesAsText(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Read(0).String(), "invalid"}, {ReadLocked.String(), "base"}, {ReadUnlocked.String(), "patched"},
		{ReadUnlockedOnly.String(), "patched without re-check"},
		{Iput(0).String(), "invalid"}, {IputPlain.String(), "plain"}, {IputDelayed.String(), "delayed"},
		{Runner(0).String(), "invalid"}, {RunByWorker.String(), "by the worker"}, {RunByCaller.String(), "by the caller"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
