package shrinker

import (
	"benign/impl/extentmap"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// The experiments. Each is as small as it can be for what it wants to show: one
// or two inodes, one or two extent maps of one block each.

// block is a committed mapping of the nth block of a file, far away on disk
// from its neighbours, so that they do not merge.
func block(n uint64) extentmap.Mapping {
	const size = extentmap.BlockSize
	return extentmap.Mapping{
		Start: n * size, Len: size,
		DiskBytenr: (64 + 2*n) * size, DiskNumBytes: size, RAMBytes: size,
		Generation: transaction - 1,
	}
}

// written is a mapping of the nth block that the running transaction has made.
func written(n uint64) extentmap.Mapping {
	m := block(n)
	m.Generation = transaction
	return m
}

// inFlight is a mapping of the nth block whose write has not completed.
func inFlight(n uint64) extentmap.Mapping {
	m := block(n)
	m.Generation, m.Flags = extentmap.InFlight, extentmap.Pinned
	return m
}

// worker is the task that shrinks, with more budget than it needs.
func (f *fixture) worker() scenario.Task { return task("worker", f.scan(8)) }

// The first extent map comes. What the reader finds afterwards shows whether
// the shrinker took it away again.
func inserting(t *kernel.Task, f *fixture) *scenario.Instance {
	inode, m := f.inode(t, firstInode), block(0)
	return f.instance(
		task("reader", adopt(inode, m), lookup(inode, m.Start, m.Len)),
		f.worker())
}

// The shrinker stops when its budget is used up, and comes again.
func scanningTwice(t *kernel.Task, f *fixture) *scenario.Instance {
	old, m := block(0), block(1)
	inode := f.inode(t, firstInode, old)
	return f.instance(
		task("writer", drop(inode, old.Start, old.End()), adopt(inode, m)),
		task("worker", f.scan(1), f.scan(8)))
}

// The last extent map goes.
func removing(t *kernel.Task, f *fixture) *scenario.Instance {
	m := block(0)
	inode := f.inode(t, firstInode, m)
	return f.instance(
		task("writer", drop(inode, m.Start, m.End())),
		f.worker())
}

// The only extent map goes and comes, in two critical sections.
func replacing(t *kernel.Task, f *fixture) *scenario.Instance {
	inode := f.inode(t, firstInode, block(0))
	return f.instance(
		task("writer", f.replace(inode, written(0))),
		f.worker())
}

// One extent map comes and, perhaps, goes.
func insertingAndRemoving(t *kernel.Task, f *fixture) *scenario.Instance {
	inode, m := f.inode(t, firstInode), block(0)
	return f.instance(
		task("reader", adopt(inode, m)),
		task("writer", drop(inode, m.Start, m.End())),
		f.worker())
}

// An empty inode and one with a map change places.
func crossing(t *kernel.Task, f *fixture) *scenario.Instance {
	m := block(0)
	one, two := f.inode(t, firstInode, m), f.inode(t, firstInode+1)
	return f.instance(
		task("writer", drop(one, m.Start, m.End()), adopt(two, m)),
		f.worker())
}

// The same in two roots. The runs move the cursors from one to the other, and
// the second one wraps.
func crossingRoots(t *kernel.Task, f *fixture) *scenario.Instance {
	m := block(0)
	one := f.inode(t, firstInode, m)
	two := f.inodeOf(t, f.mount.NewRoot(t, firstRoot+1, true), firstInode+1)
	return f.instance(
		task("writer", drop(one, m.Start, m.End()), adopt(two, m)),
		task("worker", f.scan(1), f.scan(2)))
}

// Two requests for one extent map each. The second one is served too only if
// the first has been by then.
func requesting(t *kernel.Task, f *fixture) *scenario.Instance {
	inode := f.inode(t, firstInode, block(0))
	return f.instance(
		task("one", f.request(1), adopt(inode, block(1))),
		task("two", f.request(1)))
}

// Two extent maps come one after the other, the first one in an inode that the
// shrinker gets to last. When it finds the other inode locked for the second
// one, the first one has been there for long. But a trylock that fails orders
// nothing: under a weak model the tree may look empty still, and before the patch
// its lock may look taken still.
func unordered(t *kernel.Task, f *fixture) *scenario.Instance {
	m := block(0)
	busy, late := f.inode(t, firstInode, m), f.inode(t, firstInode+1)
	return f.instance(
		task("reader", adopt(late, m), adopt(busy, block(1))),
		f.worker())
}

// Nothing is there and nothing comes. The patch is for this: it loses the
// outcomes in which the shrinker was in somebody's way.
func idling(t *kernel.Task, f *fixture) *scenario.Instance {
	one, two := f.inode(t, firstInode), f.inode(t, firstInode+1)
	return f.instance(
		task("passer-by", tryTree(one), tryTree(two)),
		f.worker())
}

// An extent map that has to be logged is logged, or removed and announced.
func syncing(t *kernel.Task, f *fixture) *scenario.Instance {
	inode := f.inode(t, firstInode, written(0))
	return f.instance(
		task("fsync", f.fsync(inode)),
		f.worker())
}

// A write completes, and not until then may its map go.
func completing(t *kernel.Task, f *fixture) *scenario.Instance {
	m := inFlight(0)
	inode := f.inode(t, firstInode, m)
	return f.instance(
		task("completion", unpin(inode, m)),
		f.worker())
}

// An inode appears.
func creating(_ *kernel.Task, f *fixture) *scenario.Instance {
	return f.instance(
		task("creator", f.create(firstInode, block(0))),
		f.worker())
}

// An inode disappears. Whoever drops the last reference evicts it.
func evicting(t *kernel.Task, f *fixture) *scenario.Instance {
	inode := f.leave(f.inode(t, firstInode, block(0)))
	inode.Unlink(t)
	return f.instance(
		task("user", put(inode)),
		f.worker())
}

// Every inode disappears. None may be left, whoever had it in hand.
func unmounting(t *kernel.Task, f *fixture) *scenario.Instance {
	f.leave(f.inode(t, firstInode, block(0))).Put(t)
	f.watch()
	i := f.instance(
		task("unmount", f.unmount()),
		f.worker())
	i.Check = f.checkGone
	return i
}
