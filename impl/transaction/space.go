package transaction

import (
	"errors"

	"benign/impl/kernel"
)

// ErrNoSpace says that no commit would bring enough room.
var ErrNoSpace = errors.New("transaction: no space left")

// Start joins the running transaction with room for what the task is going to
// change, which goes back when the handle ends. If there is too little room, but
// something is pinned, it first has that committed and sleeps until then: a task
// that has a handle, or is waited for by one that has, waits for itself.
func (m *Manager) Start(t *kernel.Task, room int) (*Handle, error) {
	if err := m.reserve(t, room); err != nil {
		return nil, err
	}
	h, err := m.Join(t)
	if err == nil {
		h.reserved += room
	}
	return h, err
}

// reserve takes room. If there is an error nothing is taken.
func (m *Manager) reserve(t *kernel.Task, room int) error {
	var pinning *Transaction
	for {
		m.enter(t, pinning)
		var err error
		flush := false
		switch pinning = m.pinning(); {
		case m.aborted != nil:
			err, pinning = m.aborted, nil
		case m.room >= room:
			m.room -= room
			pinning = nil
		case pinning == nil:
			err = ErrNoSpace
		default:
			pinning.get()
			flush = pinning.state == Running
		}
		m.lock.Unlock(t)
		if pinning == nil {
			return err
		}
		if flush {
			m.flusher.Queue(t)
		}
		pinning.completed.Wait(t)
	}
}

// pinning returns the oldest transaction that will free room when it is durable, or
// nil. The caller holds the lock.
func (m *Manager) pinning() *Transaction {
	for _, tr := range []*Transaction{m.writing, m.current} {
		if tr != nil && tr.pinned > 0 {
			return tr
		}
	}
	return nil
}

// flush commits the current transaction for those who wait for room. If that fails
// they learn it from the manager.
func (m *Manager) flush(t *kernel.Task) { _ = m.Sync(t) }

// Room returns what nobody has reserved or uses, and is not pinned.
func (m *Manager) Room(t *kernel.Task) (room int) {
	m.lock.Lock(t)
	m.memory.Read(t)
	room = m.room
	m.lock.Unlock(t)
	return room
}
