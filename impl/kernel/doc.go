// Package kernel is the machine that the reference implementations stand on:
// tasks, memory words, locks, references, lists and an index, named as a
// kernel engineer names them.
//
// One source runs in two worlds. Natively a task is a goroutine, a lock is a
// sync mutex, a marked access is an atomic and a plain access is truly plain
// memory, so the Go race detector sees what a compiler would see. Explored,
// every visible operation is handed to an [Engine], which decides what the
// operation reads and which task goes on; the engine lives with the checkers
// and is never imported from here. A [Task] is the explicit "current": every
// primitive takes one, so that misuse (a stranger unlocking, a sleeping lock
// under a spinning one, a lock-order cycle, a reference put below zero, a use
// after free) has an owner to name in either world.
//
// State that a lock protects is ordinary Go memory. It is tagged with a
// [Region] where it is read and written; the tag costs nothing natively and
// is race-checked when explored. State that is raced on purpose lives in a
// [Word] or a [Pointer], and the racing access carries a [RaceSite] that says
// in one sentence why the race is believed harmless.
package kernel
