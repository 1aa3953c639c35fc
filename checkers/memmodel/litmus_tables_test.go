package memmodel_test

import "benign/impl/kernel"

// The answers for the kernel model come from tools/memory-model of the Linux
// kernel: from its own litmus tests where one is named, otherwise from the
// axiom that is named. Those for rc11 come from C11 as repaired by Lahav et
// al., with the mapping once = relaxed, full barrier = sc fence, read barrier =
// acquire fence, write barrier = release fence, full update = sc update. Those
// for sc are what an interleaving shows. No model here has load buffering.
//
// Those for tso follow from the store buffers of x86: only a store and a later
// load of its task may change places, and full barriers, updates that write,
// acquisitions and starts keep them apart. So SB, R and RWC are allowed, and the
// shapes whose cycle has no such pair, among them MP, 2+2W and IRIW, forbidden.
// Those for ra follow from happens-before being program order and reads-from:
// what is handed over by reading is seen (MP, WRC, ISA2, S), and nothing else is
// ordered (SB, R, 2+2W, RWC, IRIW), barriers or not, except through the
// atomicity of updates.

// twoTasks are the shapes of two tasks and two words, and those of one word.
var twoTasks = []litmus{
	{name: "SB", outcome: "0|0", allowed: "nyyyy", why: "store buffers; LKMM SB+poonceonces",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.r(c.y, once) }, func(c *cpu) { c.w(c.y, once, 1); c.r(c.x, once) }}},
	{name: "SB+rel+acq", outcome: "0|0", allowed: "nyyyy", why: "release before acquire is not ordered, in C11 and in LKMM",
		tasks: []program{func(c *cpu) { c.w(c.x, rel, 1); c.r(c.y, acq) }, func(c *cpu) { c.w(c.y, rel, 1); c.r(c.x, acq) }}},
	{name: "SB+mb+mb", outcome: "0|0", allowed: "nnynn", why: "LKMM SB+fencembonceonces, axiom propagation; RC11 psc of two sc fences",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.mb(); c.r(c.y, once) }, func(c *cpu) { c.w(c.y, once, 1); c.mb(); c.r(c.x, once) }}},
	{name: "SB+mb", outcome: "0|0", allowed: "nyyyy", why: "the task without a barrier may still buffer its store",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.mb(); c.r(c.y, once) }, func(c *cpu) { c.w(c.y, once, 1); c.r(c.x, once) }}},
	{name: "SB+wmb-rmb", outcome: "0|0", allowed: "nyyyy", why: "neither barrier orders a store before a load",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.wmb(); c.rmb(); c.r(c.y, once) },
			func(c *cpu) { c.w(c.y, once, 1); c.wmb(); c.rmb(); c.r(c.x, once) }}},

	{name: "MP", outcome: "|1 0", allowed: "nnnyy", why: "LKMM MP+poonceonces; C11 relaxed",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, once); c.r(c.x, once) }}},
	{name: "MP+rel+acq", outcome: "|1 0", allowed: "nnnnn", why: "LKMM MP+pooncerelease+poacquireonce; C11 synchronizes-with",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, rel, 1) }, func(c *cpu) { c.r(c.y, acq); c.r(c.x, once) }}},
	{name: "MP+rel+once", outcome: "|1 0", allowed: "nnnyy", why: "the reader may load early",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, rel, 1) }, func(c *cpu) { c.r(c.y, once); c.r(c.x, once) }}},
	{name: "MP+once+acq", outcome: "|1 0", allowed: "nnnyy", why: "the writer may store late",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, acq); c.r(c.x, once) }}},
	{name: "MP+wmb+rmb", outcome: "|1 0", allowed: "nnnnn", why: "LKMM MP+fencewmbonceonce+fencermbonceonce; C11 release and acquire fences",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.wmb(); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, once); c.rmb(); c.r(c.x, once) }}},
	{name: "MP+wmb", outcome: "|1 0", allowed: "nnnyy", why: "the reader may load early",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.wmb(); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, once); c.r(c.x, once) }}},
	{name: "MP+rmb", outcome: "|1 0", allowed: "nnnyy", why: "the writer may store late",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, once); c.rmb(); c.r(c.x, once) }}},
	{name: "MP+rmb+rmb", outcome: "|1 0", allowed: "nnnyy", why: "a read barrier does not order stores",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.rmb(); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, once); c.rmb(); c.r(c.x, once) }}},
	{name: "MP+wmb+wmb", outcome: "|1 0", allowed: "nnnyy", why: "a write barrier does not order loads",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.wmb(); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, once); c.wmb(); c.r(c.x, once) }}},
	{name: "MP+wmb+acq", outcome: "|1 0", allowed: "nnnnn", why: "a write barrier does for this what a release does",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.wmb(); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, acq); c.r(c.x, once) }}},
	{name: "MP+rel+rmb", outcome: "|1 0", allowed: "nnnnn", why: "a read barrier does for this what an acquire does",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, rel, 1) }, func(c *cpu) { c.r(c.y, once); c.rmb(); c.r(c.x, once) }}},
	{name: "MP+rel+mb", outcome: "|1 0", allowed: "nnnnn", why: "a full barrier does for this what an acquire does",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, rel, 1) }, func(c *cpu) { c.r(c.y, once); c.mb(); c.r(c.x, once) }}},
	{name: "MP+mb+acq", outcome: "|1 0", allowed: "nnnnn", why: "a full barrier does for this what a release does",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.mb(); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, acq); c.r(c.x, once) }}},
	{name: "MP+mb+mb", outcome: "|1 0", allowed: "nnnnn", why: "a full barrier is both of the others",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.mb(); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, once); c.mb(); c.r(c.x, once) }}},

	{name: "LB", outcome: "1|1", allowed: "nnnnn", why: "no load buffering here; LKMM LB+poonceonces and IMM allow it",
		tasks: []program{func(c *cpu) { c.r(c.x, once); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, once); c.w(c.x, once, 1) }}},

	{name: "S", outcome: "|1 final 2 1 0", final: true, allowed: "nnnyy", why: "LKMM S+poonceonces",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 2); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, once); c.w(c.x, once, 1) }}},
	{name: "S+rel+acq", outcome: "|1 final 2 1 0", final: true, allowed: "nnnnn", why: "synchronizes-with and coherence",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 2); c.w(c.y, rel, 1) }, func(c *cpu) { c.r(c.y, acq); c.w(c.x, once, 1) }}},
	{name: "S+wmb+once", outcome: "|1 final 2 1 0", final: true, allowed: "nnnyn",
		why:   "LKMM S+fencewmbonceonce+poacquireonce needs only that the load comes before the store, which is kept here; C11 needs an acquire",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 2); c.wmb(); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, once); c.w(c.x, once, 1) }}},

	{name: "R", outcome: "|0 final 1 2 0", final: true, allowed: "nyyyy", why: "LKMM R+poonceonces",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, once, 1) }, func(c *cpu) { c.w(c.y, once, 2); c.r(c.x, once) }}},
	{name: "R+mb+mb", outcome: "|0 final 1 2 0", final: true, allowed: "nnynn", why: "LKMM R+fencembonceonces",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.mb(); c.w(c.y, once, 1) }, func(c *cpu) { c.w(c.y, once, 2); c.mb(); c.r(c.x, once) }}},
	{name: "R+rel+mb", outcome: "|0 final 1 2 0", final: true, allowed: "nnyyy", why: "one strong fence alone decides no coherence",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, rel, 1) }, func(c *cpu) { c.w(c.y, once, 2); c.mb(); c.r(c.x, once) }}},

	{name: "2+2W", outcome: "| final 1 1 0", final: true, allowed: "nnyyy", why: "stores may become visible in any order",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, once, 2) }, func(c *cpu) { c.w(c.y, once, 1); c.w(c.x, once, 2) }}},
	{name: "2+2W+rel+rel", outcome: "| final 1 1 0", final: true, allowed: "nnyyy", why: "a release is seen by readers only",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, rel, 2) }, func(c *cpu) { c.w(c.y, once, 1); c.w(c.x, rel, 2) }}},
	{name: "2+2W+wmb+wmb", outcome: "| final 1 1 0", final: true, allowed: "nnyyy", why: "propagates-before needs a strong fence",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.wmb(); c.w(c.y, once, 2) }, func(c *cpu) { c.w(c.y, once, 1); c.wmb(); c.w(c.x, once, 2) }}},
	{name: "2+2W+mb+wmb", outcome: "| final 1 1 0", final: true, allowed: "nnyyy", why: "one strong fence leaves the cycle open",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.mb(); c.w(c.y, once, 2) }, func(c *cpu) { c.w(c.y, once, 1); c.wmb(); c.w(c.x, once, 2) }}},
	{name: "2+2W+mb+mb", outcome: "| final 1 1 0", final: true, allowed: "nnynn", why: "axiom propagation; RC11 psc",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.mb(); c.w(c.y, once, 2) }, func(c *cpu) { c.w(c.y, once, 1); c.mb(); c.w(c.x, once, 2) }}},

	{name: "CoRR", outcome: "|1 0", allowed: "nnnnn", why: "coherence: LKMM CoRR+poonceonce+Once",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1) }, func(c *cpu) { c.r(c.x, once); c.r(c.x, once) }}},
	{name: "CoRW1", outcome: "1", allowed: "nnnnn", why: "coherence: LKMM CoRW+poonceonce+Once; no load sees a later store",
		tasks: []program{func(c *cpu) { c.r(c.x, once); c.w(c.x, once, 1) }}},
	{name: "CoRW2", outcome: "2| final 2 0 0", final: true, allowed: "nnnnn", why: "coherence: what was read is overwritten by the task's own store",
		tasks: []program{func(c *cpu) { c.r(c.x, once); c.w(c.x, once, 1) }, func(c *cpu) { c.w(c.x, once, 2) }}},
	{name: "CoWR", outcome: "2| final 1 0 0", final: true, allowed: "nnnnn", why: "coherence: LKMM CoWR+poonceonce+Once",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.r(c.x, once) }, func(c *cpu) { c.w(c.x, once, 2) }}},
	{name: "CoWW", outcome: " final 1 0 0", final: true, allowed: "nnnnn", why: "coherence: LKMM CoWW+poonceonce",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.x, once, 2) }}},
}

