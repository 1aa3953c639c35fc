package kernel

// Order says how an access is marked and what it orders, in the vocabulary of
// the Linux-kernel memory model (Documentation/memory-barriers.txt and
// tools/memory-model).
type Order uint8

const (
	// Plain is an ordinary C access: the compiler may tear, fuse or repeat it,
	// and a concurrent conflicting access is a data race.
	Plain Order = iota + 1
	// Once is READ_ONCE or WRITE_ONCE, or a relaxed atomic: one access, no
	// ordering beyond coherence of its own word.
	Once
	// Acquire orders the access before everything after it in its task.
	Acquire
	// Release orders everything before it in its task before the access.
	Release
	// AcquireRelease is an atomic read-modify-write whose read acquires and
	// whose write releases.
	AcquireRelease
	// Full is a read-modify-write that returns a value without suffix: it is
	// surrounded by full barriers.
	Full
	// Sequential is an access, of any kind, of which there is one order that all
	// tasks agree on: seq_cst of C11, and every operation of Go's sync/atomic. A
	// compare-and-swap that fails is then still a sequential load, which a Full
	// one is not. The kernel has no such loads; a store is its smp_store_mb.
	Sequential
)

var orderNames = [...]string{"invalid", "plain", "once", "acquire", "release", "acquire-release", "full", "sequential"}

// String returns the lower-case name that traces print.
func (o Order) String() string { return nameOf(orderNames[:], int(o)) }

// Acquires reports whether the read part of an access with this order
// synchronizes with the release that it reads from.
func (o Order) Acquires() bool {
	return o == Acquire || o == AcquireRelease || o == Full || o == Sequential
}

// Releases reports whether the write part of an access with this order
// publishes everything before it.
func (o Order) Releases() bool {
	return o == Release || o == AcquireRelease || o == Full || o == Sequential
}

// Barrier names a stand-alone memory barrier.
type Barrier uint8

const (
	// FullBarrier is smp_mb.
	FullBarrier Barrier = iota + 1
	// ReadBarrier is smp_rmb.
	ReadBarrier
	// WriteBarrier is smp_wmb.
	WriteBarrier
)

var barrierNames = [...]string{"invalid", "full barrier", "read barrier", "write barrier"}

// String returns the name that traces print.
func (b Barrier) String() string { return nameOf(barrierNames[:], int(b)) }

func nameOf(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return names[0]
	}
	return names[i]
}

// OrderNames returns the names of all orders by number; the first is invalid.
func OrderNames() []string { return append([]string(nil), orderNames[:]...) }
