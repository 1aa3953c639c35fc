package kernel

// OpKind is the closed list of operations that the engine can see.
type OpKind uint8

const (
	// OpLoad reads a word.
	OpLoad OpKind = iota + 1
	// OpStore writes a word.
	OpStore
	// OpUpdate is an atomic read-modify-write; a compare-and-swap that fails
	// is a load.
	OpUpdate
	// OpBarrier is a stand-alone memory barrier.
	OpBarrier
	// OpAcquire takes a lock, or tries to.
	OpAcquire
	// OpRelease drops a lock.
	OpRelease
	// OpChoose picks one of several alternatives that the environment decides:
	// an allocation that fails, a reschedule that is due.
	OpChoose
	// OpSpawn starts a task.
	OpSpawn
	// OpJoin waits for the end of a task.
	OpJoin
)

var opNames = [...]string{"invalid", "load", "store", "update", "barrier", "acquire", "release", "choose", "spawn", "join"}

// String returns the name that traces print.
func (k OpKind) String() string { return nameOf(opNames[:], int(k)) }

// LockMode says how a lock is held.
type LockMode uint8

const (
	// Exclusive excludes every other holder.
	Exclusive LockMode = iota + 1
	// Shared admits other shared holders.
	Shared
)

var modeNames = [...]string{"invalid", "exclusive", "shared"}

// String returns the name that traces print.
func (m LockMode) String() string { return nameOf(modeNames[:], int(m)) }

// Op describes the visible operation that a task is about to perform. The
// engine may keep a pointer to it only until the task goes on.
type Op struct {
	// Kind says what the operation is, and which of the fields below matter.
	Kind OpKind
	// Location is the word or lock; nil for barriers, choices, spawn and join.
	Location *Location
	// Order marks loads, stores and updates.
	Order Order
	// Barrier and Mode belong to OpBarrier and to acquisitions and releases.
	Barrier Barrier
	Mode    LockMode
	// Try is an acquisition that does not wait.
	Try bool
	// Passes is an exclusive acquisition that goes past the sharers of a lock, one
	// after the other: each is excluded for a moment, and nothing is held in the end.
	Passes bool
	// Value is what a store writes.
	Value uint64
	// Change is what an OpUpdate does with Value, Expected or Update, see
	// [Op.Apply].
	Change   Change
	Expected uint64
	// Update computes the new value of a read-modify-write that ChangesByFunction;
	// writes is false when it does not write. It must be pure.
	Update func(old uint64) (updated uint64, writes bool)
	// Until makes a load or an update wait for a value that satisfies it; nil
	// does not wait. It must be pure. Sleeps says that the task sleeps meanwhile:
	// if it waits for ever, a wake-up was lost.
	Until  func(value uint64) bool
	Sleeps bool
	// Choices is the number of alternatives of OpChoose; 0 is the default one.
	Choices int
	// Label says what is chosen, or names the spawned task.
	Label string
	// Site is the annotation of a racy access, or nil.
	Site *RaceSite
	// Child is the task that is spawned or joined, and Body what it runs.
	Child *Task
	Body  func(*Task)
}

// Change is the closed list of read-modify-writes. Most of them are told apart by
// numbers, so that no function need be made for each.
type Change uint8

const (
	// ChangesByFunction calls Update.
	ChangesByFunction Change = iota
	// Adds adds Value, and wraps at the width of the word.
	Adds
	// Swaps writes Value.
	Swaps
	// ComparesAndSwaps writes Value if the word is as Expected.
	ComparesAndSwaps
)

// Apply computes the new value of a read-modify-write and whether it writes.
func (o *Op) Apply(old uint64) (updated uint64, writes bool) {
	switch o.Change {
	case Adds:
		return o.Location.cell.wrap(old + o.Value), true
	case Swaps:
		return o.Value, true
	case ComparesAndSwaps:
		return o.Value, old == o.Expected
	}
	return o.Update(old)
}

// Result is what the engine answers.
type Result struct {
	// Value was read by a load or an update.
	Value uint64
	// OK reports that the update wrote, or that the lock was taken.
	OK bool
	// Choice is the alternative that was picked.
	Choice int
}

// Engine drives an explored [World]. Its one implementation is the explorer;
// the interface is what keeps the mechanisms from importing their judge.
type Engine interface {
	// Perform parks the task at op until the explorer has decided it. It does
	// not return when the execution is abandoned: the task is then unwound.
	Perform(t *Task, op *Op) Result
	// Access notes that the task touches a region of plain memory now.
	Access(t *Task, r *Region, write bool)
	// Violate records a violation and unwinds the task; it does not return.
	Violate(t *Task, v *Violation)
}
