package shrinker

import (
	"fmt"
	"slices"
	"time"

	"benign/impl/kernel"
)

// Bounds of an [Experiment]. An open file takes about a kilobyte.
const (
	MaxExperimentInodes  = 1 << 20
	MaxExperimentRounds  = 10_000
	MaxExperimentReaders = 1_000
)

// Experiment measures what the patch is good for: native walks over many open
// files, of which only those with the highest numbers have extent maps. It is
// the benchmark that the patch was submitted with, on the reference
// implementation.
//
// Both forms walk over the same files in the same process. In each round the
// extent maps are put back and one form walks over everything; then they are
// put back again, and the other form does. Who goes first alternates, so that
// noise hits both.
type Experiment struct {
	// Inodes is how many files have no extent map, 1 to MaxExperimentInodes.
	Inodes int
	// WithMaps is how many have one extent map each, 1 to MaxExperimentInodes.
	WithMaps int
	// Rounds is how many walks of each form are timed, and then as many more
	// watched, 1 to MaxExperimentRounds.
	Rounds int
	// Readers is how many goroutines read files chosen at random while a walk
	// is on, 0 to MaxExperimentReaders.
	Readers int
	// Seed decides what the readers choose.
	Seed uint64
	// Progress is told after each round how many of all are over. It may be nil.
	Progress func(done, all int)
}

// Comparison is what an [Experiment] finds out about the two forms.
type Comparison struct {
	Base    Measured `json:"base"`    // before the patch
	Patched Measured `json:"patched"` // with it
}

// Measured is what an [Experiment] finds out about one form.
type Measured struct {
	// Walks is how long each timed walk took, by the clock on the wall. Nothing
	// was counted in them.
	Walks []time.Duration `json:"walksNanoseconds"`
	// Locks is what the walks that were watched did with tree locks, all
	// together.
	Locks LockUse `json:"locks"`
	// Dropped is how many extent maps those removed.
	Dropped int `json:"dropped"`
}

// Run does the experiment. It returns an error if a bound is not kept, or if
// the walks did not do what they are measured for.
func (x Experiment) Run() (Comparison, error) {
	if err := x.validate(); err != nil {
		return Comparison{}, err
	}
	var c Comparison
	f := openAll(x.Inodes, x.WithMaps)
	pair := []*contender{newContender(f, Base, &c.Base), newContender(f, Patched, &c.Patched)}
	// The walks that are watched come first and warm the caches for the others.
	err := x.rounds(0, func(round int) error { return x.round(f, pair, round, (*contender).watchedWalk) })
	if err == nil {
		err = x.rounds(x.Rounds, func(round int) error { return x.round(f, pair, round, (*contender).timedWalk) })
	}
	for _, p := range pair {
		p.close(f.task)
	}
	f.close()
	if live := f.world.LiveObjects(); err == nil && live != 0 {
		err = fmt.Errorf("%d objects have survived the unmount", live)
	}
	return c, err
}

func (x Experiment) validate() error {
	for _, p := range []struct {
		what              string
		value, least, max int
	}{
		{"inodes without extent maps", x.Inodes, 1, MaxExperimentInodes},
		{"inodes with extent maps", x.WithMaps, 1, MaxExperimentInodes},
		{"rounds", x.Rounds, 1, MaxExperimentRounds},
		{"readers", x.Readers, 0, MaxExperimentReaders},
	} {
		if p.value < p.least || p.value > p.max {
			return fmt.Errorf("%d %s: want %d to %d", p.value, p.what, p.least, p.max)
		}
	}
	return nil
}
