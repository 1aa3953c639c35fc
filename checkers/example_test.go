package checkers_test

import (
	"fmt"
	"strings"

	"benign/checkers"
	"benign/checkers/explore"
	"benign/impl/scenario"
)

// printer stands for the *testing.T of a test. It leaves out where a step is in
// the source, which is in a column of its own, and the line to run it again with.
type printer struct{}

func (printer) Helper() {}

func (printer) Errorf(format string, args ...any) {
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		if strings.HasPrefix(line, "\tto run it again") {
			continue
		}
		indented := strings.HasPrefix(line, "\t")
		line, _, _ = strings.Cut(strings.TrimSpace(line), "\t")
		if indented {
			line = "  " + line
		}
		fmt.Println(line)
	}
}

// To peek at the stock is harmless for a buyer who looks again under the lock.
// The planted fault does not, and shows that it would have been noticed.
func ExampleVerify() {
	race := shopRace(peeking, scenario.Indistinguishable, fault("does not look again", rash))
	for _, v := range checkers.Verify(printer{}, race, "sc") {
		fmt.Printf("%s: %s\n", v.Variant, v.Class)
	}
	// Output:
	// candidate: INDISTINGUISHABLE
	// does not look again: HARMFUL
}

// An answer that was not expected is shown with what leads to it.
func ExampleVerify_harmful() {
	checkers.Verify(printer{}, shopRace(rash, scenario.Indistinguishable), "sc")
	// Output:
	// shop, variant candidate, under sc: HARMFUL, expected INDISTINGUISHABLE: 2 of 4 executions break something: assertion
	//   Ann: once load of shop#1.stock = 1
	//   Bob: once load of shop#1.stock = 1
	//   Bob: lock shop#1.lock
	//   Bob: once load of shop#1.stock = 1
	//   Bob: once store to shop#1.stock = 0
	//   Bob: unlock shop#1.lock
	//   Ann: lock shop#1.lock
	//   Ann: once load of shop#1.stock = 0
	//   Ann: once store to shop#1.stock = -1
	//   Ann: unlock shop#1.lock
	//   assertion: the last piece was sold to [Bob Ann] (when the tasks had ended)
}

// Explore shows every execution, for checks of one's own.
func ExampleExplore() {
	race := shopRace(peeking, scenario.Indistinguishable)
	stats, err := checkers.Explore(race, race.Variant(scenario.Candidate), "sc", func(e *explore.Execution) {
		fmt.Println(e.Outcome())
	})
	fmt.Println(stats.Complete, "executions, exhaustive:", stats.Exhaustive, err)
	// Output:
	// Ann buy = true; Bob buy = false; finally [Ann]
	// Ann buy = true; Bob buy = false; finally [Ann]
	// Ann buy = false; Bob buy = true; finally [Bob]
	// Ann buy = false; Bob buy = true; finally [Bob]
	// 4 executions, exhaustive: true <nil>
}
