package inhibit

import "slices"

// Set is what one handle keeps from being written back.
type Set interface {
	// Inhibit puts a buffer into the set, if the set takes it, and says what it did.
	Inhibit(b Buffer) (Set, Claim)
	// Members returns the buffers in the set, in the order in which they are let go at the end.
	Members() []Buffer
}

// None is the set of a handle that inhibits nothing.
type None struct{}

// Inhibit implements [Set].
func (None) Inhibit(Buffer) (Set, Claim) { return None{}, Claim{} }

// Members implements [Set].
func (None) Members() []Buffer { return nil }

// Fixed is a set that takes the first so many buffers and no other.
type Fixed struct {
	Size    int      // how many it takes
	Buffers []Buffer // in the order in which they came
}

// Inhibit implements [Set].
func (f Fixed) Inhibit(b Buffer) (Set, Claim) {
	switch {
	case slices.Contains(f.Buffers, b):
		return f, Claim{Tracked: true, Hit: true}
	case len(f.Buffers) >= f.Size:
		return f, Claim{}
	}
	return Fixed{f.Size, append(slices.Clone(f.Buffers), b)}, Claim{Tracked: true}
}

// Members implements [Set].
func (f Fixed) Members() []Buffer { return slices.Clone(f.Buffers) }

// Unbounded is a set that takes every buffer, as long as there is memory.
type Unbounded struct {
	Buffers []Buffer // in order
}

// Inhibit implements [Set].
func (u Unbounded) Inhibit(b Buffer) (Set, Claim) {
	if slices.Contains(u.Buffers, b) {
		return u, Claim{Tracked: true, Hit: true}
	}
	buffers := append(slices.Clone(u.Buffers), b)
	slices.Sort(buffers)
	return Unbounded{buffers}, Claim{Tracked: true}
}

// Members implements [Set].
func (u Unbounded) Members() []Buffer { return slices.Clone(u.Buffers) }

// Second is a [Clock] as a [Set].
type Second struct{ Clock }

// Inhibit implements [Set].
func (s Second) Inhibit(b Buffer) (Set, Claim) {
	clock, claim := s.Clock.Inhibit(b)
	return Second{clock}, claim
}

// Inhibitors is what the counter of each buffer must be when nothing is under way: how many of the sets it is in. A buffer
// that is in none is not in the map.
func Inhibitors(sets ...Set) map[Buffer]int {
	counts := make(map[Buffer]int)
	for _, s := range sets {
		for _, b := range s.Members() {
			counts[b]++
		}
	}
	return counts
}
