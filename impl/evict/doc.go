// Package evict is the life of an inode, as far as whoever walks over inodes
// has to know it: how one is created and found, how a reference is taken and
// dropped, and how the last drop may tear the inode down.
//
// Three things protect an inode from those who do not own it.
//
//   - A reference (i_count). Whoever holds one may use the inode.
//   - The FREEING flag, under i_lock. Whoever sets it owns the inode alone
//     from then on, and sets it before a single extent map is touched, so a
//     walker that fails to grab the inode has lost no race that matters.
//   - The lock of the root's index of inodes. An inode leaves the index under
//     it before its memory goes, so a walker may look at an inode that it
//     found there for as long as it keeps the lock, and no longer.
//
// An inode without a name takes what the filesystem keeps of it on disk along. That
// takes a transaction, and room for it, so an eviction may wait for a commit, and a
// commit for everybody who has a handle: see [benign/impl/transaction].
//
// Read it in this order: mount.go (the filesystem and its roots), inode.go
// (creation, references), counting.go (the two ways in which the kernel keeps
// i_count), evict.go (the end of an inode), lookup.go (an inode by its number, also
// while it ends), cleaner.go (references that are dropped later, by somebody else).
// Then the question about the lookup: races.go.
//
// Folios, range locks and ordered extents are not here yet. The kernel frees an inode's memory only after an RCU grace
// period; here it goes as soon as the inode is out of the index, which is
// stricter: nobody may rely on the grace period.
package evict
