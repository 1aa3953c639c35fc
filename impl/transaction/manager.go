package transaction

import "benign/impl/kernel"

// Manager runs the transactions of one filesystem, one after the other, and keeps
// account of the room that they need.
type Manager struct {
	kernel.Object

	lock    kernel.SpinLock
	memory  kernel.Region // what follows, and all transactions and handles, under lock
	handles map[*kernel.Task]*Handle
	current *Transaction // running or committing, or nil
	writing *Transaction // unblocked, or nil
	aborted error        // what has ended this filesystem, or nil
	room    int          // nobody has reserved or uses it

	generation *kernel.Word[uint64] // of the transaction that began last, written under lock
	flusher    kernel.Work
}

// NewManager returns a manager without a transaction, and with so much room. The
// word tells everybody the generation of the transaction that began last.
func NewManager(t *kernel.Task, generation *kernel.Word[uint64], room int) *Manager {
	m := &Manager{generation: generation, room: room, handles: make(map[*kernel.Task]*Handle)}
	m.Object.Init(t, "transactions", m)
	m.lock.Init(&m.Object, "lock")
	m.memory.Init(&m.Object, "memory")
	m.flusher.Init(&m.Object, "flusher", m.flush)
	return m
}

// Join returns a handle of the running transaction, which it begins if there is
// none. It sleeps while the current one does not admit anybody. A task that has a
// handle already gets the same one again. The error is that of an [Handle.Abort].
func (m *Manager) Join(t *kernel.Task) (*Handle, error) {
	var full *Transaction
	for {
		m.enter(t, full)
		h, err := m.tryJoin(t)
		if h == nil && err == nil {
			full = m.current.get()
		}
		m.lock.Unlock(t)
		if h != nil || err != nil {
			return h, err
		}
		full.unblocked.Wait(t)
	}
}

// tryJoin returns neither a handle nor an error if the task has to wait for the
// next transaction. The caller holds the lock.
func (m *Manager) tryJoin(t *kernel.Task) (*Handle, error) {
	if h, found := m.handles[t]; found {
		h.uses++
		return h, nil
	}
	switch {
	case m.aborted != nil:
		return nil, m.aborted
	case m.current == nil:
		m.begin(t)
	case m.current.state != Running:
		return nil, nil
	}
	h := &Handle{manager: m, transaction: m.current.get(), uses: 1}
	m.handles[t] = h
	m.current.writers++
	t.Owe(&m.current.quiet)
	return h, nil
}

// begin makes a new transaction the current one. The caller holds the lock.
func (m *Manager) begin(t *kernel.Task) {
	m.current = newTransaction(t, m.generation.Load(t, kernel.Once)+1)
	m.generation.Store(t, kernel.Once, m.current.generation)
}

// enter takes the lock, and drops the reference to a transaction that the task has
// waited for, if any.
func (m *Manager) enter(t *kernel.Task, waitedFor *Transaction) {
	m.lock.Lock(t)
	m.memory.Write(t)
	if waitedFor != nil {
		waitedFor.put(t)
	}
}

// Sync makes everything durable that has been done so far.
func (m *Manager) Sync(t *kernel.Task) error {
	h, err := m.Join(t)
	if err != nil {
		return err
	}
	return h.Commit(t)
}

// Free ends the manager. Nobody has a handle or waits.
func (m *Manager) Free(t *kernel.Task) {
	m.flusher.Cancel(t)
	m.enter(t, m.current)
	t.Assert(len(m.handles) == 0, "%s has %d handles at its end", m.Name(), len(m.handles))
	m.lock.Unlock(t)
	m.Object.Free(t)
}
