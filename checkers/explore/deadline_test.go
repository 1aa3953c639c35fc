package explore

import (
	"testing"
	"time"
)

// TestDeadline: an exploration that is not done in time says so, and one that
// is does not.
func TestDeadline(t *testing.T) {
	s, v := program(1, 0, 0, repeat(8, inc(0))...)
	for _, c := range []struct {
		name       string
		deadline   time.Time
		exhaustive bool
	}{
		{"long past", time.Now().Add(-time.Hour), false},
		{"far away", time.Now().Add(time.Hour), true},
	} {
		for _, workers := range []int{1, 3} {
			stats, err := Explore(Config{Scenario: s, Variant: v, Model: "sc", Workers: workers, Deadline: c.deadline})
			if err != nil {
				t.Fatal(err)
			}
			if stats.Exhaustive != c.exhaustive || !c.exhaustive && (stats.Cut != "time budget" || stats.Complete == 0) {
				t.Errorf("%s, %d workers: %+v", c.name, workers, stats)
			}
		}
	}
}
