package shrinker_test

import (
	"fmt"

	"benign/spec/extentmap"
	"benign/spec/shrinker"
)

// A run passes over an inode that somebody is using. Nothing is lost: there is a debt of one entry, and one more round
// pays it back.
func Example() {
	inode := shrinker.Init(257, 7)
	inode, _ = shrinker.Apply(inode, shrinker.Input{Op: shrinker.Map, Map: extentmap.Input{
		Op: extentmap.OpInsert, New: extentmap.Entry{Len: 4096, DiskBytenr: extentmap.Hole, Generation: 7},
	}})
	skipped := shrinker.Output{Visit: shrinker.Visit{Outcome: shrinker.Skipped}}
	look := shrinker.Input{Op: shrinker.Look, Budget: 10, Touched: true}

	strict, _ := shrinker.StepStrict(inode, look, skipped)
	relaxed, _ := shrinker.StepRelaxed(inode, look, skipped)
	fmt.Println("may be skipped: strictly", strict, "relaxed", relaxed)

	fs := shrinker.State{Roots: []shrinker.Root{{ID: 5, FileTree: true, Inodes: []shrinker.Inode{inode}}}}
	rounds, end, err := shrinker.Rounds(fs, 10)
	fmt.Println("debt", shrinker.Debt(fs), "after", rounds, "rounds", shrinker.Debt(end), err)
	// Output:
	// may be skipped: strictly false relaxed true
	// debt 1 after 1 rounds 0 <nil>
}
