package transaction

import "benign/impl/kernel"

// State says how far a transaction has come. The zero value is invalid.
type State uint8

const (
	// Running transactions can be joined.
	Running State = iota + 1
	// Committing transactions cannot: their commit waits for the handles of the
	// others, and who wants to join waits for the next transaction.
	Committing
	// Unblocked transactions are written out, while the next one may run.
	Unblocked
	// Completed transactions are durable, or have failed.
	Completed
)

// String returns the state in lower case.
func (s State) String() string {
	switch s {
	case Running:
		return "running"
	case Committing:
		return "committing"
	case Unblocked:
		return "unblocked"
	case Completed:
		return "completed"
	}
	return "invalid"
}

// Transaction is a set of changes. Everything in it is under the manager's lock,
// but for what tasks sleep in.
type Transaction struct {
	kernel.Object
	generation uint64
	state      State
	writers    int   // handles that are not ended, without that of the commit
	pinned     int   // room that is free once the transaction is durable
	failed     error // why it never will be, or nil
	references int   // of the manager, of handles, and of who waits

	quiet     kernel.Completion // the last writer of a committing transaction has gone: each owes it
	unblocked kernel.Completion // and completed: the commit owes both
	completed kernel.Completion
}

// newTransaction begins a transaction, and takes a reference for the manager.
func newTransaction(t *kernel.Task, generation uint64) *Transaction {
	tr := &Transaction{generation: generation, state: Running, references: 1}
	tr.Object.Init(t, "transaction", tr)
	tr.quiet.Init(&tr.Object, "quiet")
	tr.unblocked.Init(&tr.Object, "unblocked")
	tr.completed.Init(&tr.Object, "completed")
	return tr
}

// get takes a reference. The caller holds the lock.
func (tr *Transaction) get() *Transaction {
	tr.references++
	return tr
}

// put drops a reference. The caller holds the lock.
func (tr *Transaction) put(t *kernel.Task) {
	tr.Use(t)
	tr.references--
	if tr.references == 0 {
		tr.Object.Free(t)
	}
}
