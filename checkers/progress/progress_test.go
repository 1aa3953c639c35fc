package progress

import (
	"errors"
	"testing"

	"benign/checkers/explore"
)

func TestLedger(t *testing.T) {
	for _, c := range []struct {
		name   string
		e      explore.Execution
		lost   bool
		debt   int
		rounds int
	}{
		{"nothing is counted", explore.Execution{Settled: true}, false, 0, 0},
		{"nothing is owed", explore.Execution{Settled: true, Debt: []int{0}}, false, 0, 0},
		{"one round does it", explore.Execution{Settled: true, Debt: []int{2, 0}, Rounds: 1}, false, 2, 1},
		{"two rounds do it", explore.Execution{Settled: true, Debt: []int{2, 1, 0}, Rounds: 2}, false, 2, 2},
		{"rest with debt", explore.Execution{Settled: true, Debt: []int{2, 1}, Rounds: 1}, true, 2, 1},
		{"no rest", explore.Execution{Debt: []int{1, 1, 1}, Rounds: 2}, true, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l Ledger
			err := l.Add(&c.e)
			var lost *LostError
			if errors.As(err, &lost) != c.lost {
				t.Errorf("error %v, want lost %v", err, c.lost)
			}
			if l.LargestDebt != c.debt || l.MostRounds != c.rounds {
				t.Errorf("ledger %+v, want debt %d and rounds %d", l, c.debt, c.rounds)
			}
		})
	}
}

func TestLedgerKeepsTheLargest(t *testing.T) {
	var l Ledger
	for _, e := range []explore.Execution{{Settled: true, Debt: []int{3, 0}, Rounds: 1}, {Settled: true, Debt: []int{1, 1, 0}, Rounds: 2}} {
		if err := l.Add(&e); err != nil {
			t.Fatal(err)
		}
	}
	if l.LargestDebt != 3 || l.MostRounds != 2 {
		t.Errorf("ledger %+v", l)
	}
}
