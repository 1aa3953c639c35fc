package inhibit

import "benign/impl/kernel"

// State says how far a transaction has come. The zero value is invalid.
type State uint8

const (
	// Running transactions can be joined by everybody.
	Running State = iota + 1
	// Starting commits wait for those who have started, and admit who only joins.
	Starting
	// Doing commits admit nobody, and wait for everybody.
	Doing
	// Unblocked commits write, while the next transaction may run.
	Unblocked
	// Completed transactions are durable, or have failed.
	Completed
)

// String returns the state in lower case.
func (s State) String() string {
	names := [...]string{"invalid", "running", "starting", "doing", "unblocked", "completed"}
	if int(s) >= len(names) {
		return names[0]
	}
	return names[s]
}

// Kind says what a handle is for. The zero value is invalid.
type Kind uint8

const (
	// Start is a task's own wish to change something. A commit that has begun does not
	// wait for it to come.
	Start Kind = iota + 1
	// Join is part of something that the commit may have to wait for.
	Join
)

// admits reports whether a transaction can be joined.
func (s State) admits(k Kind) bool { return s == Running || s == Starting && k == Join }

// Transaction is a set of changes that become durable together.
type Transaction struct {
	kernel.Object
	id    uint64
	users kernel.Refcount // of handles, of who waits, and one as long as it is the current one

	state  State // under the filesystem's lock
	failed error // ditto

	writers  kernel.Word[int] // handles that are not ended
	external kernel.Word[int] // of these, the ones that have started
	changed  kernel.WaitQueue // of the two above

	unblocked, completed kernel.Completion // those states

	blocks []Block // what was made in it, under the cache's lock
}

// begin makes a new transaction the current one. The caller holds the lock.
func (fs *Filesystem) begin(t *kernel.Task) {
	fs.last++
	tr := &Transaction{id: fs.last, state: Running}
	tr.Object.Init(t, "transaction", tr)
	tr.users.Init(&tr.Object, "users", 1)
	tr.writers.Init(&tr.Object, "writers", 0)
	tr.external.Init(&tr.Object, "external writers", 0)
	tr.changed.Init(&tr.Object, "changed")
	tr.unblocked.Init(&tr.Object, "unblocked")
	tr.completed.Init(&tr.Object, "completed")
	fs.current = tr
}

// put drops a reference to the transaction.
func (tr *Transaction) put(t *kernel.Task) {
	if tr.users.Put(t) {
		tr.Object.Free(t)
	}
}

// Begin returns a handle of the running transaction, which it begins if there is none.
// It sleeps while the current one does not admit the kind. The error is that of an
// [Handle.Abort].
func (fs *Filesystem) Begin(t *kernel.Task, k Kind) (*Handle, error) {
	for {
		fs.enter(t)
		if fs.aborted != nil {
			err := fs.aborted
			fs.lock.Unlock(t)
			return nil, err
		}
		if fs.current == nil {
			fs.begin(t)
		}
		tr := fs.current
		tr.users.Get(t)
		if tr.state.admits(k) {
			tr.writers.Add(t, kernel.Once, 1)
			if k == Start {
				tr.external.Add(t, kernel.Once, 1)
			}
			fs.lock.Unlock(t)
			return &Handle{fs: fs, transaction: tr, kind: k, uses: 1, set: fs.steps.newSet(fs)}, nil
		}
		fs.lock.Unlock(t)
		tr.unblocked.Wait(t)
		tr.put(t)
	}
}

// enter takes the transaction lock.
func (fs *Filesystem) enter(t *kernel.Task) {
	fs.lock.Lock(t)
	fs.memory.Write(t)
}
