package explore

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"benign/checkers/graph"
	"benign/impl/kernel"
)

// A run remembers nothing that its graph does not say, so that the graphs that
// wait and the totals are all there is to an exploration. A cut takes them while
// every worker is between two executions.

// Snapshot is an exploration that is not done, as plain data: package gob can
// write it down. The same build of the code goes on with it, with any number of
// workers, and ends as if it had never stopped.
type Snapshot struct {
	// Scenario, Variant, Model, Arch, MaxEvents and MaxRounds say what is explored.
	Scenario, Variant, Model   string
	Arch, MaxEvents, MaxRounds int
	// Scripted reports that no code is run, and Sharers says which tasks are
	// known to share which locks: an exploration that finds out that it was
	// wrong about them begins anew, and this says how often it has.
	Scripted bool
	Sharers  []Sharing
	// Places are the locations of all graphs of a scripted exploration, by
	// number, and Initial their initial values.
	Places  []graph.Location
	Initial []uint64
	// Waiting are the graphs that are still to be run.
	Waiting []graph.Record
	// Stats counts what was done so far.
	Stats Stats
	// Orders is the lock order of all executions so far, and Cycle the first
	// cycle that is in it.
	Orders []kernel.LockEdge
	Cycle  string
	// Ran and Offered are what the share of the exploration is estimated from:
	// how many runs began with how many events, and how many graphs with how
	// many events these offered.
	Ran     []int
	Offered [][]int
	// Ended reports that the exploration is over because of a budget or an
	// interruption, and not just caught in passing.
	Ended bool
}

// Sharing says which Tasks, by their identities, share the lock that is a Field
// of its Owner.
type Sharing struct {
	Owner kernel.ObjectID
	Field uint32
	Tasks []int
}

// ErrInterrupted is the error of an exploration that [Config.Interrupt] ended.
var ErrInterrupted = errors.New("the exploration was interrupted")

// DefaultCheckpointEvery is the time between two checkpoints.
const DefaultCheckpointEvery = 500 * time.Millisecond

// firstSooner is how much sooner the first checkpoint is taken than others.
const firstSooner = 10

// fewestTimes is how much longer an exploration works than it stands still for
// checkpoints: they may cost a twentieth of the time.
const fewestTimes = 20

// cuts is what workers need to stop together.
type cuts struct {
	due     atomic.Bool // a checkpoint is to be taken
	timer   *time.Timer // sets due
	workers []*worker
	paused  int // workers that wait for the checkpoint
	taken   int // checkpoints so far
}

// schedule has the next checkpoint taken after a while.
func (x *exploration) schedule(after time.Duration) {
	x.timer = time.AfterFunc(after, func() { x.due.Store(true) })
}

// join makes the worker one of those whose graphs a checkpoint has.
func (w *worker) join() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.workers = append(w.workers, w)
}

// surrender returns everything that waits for this worker, oldest first, as
// graphs that do not change while nobody runs. It goes on waiting.
func (w *worker) surrender() []*graph.Graph {
	graphs := make([]*graph.Graph, len(w.own))
	for i := range w.own {
		graphs[i] = w.own[i].copied()
	}
	return graphs
}

// pause waits until every worker that has something to do is between two
// executions; the last one to come takes the checkpoint, and writes it down
// while the others go on.
func (w *worker) pause() {
	w.flush()
	w.mutex.Lock()
	w.paused++
	for taken := w.taken; taken == w.taken && !w.stopped.Load(); {
		if w.paused < w.working {
			w.changed.Wait()
			continue
		}
		begun := time.Now()
		save := w.config.Checkpoint(w.snapshot())
		stood := time.Since(begun)
		w.taken++
		w.due.Store(false)
		w.changed.Broadcast()
		w.paused--
		w.mutex.Unlock()
		w.keep(save)
		w.schedule(max(w.config.CheckpointEvery, fewestTimes*stood))
		return
	}
	w.paused--
	w.mutex.Unlock()
}

// keep writes a checkpoint down. Whoever asked for checkpoints relies on them.
func (x *exploration) keep(save func() error) {
	if err := save(); err != nil {
		x.fail(err, nil)
	}
}

// snapshot says how far the exploration has come. Nobody may be in the middle of
// an execution, and the caller holds the mutex, or is alone.
func (x *exploration) snapshot() *Snapshot {
	s := &Snapshot{Scenario: x.config.Scenario.Name, Variant: x.config.Variant.Name, Model: x.config.Model,
		Arch: x.config.Arch, MaxEvents: x.config.MaxEvents, MaxRounds: x.config.MaxRounds,
		Scripted: x.scripted, Stats: x.stats, Orders: x.orders.List(), Cycle: x.cycle, Ran: x.strata.ran, Offered: x.strata.offered}
	for lock, tasks := range x.sharers {
		s.Sharers = append(s.Sharers, Sharing{lock.owner, lock.field, tasks})
	}
	if x.scripted {
		s.Places, s.Initial = x.places.all()
	}
	for _, g := range x.waiting {
		s.Waiting = append(s.Waiting, g.Record())
	}
	for _, w := range x.workers {
		for _, g := range w.surrender() {
			s.Waiting = append(s.Waiting, g.Record())
		}
	}
	return s
}

// fits returns an error if the snapshot is of something else.
func (s *Snapshot) fits(c Config) error {
	if s.Scenario == c.Scenario.Name && s.Variant == c.Variant.Name && s.Model == c.Model && s.Arch == c.Arch && s.MaxEvents == c.MaxEvents && s.MaxRounds == c.MaxRounds {
		return nil
	}
	return fmt.Errorf("the snapshot is of scenario %s, variant %s, model %s, %d bits, with at most %d events and %d rounds",
		s.Scenario, s.Variant, s.Model, s.Arch, s.MaxEvents, s.MaxRounds)
}

// known returns the sharers that the exploration had learned of.
func (s *Snapshot) known() sharers {
	known := sharers{}
	for _, lock := range s.Sharers {
		known[lockName{lock.Owner, lock.Field}] = lock.Tasks
	}
	return known
}

// restore makes the exploration go on where the snapshot was taken.
func (x *exploration) restore(s *Snapshot) {
	x.stats, x.cycle, x.orders = s.Stats, s.Cycle, kernel.ListedLockOrder(s.Orders)
	x.executions.Store(int64(s.Stats.Executions()))
	x.told = s.Stats.Executions() / reportEvery
	x.strata = strata{s.Ran, s.Offered}
	x.places.set(s.Places, s.Initial)
	x.waiting = x.waiting[:0]
	for _, record := range s.Waiting {
		x.waiting = append(x.waiting, record.Graph())
	}
}
