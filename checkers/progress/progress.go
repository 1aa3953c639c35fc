// Package progress measures work that an execution left for later: how much was
// owed when the tasks had ended, how many quiescent rounds it took to do it, and
// whether any of it was lost.
package progress

import (
	"fmt"

	"benign/checkers/explore"
)

// Ledger adds executions up. The zero value is empty. It is not safe for
// concurrent use.
type Ledger struct {
	// LargestDebt is the most work owed when the tasks of one execution had
	// ended, and MostRounds the most rounds that one execution took.
	LargestDebt, MostRounds int
}

// LostError says that an execution came to rest, or did not, with work undone.
type LostError struct {
	// Debt is the work owed at the end of the tasks, and after each round;
	// Settled reports that quiescence came to rest.
	Debt    []int
	Settled bool
}

// Error implements error.
func (e *LostError) Error() string {
	if !e.Settled {
		return fmt.Sprintf("work never comes to rest: debt per round %v", e.Debt)
	}
	return fmt.Sprintf("no number of rounds does the work that is left: debt per round %v", e.Debt)
}

// Add takes an execution into account. It returns a [*LostError] if the
// execution lost work: quiescence came to rest, and something is still owed, or
// it never came to rest.
func (l *Ledger) Add(e *explore.Execution) error {
	if !e.Settled {
		return &LostError{Debt: e.Debt}
	}
	if len(e.Debt) == 0 {
		return nil
	}
	l.LargestDebt = max(l.LargestDebt, e.Debt[0])
	l.MostRounds = max(l.MostRounds, e.Rounds)
	if e.Debt[len(e.Debt)-1] != 0 {
		return &LostError{Debt: e.Debt, Settled: true}
	}
	return nil
}
