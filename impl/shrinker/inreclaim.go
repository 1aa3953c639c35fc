package shrinker

import (
	"fmt"

	"benign/impl/kernel"
	"benign/impl/reclaim"
	"benign/impl/scenario"
)

// inReclaim is the question about what a run does to the task in whose reclaim it
// is asked for.
func inReclaim() scenario.Race {
	return scenario.Race{
		Name:  "shrinker-reclaim",
		Title: "the shrinker drops its reference to an inode, which may be the last one",
		Question: "A task allocates memory while it has a handle of a transaction, and so asks the shrinker. Who drops the " +
			"last reference to an unlinked inode evicts it, and an eviction may wait for a commit, which waits for every handle. " +
			"Does the worker, which has no handle, make a plain iput as safe as a delayed one was?",
		Barrier: "the next full scan",
		Scenarios: []scenario.Scenario{
			comparing("iput", "a task allocates memory in a transaction while the last user of an unlinked inode goes; there is no room to evict it without a commit",
				allocating, delayedByCaller, plainByWorker, plainOutsideFilesystem, plainByCaller),
			comparing("sync", "the same, and the last user has everything made durable as he goes: the commit may be under way when room is asked for",
				syncingUser, delayedByCaller, plainByWorker, plainOutsideFilesystem, plainByCaller),
		},
	}
}

// delayedByCaller is the form with which the deadlock was mended first.
var delayedByCaller = form{
	name: "delayed-by-caller", role: scenario.Baseline, expect: scenario.Indistinguishable,
	about:  "runs in the task that allocates, and hands its references to the cleaner",
	policy: Policy{Read: ReadUnlocked, Iput: IputDelayed, Run: RunByCaller},
}

// plainByWorker is on trial.
var plainByWorker = form{
	name: "plain-by-worker", role: scenario.Candidate, expect: scenario.Indistinguishable,
	about:  "runs in the worker, which has no handle, and drops its references at once",
	policy: Patched,
}

// plainOutsideFilesystem never gets to the shrinker with a handle.
var plainOutsideFilesystem = form{
	name: "plain-outside-filesystem", role: scenario.Alternative, expect: scenario.Indistinguishable,
	about:    "runs in the task that allocates and drops its references at once, but who has a handle does not let reclaim into filesystems",
	policy:   Policy{Read: ReadUnlocked, Iput: IputPlain, Run: RunByCaller},
	allocate: reclaim.NoFilesystem,
}

// plainByCaller evicts in the middle of whatever the task is doing.
var plainByCaller = form{
	name: "plain-by-caller", role: scenario.Planted, expect: scenario.Harmful,
	about:  "runs in the task that allocates, and drops its references at once: the task then waits for a commit that waits for its own handle",
	policy: Policy{Read: ReadUnlocked, Iput: IputPlain, Run: RunByCaller},
}

// An inode is evicted by whoever drops the last reference to it. Nothing is left
// on the disk to do that with until the running transaction, which has freed
// something, is committed.
func allocating(t *kernel.Task, f *fixture) *scenario.Instance { return f.reclaiming(t) }

// The same, with a commit by somebody who need not wait for room.
func syncingUser(t *kernel.Task, f *fixture) *scenario.Instance {
	return f.reclaiming(t, f.sync())
}

// reclaiming is a task that reclaims in a transaction, and the last user of an
// unlinked inode, who does more when he has let go of it.
func (f *fixture) reclaiming(t *kernel.Task, more ...scenario.Operation) *scenario.Instance {
	f.mount.StartTransactions(t, 0)
	h, err := f.mount.Transactions.Join(t)
	t.Assert(err == nil, "set-up: %v", err)
	h.Pin(t, 1)
	h.End(t)
	inode := f.leave(f.inode(t, firstInode, block(0)))
	inode.Unlink(t)
	i := f.instance(
		task("allocator", f.allocateInTransaction()),
		task("user", append([]scenario.Operation{put(inode)}, more...)...))
	i.Quiesce = f.quiesceOnDisk
	i.Observe = func(t *kernel.Task) string {
		return fmt.Sprintf("%s\nroom %d", f.observe(t), f.mount.Transactions.Room(t))
	}
	return i
}

// quiesceOnDisk commits what has been done so far, as happens every so often
// anyway, and goes on with what the others do.
func (f *fixture) quiesceOnDisk(t *kernel.Task) bool {
	err := f.mount.Transactions.Sync(t)
	t.Assert(err == nil, "sync: %v", err)
	return f.quiesce(t)
}
