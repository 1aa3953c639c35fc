package inhibit

import (
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// The experiments. Each has three blocks at most, and sets of two.

// flusher comes once.
func (f *fixture) flusher() scenario.Task { return task("flusher", f.writeBack()) }

// A handle has let A go for C, which has the first slot now: C goes before B, but
// writeback looks at B before C.
func ending(t *kernel.Task, f *fixture) *scenario.Instance {
	a, b, c := f.leaf(t, "A"), f.leaf(t, "B"), f.leaf(t, "C")
	one := f.started(t, a, b, c)
	return f.instance(t, task("one", f.end(one)), f.flusher())
}

// A third block takes the place of the first.
func evicting(t *kernel.Task, f *fixture) *scenario.Instance {
	a, b, c := f.leaf(t, "A"), f.leaf(t, "B"), f.leaf(t, "C")
	one := f.started(t, a, b)
	return f.instance(t, task("one", f.change(one, c, 0), f.end(one)), f.flusher())
}

// The first block takes the place of the second in turn. It may have been written by
// then, and is copied again.
func evictingTwice(t *kernel.Task, f *fixture) *scenario.Instance {
	a, b, c := f.leaf(t, "A"), f.leaf(t, "B"), f.leaf(t, "C")
	one := f.started(t, a, b)
	return f.instance(t, task("one", f.change(one, c, 0), f.change(one, a, 0)), f.flusher())
}

// Blocks are kept in a map, for which there may be no memory.
func storing(t *kernel.Task, f *fixture) *scenario.Instance {
	a := f.leaf(t, "A")
	before, one := f.started(t, a), f.started(t)
	before.handle.End(t)
	return f.instance(t, task("one", f.change(one, a, 0), f.end(one)), f.flusher())
}

// shared is a tree of a root and two leaves, of which all have been changed, and two
// handles that have not changed anything.
func (f *fixture) shared(t *kernel.Task) (tree *Tree, one, two *owner) {
	tree = f.fs.NewTree(t, "T", Ordinary, 2, 2)
	before := f.started(t)
	f.changed(t, before, tree, 0)
	f.changed(t, before, tree, 1)
	before.handle.End(t)
	return tree, f.started(t), f.started(t)
}

// Two handles meet at the root, under shared locks.
func meeting(t *kernel.Task, f *fixture) *scenario.Instance {
	tree, one, two := f.shared(t)
	return f.instance(t, task("one", f.change(one, tree, 0)), task("two", f.change(two, tree, 1)))
}

// Two handles change one block, which may be written in between.
func taking(t *kernel.Task, f *fixture) *scenario.Instance {
	a := f.leaf(t, "A")
	before, one, two := f.started(t, a), f.started(t), f.started(t)
	before.handle.End(t)
	return f.instance(t, task("one", f.change(one, a, 0)), task("two", f.change(two, a, 0)), f.flusher())
}

// Two handles have met at a block, and let it go.
func endingBoth(t *kernel.Task, f *fixture) *scenario.Instance {
	a := f.leaf(t, "A")
	one, two := f.started(t, a), f.started(t, a)
	return f.instance(t, task("one", f.end(one)), task("two", f.end(two)), f.flusher())
}

// One handle lets the root go while another one uses it.
func usingAgain(t *kernel.Task, f *fixture) *scenario.Instance {
	tree, one, two := f.shared(t)
	f.changed(t, one, tree, 0)
	f.changed(t, two, tree, 1)
	return f.instance(t, task("one", f.end(one)), task("two", f.change(two, tree, 1)), f.flusher())
}

// An fsync writes what its own handle keeps.
func syncing(t *kernel.Task, f *fixture) *scenario.Instance {
	log := f.fs.NewTree(t, "L", Log, 1, 2)
	one := f.started(t, log)
	return f.instance(t, task("fsync", f.change(one, log, 0), f.sync(log), f.end(one)), f.flusher())
}

// The other one is in the same log.
func syncingBoth(t *kernel.Task, f *fixture) *scenario.Instance {
	log := f.fs.NewTree(t, "L", Log, 1, 2)
	one, two := f.started(t, log), f.started(t, log)
	return f.instance(t, task("fsync", f.sync(log), f.end(one)), task("other", f.change(two, log, 0)))
}

// A commit waits for a handle that lets a block go, and writes that.
func committing(t *kernel.Task, f *fixture) *scenario.Instance {
	a := f.leaf(t, "A")
	one, two := f.started(t, a), f.started(t)
	return f.instance(t, task("one", f.end(one)), task("committer", f.commit(two)), f.flusher())
}

// A commit writes what its own handle has kept.
func committingOwn(t *kernel.Task, f *fixture) *scenario.Instance {
	a, b := f.leaf(t, "A"), f.leaf(t, "B")
	one := f.started(t, a, b)
	return f.instance(t, task("committer", f.commit(one)), f.flusher())
}

// The next transaction copies what a commit is about to write.
func overtaking(t *kernel.Task, f *fixture) *scenario.Instance {
	a := f.leaf(t, "A")
	one, two := f.started(t, a), f.owner()
	return f.instance(t, task("committer", f.commit(one)), task("next", f.begin(two, Start), f.change(two, a, 0), f.end(two)))
}

// A commit throws away what its own handle has kept, and what another one has.
func aborting(t *kernel.Task, f *fixture) *scenario.Instance {
	a := f.leaf(t, "A")
	one, two := f.started(t, a), f.started(t)
	return f.instance(t, task("one", f.end(one)), task("committer", f.abort(two), f.commit(two)), f.flusher())
}

// A commit throws away what its own handle has kept.
func abortingOwn(t *kernel.Task, f *fixture) *scenario.Instance {
	a, b := f.leaf(t, "A"), f.leaf(t, "B")
	one := f.started(t, a, b)
	return f.instance(t, task("committer", f.abort(one), f.commit(one)), f.flusher())
}
