// Package transaction makes changes to a filesystem durable together, or not at
// all.
//
// Whoever changes something joins the running [Transaction] and has a [Handle]
// until it ends it. A commit keeps newcomers out, waits for the handles of
// everybody else, and then lets the next transaction begin while it writes its
// own out. Changes need room, which is reserved before a transaction is joined:
// when there is too little of it, a commit may be what brings more, because what a
// transaction frees can be used again when it is durable. So a reservation may
// wait for a commit, and a commit for every handle: who has a handle must not
// reserve, nor do anything that may come to that.
//
// Read it in this order: transaction.go (what there is), manager.go (join, which
// transaction is running), handle.go (end, commit, abort), space.go (the room).
//
// Kernel labels: btrfs_join_transaction, btrfs_end_transaction,
// btrfs_commit_transaction, btrfs_abort_transaction, btrfs_reserve_metadata_bytes.
package transaction
