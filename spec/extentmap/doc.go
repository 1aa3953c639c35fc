// Package extentmap says what one inode's extent map tree must do.
//
// An extent map tree is a cache. Each [Entry] says where one range of a file lives on disk; a range that nothing
// maps has to be looked up in the on-disk index. Because it is a cache, an entry may be thrown away at any
// moment, except for two kinds: a pinned entry, whose write is still in flight and whose on-disk item does not exist
// yet, and an entry that the next fast fsync still has to copy into the log.
//
// The model is sequential, pure and slow on purpose. A [State] is a value: a sorted slice of entries and a few
// words beside it. [Apply] runs one operation and returns the state after it and what the caller saw; it never
// changes the state that it was given. There are no locks, no goroutines and no shared pointers, so the only
// thing to convince oneself of is that each operation says the right thing. [Step] wraps Apply in the form in which
// linearizability checkers want a specification: does this output fit, and what comes next?
//
// Read it in this order: entry.go (one entry), merge.go (when two become one), state.go (the tree with its
// lists and references), then one file for each family of operations (lookup.go, insert.go, drop.go,
// writeback.go, release.go, fsync.go), operation.go (the closed list of operations), and invariants.go
// (what must hold after each of them).
//
// # Conventions
//
// All file and disk positions and sizes are bytes. Ranges are half-open, [start, end), everywhere except in the
// arguments of the drop-range operation, whose last byte is inclusive, as it is for its real callers. Sums that
// would overflow stay at [MaxOffset].
//
// # One operation, one critical section
//
// The real drop-all, replace-range, folio release and fast fsync are not atomic: they let go of the tree lock in the
// middle. The model offers each both as one operation, for a reader, and as its critical sections
// ([OpDropFirst]; [OpDropRange] then [OpInsert]; [OpReleaseStep]; [OpFsyncCollect], [OpFsyncTake], [OpFsyncLogged],
// [OpFsyncFinish]), for histories that were recorded from concurrent code.
//
// References matter to the outcome, because an entry that somebody else is looking at must not be the survivor of a
// merge. So a caller that keeps a reference past the end of an operation gives it a name ([Hold]) and gives it back
// with [OpPut].
//
// Operation names are plain English. Where the Linux kernel has a function of its own for one, its name stands in the
// comment as a label.
package extentmap
