package shrinker

import (
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// requests is the question about who runs when several tasks want memory.
func requests() scenario.Race {
	return scenario.Race{
		Name:  "shrinker-requests",
		Title: "one worker serves one request to shrink, and turns the others away",
		Question: "Once every task that was short of memory ran the shrinker itself; now one worker does, and drops a " +
			"request while it serves another one. Is work lost with it, or only left for the next request?",
		Barrier: "the next request",
		Scenarios: []scenario.Scenario{
			comparing("two", "two tasks ask for one extent map each, of two that one inode has",
				askingTwice, byCallers, byWorker, unlockedCursors, neverReset),
			comparing("again", "a task asks again and again, while a reader caches another extent map",
				askingAgain, byCallers, byWorker, neverReset),
			comparing("in-vain", "two tasks ask for everything while all writes are in flight, so that no extent map can go",
				askingInVain, byCallers, byWorker, unlockedCursors),
		},
	}
}

// byCallers runs in everybody who asks.
var byCallers = form{
	name: "callers", role: scenario.Baseline, expect: scenario.Indistinguishable,
	about:  "runs in the task that asks, in as many at once as ask; they share the cursors under a lock",
	policy: Policy{Read: ReadUnlocked, Iput: IputDelayed, Run: RunByCaller},
}

// byWorker is on trial.
var byWorker = form{
	name: "worker", role: scenario.Candidate, expect: scenario.Defers,
	about:  "leaves the run to the one worker; who asks while it serves a request is turned away",
	policy: Patched,
}

// unlockedCursors lets runs step on each other's cursors.
var unlockedCursors = form{
	name: "unlocked-cursors", role: scenario.Planted, expect: scenario.Harmful,
	about:  "runs in the task that asks, without a lock for the cursors: a run may begin at the root of one and the inode of another",
	policy: byCallers.policy,
	plant: func(s *steps) {
		s.lockCursors = oneRun
	},
}

// neverReset serves the first request and no other.
var neverReset = form{
	name: "never-reset", role: scenario.Planted, expect: scenario.Harmful,
	about:  "does not let requests in again when one is served: the shrinker is dead",
	policy: Patched,
	plant: func(s *steps) {
		s.done = func(*Shrinker, *kernel.Task) {}
	},
}

// Two tasks want memory.
func askingTwice(t *kernel.Task, f *fixture) *scenario.Instance {
	f.inode(t, firstInode, block(0), block(1))
	return f.askingInstance(
		task("one", f.request(1)),
		task("two", f.request(1)))
}

// One task wants memory twice, and there may be more to free by then.
func askingAgain(t *kernel.Task, f *fixture) *scenario.Instance {
	inode := f.inode(t, firstInode, block(0))
	return f.askingInstance(
		task("reader", adopt(inode, block(1))),
		task("one", f.request(1), f.request(1)))
}

// Two tasks want memory, and there is none: who looks does so in vain.
func askingInVain(t *kernel.Task, f *fixture) *scenario.Instance {
	f.inode(t, firstInode, inFlight(0))
	f.inode(t, firstInode+1, inFlight(0))
	return f.askingInstance(
		task("one", f.request(8)),
		task("two", f.request(8)))
}

// askingInstance is instance for scenarios in which what is left is asked for
// again, rather than scanned by force. Whether requests are served shows in what
// stays.
func (f *fixture) askingInstance(tasks ...scenario.Task) *scenario.Instance {
	i := f.instance(tasks...)
	i.Check, i.Quiesce = f.checkMaps, f.askAgain
	return i
}

// askAgain asks for everything that there is, as memory pressure does next.
func (f *fixture) askAgain(t *kernel.Task) bool {
	before := f.debt(t)
	f.shrinker.steps.serve = f.later
	f.shrinker.Request(t, everything)
	return f.mount.Cleaner.Run(t)+before-f.debt(t) > 0
}