// manyTasks are the shapes that tell whether an order reaches a third task.
var manyTasks = []litmus{
	{name: "WRC", outcome: "|1|1 0", allowed: "nnnyy", why: "LKMM WRC+poonceonces+Once",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1) }, func(c *cpu) { c.r(c.x, once); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, once); c.r(c.x, once) }}},
	{name: "WRC+once+acq", outcome: "|1|1 0", allowed: "nnnyy", why: "load before store alone carries nothing along: not in cumul-fence",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1) }, func(c *cpu) { c.r(c.x, once); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, acq); c.r(c.x, once) }}},
	{name: "WRC+rel+rmb", outcome: "|1|1 0", allowed: "nnnnn", why: "LKMM WRC+pooncerelease+fencermbonceonce+Once: a release is cumulative",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1) }, func(c *cpu) { c.r(c.x, once); c.w(c.y, rel, 1) }, func(c *cpu) { c.r(c.y, once); c.rmb(); c.r(c.x, once) }}},
	{name: "WRC+wmb+acq", outcome: "|1|1 0", allowed: "nnnny",
		why:   "a write barrier orders the task's own stores only (LKMM: wmb is not A-cumulative); C11 has no such fence and a release fence is",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1) }, func(c *cpu) { c.r(c.x, once); c.wmb(); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, acq); c.r(c.x, once) }}},

	{name: "ISA2", outcome: "|1|1 0", allowed: "nnnyy", why: "LKMM ISA2+poonceonces",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, once); c.w(c.z, once, 1) }, func(c *cpu) { c.r(c.z, once); c.r(c.x, once) }}},
	{name: "ISA2+rel+acq-rel+acq", outcome: "|1|1 0", allowed: "nnnnn", why: "LKMM ISA2+pooncerelease+poacquirerelease+poacquireonce",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, rel, 1) }, func(c *cpu) { c.r(c.y, acq); c.w(c.z, rel, 1) }, func(c *cpu) { c.r(c.z, acq); c.r(c.x, once) }}},
	{name: "ISA2+rel+once-rel+acq", outcome: "|1|1 0", allowed: "nnnyn",
		why:   "LKMM: a release is cumulative over what its task read, acquired or not; C11: the middle task has not synchronized",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, rel, 1) }, func(c *cpu) { c.r(c.y, once); c.w(c.z, rel, 1) }, func(c *cpu) { c.r(c.z, acq); c.r(c.x, once) }}},
	{name: "ISA2+rel+acq-once+acq", outcome: "|1|1 0", allowed: "nnnyy", why: "the middle task hands nothing on",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, rel, 1) }, func(c *cpu) { c.r(c.y, acq); c.w(c.z, once, 1) }, func(c *cpu) { c.r(c.z, acq); c.r(c.x, once) }}},

	{name: "RWC", outcome: "|1 0|0", allowed: "nyyyy", why: "store buffer of the third task",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1) }, func(c *cpu) { c.r(c.x, once); c.r(c.y, once) }, func(c *cpu) { c.w(c.y, once, 1); c.r(c.x, once) }}},
	{name: "RWC+acq+mb", outcome: "|1 0|0", allowed: "nnyyy", why: "the first store may reach the second task before the third; needs two strong fences",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1) }, func(c *cpu) { c.r(c.x, acq); c.r(c.y, once) }, func(c *cpu) { c.w(c.y, once, 1); c.mb(); c.r(c.x, once) }}},
	{name: "RWC+mb+mb", outcome: "|1 0|0", allowed: "nnynn", why: "axiom propagation; RC11 psc",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1) }, func(c *cpu) { c.r(c.x, once); c.mb(); c.r(c.y, once) }, func(c *cpu) { c.w(c.y, once, 1); c.mb(); c.r(c.x, once) }}},

	{name: "IRIW", outcome: "||1 0|1 0", allowed: "nnyyy", why: "LKMM IRIW+poonceonces+OnceOnce",
		tasks: iriw(once, func(*cpu) {})},
	{name: "IRIW+acq", outcome: "||1 0|1 0", allowed: "nnyyy", why: "acquire does not make stores reach all tasks at once, in LKMM nor in C11",
		tasks: iriw(acq, func(*cpu) {})},
	{name: "IRIW+rmb", outcome: "||1 0|1 0", allowed: "nnyyy", why: "a read barrier orders the loads, not the stores' arrival",
		tasks: iriw(once, (*cpu).rmb)},
	{name: "IRIW+mb", outcome: "||1 0|1 0", allowed: "nnynn", why: "LKMM IRIW+fencembonceonces+OnceOnce; RC11 psc",
		tasks: iriw(once, (*cpu).mb)},

	{name: "Z6.0+rel+acq-rel+mb", outcome: "|1|0 final 1 1 2", final: true, allowed: "nnyyy",
		why: "LKMM Z6.0+pooncerelease+poacquirerelease+fencembonceonce: coherence needs a strong fence on each side",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, rel, 1) }, func(c *cpu) { c.r(c.y, acq); c.w(c.z, rel, 1) },
			func(c *cpu) { c.w(c.z, once, 2); c.mb(); c.r(c.x, once) }}},
	{name: "Z6.0+mb+acq-once+mb", outcome: "|1|0 final 1 1 2", final: true, allowed: "nnynn", why: "GenMC counts 7 of 8 executions for Z6+acq; axiom propagation",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.mb(); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, acq); c.w(c.z, once, 1) },
			func(c *cpu) { c.w(c.z, once, 2); c.mb(); c.r(c.x, once) }}},
	{name: "SB3+mb", outcome: "0|0|0", allowed: "nnynn", why: "a ring of store buffers with a strong fence each",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.mb(); c.r(c.y, once) }, func(c *cpu) { c.w(c.y, once, 1); c.mb(); c.r(c.z, once) },
			func(c *cpu) { c.w(c.z, once, 1); c.mb(); c.r(c.x, once) }}},
	{name: "MP+wmb-reader-chain", outcome: "|1|1 1 0", allowed: "nnnyn",
		why: "LKMM: wmb hands its first store to whoever a release lets see the second; C11: the second task reads without acquire",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.wmb(); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, once); c.w(c.z, rel, 1) },
			func(c *cpu) { c.r(c.z, acq); c.r(c.y, once); c.r(c.x, once) }}},
}

