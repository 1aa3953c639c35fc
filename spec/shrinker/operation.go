package shrinker

import (
	"fmt"

	"benign/spec/extentmap"
)

// A filesystem's history falls into histories of single inodes, which can be judged one by one: apart from the cursors, which
// belong to the worker alone, no operation concerns two inodes.

// Op is an operation on one inode. The list is closed, and the zero value is none of them.
type Op uint8

// The operations.
const (
	_     Op = iota
	Map      // an operation on the extent map, by anybody
	Evict    // the inode starts being freed; what follows for its map are operations of their own
	Look     // the shrinker comes along
	opEnd
)

// String returns the name of the operation in plain words.
func (o Op) String() string {
	names := [...]string{Map: "map", Evict: "evict", Look: "look"}
	if o == 0 || o >= opEnd {
		return fmt.Sprintf("invalid operation %d", uint8(o))
	}
	return names[o]
}

// Input is an operation with its arguments.
type Input struct {
	Op      Op              // what to do; the zero value is invalid
	Map     extentmap.Input // of Map
	Budget  uint64          // of Look: how many entries the run may still look at, at least 1
	Touched bool            // of Look: somebody else was busy with the inode at the time; the strict specification ignores it
}

// String prints the operation and its arguments.
func (in Input) String() string {
	switch in.Op {
	case Map:
		return in.Map.String()
	case Look:
		return fmt.Sprintf("%v, budget %d, touched %v", in.Op, in.Budget, in.Touched)
	}
	return in.Op.String()
}

// Output is what an operation has come to.
type Output struct {
	Map   extentmap.Output // of Map
	Visit Visit            // of Look; Skipped if the shrinker never got as far as visiting the inode
}

// Equal reports whether the two outputs are the same.
func (o Output) Equal(p Output) bool { return o.Map == p.Map && o.Visit.Equal(p.Visit) }

// Init returns an inode without entries in the given running transaction, in a file tree.
func Init(number, generation uint64) Inode {
	return Inode{Number: number, Map: extentmap.Init(generation, true)}
}

// Apply runs one operation, undisturbed, and returns the inode after it and what it came to. An operation that is none changes
// nothing and has the zero output, which is not an answer to any operation but Evict.
func Apply(inode Inode, in Input) (Inode, Output) {
	var out Output
	switch in.Op {
	case Map:
		inode.Map, out.Map = extentmap.Apply(inode.Map, in.Map)
	case Evict:
		inode.Freeing = true
	case Look:
		out.Visit = Visit{Outcome: Skipped}
		if !inode.Freeing {
			inode.Map, out.Visit = scan(inode.Map, in.Budget)
		}
	}
	return inode, out
}

// StepStrict reports whether the operation may have the output if nobody interferes, and the inode after it. Exactly one
// output is right. An operation that is none is never right.
func StepStrict(inode Inode, in Input, out Output) (ok bool, next Inode) {
	next, want := Apply(inode, in)
	return in.valid() && out.Equal(want), next
}

// StepRelaxed is StepStrict, except that a shrinker that was disturbed (Touched) may have deferred some or all of its work on
// the inode.
func StepRelaxed(inode Inode, in Input, out Output) (ok bool, next Inode) {
	if in.Op != Look || inode.Freeing {
		return StepStrict(inode, in, out)
	}
	inode.Map, ok = allowed(inode.Map, in.Budget, in.Touched, out.Visit)
	return in.valid() && ok && out.Map == extentmap.Output{}, inode
}

// valid reports whether the operation is one, with a budget if it needs one.
func (in Input) valid() bool { return in.Op != 0 && in.Op < opEnd && (in.Op != Look || in.Budget > 0) }
