package inhibit

import (
	"errors"
	"testing"

	"go.uber.org/goleak"

	"benign/impl/kernel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a native world with a filesystem.
type bench struct {
	world *kernel.World
	task  *kernel.Task
	fs    *Filesystem
}

func newBench(p Policy) *bench { return newBenchWith(p, kernel.Options{}) }

func newBenchWith(p Policy, o kernel.Options) *bench {
	b := &bench{world: kernel.NewWorld(o)}
	b.task = b.world.NewTask("test")
	b.fs = New(b.task, p)
	return b
}

func (b *bench) begin(t *testing.T, k Kind) *Handle {
	t.Helper()
	h, err := b.fs.Begin(b.task, k)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// unmount must leave nothing behind.
func (b *bench) unmount(t *testing.T, want error) {
	t.Helper()
	if err := b.fs.Unmount(b.task); err != want {
		t.Errorf("unmount has returned %v, want %v", err, want)
	}
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

// policies are all that can be chosen.
func policies() []Policy {
	var all []Policy
	for _, p := range []Policy{{Track: TrackNone}, {Track: TrackXArray}, {Track: TrackFixed, Slots: 3}, {Track: TrackClock, Slots: 4}} {
		for _, c := range []Count{CountAtomic, CountLocked} {
			p.Count = c
			all = append(all, p)
		}
	}
	return all
}
