package fsync

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"benign/impl/kernel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a native world with one file.
type bench struct {
	world *kernel.World
	task  *kernel.Task
	*File
}

func newBench(options kernel.Options) *bench {
	b := &bench{world: kernel.NewWorld(options)}
	b.task = b.world.NewTask("test")
	b.File = NewFile(b.task, blocks(0, 4, 16))
	return b
}

// tearDown fails the test if the file is not sound, or leaves anything behind.
func (b *bench) tearDown(t *testing.T) {
	t.Helper()
	if err := b.Check(b.task); err != nil {
		t.Error(err)
	}
	b.Free(b.task)
	// A completion may be on its way out still, with its last references.
	for deadline := time.Now().Add(10 * time.Second); b.world.LiveObjects() != 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if live := b.world.LiveObjects(); live != 0 {
		t.Errorf("%d objects are left", live)
	}
}
