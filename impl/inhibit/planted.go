package inhibit

import (
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// What happens when one of the steps is missing. Each form below differs from the clock
// in one step, and stands in the scenarios that show it.

// planted is the clock with a fault.
func planted(name, about string, plant func(*steps)) form {
	return form{name: name, role: scenario.Planted, expect: scenario.Harmful, about: about, policy: Clock(2), plant: plant}
}

// lateEmpty gives the writer back first.
var lateEmpty = planted("leave-first", "a handle is no writer any more, and a commit goes on, before its set is empty",
	func(s *steps) {
		s.leave = func(t *kernel.Task, h *Handle) {
			h.leave(t)
			h.empty(t)
		}
	})

// keptAtCommit and keptAtFailure do not empty the set of a handle that commits.
var (
	keptAtCommit = planted("commit-keeps", "a commit does not empty its own set",
		func(s *steps) { s.unblocked = func(*kernel.Task, *Handle) {} })
	keptAtFailure = planted("failure-keeps", "a commit that fails does not empty its own set",
		func(s *steps) { s.failed = func(*kernel.Task, *Handle) {} })
)

// noBypass lets sets keep everybody from writing.
var noBypass = planted("no-bypass", "a sync skips what is kept, as background writeback does: what it makes the log refer to is not on disk",
	func(s *steps) {
		s.may = func(t *kernel.Task, b *Buffer, _ Mode) bool { return mayWrite(t, b, Background) }
	})

// blind does not look at the counter.
var blind = planted("blind", "background writeback writes what is kept",
	func(s *steps) {
		s.may = func(t *kernel.Task, b *Buffer, m Mode) bool {
			mayWrite(t, b, m)
			return true
		}
	})

// noReference keeps blocks by address only.
var noReference = planted("no-reference", "a set takes a block in without a reference",
	func(s *steps) {
		s.count = func(t *kernel.Task, b *Buffer) { b.inhibitors.Add(t, kernel.Once, 1) }
	})

// neverDown and neverPut let go of half.
var (
	neverDown = planted("never-down", "the counter stays up when a set lets a block go: background writeback never writes it",
		func(s *steps) { s.uncount = func(t *kernel.Task, b *Buffer) { b.put(t) } })
	neverPut = planted("never-put", "the reference stays when a set lets a block go: it is never freed",
		func(s *steps) { s.uncount = func(t *kernel.Task, b *Buffer) { b.countDown(t) } })
)

// tornDown counts down in two steps.
var tornDown = planted("load-and-store", "the counter goes down by a load and a store: two handles that let go at once count as one",
	func(s *steps) {
		s.uncount = func(t *kernel.Task, b *Buffer) {
			b.inhibitors.Store(t, kernel.Once, b.inhibitors.Load(t, kernel.Once)-1)
			b.put(t)
		}
	})

// copiesOnly keeps what it has copied, and not what it finds copied.
var copiesOnly = planted("copies-only", "a handle does not keep what another one has copied: it is written when that one ends, and has to be copied again",
	func(s *steps) {
		s.reuse = func(*kernel.Task, *Handle, *Buffer) claim { return claim{} }
	})

// cleansOld takes what it replaces for its own.
var cleansOld = planted("cleans-old", "who copies a block of the transaction that is being committed says that it need not be written any more",
	func(s *steps) {
		s.replaced = func(t *kernel.Task, _ *Handle, b *Buffer) { b.set(t, flagStale, flagDirty) }
	})

// noWait leaves alone what somebody else is writing.
var noWait = planted("no-wait", "a commit does not wait for what background writeback is writing",
	func(s *steps) { s.wait = func(*kernel.Task, *Buffer) {} })

// storedNowhere counts a block that there was no memory for.
var storedNowhere = form{
	name: "counts-first", role: scenario.Planted, expect: scenario.Harmful, policy: everything.policy,
	about: "the counter goes up before there is memory to keep the block, and stays up if there is none",
	plant: func(s *steps) {
		s.newSet = func(fs *Filesystem) set { return &hastySet{xarraySet{fs: fs, entries: make(map[Block]*Buffer)}} }
	},
}

// hastySet is a map that counts first.
type hastySet struct{ xarraySet }

func (s *hastySet) keep(t *kernel.Task, b *Buffer) claim {
	b.inhibitors.Add(t, kernel.Once, 1)
	c := s.xarraySet.keep(t, b)
	if c.tracked {
		b.inhibitors.Add(t, kernel.Once, -1) // as it has been counted there
	}
	return c
}

// alternative is another policy that a reviewer may ask about.
func alternative(name, about string, expect scenario.Class, p Policy) form {
	return form{name: name, role: scenario.Alternative, expect: expect, about: about, policy: p}
}
