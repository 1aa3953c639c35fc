package inhibit

import "benign/impl/kernel"

// InhibitorsSite is the look of writeback at the counter of a block, under the
// block's locks, while a handle that lets go of the block counts down without them.
var InhibitorsSite = kernel.DataRaceSite("inhibitors",
	"the counter goes up under the block's lock, so that none is missed; "+
		"one that is about to go down has the block skipped once more, until the next pass or the commit")

// Track says which blocks a handle keeps from being written back. The zero value is
// invalid.
type Track uint8

const (
	// TrackNone keeps none.
	TrackNone Track = iota + 1
	// TrackXArray keeps all, in a map that needs memory and whose end takes the longer,
	// the more there are.
	TrackXArray
	// TrackFixed keeps the first few.
	TrackFixed
	// TrackClock keeps the few that were used lately: second chance.
	TrackClock
)

// String returns the form in lower case.
func (k Track) String() string {
	switch k {
	case TrackNone:
		return "none"
	case TrackXArray:
		return "xarray"
	case TrackFixed:
		return "fixed"
	case TrackClock:
		return "clock"
	}
	return "invalid"
}

// Count says how the counter of a block goes down. The zero value is invalid.
type Count uint8

const (
	// CountAtomic takes no lock.
	CountAtomic Count = iota + 1
	// CountLocked takes the lock under which writeback looks.
	CountLocked
)

// String returns the form in lower case.
func (c Count) String() string {
	switch c {
	case CountAtomic:
		return "atomic"
	case CountLocked:
		return "locked"
	}
	return "invalid"
}

// MaxSlots is the most slots that a set may have: each has a bit in a word.
const MaxSlots = 32

// Policy is chosen when a filesystem is made.
type Policy struct {
	Track Track // which blocks a handle keeps
	Slots int   // how many, if not all: up to MaxSlots, for a clock a power of two
	Count Count // how the counter goes down
	// OverwriteInPlace lets a block that the running transaction has written be
	// changed where it is, and written again, instead of copied.
	OverwriteInPlace bool
}

// Clock is the policy of the patch under question.
func Clock(slots int) Policy { return Policy{Track: TrackClock, Slots: slots, Count: CountAtomic} }

// steps are what comes in more than one form, one function each. What can be chosen
// stands here; what must not be, in planted.go.
type steps struct {
	newSet  func(*Filesystem) set
	count   func(*kernel.Task, *Buffer) // a set takes the block in
	uncount func(*kernel.Task, *Buffer) // a set lets it go
	// may reports, under both locks of a block, whether it may be written.
	may  func(*kernel.Task, *Buffer, Mode) bool
	wait func(*kernel.Task, *Buffer) // for the end of a write, with the block's lock held
	// reuse is what a handle does with a block that it changes in place, and made with
	// one that it has just made.
	reuse, made func(*kernel.Task, *Handle, *Buffer) claim
	replaced    func(*kernel.Task, *Handle, *Buffer) // a copy has taken the block's place
	leave       func(*kernel.Task, *Handle)          // the end of a handle
	unblocked   func(*kernel.Task, *Handle)          // in a commit, before anything is written
	failed      func(*kernel.Task, *Handle)          // in a commit that fails, before anything is thrown away
}

// steps panics on an invalid policy.
func (p Policy) steps() steps {
	s := steps{
		count:     countUp,
		uncount:   letGo,
		may:       mayWrite,
		wait:      func(t *kernel.Task, b *Buffer) { b.waitForWrite(t) },
		reuse:     keep,
		made:      keep,
		replaced:  replace,
		leave:     emptyAndLeave,
		unblocked: func(t *kernel.Task, h *Handle) { h.empty(t) },
		failed:    func(t *kernel.Task, h *Handle) { h.empty(t) },
	}
	switch p.Track {
	case TrackNone:
		s.newSet = func(*Filesystem) set { return noSet{} }
	case TrackXArray:
		s.newSet = func(fs *Filesystem) set { return &xarraySet{fs: fs, entries: make(map[Block]*Buffer)} }
	case TrackFixed:
		if p.Slots < 1 || p.Slots > MaxSlots {
			panic("inhibit: invalid number of slots")
		}
		s.newSet = func(fs *Filesystem) set { return &fixedSet{fs: fs, slots: make([]*Buffer, 0, p.Slots)} }
	case TrackClock:
		if p.Slots < 1 || p.Slots > MaxSlots || p.Slots&(p.Slots-1) != 0 {
			panic("inhibit: invalid number of slots")
		}
		s.newSet = func(fs *Filesystem) set { return &clockSet{fs: fs, size: p.Slots} }
	default:
		panic("inhibit: invalid track policy")
	}
	switch p.Count {
	case CountAtomic:
	case CountLocked:
		s.uncount = letGoLocked
	default:
		panic("inhibit: invalid count policy")
	}
	return s
}

// promises reports whether a set takes every block that it is given.
func (p Policy) promises() bool { return p.Track == TrackClock }
