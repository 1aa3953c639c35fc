package shrinker

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"benign/impl/evict"
	"benign/impl/extentmap"
	"benign/impl/kernel"
	"benign/impl/reclaim"
	"benign/impl/scenario"
	spec "benign/spec/shrinker"
)

const (
	// transaction is the running transaction of every fixture.
	transaction = 7
	// firstRoot and firstInode are the numbers that the kernel begins with.
	firstRoot, firstInode = 5, 257
	// everything is a budget that no fixture can use up.
	everything = 1000
)

// form is one way to build the code under test.
type form struct {
	name   string
	role   scenario.Role
	about  string
	expect scenario.Class
	policy Policy
	grab   evict.GrabMode // the zero value stands for GrabByFlags
	plant  func(*steps)   // puts a fault in, or nil

	allocate reclaim.Context // with a handle of a transaction; the zero value stands for Anything
}

// fixture is a small mounted filesystem with a root, and what the tasks of a
// scenario have in hand.
type fixture struct {
	mount    *evict.Mount
	root     *evict.Root
	shrinker *Shrinker
	form     form

	open    []*evict.Inode        // references that the teardown drops
	initial map[string]spec.Inode // what the set-up has made, by partition

	// What a crash would leave of the first inode. Under the inode's InodeLock.
	disk extentmap.Disk
}

// newFixture mounts an empty filesystem. It runs before the tasks.
func newFixture(t *kernel.Task, f form) *fixture {
	if f.grab == 0 {
		f.grab = evict.GrabByFlags
	}
	if f.allocate == 0 {
		f.allocate = reclaim.Anything
	}
	m := evict.NewMount(t, transaction, f.grab)
	s := New(t, m, f.policy)
	if f.plant != nil {
		f.plant(&s.steps)
	}
	return &fixture{
		mount: m, root: m.NewRoot(t, firstRoot, true), shrinker: s, form: f,
		initial: make(map[string]spec.Inode),
	}
}

// inode creates an inode that somebody has open and caches the mappings in it;
// data that is not committed yet goes on the modified list. It runs before the
// tasks.
func (f *fixture) inode(t *kernel.Task, number uint64, mappings ...extentmap.Mapping) *evict.Inode {
	return f.inodeOf(t, f.root, number, mappings...)
}

// inodeOf is inode for another root. The number is unique among all roots.
func (f *fixture) inodeOf(t *kernel.Task, root *evict.Root, number uint64, mappings ...extentmap.Mapping) *evict.Inode {
	inode := evict.Create(t, root, number)
	f.open = append(f.open, inode)
	f.initial[partition(number)] = specInode(number, mappings)
	for _, m := range mappings {
		insert(t, inode, m, uncommitted(m))
		if uncommitted(m) {
			f.write(m)
		}
	}
	return inode
}

// uncommitted reports whether the data is newer than the last commit.
func uncommitted(m extentmap.Mapping) bool { return m.Generation >= transaction }

// insert caches a mapping in an inode in which nothing maps the range.
func insert(t *kernel.Task, inode *evict.Inode, m extentmap.Mapping, modified bool) {
	e := extentmap.New(t, m)
	inode.Maps.Lock.Lock(t)
	err := inode.Maps.Insert(t, e, modified)
	inode.Maps.Lock.Unlock(t)
	e.Put(t)
	t.Assert(err == nil, "insert: %v", err)
}

// leave takes the reference to the inode out of the hands of the teardown, and
// gives it to a task.
func (f *fixture) leave(inode *evict.Inode) *evict.Inode {
	f.open = slices.DeleteFunc(f.open, func(open *evict.Inode) bool { return open == inode })
	return inode
}

// instance is what every scenario here has in common.
func (f *fixture) instance(tasks ...scenario.Task) *scenario.Instance {
	return &scenario.Instance{
		Tasks:    tasks,
		Check:    f.check,
		Debt:     f.debt,
		Quiesce:  f.quiesce,
		Observe:  f.observe,
		Teardown: f.teardown,
		Spec:     history(f.initial),
	}
}

// each calls visit for every inode of every root, in order. Nothing else may
// run.
func (f *fixture) each(t *kernel.Task, visit func(*evict.Inode)) {
	number, root, found := f.mount.NextRoot(t, 0)
	for found {
		for _, inode := range inodes(t, root) {
			visit(inode)
		}
		root.Put(t)
		number, root, found = f.mount.NextRoot(t, number+1)
	}
}

// inodes returns the inodes of a root.
func inodes(t *kernel.Task, root *evict.Root) []*evict.Inode {
	var all []*evict.Inode
	root.Inodes.Lock(t)
	number, inode, found := root.Inodes.From(t, 0)
	for found {
		all = append(all, inode)
		number, inode, found = root.Inodes.From(t, number+1)
	}
	root.Inodes.Unlock(t)
	return all
}

// check judges every tree, the counter that they share, whether an fsync would
// still find the data that was written, and whether every request is served.
func (f *fixture) check(t *kernel.Task) error {
	err := f.checkMaps(t)
	if !f.shrinker.Idle(t) {
		err = errors.Join(err, errors.New("a request to shrink is never served"))
	}
	return err
}

