package extentmap

import (
	"fmt"
	"strings"
)

// Op is an operation of the extent map tree. The list is closed, and the zero value is none of them.
type Op uint8

// The operations. Behind each stand the fields of [Input] that it reads, and the fields of [Output] that it sets beside
// Status.
const (
	_ Op = iota

	OpLookup     // Start, Len, Hold → Entry, InTree: the first entry in the range
	OpSearch     // Start, Len, Hold → Entry, InTree: the first entry in or near the range
	OpIsEmpty    // → Empty: whether the tree has no entry
	OpSnapshot   // → Snapshot: all of the tree, see State.Visible
	OpShare      // From, Hold: take another reference on what From names
	OpPut        // Hold: drop a reference
	OpRead       // Hold → Entry without generation and flags, InTree: look at a held entry, no lock needed
	OpCommit     // Generation: a newer transaction is the running one
	OpIsFullSync // → FullSync: whether the next fsync has to be a full one
	OpSetFull    // make the next fsync a full one

	OpInsert        // New, Modified, Hold, Others
	OpRemove        // Start → Warned
	OpReplace       // Start, New, Modified, Hold, Others
	OpInsertOrAdopt // New, Start, Hold → Entry, InTree

	OpDropRange    // Start, End, SkipPinned, Spares
	OpDropAll      // no arguments
	OpDropFirst    // one step of drop-all; NotFound when it is over
	OpReplaceRange // New, Modified, Hold, Spares

	OpUnpin        // Start, Len, Generation
	OpSplit        // Start, Len, Pre, NewLogical, Spares
	OpReleaseFolio // Start, Len, Locked → Removed
	OpReleaseStep  // Start, Len, Locked → Removed, Next: one step of a folio release; NotFound when it is over

	OpFastFsync    // Generation, Size → Taken: all of a fast fsync without interruption
	OpFsyncCollect // Generation, Size → Taken: begin one
	OpFsyncTake    // Start → Entry: take one entry off the private list; the tree lock is free afterwards
	OpFsyncLogged  // Start: the entry has been written to the log (clear-logging)
	OpFsyncFinish  // end one
	OpFullFsync    // no arguments

	opEnd
)

// String returns the name of the operation in plain words.
func (o Op) String() string {
	names := [...]string{
		OpLookup: "lookup", OpSearch: "search", OpIsEmpty: "is-empty", OpSnapshot: "snapshot", OpShare: "share",
		OpPut: "put", OpRead: "read", OpCommit: "commit", OpIsFullSync: "is-full-sync", OpSetFull: "set-full-sync",
		OpInsert: "insert", OpRemove: "remove", OpReplace: "replace", OpInsertOrAdopt: "insert-or-adopt",
		OpDropRange: "drop-range", OpDropAll: "drop-all", OpDropFirst: "drop-first", OpReplaceRange: "replace-range",
		OpUnpin: "unpin", OpSplit: "split-for-ordered", OpReleaseFolio: "release-folio", OpReleaseStep: "release-step",
		OpFastFsync: "fast-fsync", OpFsyncCollect: "fsync-collect", OpFsyncTake: "fsync-take",
		OpFsyncLogged: "fsync-logged", OpFsyncFinish: "fsync-finish", OpFullFsync: "full-fsync",
	}
	if o == 0 || o >= opEnd {
		return fmt.Sprintf("invalid operation %d", uint8(o))
	}
	return names[o]
}

// Input is an operation with its arguments. Fields that the operation does not read are left zero.
type Input struct {
	Op Op // what to do; the zero value is invalid

	Start, Len uint64 // a half-open range, or Start alone names an entry
	End        uint64 // drop-range: the last byte, inclusive; MaxOffset for "to the end"

	New      Entry // what to insert
	Modified bool  // insert it as something that the next fast fsync has to log

	SkipPinned bool // drop-range: leave entries alone whose write is in flight
	Spares     int  // how many of the two allocations made beforehand succeeded, 0 to 2

	Generation uint64  // unpin: the transaction of the write; fsync: the running one; commit: the new one
	Size       uint64  // fsync: the size of the file in bytes
	Pre        uint64  // split: length of the first part
	NewLogical uint64  // split: where the first part lives on disk now
	Locked     []Range // release: file ranges that are locked for IO

	Hold   Hold    // keep a reference under this name; put, read: the name
	From   Hold    // share: the name of the reference that is held already
	Others Holders // insert, replace: references that others have on New already
}

