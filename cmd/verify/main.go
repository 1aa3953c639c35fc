package main

import (
	"os"
	"runtime/debug"
)

// collectAt lets the heap grow to nine times what is alive before the collector
// runs: an exploration makes a small world anew for each execution, little of
// which stays, and would otherwise spend half of its time collecting.
const collectAt = 800

func main() {
	debug.SetGCPercent(collectAt)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
