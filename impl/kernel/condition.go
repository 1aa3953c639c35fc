package kernel

// Condition is a condition variable: what tasks wait for under a mutex. A task
// that is woken has to look again, because others may have been quicker.
type Condition struct{ queue WaitQueue }

// Init names the condition within its owner.
func (c *Condition) Init(owner *Object, name string) { c.queue.Init(owner, name) }

// Wait drops the mutex, which the task holds, sleeps until it is woken, and
// takes the mutex again. No wake-up after the drop is missed.
func (c *Condition) Wait(t *Task, m *Mutex) {
	w := &Waiter{}
	w.Init(t)
	c.queue.Prepare(t, w)
	m.Unlock(t)
	w.Sleep(t)
	c.queue.Finish(t, w)
	w.Free(t)
	m.Lock(t)
}

// Signal wakes the task that has waited for longest, and reports whether there
// was one.
func (c *Condition) Signal(t *Task) bool { return c.queue.WakeOne(t) }

// Broadcast wakes every task that waits and returns how many there were.
func (c *Condition) Broadcast(t *Task) int { return c.queue.WakeAll(t) }
