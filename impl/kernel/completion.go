package kernel

// Completion says that something has been done (struct completion). Each
// Complete lets one Wait return, before or after it came; after CompleteAll none
// waits any more.
type Completion struct{ word Word[int] }

// allDone is more than there can be waiting tasks.
const allDone = 1 << 30

// Init names the completion within its owner; nothing is done.
func (c *Completion) Init(owner *Object, name string) { c.word.Init(owner, name, 0) }

// Complete lets one task go on that waits, or that will. What was done before it
// is seen by that task.
func (c *Completion) Complete(t *Task) {
	c.word.Update(t, Release, func(done int) (int, bool) { return done + 1, done < allDone })
}

// CompleteAll lets every task go on that waits, or that will.
func (c *Completion) CompleteAll(t *Task) { c.word.Store(t, Release, allDone) }

// Wait sleeps until it is let go on. It may not be called with a spinning lock
// held.
func (c *Completion) Wait(t *Task) {
	t.maySleepFor(&c.word.Location)
	t.sleepsIn = c
	done := c.word.awaitUpdate(t, Acquire, func(done int) bool { return done > 0 }, takeOne, true)
	t.sleepsIn = nil
	c.taken(t, done)
}

// TryWait is Wait if it need not sleep, and reports whether it was
// (try_wait_for_completion).
func (c *Completion) TryWait(t *Task) bool {
	done, _ := c.word.Update(t, Acquire, takeOne)
	c.taken(t, done)
	return done > 0
}

// taken orders what follows also where nothing had to be taken.
func (c *Completion) taken(t *Task, done int) {
	if done == allDone {
		c.word.Load(t, Acquire)
	}
}

func takeOne(done int) (int, bool) { return done - 1, 0 < done && done < allDone }

// Reset makes it undone. Nobody may wait meanwhile.
func (c *Completion) Reset(t *Task) { c.word.Store(t, Once, 0) }
