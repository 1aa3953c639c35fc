// Package inhibit keeps blocks that a transaction changes from being written back
// too early.
//
// A tree block that is changed is copied to a new place first, once in each
// transaction: what the last commit has written stays whole. Until it is written the
// copy is changed in place. Background writeback, which comes when memory is short,
// may write it before the transaction is done with it; then it has to be copied again,
// and the more often, the shorter memory is. So a [Handle], the right of one task to
// change blocks, keeps a set of those that it has changed lately, and background
// writeback leaves alone what is in one. A commit, and a log sync, write everything.
//
// What counts the sets that a block is in goes down without the lock that writeback
// looks at it under. Whether that is harmless is what races.go asks.
//
// Read it in this order: policy.go (what can be chosen), buffer.go (a block in memory,
// its references and its life), set.go and clock.go (the sets), filesystem.go (the
// cache of blocks), transaction.go, handle.go and commit.go (join, end, commit), tree.go
// and cow.go (trees, and what is copied when they change), writeback.go (who writes
// what), disk.go (what is safe). Then the experiments: races.go (the list), scenarios.go
// (what runs), fixture.go (where), operations.go and history.go (what is seen of it), and
// planted.go (what happens when one of the steps is missing).
//
// Locks, outermost first: the mutex of a log, the lock of a block, the parent's before the child's, then
// refsLock of one block or the lock of a tree's root; the cache's and that of the
// transactions are taken last. A block's lock and the wait for a transaction sleep.
//
// Kernel labels: btrfs_inhibit_eb_writeback, btrfs_uninhibit_all_eb_writeback,
// lock_extent_buffer_for_io, should_cow_block, btrfs_force_cow_block.
package inhibit