// iriw is two independent writers and two readers in opposite order.
func iriw(first kernel.Order, between func(*cpu)) []program {
	return []program{func(c *cpu) { c.w(c.x, once, 1) }, func(c *cpu) { c.w(c.y, once, 1) },
		func(c *cpu) { c.r(c.x, first); between(c); c.r(c.y, once) }, func(c *cpu) { c.r(c.y, first); between(c); c.r(c.x, once) }}
}

// lockTests hand data over by locks, or fail to.
var lockTests = []litmus{
	{name: "MP+lock", outcome: "|1 0", allowed: "nnnnn", why: "LKMM MP+polocks; C11: unlock synchronizes with the lock after it",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.s.Lock(c.t); c.w(c.y, once, 1); c.s.Unlock(c.t) },
			func(c *cpu) { c.s.Lock(c.t); c.r(c.y, once); c.s.Unlock(c.t); c.r(c.x, once) }}},
	{name: "MP+lock-in-writer-only", outcome: "|1 0", allowed: "nnnyy", why: "inside of one section nothing is ordered for those who do not take the lock",
		tasks: []program{func(c *cpu) { c.s.Lock(c.t); c.w(c.x, once, 1); c.w(c.y, once, 1); c.s.Unlock(c.t) },
			func(c *cpu) { c.r(c.y, once); c.r(c.x, once) }}},
	{name: "MP+lock-roach-motel", outcome: "|1 0", allowed: "nnnyy", why: "an access after the unlock may move into the section; the two stores are then not ordered",
		tasks: []program{func(c *cpu) { c.s.Lock(c.t); c.w(c.x, once, 1); c.s.Unlock(c.t); c.w(c.y, once, 1) },
			func(c *cpu) { c.r(c.y, acq); c.r(c.x, once) }}},
	{name: "SB+lock-lock", outcome: "0|0", allowed: "nnyyy", why: "a section of a lock of one's own is no full barrier: LKMM po-unlock-lock-po keeps no store before a load for others",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.s.Lock(c.t); c.s.Unlock(c.t); c.r(c.y, once) },
			func(c *cpu) { c.w(c.y, once, 1); c.u.Lock(c.t); c.u.Unlock(c.t); c.r(c.x, once) }}},
	{name: "SB+same-lock", outcome: "0|0", allowed: "nnnnn", why: "the later section of the same lock comes after the other's store",
		tasks: []program{func(c *cpu) { c.s.Lock(c.t); c.w(c.x, once, 1); c.r(c.y, once); c.s.Unlock(c.t) },
			func(c *cpu) { c.s.Lock(c.t); c.w(c.y, once, 1); c.r(c.x, once); c.s.Unlock(c.t) }}},
	{name: "MP+unlock-lock+rmb", outcome: "|1 0", allowed: "nnnyn",
		why: "LKMM MP+unlocklockonceonce+fencermbonceonce: unlock then lock of one task orders its stores for everybody; C11 knows no such order",
		tasks: []program{func(c *cpu) {
			c.s.Lock(c.t)
			c.w(c.x, once, 1)
			c.s.Unlock(c.t)
			c.u.Lock(c.t)
			c.w(c.y, once, 1)
			c.u.Unlock(c.t)
		}, func(c *cpu) { c.r(c.y, once); c.rmb(); c.r(c.x, once) }}},
	{name: "ISA2+lock+lock+mb", outcome: "|1|1 0", allowed: "nnnyn",
		why: "LKMM ISA2+pooncelock+pooncelock+pombonce: the hand-over orders the stores of two sections for a third task without the lock; C11: the third task has nothing to synchronize with",
		tasks: []program{func(c *cpu) { c.s.Lock(c.t); c.w(c.x, once, 1); c.w(c.y, once, 1); c.s.Unlock(c.t) },
			func(c *cpu) { c.s.Lock(c.t); c.r(c.y, once); c.w(c.z, once, 1); c.s.Unlock(c.t) },
			func(c *cpu) { c.r(c.z, once); c.mb(); c.r(c.x, once) }}},

	{name: "trylock-succeeds", outcome: "|true 1 1", allowed: "yyyyy", why: "a try that takes the lock acquires",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.s.Lock(c.t); c.w(c.y, once, 1); c.s.Unlock(c.t) }, tryThenRead}},
	{name: "MP+trylock-succeeds", outcome: "|true 1 0", allowed: "nnnnn", why: "the same: what was before the section is seen",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.s.Lock(c.t); c.w(c.y, once, 1); c.s.Unlock(c.t) }, tryThenRead}},
	{name: "MP+trylock-fails", outcome: "|false 0", allowed: "nnnyy",
		why: "LKMM lock.cat: a failed try is a read without order, so the holder's earlier store may be missed; under sc the holder has begun",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.s.Lock(c.t); c.s.Unlock(c.t) },
			func(c *cpu) { tried(c); c.r(c.x, once) }}},
	{name: "SB+trylock-fails", outcome: "0|false", allowed: "nyyyy",
		why:   "the try may look early: a store before it is not ordered before it; an interleaving puts the store before the unlock that the try missed",
		tasks: []program{func(c *cpu) { c.s.Lock(c.t); c.s.Unlock(c.t); c.r(c.x, once) }, func(c *cpu) { c.w(c.x, once, 1); tried(c) }}},
	{name: "stale-trylock", outcome: "|1 false", allowed: "nnnyy",
		why:   "LKMM: a failed try may read any acquisition that coherence allows, also one whose section has ended; nothing orders the end before the try",
		tasks: []program{func(c *cpu) { c.s.Lock(c.t); c.s.Unlock(c.t); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, once); tried(c) }}},
	{name: "stale-trylock+rel+acq", outcome: "|1 false", allowed: "nnnnn",
		why:   "the unlock happens before the try, which may not miss it: coherence of the lock word",
		tasks: []program{func(c *cpu) { c.s.Lock(c.t); c.s.Unlock(c.t); c.w(c.y, rel, 1) }, func(c *cpu) { c.r(c.y, acq); tried(c) }}},
	{name: "stale-trylock-own", outcome: "false", allowed: "nnnnn", why: "nobody but the task itself ever held the lock",
		tasks: []program{func(c *cpu) { c.s.Lock(c.t); c.s.Unlock(c.t); tried(c) }}},
	{name: "trylock-fails-while-held", outcome: "|false", allowed: "yyyyy", why: "the holder is in its section",
		tasks: []program{func(c *cpu) { c.s.Lock(c.t); c.s.Unlock(c.t) }, func(c *cpu) { tried(c) }}},
}

