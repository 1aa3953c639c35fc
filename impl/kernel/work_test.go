package kernel_test

import (
	"sync/atomic"
	"testing"

	"benign/impl/kernel"
)

// TestWorkNeverMeetsItself has many tasks queue one item while it runs: it never
// runs twice at once, and runs at least once after the last queueing.
func TestWorkNeverMeetsItself(t *testing.T) {
	task, r := native(kernel.Options{})
	var inside, runs, queued, fresh atomic.Int64
	seen, last := int64(0), int64(0) // plain: only the item touches them
	r.work.Init(&r.Object, "work", func(*kernel.Task) {
		if inside.Add(1) != 1 {
			t.Error("the item meets itself")
		}
		seen++
		last = queued.Load()
		runs.Add(1)
		inside.Add(-1)
	})
	spawn(task, crowd, func(task *kernel.Task) {
		for range rounds {
			queued.Add(1)
			if r.work.Queue(task) {
				fresh.Add(1)
			}
		}
	})
	for !r.work.Idle(task) {
		r.work.Flush(task)
	}
	r.work.Flush(task)
	if seen != runs.Load() || seen != fresh.Load() {
		t.Errorf("the item was queued afresh %d times and ran %d times (%d)", fresh.Load(), runs.Load(), seen)
	}
	if last != crowd*rounds {
		t.Errorf("the last run began after %d of %d queueings", last, crowd*rounds)
	}
}

// gate is a work item that waits inside.
type gate struct {
	entered, leave chan struct{}
	runs           int
}

func newGate(r *rig) *gate {
	g := &gate{entered: make(chan struct{}), leave: make(chan struct{})}
	r.work.Init(&r.Object, "work", func(*kernel.Task) {
		g.runs++
		g.entered <- struct{}{}
		<-g.leave
	})
	return g
}

func (g *gate) through() {
	<-g.entered
	g.leave <- struct{}{}
}

func TestWorkQueuedWhileItRuns(t *testing.T) {
	task, r := native(kernel.Options{})
	g := newGate(r)
	if !r.work.Queue(task) || r.work.Idle(task) {
		t.Error("queueing an idle item")
	}
	<-g.entered
	if !r.work.Queue(task) {
		t.Error("a running item counts as queued")
	}
	if r.work.Queue(task) {
		t.Error("an item is queued twice")
	}
	g.leave <- struct{}{}
	g.through()
	r.work.Flush(task)
	if g.runs != 2 || !r.work.Idle(task) {
		t.Errorf("the item ran %d times, and is idle: %v", g.runs, r.work.Idle(task))
	}
}

func TestWorkIsQueuedAgainAfterItEnded(t *testing.T) {
	task, r := native(kernel.Options{})
	runs := 0
	r.work.Init(&r.Object, "work", func(*kernel.Task) { runs++ })
	for want := 1; want <= 3; want++ {
		if !r.work.Queue(task) {
			t.Error("an idle item counts as queued")
		}
		r.work.Flush(task)
		if runs != want {
			t.Errorf("the item ran %d times, want %d", runs, want)
		}
	}
}

// TestWorkQueuesItself: an item that asks for another round gets it.
func TestWorkQueuesItself(t *testing.T) {
	task, r := native(kernel.Options{})
	runs := 0
	r.work.Init(&r.Object, "work", func(worker *kernel.Task) {
		if runs++; runs < 3 && !r.work.Queue(worker) {
			t.Error("a running item counts as queued")
		}
	})
	r.work.Queue(task)
	r.work.Flush(task)
	if runs != 3 {
		t.Errorf("the item ran %d times, want 3", runs)
	}
}

func TestWorkCancel(t *testing.T) {
	task, r := native(kernel.Options{})
	if r.work.Cancel(task) {
		t.Error("an item that was never queued is cancelled")
	}
	g := newGate(r)
	r.work.Queue(task)
	<-g.entered
	r.work.Queue(task)
	done := make(chan bool)
	canceller := task.Go("canceller", func(task *kernel.Task) { done <- r.work.Cancel(task) })
	for !r.work.Queue(task) { // until the second run is forbidden
		if g.runs != 1 {
			t.Fatal("the second run has begun")
		}
	}
	g.leave <- struct{}{}
	g.through() // the run that was queued after the cancellation
	if !<-done {
		t.Error("a queued run is not cancelled")
	}
	task.Join(canceller)
	r.work.Flush(task)
	if g.runs != 2 || r.work.Cancel(task) || !r.work.Idle(task) {
		t.Errorf("the item ran %d times", g.runs)
	}
}

// TestWorkCancelWaits: after Cancel nothing of the item runs any more.
func TestWorkCancelWaits(t *testing.T) {
	task, r := native(kernel.Options{})
	runs := 0
	r.work.Init(&r.Object, "work", func(*kernel.Task) { runs++ })
	for range rounds {
		before := runs
		r.work.Queue(task)
		cancelled := r.work.Cancel(task)
		if ran := runs - before; ran > 1 || cancelled == (ran == 1) {
			t.Fatalf("cancelled: %v, and the item ran %d times", cancelled, ran)
		}
	}
}