// Range returns [Start, Start+Len), saturating.
func (in Input) Range() Range { return Range{in.Start, saturatingAdd(in.Start, in.Len)} }

// addition returns what the operation wants to put into the tree.
func (in Input) addition() addition {
	return addition{entry: in.New, modified: in.Modified, hold: in.Hold, others: in.Others}
}

// String prints the operation and those arguments that are not zero.
func (in Input) String() string {
	var b strings.Builder
	b.WriteString(in.Op.String())
	put := func(set bool, format string, args ...any) {
		if set {
			fmt.Fprintf(&b, " "+format, args...)
		}
	}
	put(in.Start|in.Len != 0 || in.End != 0, "start %s", size(in.Start))
	put(in.Len != 0, "len %s", size(in.Len))
	put(in.End == MaxOffset, "to the end")
	put(in.End != 0 && in.End != MaxOffset, "last %d", in.End)
	put(in.New != Entry{}, "(%v)", in.New)
	put(in.Modified, "modified")
	put(in.SkipPinned, "skip-pinned")
	put(in.takesSpares(), "spares %d", in.Spares)
	put(in.Generation != 0, "g%d", in.Generation)
	put(in.Size != 0, "size %s", size(in.Size))
	put(in.Pre != 0, "pre %s at %s", size(in.Pre), size(in.NewLogical))
	put(len(in.Locked) > 0, "locked %v", in.Locked)
	put(in.From != 0, "from %d", in.From)
	put(in.Hold != 0, "hold %d", in.Hold)
	put(in.Others != 0, "others %v", in.Others)
	return b.String()
}

// takesSpares reports whether the operation depends on allocations made beforehand.
func (in Input) takesSpares() bool {
	return in.Op == OpDropRange || in.Op == OpReplaceRange || in.Op == OpSplit
}

// takesNew reports whether the operation puts an entry into the tree.
func (in Input) takesNew() bool {
	return in.Op == OpInsert || in.Op == OpReplace || in.Op == OpInsertOrAdopt || in.Op == OpReplaceRange
}

// keepsHold reports whether the operation may take a named reference that nobody has yet.
func (in Input) keepsHold() bool {
	return in.takesNew() || in.Op == OpLookup || in.Op == OpSearch || in.Op == OpShare
}

// valid reports whether the arguments keep the contract of the operation, as far as that can be said beforehand.
func (in Input) valid(s State) bool {
	switch {
	case in.takesNew() && in.New.WellFormed() != nil,
		in.keepsHold() && !s.holdsFree(in.Hold, in.Others),
		in.takesSpares() && (in.Spares < 0 || in.Spares > 2):
		return false
	}
	switch in.Op {
	case OpInsertOrAdopt:
		return in.New.Contains(in.Start) && in.Others == 0
	case OpDropRange:
		return in.Start <= in.End && aligned(in.Start) && (in.End == MaxOffset || aligned(in.End+1))
	}
	return in.Op != 0 && in.Op < opEnd
}

// Status is how an operation ended. The list is closed, and the zero value is none of them.
type Status uint8

// The results.
const (
	_        Status = iota
	Done            // it was done
	Exists          // a byte of the range is already mapped; nothing changed
	NotFound        // there is no such entry; nothing changed
	Corrupt         // the entry that was found is not the one that must be there; nothing changed
	TooBig          // the fast fsync gave up, a commit must follow
	NoMemory        // an allocation that the operation needs had failed; nothing changed
	Misuse          // the caller broke the contract of the operation; nothing changed
	statusEnd
)

// String returns the name of the result.
func (s Status) String() string {
	names := [...]string{
		Done: "done", Exists: "exists", NotFound: "not found", Corrupt: "corrupt", TooBig: "too big",
		NoMemory: "no memory", Misuse: "misuse",
	}
	if s == 0 || s >= statusEnd {
		return fmt.Sprintf("invalid status %d", uint8(s))
	}
	return names[s]
}

// Output is what the caller of an operation gets to see. Two outputs are the same if they are ==.
type Output struct {
	Status Status // how the operation went; the zero value is invalid

	Entry    Entry  // the entry that was found, as it was then
	InTree   bool   // whether it is in the tree
	Empty    bool   // is-empty: the tree has no entry
	FullSync bool   // is-full-sync: the flag is set
	Warned   bool   // remove: the entry was pinned, which its caller must not let happen
	Removed  int    // release: how many entries went
	Taken    int    // fsync: how many entries have to be logged
	Next     uint64 // release step: the position at which to go on
	Snapshot string // snapshot: State.Visible
}