// tried tries the lock, records whether it was taken, and drops it.
func tried(c *cpu) {
	ok := c.s.TryLock(c.t)
	c.note(ok)
	if ok {
		c.s.Unlock(c.t)
	}
}

// tryThenRead reads y in a section that it may not get, and x after it.
func tryThenRead(c *cpu) {
	ok := c.s.TryLock(c.t)
	c.note(ok)
	if ok {
		c.r(c.y, once)
		c.s.Unlock(c.t)
		c.r(c.x, once)
	}
}

// updateTests are about what atomic read-modify-writes order.
var updateTests = []litmus{
	{name: "SB+xchg-loads", outcome: "0|0", allowed: "nnyyn",
		why:   "LKMM: a full update is surrounded by full barriers; C11: an sc update does not order a later relaxed load",
		tasks: []program{func(c *cpu) { c.x.Swap(c.t, full, 1); c.r(c.y, once) }, func(c *cpu) { c.y.Swap(c.t, full, 1); c.r(c.x, once) }}},
	{name: "SB+xchg-xchg", outcome: "0|0", allowed: "nnnnn", why: "four sc accesses; LKMM full barriers",
		tasks: []program{func(c *cpu) { c.x.Swap(c.t, full, 1); c.note(c.y.Add(c.t, full, 0)) },
			func(c *cpu) { c.y.Swap(c.t, full, 1); c.note(c.x.Add(c.t, full, 0)) }}},
	{name: "SB+xchgs+mb", outcome: "0|0", allowed: "nnynn", why: "sc accesses against an sc fence: RC11 psc through from-reads; GenMC counts 3 for SB+2sc+scf",
		tasks: []program{func(c *cpu) { c.x.Swap(c.t, full, 1); c.note(c.y.Add(c.t, full, 0)) },
			func(c *cpu) { c.w(c.y, once, 1); c.mb(); c.r(c.x, once) }}},
	{name: "R+xchgs+mb", outcome: "|0 final 1 2 0", final: true, allowed: "nnynn", why: "the same through coherence",
		tasks: []program{func(c *cpu) { c.x.Swap(c.t, full, 1); c.y.Swap(c.t, full, 1) },
			func(c *cpu) { c.w(c.y, once, 2); c.mb(); c.r(c.x, once) }}},
	{name: "W+RWC+xchg-rel+acq-xchg+mb", outcome: "|1 0|0", allowed: "nnynn",
		why: "RC11 psc: sc accesses of two tasks with happens-before between them; LKMM full barriers",
		tasks: []program{func(c *cpu) { c.x.Swap(c.t, full, 1); c.w(c.y, rel, 1) },
			func(c *cpu) { c.r(c.y, acq); c.note(c.z.Add(c.t, full, 0)) },
			func(c *cpu) { c.w(c.z, once, 1); c.mb(); c.r(c.x, once) }}},
	{name: "W+RWC+rel+acq-xchg+mb", outcome: "|1 0|0", allowed: "nnyyn",
		why: "RC11: a relaxed first store takes no part in psc; LKMM: the second task's full barrier is strong and the release cumulative",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, rel, 1) },
			func(c *cpu) { c.r(c.y, acq); c.note(c.z.Add(c.t, full, 0)) },
			func(c *cpu) { c.w(c.z, once, 1); c.mb(); c.r(c.x, once) }}},
	{name: "SB+relaxed-xchg", outcome: "0|0", allowed: "nnyyy", why: "an update without order is no barrier",
		tasks: []program{func(c *cpu) { c.x.Swap(c.t, once, 1); c.r(c.y, once) }, func(c *cpu) { c.y.Swap(c.t, once, 1); c.r(c.x, once) }}},
	{name: "SB+xchg-acq-rel", outcome: "0|0", allowed: "nnyyy", why: "the write part does not acquire",
		tasks: []program{func(c *cpu) { c.x.Swap(c.t, kernel.AcquireRelease, 1); c.r(c.y, once) },
			func(c *cpu) { c.y.Swap(c.t, kernel.AcquireRelease, 1); c.r(c.x, once) }}},
	{name: "MP+xchg-between", outcome: "|1 0", allowed: "nnnyn", why: "LKMM: full barriers around an update of any word; C11: an sc update of another word is no fence",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.z.Swap(c.t, full, 1); c.w(c.y, once, 1) },
			func(c *cpu) { c.r(c.y, once); c.rmb(); c.r(c.x, once) }}},
	{name: "MP+cas-acq", outcome: "|true 0", allowed: "nnnnn", why: "a compare-and-swap that succeeds acquires",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, rel, 1) },
			func(c *cpu) { c.note(c.y.CompareAndSwap(c.t, acq, 1, 2)); c.r(c.x, once) }}},
	{name: "MP+failed-cas", outcome: "|1 false 0", allowed: "nnnyy",
		why: "LKMM: FailedRMW is neither acquire nor full barrier; C11 with a relaxed failure order",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, rel, 1) },
			func(c *cpu) {
				old, ok := c.y.Update(c.t, full, func(old int) (int, bool) { return 9, old == 7 })
				c.note(old)
				c.note(ok)
				c.r(c.x, once)
			}}},
	{name: "SB+failed-cas", outcome: "0|0", allowed: "nyyyy", why: "LKMM: a failed full update is no barrier",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.z.CompareAndSwap(c.t, full, 7, 8); c.r(c.y, once) },
			func(c *cpu) { c.w(c.y, once, 1); c.z.CompareAndSwap(c.t, full, 7, 8); c.r(c.x, once) }}},

	{name: "release-sequence", outcome: "||2 0", allowed: "nnnnn", why: "LKMM rmw-sequence in cumul-fence; C11 release sequence",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, rel, 1) }, func(c *cpu) { c.y.CompareAndSwap(c.t, once, 1, 2) },
			func(c *cpu) { c.r(c.y, acq); c.r(c.x, once) }}},
	{name: "release-sequence-of-two", outcome: "|||3 0", allowed: "nnnnn", why: "the same through two updates",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, rel, 1) }, func(c *cpu) { c.y.CompareAndSwap(c.t, once, 1, 2) },
			func(c *cpu) { c.y.CompareAndSwap(c.t, once, 2, 3) }, func(c *cpu) { c.r(c.y, acq); c.r(c.x, once) }}},
	{name: "release-sequence-broken", outcome: "|1|2 0", allowed: "nnnyy", why: "a plain store of another task does not continue it",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, rel, 1) }, func(c *cpu) {
			if c.r(c.y, once) == 1 {
				c.w(c.y, once, 2)
			}
		}, func(c *cpu) { c.r(c.y, acq); c.r(c.x, once) }}},
	{name: "release-sequence-own-store", outcome: "|2 0", allowed: "nnnyy",
		why: "a later store of the releasing task does not continue it either: LKMM has no such rule, C++20 gave it up (P0982); GenMC counts 4 for MP+rels+acq",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, rel, 1); c.w(c.y, once, 2) },
			func(c *cpu) { c.r(c.y, acq); c.r(c.x, once) }}},
	{name: "no-lost-update", outcome: "| final 1 0 0", final: true, allowed: "nnnnn", why: "atomicity",
		tasks: []program{func(c *cpu) { c.x.Add(c.t, once, 1) }, func(c *cpu) { c.x.Add(c.t, once, 1) }}},
	{name: "update-reads-newest", outcome: "1|1", allowed: "nnnnn", why: "atomicity: two additions cannot both start from zero",
		tasks: []program{func(c *cpu) { c.note(c.x.Add(c.t, once, 1)) }, func(c *cpu) { c.note(c.x.Add(c.t, once, 1)) }}},
}

