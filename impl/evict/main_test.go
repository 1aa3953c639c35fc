package evict

import (
	"errors"
	"testing"

	"go.uber.org/goleak"

	"benign/impl/extentmap"
	"benign/impl/kernel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var modes = []GrabMode{GrabByFlags, GrabByCount}

// forEachMode runs a test with both ways to keep i_count.
func forEachMode(t *testing.T, test func(t *testing.T, b *bench)) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) { test(t, newBench(mode)) })
	}
}

// bench is a native world with a mounted filesystem and one root.
type bench struct {
	world *kernel.World
	task  *kernel.Task
	mount *Mount
	root  *Root
}

func newBench(mode GrabMode) *bench {
	b := &bench{world: kernel.NewWorld(kernel.Options{})}
	b.task = b.world.NewTask("test")
	b.mount = NewMount(b.task, 7, mode)
	b.root = b.mount.NewRoot(b.task, 5, true)
	return b
}

// cache puts an extent map of one block into the inode.
func (b *bench) cache(i *Inode) {
	i.Maps.InsertOrAdopt(b.task, extentmap.Mapping{
		Len: extentmap.BlockSize, DiskBytenr: extentmap.BlockSize,
		DiskNumBytes: extentmap.BlockSize, RAMBytes: extentmap.BlockSize,
	}, 0).Put(b.task)
}

// find looks an inode up in the index.
func (b *bench) find(number uint64) *Inode {
	b.root.Inodes.Lock(b.task)
	defer b.root.Inodes.Unlock(b.task)
	return b.root.Inodes.Load(b.task, number)
}

// unmount must leave nothing behind.
func (b *bench) unmount(t *testing.T) {
	t.Helper()
	b.mount.Cleaner.Run(b.task)
	b.mount.Deactivate(b.task)
	b.mount.Destroy(b.task)
	if live := b.world.LiveObjects(); live != 0 {
		t.Errorf("%d objects have survived the unmount", live)
	}
}

// violation runs f and returns the kind of violation that ended it, or zero.
func violation(f func()) (kind kernel.ViolationKind) {
	defer func() {
		var v *kernel.Violation
		if err, ok := recover().(error); ok && errors.As(err, &v) {
			kind = v.Kind
		}
	}()
	f()
	return 0
}
