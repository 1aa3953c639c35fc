// Package explain collects what a maintainer asks about a deliberate race, from
// executions: which accesses conflict and under which locks, what the annotated
// access may see and how far that may be out of date, what the task does next with
// each value, and which check it meets there.
//
// Everything is counted over all executions of an exploration, with the numbers of
// objects left out, so that two inodes are one kind of thing. Source places are
// those of one execution of each kind, the shortest, which is replayed for them.
//
// What is found is plain data, which can pass between processes. It is what was
// seen, not what must be: that a check was met does not say that the code obeys
// it. Whether the race is harmless is for package verdict to say.
package explain

import "strings"

// Race is what executions showed of one annotated race.
type Race struct {
	// Site and Reason come from the annotation in the code.
	Site   string `json:"site"`
	Reason string `json:"reason"`
	// Executions in which the access ran, and Racing those in which
	// happens-before did not order it with a conflicting access.
	Executions int `json:"executions"`
	Racing     int `json:"racing"`
	// Accesses are the annotated ones, and Conflicts those of other tasks that
	// they race with, each the most frequent first.
	Accesses  []Access `json:"accesses"`
	Conflicts []Access `json:"conflicts,omitempty"`
	// Values are what the annotated access read or stored, the most frequent first.
	Values []Value `json:"values"`
	// Behind is the largest of the values' own.
	Behind int `json:"behind"`
}

// Access is a kind of access to memory.
type Access struct {
	// What it is, such as "once load of inode.root".
	What string `json:"what"`
	// Locks are those that its task held, sorted, such as "inode.tree lock".
	Locks []string `json:"locks,omitempty"`
	// Places are where, innermost first, as "file.go:line function".
	Places []string `json:"places,omitempty"`
	// Seen is how often it was, over all executions, and Racing how often an
	// annotated one was not ordered with a conflicting access.
	Seen   int `json:"seen"`
	Racing int `json:"racing,omitempty"`
}

// Name says what the access is and what is held there; it leaves out where.
func (a Access) Name() string {
	if len(a.Locks) == 0 {
		return a.What + ", under no lock"
	}
	return a.What + ", under " + strings.Join(a.Locks, " and ")
}

// Value is what an annotated access read or stored. Objects have no numbers.
type Value struct {
	// Of is the Name of the access.
	Of string `json:"of"`
	// Text is the value, such as "nil", "an extent map" or "3".
	Text string `json:"text"`
	// Stored says that the access wrote it.
	Stored bool `json:"stored,omitempty"`
	// Seen is how often it was, Stale how often it may have been out of date, and
	// Broken how often something broke in the execution.
	Seen   int `json:"seen"`
	Stale  int `json:"stale"`
	Broken int `json:"broken"`
	// Behind is by how many writes it was out of date at most: those later in
	// coherence than the one it is of, and not ordered after the access by
	// happens-before.
	Behind int `json:"behind"`
	// Continuations are what the task did next, the most frequent first.
	Continuations []Continuation `json:"continuations"`
}

// Continuation is what a task did after the access, up to the end of its
// operation, or to its next access of the same site.
type Continuation struct {
	// Seen, Stale and Broken count as those of [Value].
	Seen   int `json:"seen"`
	Stale  int `json:"stale"`
	Broken int `json:"broken"`
	// Steps are the first few that others could notice, and More says that there
	// were others after them.
	Steps []Step `json:"steps,omitempty"`
	More  bool   `json:"more,omitempty"`
	// Ways is how many different continuations this one stands for; see
	// [Race.Brief].
	Ways int `json:"ways"`
	// Check is the first one that it met, here or in what the Steps leave out.
	Check Check `json:"check"`
}

// Step is one visible operation.
type Step struct {
	// What was done, and Place where, as "file.go:line function".
	What  string `json:"what"`
	Place string `json:"place,omitempty"`
}

// CheckKind is the closed list of checks that are recognised.
type CheckKind string

const (
	// NoCheck means that none was seen.
	NoCheck CheckKind = ""
	// Reread is another load of the same word, under a lock that was not held
	// before, and that everybody else held who wrote the word.
	Reread CheckKind = "reread"
	// FailedTry is a try-lock that found somebody in the way.
	FailedTry CheckKind = "failed try"
	// FailedUpdate is an update that found what it does not change, such as
	// getting a reference of an object that has none left.
	FailedUpdate CheckKind = "failed update"
)

// Check is what stands between a wrong value and the harm that it could do.
type Check struct {
	// Kind says what it is.
	Kind CheckKind `json:"kind,omitempty"`
	// On names the word that was read or updated, or the lock that was tried.
	On string `json:"on,omitempty"`
	// Lock is the one under which a word was read again, and Changed says that
	// its value was another one by then.
	Lock    string `json:"lock,omitempty"`
	Changed bool   `json:"changed,omitempty"`
}