// sequentialTests have accesses that are sequentially consistent by themselves.
var sequentialTests = []litmus{
	{name: "SB+seq", outcome: "0|0", allowed: "nnynn", why: "one order of all four; GenMC counts 3 for SB+4sc, and 4 under release/acquire",
		tasks: []program{func(c *cpu) { c.w(c.x, seqc, 1); c.r(c.y, seqc) }, func(c *cpu) { c.w(c.y, seqc, 1); c.r(c.x, seqc) }}},
	{name: "SB+3seq+acq", outcome: "0|0", allowed: "nnyyn",
		why:   "RC11: the acquire load takes no part in psc (GenMC: 4 for SB+3sc+acq); x86 drains the buffer after a sequential store, whatever the load; kernel: full barriers around each",
		tasks: []program{func(c *cpu) { c.w(c.x, seqc, 1); c.r(c.y, seqc) }, func(c *cpu) { c.w(c.y, seqc, 1); c.r(c.x, acq) }}},
	{name: "SB+3seq+rel", outcome: "0|0", allowed: "nyyyn",
		why:   "RC11: the release store takes no part in psc (GenMC: 4 for SB+3sc+rel); x86: it stays in the buffer; kernel: a full barrier before the sequential load",
		tasks: []program{func(c *cpu) { c.w(c.x, rel, 1); c.r(c.y, seqc) }, func(c *cpu) { c.w(c.y, seqc, 1); c.r(c.x, seqc) }}},
	{name: "SB+2seq+mb", outcome: "0|0", allowed: "nnynn", why: "sc accesses against an sc fence: GenMC counts 3 for SB+2sc+scf",
		tasks: []program{func(c *cpu) { c.w(c.x, seqc, 1); c.r(c.y, seqc) }, func(c *cpu) { c.w(c.y, once, 1); c.mb(); c.r(c.x, once) }}},
	{name: "SB+failed-seq-cas", outcome: "0|0", allowed: "nnynn", why: "a sequential update that fails is a sequential load, as in Go and by default in C11",
		tasks: []program{func(c *cpu) { c.w(c.x, seqc, 1); failing(c, c.y) }, func(c *cpu) { c.w(c.y, seqc, 1); failing(c, c.x) }}},
	{name: "MP+seq+seq", outcome: "|1 0", allowed: "nnnnn", why: "a sequential store releases and a sequential load acquires",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, seqc, 1) }, func(c *cpu) { c.r(c.y, seqc); c.r(c.x, once) }}},
	{name: "MP+rel+failed-seq-cas", outcome: "|1 0", allowed: "nnnnn", why: "the same for an update that fails",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.y, rel, 1) }, func(c *cpu) { failing(c, c.y); c.r(c.x, once) }}},
	{name: "MP+seq-between", outcome: "|1 0", allowed: "nnnyn", why: "C11: a sequential store of another word is no fence; kernel: full barriers around it",
		tasks: []program{func(c *cpu) { c.w(c.x, once, 1); c.w(c.z, seqc, 1); c.w(c.y, once, 1) }, func(c *cpu) { c.r(c.y, acq); c.r(c.x, once) }}},
	{name: "2+2W+seq", outcome: "| final 1 1 0", final: true, allowed: "nnynn", why: "RC11 psc through coherence: GenMC counts 3 for 2+2W+4sc, and 4 under release/acquire",
		tasks: []program{func(c *cpu) { c.w(c.x, seqc, 1); c.w(c.y, seqc, 2) }, func(c *cpu) { c.w(c.y, seqc, 1); c.w(c.x, seqc, 2) }}},
	{name: "2+2W+3seq+rel", outcome: "| final 1 1 0", final: true, allowed: "nnyyn", why: "the release store takes no part in psc: GenMC counts 4; kernel: a full barrier after the store before it",
		tasks: []program{func(c *cpu) { c.w(c.x, seqc, 1); c.w(c.y, seqc, 2) }, func(c *cpu) { c.w(c.y, seqc, 1); c.w(c.x, rel, 2) }}},
	{name: "IRIW+seq", outcome: "||1 0|1 0", allowed: "nnynn", why: "all tasks agree on the order of the stores", tasks: iriwSequential(seqc)},
	{name: "IRIW+acq-seq", outcome: "||1 0|1 0", allowed: "nnyyn",
		why: "RC11: the acquire loads take no part in psc (GenMC: 16 for IRIW-acq-sc); kernel: full barriers before the second loads", tasks: iriwSequential(acq)},
}

