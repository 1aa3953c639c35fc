package extentmap_test

import (
	"fmt"

	"benign/spec/extentmap"
)

// Two neighbouring reads are cached and become one entry. Then the middle is dropped, with both spares at hand.
func Example() {
	const kib = 1 << 10
	s := extentmap.Init(7, true)
	for _, start := range []uint64{0, 64 * kib} {
		s, _ = extentmap.Apply(s, extentmap.Input{Op: extentmap.OpInsert, New: extentmap.Entry{
			Start: start, Len: 64 * kib, DiskBytenr: 1<<20 + start,
			DiskNumBytes: 64 * kib, RAMBytes: 64 * kib, Generation: 6,
		}})
	}
	fmt.Print(s.Visible())
	s, out := extentmap.Apply(s, extentmap.Input{Op: extentmap.OpDropRange, Start: 32 * kib, End: 96*kib - 1, Spares: 2})
	fmt.Println(out)
	fmt.Print(s.Visible())
	// Output:
	// [0,128K) 1M/128K off 0 ram 128K g6 merged unlisted
	// done
	// [0,32K) 1M/128K off 0 ram 128K g6 merged unlisted
	// [96K,128K) 1M/128K off 96K ram 128K g6 merged unlisted
}

// A linearizability checker asks of each operation whether its output fits at this point.
func ExampleStep() {
	s := extentmap.Init(7, true)
	ok, s := extentmap.Step(s, extentmap.Input{Op: extentmap.OpIsEmpty}, extentmap.Output{Status: extentmap.Done})
	fmt.Println("an empty tree may claim not to be:", ok)
	ok, _ = extentmap.Step(s, extentmap.Input{Op: extentmap.OpIsEmpty}, extentmap.Output{Status: extentmap.Done, Empty: true})
	fmt.Println("or to be:", ok)
	// Output:
	// an empty tree may claim not to be: false
	// or to be: true
}
