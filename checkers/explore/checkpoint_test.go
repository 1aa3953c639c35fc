package explore_test

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"benign/checkers/explore"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// errKilled ends an exploration as a kill would: nothing that it did after its
// last checkpoint counts.
var errKilled = errors.New("killed")

// pieces explores in pieces: each ends at a bound or is killed, at a point that
// is drawn, and the next one goes on from the last checkpoint, with another
// number of workers.
type pieces struct {
	t       *testing.T
	config  explore.Config
	workers []int
	random  *rand.Rand
	every   int // executions of a piece, at most; 0 to be killed in passing instead

	mutex    sync.Mutex
	seen     map[string]string // what each execution shows, by its key
	twice    int
	written  []byte // the last checkpoint, if there is one
	kept     map[string]string
	cuts     int // pieces that did not end by themselves
	restarts int
}

func (p *pieces) visit(e *explore.Execution) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if _, met := p.seen[e.Graph.Key()]; met {
		p.twice++
	}
	p.seen[e.Graph.Key()] = shown(e)
}

// checkpoint writes down as a file would have it.
func (p *pieces) checkpoint(left *int) func(*explore.Snapshot) func() error {
	return func(s *explore.Snapshot) func() error {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(s); err != nil {
			p.t.Error(err)
		}
		p.written, p.kept = b.Bytes(), maps.Clone(p.seen)
		*left--
		killed := !s.Ended && *left <= 0
		return func() error {
			if killed {
				return errKilled
			}
			return nil
		}
	}
}

// run explores to the end.
func (p *pieces) run() explore.Stats {
	p.t.Helper()
	done := 0
	for {
		config := p.config
		config.Workers = p.workers[p.random.IntN(len(p.workers))]
		config.Visit = p.visit
		config.Restart = func() { p.seen, p.restarts = map[string]string{}, p.restarts+1 }
		left := 1 + p.random.IntN(10)
		config.Checkpoint, config.CheckpointEvery = p.checkpoint(&left), time.Nanosecond
		p.seen = map[string]string{}
		if p.written != nil {
			config.Resume = &explore.Snapshot{}
			if err := gob.NewDecoder(bytes.NewReader(p.written)).Decode(config.Resume); err != nil {
				p.t.Fatal(err)
			}
			p.seen, done = p.kept, config.Resume.Stats.Executions()
		}
		if p.every > 0 {
			config.MaxExecutions, left = done+1+p.random.IntN(p.every), 1<<30
		}
		stats, err := explore.Explore(config)
		switch {
		case errors.Is(err, errKilled) || err == nil && p.written != nil && stats.Share > 0:
			p.cuts++
		case err != nil:
			p.t.Fatal(err)
		default:
			return stats
		}
	}
}

func newPieces(t *testing.T, config explore.Config, every int, seed uint64, workers ...int) *pieces {
	return &pieces{t: t, config: config, workers: workers, random: rand.New(rand.NewPCG(seed, 1)), every: every}
}

// sameAsWhole explores in pieces and compares with what one exploration says.
func (p *pieces) sameAsWhole(whole findings) {
	p.t.Helper()
	stats := p.run()
	if stats != whole.stats {
		p.t.Errorf("in %d pieces %+v, at a time %+v", p.cuts+1, stats, whole.stats)
	}
	if !maps.Equal(p.seen, whole.shown) || p.twice > 0 {
		p.t.Errorf("in %d pieces %d executions are seen, %d twice, at a time %d", p.cuts+1, len(p.seen), p.twice, len(whole.shown))
	}
}

var allModels = []string{"sc", "tso", "ra", "rc11", "kernel"}

// inSection is a section of a lock that is explored from a script.
func inSection(take func(*kernel.Task, *rig) bool, leave func(*kernel.Task, *rig)) step {
	return func(t *kernel.Task, r *rig) string {
		if !take(t, r) {
			return "busy"
		}
		sum := r.x.Add(t, kernel.Once, 1)
		leave(t, r)
		return fmt.Sprint(sum)
	}
}

var (
	wordLocked = inSection(func(t *kernel.Task, r *rig) bool { r.sleep.Lock(t); return true }, func(t *kernel.Task, r *rig) { r.sleep.Unlock(t) })
	wordTry    = inSection(func(t *kernel.Task, r *rig) bool { return r.sleep.TryLock(t) }, func(t *kernel.Task, r *rig) { r.sleep.Unlock(t) })
	wordWriter = inSection(func(t *kernel.Task, r *rig) bool { r.rw.Lock(t); return true }, func(t *kernel.Task, r *rig) { r.rw.Unlock(t) })
	tryWord    = inSection(func(t *kernel.Task, r *rig) bool { return r.rw.TryLock(t) }, func(t *kernel.Task, r *rig) { r.rw.Unlock(t) })
)

// findsLate goes to one place or to others, depending on what it sees: the
// explorer learns of them in an order that depends on what is run first.
func findsLate(t *kernel.Task, r *rig) string {
	if r.x.Load(t, kernel.Once) == 0 {
		return fmt.Sprint(r.y.Add(t, kernel.Once, 1))
	}
	r.inner.Lock(t)
	r.inner.Unlock(t)
	return "late"
}

