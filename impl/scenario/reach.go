package scenario

import "fmt"

// Reachable is a question of another kind: can this happen at all, be it harmful or
// not? The state that is asked about is the value of one word, since a weak machine
// has no state of all words that everybody agrees on.
type Reachable struct {
	// Name is what reports call it, unique within the race, and Question what is
	// asked, such as "can the counter exceed one?".
	Name     string
	Question string
	// Scenario is where it is looked for, and Variant in which form; "" is the
	// candidate.
	Scenario, Variant string
	// Class and Field name the words, as traces do: "buffer" and "inhibitors" are
	// all words named buffer#1.inhibitors, buffer#2.inhibitors and so on.
	Class, Field string
	// Holds reports whether a value that a task writes there is what is asked about.
	Holds func(value int64) bool
	// Expect is the answer that the catalogue predicts.
	Expect Reach
}

// Reach is the closed list of answers to "can this happen?". The zero value is none.
type Reach uint8

const (
	// CanHappen means that an execution shows it.
	CanHappen Reach = iota + 1
	// CannotHappen means that no execution does, of all that there are.
	CannotHappen
	// MayHappen means that none of those did that were looked at, which were not all.
	MayHappen
)

var reachNames = [...]string{"INVALID", "REACHABLE", "UNREACHABLE", "UNKNOWN"}

// String returns the name in capitals, as reports print it.
func (r Reach) String() string {
	if int(r) >= len(reachNames) {
		return reachNames[0]
	}
	return reachNames[r]
}

// MarshalText implements encoding.TextMarshaler.
func (r Reach) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Reach) UnmarshalText(text []byte) error {
	for i, name := range reachNames {
		if i > 0 && name == string(text) {
			*r = Reach(i)
			return nil
		}
	}
	return fmt.Errorf("answer %q is none of %v", text, reachNames[1:])
}

// Word names what is asked about.
func (r *Reachable) Word() string { return fmt.Sprintf("%s.%s", r.Class, r.Field) }

// Count is how much of something an operation has done, such as the steps of a loop:
// the judge finds the largest over all executions. More than Most breaks the bound that
// the code promises.
type Count struct {
	// Name says what is counted, in the plural.
	Name string
	// N is how many there were, and Most how many there may be.
	N, Most int
}
