package inhibit

import (
	"fmt"
	"math/bits"
)

// Buffer identifies a block in memory. Zero is none.
type Buffer uint64

// MaxSlots is the largest size of a [Clock], which keeps a bit a slot in one word.
const MaxSlots = 32

// Clock is a set of at most Size buffers that makes room by second chance: a hand goes round, passes over every slot that
// was used since it came by last, and takes the first one that was not. The zero value is invalid, see [NewClock].
type Clock struct {
	Size       int              // a power of two, at most MaxSlots
	Slots      [MaxSlots]Buffer // the first Used are in use
	Used       int              // how many slots are in use
	Referenced uint32           // bit i: slot i was used since the hand has passed
	Hand       int              // the slot that is looked at next
}

// Claim is what an inhibition did to a set.
type Claim struct {
	Tracked bool   // the buffer is in the set now
	Hit     bool   // and was before
	Clears  int    // how many bits the hand has cleared
	Evicted Buffer // what had to go, or none
}

// NewClock returns an empty set. It panics unless size is a power of two up to MaxSlots.
func NewClock(size int) Clock {
	if size < 1 || size > MaxSlots || size&(size-1) != 0 {
		panic(fmt.Sprintf("inhibit: a clock of %d slots", size))
	}
	return Clock{Size: size}
}

// Inhibit puts a buffer into the set. One that is there already is marked as used again.
//
// Kernel label: btrfs_inhibit_eb_writeback, btrfs_inhibit_claim_slot.
func (c Clock) Inhibit(b Buffer) (Clock, Claim) {
	for i := range c.Used {
		if c.Slots[i] == b {
			c.Referenced |= 1 << i
			return c, Claim{Tracked: true, Hit: true}
		}
	}
	claim, slot := Claim{Tracked: true}, c.Used
	if c.Used < c.Size {
		c.Used++
	} else {
		for c.Referenced&(1<<c.Hand) != 0 {
			c.Referenced &^= 1 << c.Hand
			c.advance()
			claim.Clears++
		}
		slot = c.Hand
		claim.Evicted = c.Slots[slot]
		c.advance()
	}
	c.Slots[slot] = b
	c.Referenced |= 1 << slot
	return c, claim
}

func (c *Clock) advance() { c.Hand = (c.Hand + 1) % c.Size }

// Members returns the buffers in the set, slot by slot.
func (c Clock) Members() []Buffer { return append([]Buffer(nil), c.Slots[:c.Used]...) }

// Check returns an error unless the set is well-formed: no buffer twice, no more than Size, the hand on a slot, and no bit
// for a slot that is not in use.
func (c Clock) Check() error {
	switch {
	case c.Used > c.Size:
		return fmt.Errorf("%d of %d slots are in use", c.Used, c.Size)
	case c.Hand < 0 || c.Hand >= c.Size:
		return fmt.Errorf("the hand is at %d of %d slots", c.Hand, c.Size)
	case bits.Len32(c.Referenced) > c.Used:
		return fmt.Errorf("bits %b are set, and %d slots in use", c.Referenced, c.Used)
	}
	return distinct(c.Members())
}

// distinct returns an error if a buffer is there twice, or none is where one should be.
func distinct(members []Buffer) error {
	seen := make(map[Buffer]bool)
	for _, b := range members {
		if b == 0 || seen[b] {
			return fmt.Errorf("buffer %d is in the set twice, or is none", b)
		}
		seen[b] = true
	}
	return nil
}
