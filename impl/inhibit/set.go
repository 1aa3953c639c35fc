package inhibit

import (
	"maps"
	"slices"

	"benign/impl/kernel"
)

// set is what a handle keeps from being written back. Only the handle's task uses it,
// so that it needs no lock.
type set interface {
	// keep takes a block in, if it can. The caller holds the block's lock.
	keep(t *kernel.Task, b *Buffer) claim
	// empty lets all blocks go, and returns how many there were.
	empty(t *kernel.Task) int
	// members returns the blocks in the order in which they are let go.
	members() []*Buffer
}

// claim is what came of keeping a block.
type claim struct {
	tracked bool    // it is in the set now
	clears  int     // how many bits a clock has cleared for it
	evicted *Buffer // what had to go; not to be touched, as there is no reference any more
}

// noSet keeps nothing.
type noSet struct{}

func (noSet) keep(*kernel.Task, *Buffer) claim { return claim{} }
func (noSet) empty(*kernel.Task) int           { return 0 }
func (noSet) members() []*Buffer               { return nil }

// xarraySet keeps everything, by block number, as long as there is memory.
type xarraySet struct {
	fs      *Filesystem
	entries map[Block]*Buffer
}

func (s *xarraySet) keep(t *kernel.Task, b *Buffer) claim {
	old := s.entries[b.block]
	if old == b {
		return claim{tracked: true}
	}
	if t.AllocationFails("inhibited block") {
		return claim{}
	}
	s.fs.steps.count(t, b)
	s.entries[b.block] = b
	if old != nil {
		s.fs.steps.uncount(t, old)
	}
	return claim{tracked: true, evicted: old}
}

func (s *xarraySet) empty(t *kernel.Task) int {
	all := s.members()
	for _, b := range all {
		s.fs.steps.uncount(t, b)
	}
	clear(s.entries)
	return len(all)
}

func (s *xarraySet) members() []*Buffer {
	var all []*Buffer
	for _, block := range slices.Sorted(maps.Keys(s.entries)) {
		all = append(all, s.entries[block])
	}
	return all
}

// fixedSet keeps what comes first, up to its capacity.
type fixedSet struct {
	fs    *Filesystem
	slots []*Buffer
}

func (s *fixedSet) keep(t *kernel.Task, b *Buffer) claim {
	switch {
	case slices.Contains(s.slots, b):
		return claim{tracked: true}
	case len(s.slots) == cap(s.slots):
		return claim{}
	}
	s.fs.steps.count(t, b)
	s.slots = append(s.slots, b)
	return claim{tracked: true}
}

func (s *fixedSet) empty(t *kernel.Task) int {
	dropped := len(s.slots)
	for _, b := range s.slots {
		s.fs.steps.uncount(t, b)
	}
	clear(s.slots)
	s.slots = s.slots[:0]
	return dropped
}

func (s *fixedSet) members() []*Buffer { return slices.Clone(s.slots) }
