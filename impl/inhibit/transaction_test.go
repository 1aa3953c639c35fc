package inhibit

import (
	"errors"
	"runtime"
	"testing"

	"benign/impl/kernel"
)

// state returns that of the current transaction, or zero.
func (fs *Filesystem) state(t *kernel.Task) (s State) {
	fs.enter(t)
	if fs.current != nil {
		s = fs.current.state
	}
	fs.lock.Unlock(t)
	return s
}

func (b *bench) await(s State) {
	for b.fs.state(b.task) != s {
		runtime.Gosched()
	}
}

// Only the last of nested ends lets go of anything.
func TestNestedEnds(t *testing.T) {
	b := newBench(Clock(2))
	tree := b.fs.NewTree(b.task, "A", Ordinary, 1, 2)
	h := b.begin(t, Start)
	h.Again()
	tree.Change(b.task, h, 0)
	h.End(b.task)
	if len(h.set.members()) != 1 || h.transaction.writers.Load(b.task, kernel.Once) != 1 {
		t.Error("the first of two ends has let go")
	}
	h.End(b.task)
	if len(h.set.members()) != 0 || h.drops != 1 {
		t.Errorf("after the last end %d are kept, and %d were let go", len(h.set.members()), h.drops)
	}
	b.unmount(t, nil)
}

// A commit first waits for who has started, and admits who joins; then it admits nobody.
func TestCommitWaitsInTwoSteps(t *testing.T) {
	b := newBench(Clock(2))
	tree := b.fs.NewTree(b.task, "A", Ordinary, 1, 2)
	started := b.begin(t, Start)
	tree.Change(b.task, started, 0)
	commit := b.task.Go("committer", func(task *kernel.Task) {
		h, err := b.fs.Begin(task, Start)
		if err == nil {
			_, err = h.Commit(task)
		}
		if err != nil {
			t.Error(err)
		}
	})
	b.await(Starting)
	joined := b.begin(t, Join)
	if joined.transaction != started.transaction {
		t.Error("who joins does not get the transaction that is about to be committed")
	}
	started.End(b.task)
	b.await(Doing)
	committed := joined.transaction.id
	late := b.task.Go("late", func(task *kernel.Task) {
		h, err := b.fs.Begin(task, Join)
		if err != nil {
			t.Error(err)
			return
		}
		if h.transaction.id == committed {
			t.Error("who joins late gets the transaction that is being committed")
		}
		h.End(task)
	})
	other := b.task.Go("second committer", func(task *kernel.Task) {
		h, err := b.fs.Begin(task, Start)
		if err == nil {
			_, err = h.Commit(task)
		}
		if err != nil {
			t.Error(err)
		}
	})
	if got := b.fs.disk.values(b.task, b.fs.disk.roots[tree])[0]; got != 0 {
		t.Errorf("before the commit the disk says %d", got)
	}
	joined.End(b.task)
	b.task.Join(commit)
	b.task.Join(late)
	b.task.Join(other)
	if got := b.fs.disk.values(b.task, b.fs.disk.roots[tree])[0]; got != 1 {
		t.Errorf("after the commit the disk says %d", got)
	}
	b.unmount(t, nil)
}

// Two tasks commit one transaction: one does, and the other waits.
func TestTwoCommits(t *testing.T) {
	for range 50 {
		b := newBench(Clock(2))
		one, two := b.begin(t, Start), b.begin(t, Start)
		committed := b.task.Go("committer", func(task *kernel.Task) {
			if _, err := one.Commit(task); err != nil {
				t.Error(err)
			}
		})
		if _, err := two.Commit(b.task); err != nil {
			t.Error(err)
		}
		b.task.Join(committed)
		b.unmount(t, nil)
	}
}

func TestAbort(t *testing.T) {
	for _, commits := range []bool{false, true} {
		b := newBench(Clock(2))
		tree := b.fs.NewTree(b.task, "A", Ordinary, 1, 2)
		h := b.begin(t, Start)
		tree.Change(b.task, h, 0)
		broken := errors.New("the disk is gone")
		h.Abort(b.task, broken)
		h.Abort(b.task, errors.New("too late"))
		if _, err := b.fs.Begin(b.task, Join); err != broken {
			t.Errorf("begin has returned %v", err)
		}
		if commits {
			if looks, err := h.Commit(b.task); err != broken || looks != nil {
				t.Errorf("commit has returned %v, %v", looks, err)
			}
		} else {
			h.End(b.task)
		}
		if got := b.fs.disk.values(b.task, b.fs.disk.roots[tree])[0]; got != 0 {
			t.Errorf("the disk says %d", got)
		}
		b.unmount(t, broken)
	}
}

func TestMisuse(t *testing.T) {
	for what, misuse := range map[string]func(b *bench, h *Handle){
		"ends twice":                   func(b *bench, h *Handle) { h.End(b.task); h.End(b.task) },
		"commits what it has ended":    func(b *bench, h *Handle) { h.End(b.task); _, _ = h.Commit(b.task) },
		"commits what began twice":     func(b *bench, h *Handle) { h.Again(); _, _ = h.Commit(b.task) },
		"aborts after the end":         func(b *bench, h *Handle) { h.End(b.task); h.Abort(b.task, errBroken) },
		"changes after the end":        func(b *bench, h *Handle) { h.End(b.task); b.fs.trees[0].Change(b.task, h, 0) },
		"leaves with blocks":           func(b *bench, h *Handle) { b.fs.trees[0].Change(b.task, h, 0); h.leave(b.task) },
		"counts below zero":            func(b *bench, h *Handle) { b.fs.buffers[0].countDown(b.task) },
		"refers to what is not there":  func(b *bench, h *Handle) { b.fs.trees[0].Change(b.task, h, 0); b.fs.refer(b.task, b.fs.roots(b.task)) },
		"puts what it has not (twice)": func(b *bench, h *Handle) { x := b.buffers(1)[0]; x.put(b.task); x.put(b.task); x.put(b.task) },
	} {
		b := newBench(Clock(2))
		b.fs.NewTree(b.task, "A", Ordinary, 1, 2)
		h := b.begin(t, Start)
		if got := violation(func() { misuse(b, h) }); got != kernel.Assertion && got != kernel.UseAfterFree {
			t.Errorf("a task that %s: %v", what, got)
		}
	}
}
