package shrinker

import (
	"errors"
	"testing"

	"go.uber.org/goleak"

	"benign/impl/evict"
	"benign/impl/kernel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a native world with a mounted filesystem, inodes that are in use,
// and a shrinker.
type bench struct {
	world    *kernel.World
	task     *kernel.Task
	mount    *evict.Mount
	shrinker *Shrinker
	inodes   map[place]*evict.Inode // by the numbers of root and inode
}

func newBench(p Policy) *bench {
	b := &bench{world: kernel.NewWorld(kernel.Options{}), inodes: make(map[place]*evict.Inode)}
	b.task = b.world.NewTask("test")
	b.mount = evict.NewMount(b.task, transaction, evict.GrabByFlags)
	b.shrinker = New(b.task, b.mount, p)
	return b
}

// root adds a root whose inodes, from firstInode on, have the given numbers of
// extent maps.
func (b *bench) root(number uint64, fileTree bool, maps ...int) *evict.Root {
	r := b.mount.NewRoot(b.task, number, fileTree)
	for i, n := range maps {
		inode := b.inode(r, firstInode+uint64(i))
		for m := range n {
			insert(b.task, inode, block(uint64(m)), false)
		}
	}
	return r
}

func (b *bench) inode(r *evict.Root, number uint64) *evict.Inode {
	inode := evict.Create(b.task, r, number)
	b.inodes[place{r.Number(), number}] = inode
	return inode
}

// maps returns how many extent maps an inode has.
func (b *bench) maps(root, inode uint64) int {
	return len(b.inodes[place{root, inode}].Maps.Snapshot(b.task))
}

// unmount must leave nothing behind.
func (b *bench) unmount(t *testing.T) {
	t.Helper()
	for _, inode := range b.inodes {
		inode.Put(b.task)
	}
	b.mount.Cleaner.Run(b.task)
	b.mount.Deactivate(b.task)
	b.shrinker.Close(b.task)
	b.shrinker.Object.Free(b.task)
	b.mount.Destroy(b.task)
	if live := b.world.LiveObjects(); live != 0 {
		t.Errorf("%d objects have survived the unmount", live)
	}
}

// outcome runs f and returns what ended it: a violation, a crash, or nothing.
func outcome(f func()) (kind kernel.ViolationKind) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		kind = kernel.Crash
		var v *kernel.Violation
		if err, ok := r.(error); ok && errors.As(err, &v) {
			kind = v.Kind
		}
	}()
	f()
	return 0
}

// forEachPolicy runs a test with the form before the patch and with those that
// are safe after it.
func forEachPolicy(t *testing.T, test func(t *testing.T, p Policy)) {
	for _, p := range []Policy{Base, Patched, {ReadUnlocked, IputDelayed, RunByWorker}, {ReadUnlocked, IputDelayed, RunByCaller}} {
		t.Run(p.Read.String()+", iput "+p.Iput.String()+", run "+p.Run.String(), func(t *testing.T) { test(t, p) })
	}
}
