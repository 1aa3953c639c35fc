package graph

import (
	"iter"
	"math/bits"
)

// Set is a set of events.
type Set []uint64

// Has reports whether the event is in the set.
func (s Set) Has(id int32) bool { return s[id>>6]&(1<<(id&63)) != 0 }

// Add puts the event into the set.
func (s Set) Add(id int32) { s[id>>6] |= 1 << (id & 63) }

// Or adds every event of another set of the same graph.
func (s Set) Or(other Set) {
	for i, word := range other {
		s[i] |= word
	}
}

// All yields the events in order of their numbers.
func (s Set) All() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i, word := range s {
			for word != 0 {
				if !yield(int32(i<<6 + bits.TrailingZeros64(word))) {
					return
				}
				word &= word - 1
			}
		}
	}
}

// renumber gives the events from the first on their new numbers, which are not
// greater than the old ones, and leaves those out that have none.
func (s Set) renumber(first int, number []int32) {
	for i := first >> 6; i < len(s); i++ {
		moving := s[i]
		if i == first>>6 {
			moving &^= 1<<(first&63) - 1
		}
		s[i] &^= moving
		for ; moving != 0; moving &= moving - 1 {
			if id := number[i<<6+bits.TrailingZeros64(moving)]; id != Init {
				s.Add(id)
			}
		}
	}
}