// String prints the status and what was seen.
func (o Output) String() string {
	var b strings.Builder
	b.WriteString(o.Status.String())
	put := func(set bool, format string, args ...any) {
		if set {
			fmt.Fprintf(&b, " "+format, args...)
		}
	}
	put(o.Entry != Entry{}, "(%v) in tree %v", o.Entry, o.InTree)
	put(o.Empty, "empty")
	put(o.FullSync, "full-sync")
	put(o.Warned, "warned")
	put(o.Removed != 0, "removed %d", o.Removed)
	put(o.Taken != 0, "taken %d", o.Taken)
	put(o.Next != 0, "next %s", size(o.Next))
	put(o.Snapshot != "", "%q", o.Snapshot)
	return b.String()
}

// Apply runs one operation on a state and returns the state after it and what the caller sees. The given state is not
// changed. An operation whose contract is broken changes nothing and ends in [Misuse].
func Apply(s State, in Input) (State, Output) {
	if !in.valid(s) {
		return s, Output{Status: Misuse}
	}
	next := s.Clone()
	out := next.run(in)
	return next, out
}

// Step reports whether the operation may have the given output in the state, and the state after it. This is the strict
// specification: for each state and input exactly one output is right.
func Step(s State, in Input, out Output) (ok bool, next State) {
	next, want := Apply(s, in)
	return out == want, next
}

// run carries out an operation whose arguments are valid.
func (s *State) run(in Input) Output {
	switch in.Op {
	case OpLookup:
		index, found := s.lookup(in.Range())
		return s.find(index, found, in.Hold)
	case OpSearch:
		index, found := s.candidate(in.Start)
		return s.find(index, found, in.Hold)
	case OpIsEmpty:
		return Output{Status: Done, Empty: len(s.Tree) == 0}
	case OpSnapshot:
		return Output{Status: Done, Snapshot: s.Visible()}
	case OpShare:
		return s.share(in.From, in.Hold)
	case OpPut:
		return s.put(in.Hold)
	case OpRead:
		return s.read(in.Hold)
	case OpCommit:
		return s.commit(in.Generation)
	case OpIsFullSync:
		return Output{Status: Done, FullSync: s.FullSync}
	case OpSetFull:
		s.FullSync = true
		return Output{Status: Done}
	case OpInsert:
		if _, ok := s.insert(in.addition()); !ok {
			return Output{Status: Exists}
		}
		return Output{Status: Done}
	case OpRemove:
		return s.removeAt(in.Start)
	case OpReplace:
		return s.replaceAt(in.Start, in.addition())
	case OpInsertOrAdopt:
		return s.insertOrAdopt(in.addition(), in.Start)
	}
	return s.runRange(in)
}

// runRange carries out the operations on whole ranges and on the modified list.
func (s *State) runRange(in Input) Output {
	switch in.Op {
	case OpDropRange:
		s.dropRange(in.Start, in.End, in.SkipPinned, in.Spares)
		return Output{Status: Done}
	case OpDropAll:
		s.dropAll()
		return Output{Status: Done}
	case OpDropFirst:
		if !s.dropFirst() {
			return Output{Status: NotFound}
		}
		return Output{Status: Done}
	case OpReplaceRange:
		s.replaceRange(in.addition(), in.Spares)
		return Output{Status: Done}
	case OpUnpin:
		return s.unpin(in.Range(), in.Generation)
	case OpSplit:
		return s.splitForOrdered(in)
	case OpReleaseFolio:
		return s.releaseFolio(in.Range(), in.Locked)
	case OpReleaseStep:
		return s.releaseStep(in.Range(), in.Locked)
	case OpFastFsync:
		return s.fastFsync(in.Generation, in.Size)
	case OpFsyncCollect:
		return s.collect(in.Generation, in.Size, MaxLogged)
	case OpFsyncTake:
		return s.take(in.Start)
	case OpFsyncLogged:
		return s.logged(in.Start)
	case OpFsyncFinish:
		return s.finish()
	case OpFullFsync:
		return s.fullFsync()
	}
	panic("extentmap: no meaning is given to " + in.Op.String())
}
