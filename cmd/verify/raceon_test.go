//go:build race

package main

// underRaceDetector says that exploring takes about ten times as long. What the
// scripts leave out then, the command itself does: CI runs it.
const underRaceDetector = true
