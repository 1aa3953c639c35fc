package inhibit

import (
	"fmt"
	"math/bits"
)

// Block is the state of one block in memory. States are equal if they compare equal.
type Block struct {
	Generation uint64 // the transaction that it was made in
	Dirty      bool   // it has to be written
	Written    bool   // it has been, since it was made
	Stale      bool   // a copy has taken its place
	Holders    uint64 // bit h: it is in the set of handle h
}

// Inhibitors is the value of the block's counter.
func (b Block) Inhibitors() int { return bits.OnesCount64(b.Holders) }

// Op is what is done to a block. The zero value is invalid.
type Op uint8

const (
	// Use is the decision of a handle that wants to change the block: it does, and
	// inhibits the block, or has to copy it to another place, after which this one is
	// stale.
	Use Op = iota + 1
	// Create makes the block, as such a copy, and inhibits it.
	Create
	// Release takes the block out of the set of a handle: to make room, or at its end.
	Release
	// Background is a look of background writeback at the block.
	Background
	// Integrity is a look of a log sync or a commit, which return only when it is written.
	Integrity
	// Commit says that the block's transaction is durable.
	Commit
	// Discard throws the changes away: their transaction has failed.
	Discard
)

// Input is one operation on a block.
type Input struct {
	Op          Op     // what is done
	Handle      int    // of Use, Create and Release, below 64
	Transaction uint64 // the one that the handle is in, or that is committed or discarded
	Promised    bool   // of Use and Create: the handle's set takes every block
	InPlace     bool   // of Use: a written block of the transaction may be edited again
	Force       bool   // of Use: the block is to be copied in any case
}

// Output is what came of it.
type Output struct {
	Copied  bool // by Use: the block was copied
	Tracked bool // by Use and Create: the block is in the handle's set now
	Wrote   bool // by Background and Integrity: it was dirty, and was written
}

// StepStrict applies an operation that nobody interferes with; ok is false if it may not have this output.
func StepStrict(b Block, in Input, out Output) (ok bool, next Block) { return step(b, in, out, false) }

// StepRelaxed is StepStrict where others are at work: background writeback may skip any block.
func StepRelaxed(b Block, in Input, out Output) (ok bool, next Block) { return step(b, in, out, true) }

func step(b Block, in Input, out Output, relaxed bool) (ok bool, next Block) {
	next = b
	switch in.Op {
	case Use:
		return next.use(in, out), next
	case Create:
		next = Block{Generation: in.Transaction, Dirty: true}
		next.hold(in, out)
		return b == Block{} && (out.Tracked || !in.Promised), next
	case Release:
		next.Holders &^= 1 << in.Handle
		return b.Holders&(1<<in.Handle) != 0, next
	case Background:
		may := b.Dirty && b.Holders == 0
		next.write(out)
		return out.Wrote == may || relaxed && may, next
	case Integrity:
		next.write(out)
		return out.Wrote == b.Dirty, next
	case Commit:
		return b.Generation != in.Transaction || !b.Dirty, next
	case Discard:
		next.Dirty = false
		return b.Generation == in.Transaction, next
	}
	return false, next
}

// use applies the decision of a handle, and reports whether it is right.
func (b *Block) use(in Input, out Output) bool {
	must := b.Stale || b.Generation != in.Transaction || in.Force || b.Written && !in.InPlace
	if out.Copied {
		b.Stale, b.Dirty = true, false
		return (must || b.Written) && !out.Tracked // one that is being written is never changed in place
	}
	b.Dirty = true
	b.hold(in, out)
	return !must && (out.Tracked || !in.Promised)
}

func (b *Block) hold(in Input, out Output) {
	if out.Tracked {
		b.Holders |= 1 << in.Handle
	}
}

func (b *Block) write(out Output) {
	if out.Wrote {
		b.Dirty, b.Written = false, true
	}
}

var opNames = [...]string{"invalid", "use", "create", "release", "background", "integrity", "commit", "discard"}

// String returns the name in lower case.
func (o Op) String() string {
	if int(o) >= len(opNames) {
		return opNames[0]
	}
	return opNames[o]
}

// String prints an operation as a report does.
func (in Input) String() string {
	switch in.Op {
	case Use, Create:
		return fmt.Sprintf("%s by handle %d in transaction %d", in.Op, in.Handle, in.Transaction)
	case Release:
		return fmt.Sprintf("%s by handle %d", in.Op, in.Handle)
	case Commit, Discard:
		return fmt.Sprintf("%s of transaction %d", in.Op, in.Transaction)
	}
	return in.Op.String()
}

// String prints what came of an operation.
func (out Output) String() string {
	switch {
	case out.Copied:
		return "copied"
	case out.Tracked:
		return "inhibited"
	case out.Wrote:
		return "written"
	}
	return "nothing"
}
