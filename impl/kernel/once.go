package kernel

// OnceOnly does something at its first use (sync.Once; the name Once is that of
// an order here).
type OnceOnly struct{ state Word[int] }

// The states of a OnceOnly.
const (
	onceFresh = iota
	onceBusy
	onceDone
)

// Init names it within its owner; nothing has been done.
func (o *OnceOnly) Init(owner *Object, name string) { o.state.Init(owner, name, onceFresh) }

// Do calls the function if no other call of Do has, and otherwise sleeps until
// that call has returned: what it did is seen. A function that calls Do of the
// same OnceOnly waits for itself.
func (o *OnceOnly) Do(t *Task, f func(t *Task)) {
	if o.state.Load(t, Acquire) == onceDone {
		return
	}
	t.maySleepFor(&o.state.Location)
	if o.state.CompareAndSwap(t, Acquire, onceFresh, onceBusy) {
		f(t)
		o.state.Store(t, Release, onceDone)
		return
	}
	o.state.await(t, Acquire, func(state int) bool { return state == onceDone }, true)
}
