package explore

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"benign/checkers/graph"
)

// SampleStats says what sampling has seen, and what that is worth.
type SampleStats struct {
	// Stats counts the executions that were seen. They are never exhaustive.
	Stats `json:"-"`
	// Strategy and Depth name the strategy.
	Strategy string `json:"strategy"`
	Depth    int    `json:"depth,omitempty"`
	// Samples were drawn, with the seeds from Seed on, one after the other: a
	// single one is drawn again with its own seed.
	Samples int    `json:"samples"`
	Seed    uint64 `json:"seed"`
	// TooLong samples were given up at the bound on events, and not seen.
	TooLong int `json:"tooLong,omitempty"`
	// Distinct counts the executions that differ in more than the order of
	// unrelated events, and Singletons those of them that were seen once. An
	// execution that a violation ended is as long as it had become by then.
	Distinct   int `json:"distinct"`
	Singletons int `json:"singletons"`
	// Unseen estimates the probability that one more sample would show an
	// execution that none has shown, from 0 to 1: singletons per sample (Good,
	// "The Population Frequencies of Species and the Estimation of Population
	// Parameters", Biometrika 1953, after Turing).
	Unseen float64 `json:"unseen"`
	// Tasks and Steps are the most of any sample; Planned is how many steps the
	// strategy was told to expect, measured beforehand.
	Tasks   int `json:"tasks"`
	Steps   int `json:"steps"`
	Planned int `json:"planned"`
	// Bound is the [PCTBound] of the samples; 0 if the strategy has none, or if
	// one was longer than planned, so that it does not hold.
	Bound float64 `json:"bound"`
}

// DefaultSamples is how many samples are drawn for one variant.
const DefaultSamples = 10_000

// errNotSequential says why a model cannot be sampled.
var errNotSequential = errors.New("samples are interleavings: only the model sc can be sampled")

// Sample runs the variant as many times, at least once, under interleavings that
// the strategy draws: a read sees the newest write, a try the lock as it is, and
// what the environment picks is drawn too. The same arguments give the same
// samples and the same statistics with any number of workers. Of the bounds in
// the configuration, MaxExecutions, StopAtViolation, Checkpoint and Resume mean
// nothing here; the Deadline may end it with fewer samples. An error means that
// the question could not be asked, or an interruption.
func Sample(config Config, s Strategy, samples int, seed uint64) (SampleStats, error) {
	config = config.withDefaults()
	config.MaxExecutions, config.StopAtViolation, config.Checkpoint, config.Resume = math.MaxInt, false, nil, nil
	if config.Model != "sc" {
		return SampleStats{}, fmt.Errorf("model %q: %w", config.Model, errNotSequential)
	}
	if err := CheckArch(config.Arch); err != nil {
		return SampleStats{}, err
	}
	if samples < 1 {
		return SampleStats{}, fmt.Errorf("%d samples: want at least 1", samples)
	}
	measured := config
	measured.Visit, measured.Restart, measured.Progress = nil, nil, nil
	measured.Deadline = time.Time{} // they are few, and all of them are needed
	known := sharers{}
	planned := 0
	for _, trial := range []Strategy{RandomWalk{}, s} {
		seen, err := drawSettled(measured, trial, trialSamples, 0, planned, &known)
		if err != nil {
			return SampleStats{}, err
		}
		planned = max(planned, seen.Steps)
	}
	return drawSettled(config, s, samples, seed, planned, &known)
}

// trialSamples is how many random walks, and then samples of the strategy,
// measure the steps of a scenario. Their seeds are always the same, so that a
// sample does not depend on others.
const trialSamples = 64

// drawSettled draws the samples, and again when a lock turns out to be shared by
// a task that was not known to share it.
func drawSettled(config Config, s Strategy, samples int, seed uint64, planned int, known *sharers) (SampleStats, error) {
	scripted := config.Scenario.WordsOnly && !config.Strict
	for {
		d := &drawing{exploration: newExploration(config, *known), empty: graph.New(), strategy: s, seed: seed, samples: int64(samples), seen: map[[sha256.Size]byte]int{}}
		d.scripted = scripted
		d.summary = SampleStats{Strategy: s.Name(), Depth: s.Depth(), Samples: samples, Seed: seed, Planned: planned}
		d.run()
		switch {
		case len(d.discovered) > 0 || errors.Is(d.err, errNeedsCode):
			*known = known.with(d.discovered)
			scripted = scripted && !errors.Is(d.err, errNeedsCode)
			if config.Restart != nil {
				config.Restart()
			}
		case d.err != nil:
			return SampleStats{}, fmt.Errorf("scenario %s, variant %s, sampled: %w", config.Scenario.Name, config.Variant.Name, d.err)
		case d.ended == interrupted:
			return SampleStats{}, ErrInterrupted
		default:
			return d.conclude(), nil
		}
	}
}

