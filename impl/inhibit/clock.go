package inhibit

import (
	"slices"

	"benign/impl/kernel"
)

// clockSet keeps what was used lately. A hand goes round and takes the first slot
// whose bit is clear; it clears those that it passes over. A new block has its bit set,
// so that a set that was filled in one go loses its blocks in the order in which they
// came.
//
// The reference that the set has of a block keeps its address from being used again,
// so that comparing addresses is enough.
type clockSet struct {
	fs         *Filesystem
	size       int // a power of two
	slots      [MaxSlots]*Buffer
	used, hand int
	referenced uint32 // bit i: slot i was used since the hand has passed
}

func (s *clockSet) keep(t *kernel.Task, b *Buffer) claim {
	for i, kept := range s.slots[:s.used] {
		if kept == b {
			s.referenced |= 1 << i
			return claim{tracked: true}
		}
	}
	slot, c := s.claim(t)
	s.fs.steps.count(t, b)
	s.slots[slot] = b
	s.referenced |= 1 << slot
	return c
}

// claim returns a free slot, and frees one if there is none. The hand passes over at
// most as many bits as there are slots, as they are clear when it comes again.
func (s *clockSet) claim(t *kernel.Task) (slot int, c claim) {
	c.tracked = true
	if s.used < s.size {
		s.used++
		return s.used - 1, c
	}
	for s.referenced&(1<<s.hand) != 0 {
		s.referenced &^= 1 << s.hand
		s.advance()
		c.clears++
	}
	slot = s.hand
	s.advance()
	c.evicted = s.slots[slot]
	s.fs.steps.uncount(t, c.evicted)
	return slot, c
}

func (s *clockSet) advance() { s.hand = (s.hand + 1) & (s.size - 1) }

func (s *clockSet) empty(t *kernel.Task) int {
	dropped := s.used
	for i, b := range s.slots[:s.used] {
		s.fs.steps.uncount(t, b)
		s.slots[i] = nil
	}
	s.used, s.hand, s.referenced = 0, 0, 0
	return dropped
}

func (s *clockSet) members() []*Buffer { return slices.Clone(s.slots[:s.used]) }
