package scenario

import "fmt"

// Class is the closed list of answers to "is this race harmless?". The zero
// value is not an answer, so that nothing passes by being forgotten.
type Class uint8

const (
	// Indistinguishable: every outcome of the candidate is an outcome of the
	// baseline.
	Indistinguishable Class = iota + 1
	// Defers: outcomes are new, but all they do is leave work for later, and
	// the work is done after a stated number of rounds.
	Defers
	// Harmful: some execution breaks safety, or leaves work that no number of
	// rounds does.
	Harmful
	// Unknown: a bound or a budget was hit before the exploration was
	// complete.
	Unknown
)

var classNames = [...]string{"INVALID", "INDISTINGUISHABLE", "DEFERS", "HARMFUL", "UNKNOWN"}

// String returns the name in capitals, as verdicts print it.
func (c Class) String() string {
	if int(c) >= len(classNames) {
		return classNames[0]
	}
	return classNames[c]
}

// MarshalText implements encoding.TextMarshaler.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Class) UnmarshalText(text []byte) error {
	for i, name := range classNames {
		if i > 0 && name == string(text) {
			*c = Class(i)
			return nil
		}
	}
	return fmt.Errorf("class %q is none of %v", text, classNames[1:])
}

// severity orders classes from the best to the worst. Unknown is worse than a
// harmless answer and better than Harmful: a harm that was found is certain.
func (c Class) severity() int {
	switch c {
	case Indistinguishable:
		return 0
	case Defers:
		return 1
	case Unknown:
		return 2
	case Harmful:
		return 3
	}
	return 4
}

// Worse returns the worse of two classes; an invalid one is the worst.
func (c Class) Worse(d Class) Class {
	if d.severity() > c.severity() {
		return d
	}
	return c
}