// failing tries to update the word to something that it never is, and records
// what was there.
func failing(c *cpu, w *kernel.Word[int]) {
	old, _ := w.Update(c.t, seqc, func(old int) (int, bool) { return 9, old == 7 })
	c.note(old)
}

// iriwSequential is IRIW of sequential accesses, but for the first loads.
func iriwSequential(first kernel.Order) []program {
	return []program{func(c *cpu) { c.w(c.x, seqc, 1) }, func(c *cpu) { c.w(c.y, seqc, 1) },
		func(c *cpu) { c.r(c.x, first); c.r(c.y, seqc) }, func(c *cpu) { c.r(c.y, first); c.r(c.x, seqc) }}
}

// plainTests have plain data without a race: it must never be seen stale.
var plainTests = []litmus{
	{name: "plain-MP+rel+acq", outcome: "|1 0", allowed: "nnnnn", why: "C11 happens-before; LKMM axiom plain-coherence",
		tasks: []program{func(c *cpu) { c.w(c.x, plain, 1); c.w(c.y, rel, 1) }, readPlainIfSet(acq, func(*cpu) {})}},
	{name: "plain-MP+wmb+rmb", outcome: "|1 0", allowed: "nnnnn", why: "C11 fences; LKMM axiom plain-coherence",
		tasks: []program{func(c *cpu) { c.w(c.x, plain, 1); c.wmb(); c.w(c.y, once, 1) }, readPlainIfSet(once, (*cpu).rmb)}},
	{name: "plain-MP+mb+mb", outcome: "|1 0", allowed: "nnnnn", why: "C11 fences; LKMM axiom plain-coherence",
		tasks: []program{func(c *cpu) { c.w(c.x, plain, 1); c.mb(); c.w(c.y, once, 1) }, readPlainIfSet(once, (*cpu).mb)}},
	{name: "plain-S+rel+acq", outcome: "|1 final 1 1 0", final: true, allowed: "nnnnn", why: "C11 coherence; LKMM axiom plain-coherence",
		tasks: []program{func(c *cpu) { c.w(c.x, plain, 1); c.w(c.y, rel, 1) }, func(c *cpu) {
			if c.r(c.y, acq) == 1 {
				c.w(c.x, plain, 2)
			}
		}}},
	{name: "plain-counter-under-lock", outcome: "| final 1 0 0", final: true, allowed: "nnnnn", why: "a lock protects plain data",
		tasks: []program{countUnderLock, countUnderLock}},
	{name: "plain-release-sequence", outcome: "||2 0", allowed: "nnnnn", why: "LKMM w-post contains rmw-sequence",
		tasks: []program{func(c *cpu) { c.w(c.x, plain, 1); c.w(c.y, rel, 1) }, func(c *cpu) { c.y.CompareAndSwap(c.t, once, 1, 2) },
			func(c *cpu) {
				if c.r(c.y, acq) == 2 {
					c.r(c.x, plain)
				}
			}}},
	{name: "plain-three-sections", outcome: "||0 final 1 2 0", final: true, allowed: "nnnnn", why: "sections of a lock chain; LKMM vis through two hand-overs",
		tasks: []program{
			func(c *cpu) { c.s.Lock(c.t); c.w(c.x, plain, 1); c.w(c.y, plain, 1); c.s.Unlock(c.t) },
			func(c *cpu) {
				c.s.Lock(c.t)
				if c.y.Load(c.t, plain) == 1 {
					c.w(c.y, plain, 2)
				}
				c.s.Unlock(c.t)
			},
			func(c *cpu) {
				c.s.Lock(c.t)
				if c.y.Load(c.t, plain) == 2 {
					c.r(c.x, plain)
				}
				c.s.Unlock(c.t)
			}}},
}