// eitherOrder takes two locks in an order that the environment picks, or none:
// it takes two executions to see that both orders happen, and the last one does
// not show it.
func eitherOrder(t *kernel.Task, r *rig) string {
	locks := []*kernel.SpinLock{&r.spin, nil, &r.inner}
	first := t.Choose("which lock first", 3)
	if first == 1 {
		return "none"
	}
	locks[first].Lock(t)
	locks[2-first].Lock(t)
	locks[2-first].Unlock(t)
	locks[first].Unlock(t)
	return fmt.Sprint(first)
}

// TestResume ends every sample at many points and goes on, and so scenarios that
// are explored from scripts.
func TestResume(t *testing.T) {
	scenarios := map[string]*scenario.Scenario{
		"script of words":         words(storeThenLoad, loadThenStore, updates),
		"script of locks":         words(wordLocked, wordLocked, wordLocked),
		"script of tries":         words(wordTry, wordTry, wordLocked),
		"script of readers":       words(wordWriter, reader, reader),
		"script of tried readers": words(tryWord, tryReader, wordWriter),
		"script of choices":       words(choose, choose),
		"script of lock orders":   words(eitherOrder),
		"script of late places":   words(wordLocked, findsLate, findsLate),
		"lock orders":             scene([]step{eitherOrder}),
	}
	for _, sample := range samples() {
		scenarios[sample.name] = scene(sample.steps, withCheck)
	}
	cuts := 0
	for name, s := range scenarios {
		for _, model := range allModels {
			t.Run(name+" under "+model, func(t *testing.T) {
				config := configure(s, model)
				whole := explored(t, config)
				for seed, workers := range [][]int{{1}, {3}, {1, 2, 3}} {
					p := newPieces(t, config, 3, uint64(seed), workers...)
					p.sameAsWhole(whole)
					cuts += p.cuts
				}
			})
		}
	}
	if cuts < 300 {
		t.Errorf("only %d explorations were cut", cuts)
	}
}

// words is a scenario that is explored from a script.
func words(steps ...step) *scenario.Scenario {
	s := scene(steps)
	s.WordsOnly = true
	build := s.Variants[0].Build
	s.Variants[0].Build = func(t *kernel.Task) *scenario.Instance { return &scenario.Instance{Tasks: build(t).Tasks} }
	return s
}

// TestResumeKilled kills longer explorations in passing, and leaves what they
// did after their last checkpoint out of account.
func TestResumeKilled(t *testing.T) {
	for _, c := range []struct {
		name     string
		scenario *scenario.Scenario
	}{
		{"code", scene([]step{updates, updates, loadThenStore, try, locked}, withCheck)},
		{"script", words(updates, updates, loadThenStore, storeThenLoad)},
	} {
		killed := 0
		for _, model := range allModels {
			t.Run(c.name+" under "+model, func(t *testing.T) {
				config := configure(c.scenario, model)
				whole := explored(t, config)
				for seed, workers := range [][]int{{1}, {3}, {1, 2, 3}} {
					p := newPieces(t, config, 0, uint64(seed), workers...)
					p.sameAsWhole(whole)
					killed += p.cuts
				}
			})
		}
		if killed < 5 {
			t.Errorf("killed %d times only", killed)
		}
	}
}

// TestResumeRestarted has explorations that begin anew: for a lock with a late
// sharer, and for a script that does not do. They are cut before that and after.
func TestResumeRestarted(t *testing.T) {
	late := func(t *kernel.Task, r *rig) string {
		if r.x.Load(t, kernel.Once) == 0 {
			return reader(t, r)
		}
		return "not yet"
	}
	lateCode := scene([]step{updates, func(t *kernel.Task, r *rig) string {
		if r.x.Load(t, kernel.Once) == 0 {
			r.note(t)
		}
		return fmt.Sprint(r.x.Add(t, kernel.Once, 1))
	}, updates})
	lateCode.WordsOnly = true
	for name, s := range map[string]*scenario.Scenario{"sharer": scene([]step{updates, updates, writerOfY, late}), "script": lateCode} {
		t.Run(name, func(t *testing.T) {
			config := configure(s, "sc")
			whole := explored(t, config)
			before, after := false, false
			for seed := range uint64(20) {
				p := newPieces(t, config, 6, seed, 1, 3)
				p.sameAsWhole(whole)
				before = before || p.restarts > 0 && p.cuts > 2
				after = after || p.restarts == 1 && p.cuts > 2
			}
			if !before || !after {
				t.Errorf("cut before it began anew: %v, after: %v", before, after)
			}
		})
	}
}

