// Package extentmap is the concurrent extent map tree of one inode: a cache
// of where the ranges of a file live on disk.
//
// An [Entry] maps one file range to a place on disk, to a hole, or to data
// inside the inode's own metadata item. Because the tree is a cache, an entry
// may be thrown away and rebuilt at any time, with two exceptions: a pinned
// entry, whose write is in flight and whose on-disk item does not exist yet,
// and an entry on the modified list, which the next fast fsync has to copy
// into the log.
//
// Three things keep concurrent users apart.
//
//   - [Tree].Lock, a spinning reader/writer lock, protects the tree, the
//     modified list, and the flags and generation of every entry in it.
//   - A reference keeps an entry alive after the lock is dropped, and keeps its
//     range and disk fields still: the only code that edits them in place, the
//     merge of two neighbours, leaves an entry alone that somebody else holds.
//     [Entry.Stable] is how a holder reads them.
//   - [Tree].InodeLock and [Tree].MmapLock are held exclusively for the whole of
//     an fsync. Whoever takes an entry off the modified list that an fsync could
//     still need sets [Tree].FullSync first, and holds one of the two.
//
// One word is also read without any lock: the root pointer, by a walker that
// wants to skip empty trees without touching their locks
// ([Tree.EmptyUnlocked]). For its sake every structural change installs the
// new root with a single store; the root is never nil while there is an entry,
// not even inside a critical section. Library trees do not keep that promise,
// and hide the word; redblack.go has a red-black tree that does.
//
// Read it in this order: mapping.go (what an entry says), entry.go (how long it
// lives), redblack.go (the search tree), tree.go (the locked primitives),
// merge.go, then the whole operations, which take the lock themselves: drop.go,
// adopt.go, write.go, release.go and fsync.go; check.go looks at it all.
//
// Methods that need the lock say so, and report a violation without it. The
// names of Linux kernel functions in comments are labels for cross-reading.
package extentmap
