// Package shrinker says what the extent map shrinker must do.
//
// The shrinker frees cached extent maps under memory pressure. It walks the roots of a filesystem, in each root the inodes,
// in each inode the entries of its map, and removes what is not pinned, until it has looked at as many entries as it was
// asked to. Two cursors remember where it stopped, so that the next run goes on from there.
//
// Two specifications stand side by side. The strict one ([Run], [StepStrict]) says what happens when nobody interferes: it
// has exactly one outcome. The relaxed one ([CheckRun], [StepRelaxed]) says what may happen when others are at work: the
// shrinker only ever tries locks and is allowed to lose, so it may pass over any inode that somebody else touched at the
// time, or leave it early. What it leaves is not lost but deferred: [Debt] counts it, and [Rounds] says how many undisturbed
// runs it takes to get rid of it. Some things it may never do, whoever interferes: remove a pinned entry, touch an inode that
// is being freed, or remove an entry that the next fast fsync needs without telling that fsync.
//
// Read state.go (what there is), run.go (trigger, worker, and the walk over roots and inodes), scan.go (one inode), debt.go,
// operation.go (one inode's history, for linearizability checkers), and invariants.go.
//
// The model is pure in the same way as its neighbour [benign/spec/extentmap], whose states are the inodes' maps here:
// values go in, new values come out, and nothing is shared.
package shrinker
