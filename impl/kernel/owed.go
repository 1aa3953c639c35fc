package kernel

import "slices"

// Awaited is what tasks sleep in until another task wakes them: a [WaitQueue] or a
// [Completion].
type Awaited interface {
	// Name returns the owner's name and its own, as traces print it.
	Name() string
}

// Owe states that others may go on only after the task has done something, woken
// them, and settled. It is to what they sleep in what an owner is to a lock. Tasks
// that sleep for each other can then be told from one that was forgotten: the former
// are a deadlock, the latter a lost wake-up. The kernel's lockdep is taught the same,
// with maps of what is waited for and is no lock. What is owed twice is settled
// twice.
func (t *Task) Owe(a Awaited) { t.owed = append(t.owed, a) }

// Settle takes back an [Task.Owe]. The wake-up comes before it.
func (t *Task) Settle(a Awaited) {
	at := slices.Index(t.owed, a)
	if at < 0 {
		t.Violate(UnlockByStranger, "the wake-up of %s is settled by a task that does not owe it", a.Name())
	}
	t.owed = slices.Delete(t.owed, at, at+1)
}

// Owes reports whether the task owes somebody a wake-up there. Only the task itself
// and the engine may ask, the engine while the task does not run.
func (t *Task) Owes(a Awaited) bool { return slices.Contains(t.owed, a) }

// SleepsIn returns what the task sleeps in, or nil, to the engine.
func (t *Task) SleepsIn() Awaited { return t.sleepsIn }

// Name implements [Awaited].
func (q *WaitQueue) Name() string { return q.region.Name() }

// Name implements [Awaited].
func (c *Completion) Name() string { return c.word.Name() }
