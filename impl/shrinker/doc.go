// Package shrinker frees extent maps when memory runs short.
//
// A file that is written with direct IO and kept open gathers extent maps for
// ever: nothing else throws them away. So a worker walks over all inodes, a
// little at a time, and removes every map that is neither pinned by a write in
// flight nor needed, without a note about it, by the next fast fsync.
//
// Most inodes have no map at all, and the walk used to take each one's tree
// lock to find that out. The race that this package is about leaves the lock
// alone when the root of the tree, read without it, is nil ("btrfs: skip the
// extent map tree lock for inodes without extent maps"). Whether that is
// harmless is the question that races.go asks.
//
// Read it in this order: policy.go (what can be chosen), shrinker.go (who asks
// for a run, and who runs), walk.go (from root to root, from inode to inode),
// find.go (the next inode with maps: the race is here), scan.go (the maps of
// one inode). Then the experiments: races.go (the list), scenarios.go (what
// runs) and wide.go (more of it), fixture.go (where), operations.go and history.go (what is seen of it),
// and planted.go (what happens when one of the checks is missing). At the end,
// what it is all for: experiment.go measures how much the patch saves, with
// openfiles.go (over what) and lockmeter.go (what is counted).
//
// Locks, outermost first: roots | index of inodes, then the tree lock of an
// inode and its i_mmap_lock, both only tried, then i_lock. Nothing sleeps
// under any of them.
package shrinker
