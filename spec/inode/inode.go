// Package inode says what must hold for one number under which inodes are kept in
// memory: who asks for it gets an inode; while one is in memory, whoever walks over
// all of them finds it; and it goes only when nobody uses it.
//
// The model is pure: values go in, new values come out.
package inode

import "fmt"

// State is what is known of a number. The zero value is the beginning: nothing is
// in memory.
type State struct {
	Users    int  // references of those who asked for it
	InMemory bool // there is an inode
}

// Op is an operation. The list is closed, and the zero value is none of them.
type Op uint8

// The operations.
const (
	_     Op = iota
	Get      // somebody asks for the inode, and uses it from then on
	Put      // somebody uses it no longer
	Find     // a walk over all inodes in memory passes the number
	Prune    // the cache is made smaller
	opEnd
)

// String returns the name of the operation.
func (o Op) String() string {
	names := [...]string{Get: "get", Put: "put", Find: "find", Prune: "prune"}
	if o == 0 || o >= opEnd {
		return fmt.Sprintf("invalid operation %d", uint8(o))
	}
	return names[o]
}

// Step reports whether the operation may come to this, and the state after it. Done
// says, of a Find, that there was an inode, and of a Prune, that one went; Get and
// Put are always done.
//
// A Prune may pass an inode by that it could have taken: a walk that looks at it
// keeps it for a moment, too.
func Step(s State, op Op, done bool) (ok bool, next State) {
	switch {
	case op == Get && done:
		return true, State{Users: s.Users + 1, InMemory: true}
	case op == Put && done && s.Users > 0:
		s.Users--
		return true, s
	case op == Find:
		return done == s.InMemory, s
	case op == Prune && !done:
		return true, s
	case op == Prune && s.InMemory && s.Users == 0:
		return true, State{}
	}
	return false, s
}
