package shrinker

import (
	"benign/impl/extentmap"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// The wide experiments: more tasks, more operations, more runs of the worker,
// and so a thousand executions each, or more. They are there to be sure. The
// faults that we know show in a small one already, where the trace is short.

// moved is a mapping of the nth block that the running transaction has made
// somewhere else.
func moved(n uint64) extentmap.Mapping {
	m := written(n)
	m.DiskBytenr += 1024 * extentmap.BlockSize
	return m
}

// Everybody meets at one inode.
func crowding(t *kernel.Task, f *fixture) *scenario.Instance {
	old, m := block(0), block(1)
	inode := f.inode(t, firstInode, old)
	return f.instance(
		task("reader", adopt(inode, m)),
		task("writer", drop(inode, old.Start, old.End())),
		task("onlooker", lookup(inode, old.Start, m.End()), lookup(inode, old.Start, m.End())),
		task("reclaim", release(inode, m)),
		f.worker())
}

// A reader, who takes the tree lock too, looks on while the only extent map goes
// and comes.
func replacingWide(t *kernel.Task, f *fixture) *scenario.Instance {
	m := block(0)
	inode := f.inode(t, firstInode, m)
	return f.instance(
		task("reader", lookup(inode, m.Start, m.Len), lookup(inode, m.Start, m.Len)),
		task("writer", f.replace(inode, moved(0))),
		task("worker", f.scan(1), f.scan(8)))
}

// One inode loses both of its extent maps while the next one gets two.
func crossingWide(t *kernel.Task, f *fixture) *scenario.Instance {
	one, two := f.inode(t, firstInode, block(0), block(1)), f.inode(t, firstInode+1)
	return f.instance(
		task("reader", adopt(two, block(0)), adopt(two, block(1))),
		task("writer", drop(one, 0, block(1).End())),
		task("worker", f.scan(2), f.scan(8)))
}

// The budgets end in the middle of an inode, at its end, or in the next one.
func rationing(t *kernel.Task, f *fixture) *scenario.Instance {
	one, two := f.inode(t, firstInode, block(0), block(1)), f.inode(t, firstInode+1, block(0))
	return f.instance(
		task("reader", adopt(two, block(1))),
		task("writer", drop(one, 0, block(1).End())),
		task("worker", f.scan(1), f.scan(2), f.scan(3)))
}

// The data of two writes has to be logged, by either of two fsyncs.
func syncingWide(t *kernel.Task, f *fixture) *scenario.Instance {
	inode := f.inode(t, firstInode, written(0))
	return f.instance(
		task("fsync", f.fsync(inode)),
		task("other fsync", f.fsync(inode)),
		task("writer", f.replace(inode, moved(0))),
		task("worker", f.scan(1), f.scan(8)))
}

// Two writes complete, before, between and after the runs of the worker, while a
// reader gets at what lies between them.
func completingWide(t *kernel.Task, f *fixture) *scenario.Instance {
	one, two := inFlight(0), inFlight(2)
	inode := f.inode(t, firstInode, one, two)
	return f.instance(
		task("completion", unpin(inode, one)),
		task("other completion", unpin(inode, two)),
		task("reader", adopt(inode, block(1)), lookup(inode, one.Start, one.Len)),
		task("worker", f.scan(2), f.scan(8)))
}

// A hole is cut into the only extent map, and there may not be memory for one
// of the two pieces that are left, or for both.
func cutting(t *kernel.Task, f *fixture) *scenario.Instance {
	const size = extentmap.BlockSize
	long := block(0)
	long.Len, long.DiskNumBytes, long.RAMBytes = 3*size, 3*size, 3*size
	inode := f.inode(t, firstInode, long)
	return f.instance(
		task("reader", adopt(inode, block(1)), lookup(inode, 2*size, size)),
		task("writer", cut(inode, size, 2*size)),
		task("worker", f.scan(1), f.scan(8)))
}

// An inode appears, and another user finds it by its number.
func creatingWide(_ *kernel.Task, f *fixture) *scenario.Instance {
	m := block(0)
	return f.instance(
		task("creator", f.create(firstInode, m)),
		task("reader", f.find(firstInode, m.Start, m.Len), f.find(firstInode, m.Start, m.Len)),
		f.worker())
}

// An inode disappears that two users have open, one of whom is at work.
func evictingWide(t *kernel.Task, f *fixture) *scenario.Instance {
	inode, m := f.leave(f.inode(t, firstInode, block(0), block(2))), block(1)
	t.Assert(inode.Grab(t), "an inode in use can be grabbed")
	inode.Unlink(t)
	return f.instance(
		task("user", put(inode)),
		task("reader", adopt(inode, m), lookup(inode, m.Start, m.Len), put(inode)),
		f.worker())
}

// The filesystem is unmounted while a user lets go of an inode.
func unmountingWide(t *kernel.Task, f *fixture) *scenario.Instance {
	inode := f.leave(f.inode(t, firstInode, block(0)))
	i := f.instance(
		task("unmount", f.unmount()),
		task("user", put(inode)),
		f.worker())
	i.Check = f.checkGone
	return i
}
