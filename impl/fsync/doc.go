// Package fsync is one file that is written and made durable: what lies between
// a write and the log that a crash leaves.
//
// Data goes through pages ([File.Write], and [File.MmapWrite] for whoever has the
// file mapped), which writeback brings to disk, or past them
// ([File.DirectWrite]). Either way the write is an ordered extent from when it is
// submitted. Its extent map is pinned until it has completed: that is later than
// the arrival of the data, in a task of its own, and puts an item into the index
// of the running transaction. That index is memory until the transaction commits,
// and nothing here commits.
//
// [File.Fsync] brings what was written into the log instead. The short way logs
// the extent maps of the modified list, and waits for data only, not for
// completions, unless a write has failed. The long way waits for completions and
// copies the items of the index.
//
// The locks of the tree keep others away, as package extentmap says: a write
// holds InodeLock, a page fault MmapLock, shared, and fsync both. Writeback,
// completions and the release of pages hold neither.
//
// Read it in this order: file.go (what there is), write.go (how data gets to
// disk), fsync.go; then races.go, which asks whether anything is lost, judged by
// a simulated crash ([extentmap.Disk]).
package fsync