func readPlainIfSet(first kernel.Order, between func(*cpu)) program {
	return func(c *cpu) {
		if c.r(c.y, first) == 1 {
			between(c)
			c.r(c.x, plain)
		}
	}
}

func countUnderLock(c *cpu) {
	c.s.Lock(c.t)
	c.w(c.x, plain, c.x.Load(c.t, plain)+1)
	c.s.Unlock(c.t)
}

// taskTests start tasks and join them; both order like a full barrier.
var taskTests = []litmus{
	{name: "spawn", outcome: "0", allowed: "nnnnn", why: "what was before the start is before the task",
		tasks: []program{func(c *cpu) {
			c.w(c.x, once, 1)
			c.t.Join(c.t.Go("child", func(t *kernel.Task) { c.note(c.x.Load(t, once)) }))
		}}},
	{name: "join", outcome: "0", allowed: "nnnnn", why: "what the task did is before the return of the join",
		tasks: []program{func(c *cpu) {
			c.t.Join(c.t.Go("child", func(t *kernel.Task) { c.x.Store(t, once, 1) }))
			c.r(c.x, once)
		}}},
	{name: "no-join", outcome: "0", allowed: "yyyyy", why: "without a join nothing is ordered",
		tasks: []program{func(c *cpu) {
			c.t.Go("child", func(t *kernel.Task) { c.x.Store(t, once, 1) })
			c.r(c.x, once)
		}}},
	{name: "spawn-of-grandchild", outcome: "0", allowed: "nnnnn", why: "starts chain, also through a task without accesses",
		tasks: []program{func(c *cpu) {
			c.w(c.x, once, 1)
			c.t.Join(c.t.Go("child", func(t *kernel.Task) {
				t.Join(t.Go("grandchild", func(t *kernel.Task) { c.note(c.x.Load(t, once)) }))
			}))
		}}},
	{name: "join-of-grandchild", outcome: "0", allowed: "nnnnn", why: "joins chain, also through a task without accesses",
		tasks: []program{func(c *cpu) {
			c.t.Join(c.t.Go("child", func(t *kernel.Task) {
				t.Join(t.Go("grandchild", func(t *kernel.Task) { c.x.Store(t, once, 1) }))
			}))
			c.r(c.x, once)
		}}},
	{name: "join-then-spawn", outcome: "0", allowed: "nnnnn", why: "a task is before one that is started after its join",
		tasks: []program{func(c *cpu) {
			c.t.Join(c.t.Go("first", func(t *kernel.Task) { c.x.Store(t, once, 1) }))
			c.t.Join(c.t.Go("second", func(t *kernel.Task) { c.note(c.x.Load(t, once)) }))
		}}},
	{name: "siblings", outcome: "0", allowed: "yyyyy", why: "tasks that run at once are not ordered by their starts",
		tasks: []program{func(c *cpu) {
			first := c.t.Go("first", func(t *kernel.Task) { c.x.Store(t, once, 1) })
			second := c.t.Go("second", func(t *kernel.Task) { c.note(c.x.Load(t, once)) })
			c.t.Join(first)
			c.t.Join(second)
		}}},
	{name: "SB+spawn", outcome: "0|0", allowed: "nnyyn", why: "here a start is a full barrier, because waking a task is one in the kernel; in C11 it only happens before the task",
		tasks: []program{func(c *cpu) {
			c.w(c.x, once, 1)
			c.t.Join(c.t.Go("child", func(t *kernel.Task) { c.note(c.y.Load(t, once)) }))
		}, func(c *cpu) { c.w(c.y, once, 1); c.mb(); c.r(c.x, once) }}},
}
