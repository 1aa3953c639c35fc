package shrinker

import (
	"fmt"
	"math"
	"time"

	"benign/impl/kernel"
)

const (
	// MaxExperimentInodes bounds the files of either kind in an [Experiment]. One
	// takes about a kilobyte of memory.
	MaxExperimentInodes = 1 << 20
	// MaxExperimentRounds bounds its rounds.
	MaxExperimentRounds = 10_000
	// MaxExperimentReaders bounds its readers.
	MaxExperimentReaders = 1_000
)

// Experiment measures what the patch is good for: native walks over many open
// files, of which only those with the highest numbers have extent maps. It is
// the benchmark that the patch was submitted with, run on the reference
// implementation.
//
// Both forms walk over the same files in the same process. A round is one walk
// of each over everything, with the extent maps put back before. Who goes first
// alternates, so that noise hits both.
type Experiment struct {
	// Inodes is how many files have no extent map, 1 to MaxExperimentInodes.
	Inodes int
	// WithMaps is how many have one extent map each, 1 to MaxExperimentInodes.
	WithMaps int
	// Rounds is how many rounds are watched, and then how many are timed, 1 to
	// MaxExperimentRounds.
	Rounds int
	// Readers is how many goroutines read files at random while a walk is on, 0
	// to MaxExperimentReaders.
	Readers int
	// Seed decides which files they read.
	Seed uint64
	// Progress is told after each round how many of all are over. It may be nil.
	Progress func(over, all int)
}

// Comparison is what an [Experiment] finds out about the two forms.
type Comparison struct {
	Base    Measured // before the patch
	Patched Measured // with it
}

// Measured is what an [Experiment] finds out about one form.
type Measured struct {
	// Walks is how long each timed walk took, by the clock on the wall. Nothing
	// is counted in them.
	Walks []time.Duration
	// Locks is what the watched walks did with tree locks, all together.
	Locks LockUse
	// Dropped is how many extent maps the watched walks removed.
	Dropped int
}

// Run does the experiment. It returns an error if a bound is not kept, or if
// the walks did not do what they are measured for.
func (x Experiment) Run() (Comparison, error) {
	if err := x.Validate(); err != nil {
		return Comparison{}, err
	}
	f := openAll(x.Inodes, x.WithMaps)
	base, patched := newContender(f, Base), newContender(f, Patched)
	err := x.rounds(f, base, patched)
	base.close(f.task)
	patched.close(f.task)
	f.closeAll()
	if live := f.world.LiveObjects(); err == nil && live != 0 {
		err = fmt.Errorf("%d objects have survived the unmount", live)
	}
	return Comparison{Base: base.found, Patched: patched.found}, err
}

// Validate returns an error if a bound is not kept.
func (x Experiment) Validate() error {
	for _, p := range []struct {
		what               string
		value, least, most int
	}{
		{"inodes without extent maps", x.Inodes, 1, MaxExperimentInodes},
		{"inodes with extent maps", x.WithMaps, 1, MaxExperimentInodes},
		{"rounds", x.Rounds, 1, MaxExperimentRounds},
		{"readers", x.Readers, 0, MaxExperimentReaders},
	} {
		if p.value < p.least || p.value > p.most {
			return fmt.Errorf("%d %s: want %d to %d", p.value, p.what, p.least, p.most)
		}
	}
	return nil
}

// rounds does those that are watched first: they warm the caches up for those
// that are timed.
func (x Experiment) rounds(f *openFiles, pair ...*contender) error {
	for round := range 2 * x.Rounds {
		for turn := range pair {
			c := pair[(round+turn)%len(pair)]
			if err := x.walk(f, c, round); err != nil {
				return err
			}
		}
		if x.Progress != nil {
			x.Progress(round+1, 2*x.Rounds)
		}
	}
	return nil
}

// walk is one form's part of a round.
func (x Experiment) walk(f *openFiles, c *contender, round int) error {
	watched := round < x.Rounds
	f.putBack()
	stop := f.startReaders(x.Readers, x.Seed+uint64(round))
	elapsed, report := c.walk(f.task, watched)
	stop()
	if watched {
		c.found.Dropped += report.Dropped()
	} else {
		c.found.Walks = append(c.found.Walks, elapsed)
	}
	if x.Readers == 0 && report.Dropped() != x.WithMaps {
		return fmt.Errorf("a walk that nobody was in the way of has removed %d of %d extent maps", report.Dropped(), x.WithMaps)
	}
	return nil
}

// contender is one of the two forms: a shrinker to time, and one of the same
// kind with a meter on it.
type contender struct {
	plain, watched *Shrinker
	found          Measured
}

func newContender(f *openFiles, p Policy) *contender {
	c := &contender{plain: New(f.task, f.mount, p), watched: New(f.task, f.mount, p)}
	newLockMeter(&c.found.Locks).watch(&c.watched.steps)
	return c
}

// walk lets one of the two shrinkers look at everything.
func (c *contender) walk(t *kernel.Task, watched bool) (time.Duration, Report) {
	s := c.plain
	if watched {
		s = c.watched
	}
	start := time.Now()
	report := s.Run(t, math.MaxInt64)
	return time.Since(start), report
}

func (c *contender) close(t *kernel.Task) {
	for _, s := range []*Shrinker{c.plain, c.watched} {
		s.Close(t)
		s.Object.Free(t)
	}
}
