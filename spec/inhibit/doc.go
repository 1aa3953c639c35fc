// Package inhibit says what must hold when tasks keep blocks from being written back.
//
// A tree block that is changed in a transaction is copied to a new place once, and then edited in place until it has been
// written out. Written too early it has to be copied again. So whoever changes blocks keeps the ones that it has changed
// from being written by background writeback, until it is done or has too many of them: it inhibits them. That is an
// optimisation and nothing else. When the transaction commits, every block is written all the same.
//
// Read clock.go (the set with a second chance), set.go (the other three, and the counters that all sets share), block.go
// (the life of one block: used, copied, let go, written, committed) and debt.go (what background writeback has left over).
//
// Two specifications of a block stand side by side. The strict one ([StepStrict]) says what happens when nobody interferes. The
// relaxed one ([StepRelaxed]) lets background writeback skip a block that it might have written: a counter that is about to
// drop may be seen before it has. Integrity writeback, that of a log sync and of a commit, may never skip.
//
// The model is pure: values go in, new values come out, and nothing is shared.
package inhibit