// drawing is what the workers that draw samples share.
type drawing struct {
	*exploration
	empty    *graph.Graph // what every sample begins with
	strategy Strategy
	seed     uint64
	samples  int64
	next     atomic.Int64 // the sample that nobody has taken yet

	tally   sync.Mutex // guards the rest
	seen    map[[sha256.Size]byte]int
	summary SampleStats
}

func (d *drawing) run() {
	defer d.watch()()
	var workers sync.WaitGroup
	for range d.working {
		workers.Go(func() {
			w := newWorker(d.exploration)
			defer w.dismiss()
			defer w.exited()
			for !d.stopped.Load() {
				at := d.next.Add(1) - 1
				if at >= d.samples {
					break
				}
				d.draw(w, d.seed+uint64(at))
				if !d.config.Deadline.IsZero() && time.Now().After(d.config.Deadline) {
					d.end(late)
				}
			}
			w.flush()
			w.current = nil
		})
	}
	workers.Wait()
	d.judgeOrder()
}

// draw runs one sample.
func (d *drawing) draw(w *worker, seed uint64) {
	w.sampling = w.sampler(d.strategy, seed, d.summary.Planned)
	w.latest = branch{stem: w.stemOf(d.empty.CopyTo(w.blank()))}
	e, err := w.execute()
	defer func() {
		if w.scripted || !w.config.keeps() {
			w.release(w.latest.stem)
		}
	}()
	switch {
	case errors.Is(err, errTooManyEvents):
		d.tally.Lock()
		d.summary.TooLong++
		d.tally.Unlock()
	case err != nil:
		w.fail(err, w.discovered)
		return
	case e == nil:
		w.found.Pruned++
	default:
		e.Seed = seed
		w.count(e)
		d.take(w, e, w.sampling.steps)
		if w.config.Visit != nil {
			w.config.Visit(e)
		}
	}
	if w.found.Executions() >= reportEvery {
		w.flush()
	}
}

// take counts the execution among those that equal it.
func (d *drawing) take(w *worker, e *Execution, steps int) {
	w.scratch.key = e.Graph.AppendKey(w.scratch.key[:0])
	key := sha256.Sum256(w.scratch.key)
	d.tally.Lock()
	defer d.tally.Unlock()
	d.seen[key]++
	d.summary.Tasks = max(d.summary.Tasks, len(e.Graph.Tasks))
	d.summary.Steps = max(d.summary.Steps, steps)
}

// conclude works the statistics out.
func (d *drawing) conclude() SampleStats {
	s := d.summary
	s.Samples = int(min(d.next.Load(), d.samples)) // whoever took one has drawn it
	s.Stats = d.stats
	s.Exhaustive, s.Cut = false, fmt.Sprintf("%d samples", s.Samples)
	s.Distinct = len(d.seen)
	for _, times := range d.seen {
		if times == 1 {
			s.Singletons++
		}
	}
	s.Unseen = 1
	if n := s.Executions(); n > 0 {
		s.Unseen = float64(s.Singletons) / float64(n)
	}
	if s.Steps <= s.Planned && s.TooLong == 0 {
		s.Bound = PCTBound(s.Tasks, s.Planned, s.Depth)
	}
	return s
}

// String says it in half a sentence.
func (s *SampleStats) String() string {
	text := fmt.Sprintf("sampled %d executions, %d distinct, estimated unseen mass %.3g", s.Executions(), s.Distinct, s.Unseen)
	switch {
	case s.TooLong > 0:
		text += fmt.Sprintf("; %d more were too long", s.TooLong)
	case s.Depth > 0 && s.Bound == 0:
		text += fmt.Sprintf(" (no PCT bound: %d steps, where at most %d were expected)", s.Steps, s.Planned)
	case s.Depth > 0:
		text += fmt.Sprintf(" (PCT bound %.3g a sample for faults of depth %d, with %d tasks and %d steps)", s.Bound, s.Depth, s.Tasks, s.Planned)
	}
	return text
}
