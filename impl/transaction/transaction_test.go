package transaction

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"benign/impl/kernel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a native world with a manager, whose last transaction was number 7.
type bench struct {
	kernel.Object
	world      *kernel.World
	task       *kernel.Task
	generation kernel.Word[uint64]
	manager    *Manager
}

func newBench(room int) *bench {
	b := &bench{world: kernel.NewWorld(kernel.Options{})}
	b.task = b.world.NewTask("test")
	b.Init(b.task, "bench", b)
	b.generation.Init(&b.Object, "generation", 7)
	b.manager = NewManager(b.task, &b.generation, room)
	return b
}

// end must leave nothing behind.
func (b *bench) end(t *testing.T) {
	t.Helper()
	b.manager.Free(b.task)
	b.Free(b.task)
	if live := b.world.LiveObjects(); live != 0 {
		t.Errorf("%d objects are left", live)
	}
}

func (b *bench) join(t *testing.T, task *kernel.Task) *Handle {
	t.Helper()
	h, err := b.manager.Join(task)
	if err != nil {
		t.Fatal(err)
	}
	return h
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

func TestStates(t *testing.T) {
	for state, want := range map[State]string{
		0: "invalid", Running: "running", Committing: "committing", Unblocked: "unblocked", Completed: "completed", 9: "invalid",
	} {
		if got := state.String(); got != want {
			t.Errorf("%d prints as %q, want %q", state, got, want)
		}
	}
}

func TestTasksShareATransactionUntilItIsCommitted(t *testing.T) {
	b := newBench(0)
	other := b.world.NewTask("other")
	one, two := b.join(t, b.task), b.join(t, other)
	if one == two || one.Generation(b.task) != 8 || two.Generation(other) != 8 {
		t.Errorf("generations %d and %d, want two handles of 8", one.Generation(b.task), two.Generation(other))
	}
	two.End(other)
	if err := one.Commit(b.task); err != nil {
		t.Error(err)
	}
	next := b.join(t, b.task)
	if next.Generation(b.task) != 9 || b.generation.Load(b.task, kernel.Once) != 9 {
		t.Errorf("after a commit the generation is %d, want 9", next.Generation(b.task))
	}
	next.End(b.task)
	b.end(t)
}

func TestATaskHasOneHandle(t *testing.T) {
	b := newBench(0)
	h := b.join(t, b.task)
	if again := b.join(t, b.task); again != h {
		t.Error("a task that joins again has another handle")
	}
	h.End(b.task)
	if h.transaction.writers != 1 {
		t.Errorf("%d writers after one of two ends, want 1", h.transaction.writers)
	}
	h.End(b.task)
	b.end(t)
}

func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		name   string
		misuse func(b *bench, h *Handle)
		want   kernel.ViolationKind
	}{
		{"ends twice", func(b *bench, h *Handle) { h.End(b.task); h.End(b.task) }, kernel.Assertion},
		{"ends another task's", func(b *bench, h *Handle) { h.End(b.world.NewTask("other")) }, kernel.Assertion},
		{"commits another task's", func(b *bench, h *Handle) { _ = h.Commit(b.world.NewTask("other")) }, kernel.Assertion},
		{"aborts with another task's", func(b *bench, h *Handle) { h.Abort(b.world.NewTask("other"), ErrNoSpace) }, kernel.Assertion},
		{"commits what it has joined twice", func(b *bench, h *Handle) {
			_, _ = b.manager.Join(b.task)
			_ = h.Commit(b.task)
		}, kernel.Assertion},
		{"keeps a handle", func(b *bench, h *Handle) { b.task.CheckExit() }, kernel.HeldAtExit},
		{"frees the manager", func(b *bench, h *Handle) { b.manager.Free(b.task) }, kernel.Assertion},
		{"uses a transaction that has gone", func(b *bench, h *Handle) { _ = h.Commit(b.task); h.Pin(b.task, 1) }, kernel.UseAfterFree},
		{"sleeps under a spinning lock", func(b *bench, h *Handle) { b.manager.lock.Lock(b.task); _ = b.manager.Sync(b.task) }, kernel.RecursiveLock},
	} {
		b := newBench(0)
		h := b.join(t, b.task)
		if got := violation(func() { c.misuse(b, h) }); got != c.want {
			t.Errorf("a task that %s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// A commit waits for the handles of others, and keeps newcomers out until then.
func TestCommitWaits(t *testing.T) {
	b := newBench(0)
	h := b.join(t, b.task)
	var ended atomic.Bool
	committed := b.task.Go("committer", func(task *kernel.Task) {
		own, err := b.manager.Join(task)
		if err != nil || own.Generation(task) != 8 {
			t.Errorf("joined %v, %v", own, err)
			return
		}
		if err := own.Commit(task); err != nil || !ended.Load() {
			t.Errorf("the commit has returned %v; the other handle was ended: %v", err, ended.Load())
		}
	})
	for b.manager.state(b.task) != Committing {
		runtime.Gosched()
	}
	newcomer := b.task.Go("newcomer", func(task *kernel.Task) {
		own, err := b.manager.Join(task)
		if err != nil || own.Generation(task) != 9 {
			t.Errorf("joined %v, %v, want the next transaction", own, err)
			return
		}
		own.End(task)
	})
	ended.Store(true)
	h.End(b.task)
	b.task.Join(committed)
	b.task.Join(newcomer)
	b.end(t)
}

// state returns that of the current transaction, or zero.
func (m *Manager) state(t *kernel.Task) (state State) {
	m.lock.Lock(t)
	if m.current != nil {
		state = m.current.state
	}
	m.lock.Unlock(t)
	return state
}

func TestAbort(t *testing.T) {
	broken := errors.New("the disk is gone")
	b := newBench(0)
	other := b.world.NewTask("other")
	h, second := b.join(t, b.task), b.join(t, other)
	h.Pin(b.task, 3)
	h.Abort(b.task, broken)
	h.Abort(b.task, errors.New("too late")) // the first reason counts
	if _, err := b.manager.Join(b.world.NewTask("newcomer")); err != broken {
		t.Errorf("joining has returned %v", err)
	}
	h.End(b.task)
	if err := second.Commit(other); err != broken {
		t.Errorf("the commit has returned %v", err)
	}
	if err := b.manager.Sync(b.task); err != broken {
		t.Errorf("sync has returned %v", err)
	}
	if _, err := b.manager.Start(b.task, 0); err != broken {
		t.Errorf("starting has returned %v", err)
	}
	if room := b.manager.Room(b.task); room != 0 {
		t.Errorf("there is room for %d that was never committed", room)
	}
	b.end(t)
}

// Nobody commits a transaction that was given up, and who waits for it learns that
// from the last one to leave.
func TestAbortWithoutACommit(t *testing.T) {
	broken := errors.New("the disk is gone")
	b := newBench(0)
	h := b.join(t, b.task)
	tr := h.transaction
	h.Abort(b.task, broken)
	b.manager.lock.Lock(b.task)
	tr.get()
	b.manager.lock.Unlock(b.task)
	waited := b.task.Go("waiter", func(task *kernel.Task) {
		tr.completed.Wait(task)
		b.manager.enter(task, tr)
		b.manager.lock.Unlock(task)
	})
	h.End(b.task)
	b.task.Join(waited)
	b.end(t)
}

func TestRoom(t *testing.T) {
	b := newBench(2)
	h, err := b.manager.Start(b.task, 2)
	if err != nil || b.manager.Room(b.task) != 0 {
		t.Fatalf("%v, and room for %d, want none", err, b.manager.Room(b.task))
	}
	other := b.world.NewTask("other")
	if _, err := b.manager.Start(other, 1); err != ErrNoSpace {
		t.Errorf("with nothing pinned: %v", err)
	}
	h.Pin(b.task, 3)
	h.End(b.task)
	if room := b.manager.Room(b.task); room != 2 {
		t.Errorf("room for %d before the commit, want 2", room)
	}
	h, err = b.manager.Start(other, 5) // has it committed
	if err != nil || h.Generation(other) != 9 {
		t.Fatalf("%v, generation %d", err, h.Generation(other))
	}
	h.End(other)
	if room := b.manager.Room(b.task); room != 5 {
		t.Errorf("room for %d, want 5", room)
	}
	if _, err := b.manager.Start(other, 6); err != ErrNoSpace {
		t.Errorf("more than there is: %v", err)
	}
	b.end(t)
}

// Tasks that free what they have reserved, and commit now and then, never wait for
// ever and lose no room.
func TestManyTasks(t *testing.T) {
	const tasks, rounds, room = 4, 200, 2
	b := newBench(room)
	var wait sync.WaitGroup
	for n := range tasks {
		wait.Go(func() {
			task := b.world.NewTask("writer")
			for i := range rounds {
				h, err := b.manager.Start(task, 1)
				switch {
				case err == ErrNoSpace: // others have it reserved
				case err != nil:
					t.Errorf("start: %v", err)
					return
				case (n+i)%5 == 0:
					if err := h.Commit(task); err != nil {
						t.Errorf("commit: %v", err)
						return
					}
				default:
					h.reserved-- // stays in use
					h.Pin(task, 1)
					h.End(task)
				}
			}
		})
	}
	wait.Wait()
	if err := b.manager.Sync(b.task); err != nil {
		t.Error(err)
	}
	if left := b.manager.Room(b.task); left != room {
		t.Errorf("room for %d, want %d", left, room)
	}
	b.end(t)
}
