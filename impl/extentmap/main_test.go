package extentmap

import (
	"testing"

	"go.uber.org/goleak"

	"benign/impl/kernel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	kib = uint64(1) << 10
	mib = uint64(1) << 20
)

// inode is the smallest owner of a tree.
type inode struct {
	kernel.Object
	Tree
}

// bench is a world with one filesystem and one counted inode.
type bench struct {
	world *kernel.World
	task  *kernel.Task
	fs    *Filesystem
	inode *inode
	tree  *Tree
}

func newBench(options kernel.Options) *bench {
	b := &bench{world: kernel.NewWorld(options)}
	b.task = b.world.NewTask("test")
	b.fill(7)
	return b
}

func (b *bench) fill(generation uint64) {
	b.fs = NewFilesystem(b.task, generation)
	b.inode = &inode{}
	b.inode.Object.Init(b.task, "inode", b.inode)
	b.tree = &b.inode.Tree
	b.tree.Init(b.task, &b.inode.Object, b.fs, true)
}

// insert puts a mapping into the tree and keeps no reference.
func (b *bench) insert(tb testing.TB, m Mapping, modified bool) {
	tb.Helper()
	e := New(b.task, m)
	if err := b.insertEntry(e, modified); err != nil {
		tb.Fatalf("insert %v: %v", m, err)
	}
	e.Put(b.task)
}

func (b *bench) insertEntry(e *Entry, modified bool) error {
	b.tree.Lock.Lock(b.task)
	err := b.tree.Insert(b.task, e, modified)
	b.tree.Lock.Unlock(b.task)
	return err
}

// hold looks an entry up and keeps the reference.
func (b *bench) hold(tb testing.TB, start uint64) *Entry {
	tb.Helper()
	b.tree.Lock.RLock(b.task)
	e := b.tree.Lookup(b.task, start, 1)
	b.tree.Lock.RUnlock(b.task)
	if e == nil {
		tb.Fatalf("no entry at %#x", start)
	}
	return e
}

func (b *bench) evictable() int64 { return b.fs.Evictable.Load(b.task, kernel.Once) }

func (b *bench) fullSync() bool { return b.tree.FullSync.Load(b.task, kernel.Once) != 0 }

// check fails the test if the tree is not sound.
func (b *bench) check(tb testing.TB) {
	tb.Helper()
	if err := b.tree.CheckInvariants(b.task); err != nil {
		tb.Fatal(err)
	}
}

// tearDown empties the tree and fails the test if anything is left over.
func (b *bench) tearDown(tb testing.TB) {
	tb.Helper()
	b.tree.DropAll(b.task)
	b.check(tb)
	if n := b.evictable(); n != 0 {
		tb.Errorf("%d evictable entries are left", n)
	}
	b.inode.Object.Free(b.task)
	b.fs.Object.Free(b.task)
	if n := b.world.LiveObjects(); n != 0 {
		tb.Errorf("%d objects are left", n)
	}
}

// violation runs f and returns the violation that it ends in, or nil.
func violation(f func()) (v *kernel.Violation) {
	defer func() {
		if r := recover(); r != nil {
			v = r.(*kernel.Violation)
		}
	}()
	f()
	return nil
}