// checkMaps is check without a look at requests.
func (f *fixture) checkMaps(t *kernel.Task) error {
	f.shrinker.work.Flush(t) // natively the worker may still be at it
	var faults []error
	total := 0
	f.each(t, func(inode *evict.Inode) {
		faults = append(faults, inode.Maps.CheckInvariants(t))
		total += len(inode.Maps.Snapshot(t))
	})
	if evictable := f.mount.Filesystem.Evictable.Load(t, kernel.Once); evictable != int64(total) {
		faults = append(faults, fmt.Errorf("%d extent maps are evictable, but there are %d", evictable, total))
	}
	return errors.Join(append(faults, f.checkWritten(t))...)
}

// checkWritten looks for written data that neither is durable nor will be by
// the next fsync. The data is in the first inode, which must still be open.
func (f *fixture) checkWritten(t *kernel.Task) error {
	if f.disk.Writes() == 0 {
		return nil
	}
	tree := &f.open[0].Maps
	if tree.FullSync.Load(t, kernel.Once) != 0 {
		return f.disk.Check()
	}
	next := tree.Modified(t)
	for _, m := range tree.Snapshot(t) {
		if m.Flags.Has(extentmap.Pinned) {
			next = append(next, m)
		}
	}
	return f.disk.CheckNext(nil, next)
}

// checkGone is check for a filesystem that is unmounted.
func (f *fixture) checkGone(t *kernel.Task) error {
	err := f.check(t)
	f.each(t, func(inode *evict.Inode) {
		err = errors.Join(err, fmt.Errorf("inode %d has survived the unmount", inode.Number(t)))
	})
	return err
}

// watch makes sure that every inode that the shrinker scans is one that nobody
// tears down.
func (f *fixture) watch() {
	scan := f.shrinker.steps.scan
	f.shrinker.steps.scan = func(s *Shrinker, t *kernel.Task, inode *evict.Inode, r *run) {
		t.Assert(inode.State(t)&(evict.WillFree|evict.Freeing) == 0, "%s is scanned while it is torn down", inode.Name())
		scan(s, t, inode, r)
	}
}

// write takes note of data that has been written, and of its being where it
// belongs. The caller holds the inode lock.
func (f *fixture) write(m extentmap.Mapping) {
	f.disk.Write(m)
	f.disk.Store(m)
}

// synced takes note of an fsync that is about to return and looks whether what
// was written would survive a crash now. Where nobody keeps account of writes
// there is nothing to look for. The caller holds the inode lock.
func (f *fixture) synced(t *kernel.Task, logged []extentmap.Mapping, full bool) {
	writes := f.disk.Writes()
	if writes == 0 {
		return
	}
	for _, m := range logged {
		f.disk.Log(m)
	}
	if full {
		f.disk.LogWrites()
	}
	err := f.disk.Vouch(writes)
	t.Assert(err == nil, "fsync returns: %v", err)
}

// debt counts the extent maps that a scan with nobody in its way would free.
func (f *fixture) debt(t *kernel.Task) int {
	unpinned := 0
	f.each(t, func(inode *evict.Inode) {
		for _, m := range inode.Maps.Snapshot(t) {
			if !m.Flags.Has(extentmap.Pinned) {
				unpinned++
			}
		}
	})
	return unpinned
}

// quiesce is one full scan, and one turn of the cleaner.
func (f *fixture) quiesce(t *kernel.Task) bool {
	dropped := f.shrinker.Run(t, everything).Dropped()
	return f.mount.Cleaner.Run(t)+dropped > 0
}

// observe describes every inode: its maps, those that wait for an fsync, and
// its full-sync flag.
func (f *fixture) observe(t *kernel.Task) string {
	var b strings.Builder
	f.each(t, func(inode *evict.Inode) {
		fmt.Fprintf(&b, "inode %d maps %v modified %v full-sync %d\n", inode.Number(t),
			inode.Maps.Snapshot(t), inode.Maps.Modified(t), inode.Maps.FullSync.Load(t, kernel.Once))
	})
	root, inode := f.shrinker.Cursors(t)
	fmt.Fprintf(&b, "cursors root %d inode %d", root, inode)
	return b.String()
}

// later serves a request when the tasks have ended, and no other can be started.
func (f *fixture) later(s *Shrinker, t *kernel.Task, n int64) bool {
	if f.form.policy.Run == RunByCaller {
		return s.runHere(t, n)
	}
	accepted := s.accept(t, n)
	if accepted {
		s.worker(t)
	}
	return accepted
}

// teardown unmounts the filesystem, after which nothing may be left.
func (f *fixture) teardown(t *kernel.Task) {
	for _, inode := range f.open {
		inode.Put(t)
	}
	f.mount.Cleaner.Run(t)
	f.mount.Deactivate(t)
	f.shrinker.Close(t)
	f.shrinker.Object.Free(t)
	f.mount.Destroy(t)
}
