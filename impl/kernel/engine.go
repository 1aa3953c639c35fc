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
	Kind     OpKind
	Location *Location // word or lock; nil for barriers, choices, spawn and join
	Order    Order     // loads, stores and updates
	Barrier  Barrier
	Mode     LockMode
	Try      bool // an acquisition that does not wait
	Value    uint64
	// Update computes the new value of a read-modify-write; writes is false
	// when a compare-and-swap fails. It must be pure.
	Update  func(old uint64) (updated uint64, writes bool)
	Choices int       // number of alternatives of OpChoose; 0 is the default one
	Label   string    // what is chosen, or the name of the spawned task
	Site    *RaceSite // annotation of a racy access, or nil
	Child   *Task     // the task that is spawned or joined
	Body    func(*Task)
}

// Result is what the engine answers.
type Result struct {
	Value  uint64 // value read by loads and updates
	OK     bool   // the update wrote, or the lock was taken
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
