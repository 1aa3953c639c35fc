package kernel

import "fmt"

// ViolationKind is the closed list of safety properties that the machine
// itself, or the code that runs on it, can break. The zero value is invalid.
type ViolationKind uint8

const (
	// UseAfterFree is an access to an object that was freed, or that another
	// task frees without being ordered after the access.
	UseAfterFree ViolationKind = iota + 1
	// DoubleFree is a second free of one object.
	DoubleFree
	// ReferenceUnderflow is a put below zero, or a get on a reference count
	// that has already reached zero.
	ReferenceUnderflow
	// UnlockByStranger is the release of a lock that the task does not hold, or
	// the settling of a wake-up that it does not owe.
	UnlockByStranger
	// RecursiveLock is the acquisition of a lock that the task already holds.
	RecursiveLock
	// SleepWhileSpinning is a sleeping operation under a spinning lock.
	SleepWhileSpinning
	// LockOrderCycle means that two lock classes are taken in both orders.
	LockOrderCycle
	// MissingLock is an operation that needs a lock its task does not hold.
	MissingLock
	// DataRace is a pair of conflicting accesses, at least one of them plain,
	// that happens-before does not order.
	DataRace
	// Crash is a panic of the code under test, such as a nil dereference.
	Crash
	// Assertion is a property stated by the mechanism or by the scenario.
	Assertion
	// Deadlock means that tasks wait for each other for ever.
	Deadlock
	// Leak is an object that outlives its scenario.
	Leak
	// HeldAtExit is a lock that a task still holds when it ends, or a wake-up that
	// it still owes.
	HeldAtExit
	// LostWakeup means that a task sleeps for ever, because nobody is left to
	// wake it.
	LostWakeup
	// Livelock means that a task waits actively, and for ever, for a value that
	// no fair schedule brings.
	Livelock
)

var violationNames = [...]string{
	"invalid", "use after free", "double free", "reference underflow",
	"unlock by stranger", "recursive lock", "sleep while spinning",
	"lock-order cycle", "missing lock", "data race", "crash", "assertion",
	"deadlock", "leak", "lock held at exit", "lost wake-up", "livelock",
}

// String returns the name that verdicts and traces print.
func (k ViolationKind) String() string { return nameOf(violationNames[:], int(k)) }

// Stuck reports whether the property is that every task comes to its end: an
// execution that breaks it ends with tasks that wait for ever.
func (k ViolationKind) Stuck() bool { return k == Deadlock || k == LostWakeup || k == Livelock }

// Violation is one broken safety property. It is an error; natively the
// machine panics with it, explored the engine records it with the execution.
type Violation struct {
	// Kind is the property that is broken, and Message says by what.
	Kind    ViolationKind
	Message string
	// Task is the name of the task that was running, empty when none was.
	Task string
}

// Error implements error.
func (v *Violation) Error() string {
	if v.Task == "" {
		return fmt.Sprintf("%s: %s", v.Kind, v.Message)
	}
	return fmt.Sprintf("%s: %s (task %s)", v.Kind, v.Message, v.Task)
}