// TestInterrupt ends an exploration that is not done, with a checkpoint of what
// is left, and does not mind one that is.
func TestInterrupt(t *testing.T) {
	for _, workers := range []int{1, 3} {
		interrupt := make(chan struct{})
		config := configure(scene(times(7, locked)), "sc")
		config.Workers, config.Interrupt = workers, interrupt
		once := sync.OnceFunc(func() { close(interrupt) })
		config.Visit = func(*explore.Execution) { once() }
		var left *explore.Snapshot
		config.Checkpoint = func(s *explore.Snapshot) func() error {
			left = s
			return func() error { return nil }
		}
		if _, err := explore.Explore(config); !errors.Is(err, explore.ErrInterrupted) || left == nil || !left.Ended {
			t.Fatalf("%d workers: %v, and %+v is left", workers, err, left)
		}
		config.Interrupt, config.Visit, config.Resume = nil, nil, left
		if stats, err := explore.Explore(config); err != nil || stats.Complete != 5040 || !stats.Exhaustive {
			t.Errorf("%d workers: %+v, %v", workers, stats, err)
		}
	}
	config := configure(scene(times(2, locked)), "sc")
	config.Interrupt = make(chan struct{})
	if stats, err := explore.Explore(config); err != nil || stats.Complete != 2 {
		t.Errorf("%+v, %v", stats, err)
	}
}

// TestSnapshotOfSomethingElse is refused.
func TestSnapshotOfSomethingElse(t *testing.T) {
	config := configure(scene(times(4, locked)), "sc")
	config.MaxExecutions = 3
	var left *explore.Snapshot
	config.Checkpoint = func(s *explore.Snapshot) func() error {
		left = s
		return func() error { return nil }
	}
	if _, err := explore.Explore(config); err != nil || left == nil {
		t.Fatalf("%v, and %v is left", err, left)
	}
	for name, change := range map[string]func(*explore.Config){
		"model":  func(c *explore.Config) { c.Model = "tso" },
		"events": func(c *explore.Config) { c.MaxEvents = 500 },
		"rounds": func(c *explore.Config) { c.MaxRounds = 5 },
		"variant": func(c *explore.Config) {
			v := *c.Variant
			v.Name, c.Variant = "other", &v
		},
		"scenario": func(c *explore.Config) {
			s := *c.Scenario
			s.Name, c.Scenario = "other", &s
		},
	} {
		other := config
		other.Resume = left
		change(&other)
		if stats, err := explore.Explore(other); err == nil {
			t.Errorf("another %s: %+v", name, stats)
		}
	}
}

// TestSamplesInTime draws fewer if the time is up, and says how many.
func TestSamplesInTime(t *testing.T) {
	config := configure(scene(times(3, locked)), "sc")
	config.Deadline = time.Now().Add(-time.Hour)
	for _, workers := range []int{1, 3} {
		config.Workers = workers
		stats, err := explore.Sample(config, explore.PCT{Constraints: 2}, 1000, 1)
		if err != nil || stats.Samples < 1 || stats.Samples > workers || stats.Executions() != stats.Samples || stats.Planned == 0 {
			t.Errorf("%d workers: %+v, %v", workers, stats, err)
		}
	}
	interrupt := make(chan struct{})
	close(interrupt)
	config.Interrupt = interrupt
	if _, err := explore.Sample(config, explore.RandomWalk{}, 1000, 1); !errors.Is(err, explore.ErrInterrupted) {
		t.Errorf("got %v", err)
	}
}

// TestResumedOrder: one worker goes on in the order in which it would have, and
// expects as much to come.
func TestResumedOrder(t *testing.T) {
	for _, s := range []*scenario.Scenario{scene([]step{updates, loadThenStore, try, locked}, withCheck), words(updates, loadThenStore, wordLocked, wordTry)} {
		config := configure(s, "kernel")
		all, stats := executions(t, config)
		for _, at := range []int{1, 2, len(all) / 3, len(all) / 2, len(all) - 2} {
			var left bytes.Buffer
			config.MaxExecutions = at
			config.Checkpoint = func(s *explore.Snapshot) func() error {
				left.Reset() // one may have been taken in passing
				return func() error { return gob.NewEncoder(&left).Encode(s) }
			}
			before, _ := executions(t, config)
			config.Checkpoint = nil
			config.MaxExecutions = at + 1
			next, part := rest(t, config, left.Bytes())
			config.MaxExecutions = 0
			after, whole := rest(t, config, left.Bytes())
			config.MaxExecutions = at + 1
			_, direct := executions(t, config)
			if whole != stats || part != direct {
				t.Errorf("cut at %d: %+v and %+v, want %+v and %+v", at, whole, part, stats, direct)
			}
			if len(before)+len(after) != len(all) || len(next) != 1 {
				t.Fatalf("cut at %d: %d executions, then %d, of %d", at, len(before), len(after), len(all))
			}
			for i, e := range append(before, after...) {
				if e.Graph.Key() != all[i].Graph.Key() {
					t.Fatalf("cut at %d: execution %d is another one", at, i)
				}
			}
		}
	}
}

// rest is executions for an exploration that goes on.
func rest(t *testing.T, config explore.Config, written []byte) (all []*explore.Execution, stats explore.Stats) {
	t.Helper()
	config.Resume = &explore.Snapshot{}
	if err := gob.NewDecoder(bytes.NewReader(written)).Decode(config.Resume); err != nil {
		t.Fatal(err)
	}
	config.Visit = func(e *explore.Execution) { all = append(all, e) }
	stats, err := explore.Explore(config)
	if err != nil {
		t.Fatal(err)
	}
	return all, stats
}
