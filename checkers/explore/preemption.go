package explore

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"benign/checkers/graph"
)

// Bound limits how often the schedules of one exploration change from one task
// to another.
type Bound struct {
	// Most is how many changes may count.
	Most int `json:"most"`
	// All counts every change (Qadeer, Rehof, "Context-Bounded Model Checking of
	// Concurrent Software", TACAS 2005). Without it only preemptions count: those
	// away from a task that could have gone on (Musuvathi, Qadeer, "Iterative
	// Context Bounding for Systematic Testing of Multithreaded Programs", PLDI
	// 2007). That a task ends, or waits for a lock or another task, costs nothing.
	All bool `json:"all,omitempty"`
}

// String says what is counted, such as "2 preemptions".
func (b Bound) String() string {
	noun := "preemption"
	if b.All {
		noun = "switch"
	}
	switch {
	case b.Most == 1:
		return "1 " + noun
	case b.All:
		return fmt.Sprintf("%d switches", b.Most)
	}
	return fmt.Sprintf("%d preemptions", b.Most)
}

// DefaultPreemptions bounds an exploration by preemptions if nothing else is
// said: most faults that are known need no more (Musuvathi, Qadeer, PLDI 2007).
const DefaultPreemptions = 2

// errInterleavings says why a model cannot be explored with a bound.
var errInterleavings = errors.New("schedules are interleavings: only the model sc can be explored with a bound on preemptions")

// ExploreBounded runs the variant under every schedule within the bound, and with
// every alternative of the environment. The schedules are interleavings; only the
// model sc can be meant. Visited and counted are distinct executions (graphs), and
// not schedules. The exploration is exhaustive if no schedule was left out, that
// is, if a larger bound would not have made a difference.
//
// It is a search over schedules with a memory, so that it needs memory for each
// point at which a task can be scheduled: a point that was reached before, by
// equivalent steps, in the same task and with no more changes, is not gone on from
// (happens-before caching: Musuvathi, Qadeer, "Partial-Order Reduction for
// Context-Bounded State Exploration", MSR-TR-2007-12).
func ExploreBounded(config Config, bound Bound) (Stats, error) {
	config = config.withDefaults()
	if config.Model != "sc" {
		return Stats{}, fmt.Errorf("model %q: %w", config.Model, errInterleavings)
	}
	if err := CheckArch(config.Arch); err != nil {
		return Stats{}, err
	}
	if bound.Most < 0 {
		return Stats{}, fmt.Errorf("at most %s: want at least 0", bound)
	}
	for known := (sharers{}); ; {
		s := newSearch(config, bound, known)
		s.run()
		switch {
		case len(s.discovered) > 0:
			known = known.with(s.discovered)
			if config.Restart != nil {
				config.Restart()
			}
		case s.err != nil:
			return Stats{}, fmt.Errorf("scenario %s, variant %s, at most %s: %w", config.Scenario.Name, config.Variant.Name, bound, s.err)
		default:
			return s.stats, nil
		}
	}
}

// search is what the workers of a bounded exploration share.
type search struct {
	*exploration
	bound Bound

	tally  sync.Mutex  // guards the rest
	more   *sync.Cond  // there are paths, or nobody will find any
	paths  [][][]int32 // by the changes they have cost: beginnings of schedules that have yet to be run
	busy   int         // workers that run one
	points map[[sha256.Size]byte]point
	shown  map[[sha256.Size]byte]bool // executions that have been visited
}

// point is a moment at which a task can be scheduled, told from others by the
// execution so far and the task that ran last.
type point struct {
	spent int  // on the way to it, at least
	cut   bool // a change that could follow was more than the bound allows
}

func newSearch(config Config, bound Bound, known sharers) *search {
	s := &search{exploration: newExploration(config, known), bound: bound, paths: make([][][]int32, bound.Most+1),
		points: map[[sha256.Size]byte]point{}, shown: map[[sha256.Size]byte]bool{}}
	s.more = sync.NewCond(&s.tally)
	s.paths[0] = [][]int32{nil}
	return s
}

func (s *search) run() {
	var workers sync.WaitGroup
	for range s.working {
		workers.Go(func() {
			w := newWorker(s.exploration)
			defer w.dismiss()
			defer w.exited()
			for path, ok := s.take(); ok; path, ok = s.next(w) {
				s.follow(w, path)
			}
			w.flush()
			w.current = nil
		})
	}
	workers.Wait()
	s.judgeOrder()
	s.conclude()
}

// conclude says what was left out.
func (s *search) conclude() {
	if slices.ContainsFunc(s.paths, func(p [][]int32) bool { return len(p) > 0 }) && s.stats.Exhaustive {
		s.cut(fmt.Sprintf("budget of %d executions", s.config.MaxExecutions))
	}
	for _, p := range s.points {
		if p.cut {
			s.cut("schedules with more than " + s.bound.String())
			return
		}
	}
}

// next is take for a worker that has just run a path.
func (s *search) next(w *worker) ([]int32, bool) {
	if w.found.Executions() >= reportEvery {
		w.flush()
	}
	if !w.config.Deadline.IsZero() && time.Now().After(w.config.Deadline) {
		w.cut("time budget")
		w.stop()
	}
	return s.take()
}

// take waits for a path and returns one of those that have cost least.
func (s *search) take() ([]int32, bool) {
	s.tally.Lock()
	defer s.tally.Unlock()
	for {
		if s.stopped.Load() {
			return nil, false
		}
		for spent, paths := range s.paths {
			if last := len(paths) - 1; last >= 0 {
				s.paths[spent] = paths[:last]
				s.busy++
				return paths[last], true
			}
		}
		if s.busy == 0 {
			return nil, false
		}
		s.more.Wait()
	}
}

// release says that the worker is done with its path.
func (s *search) release() {
	s.tally.Lock()
	s.busy--
	s.tally.Unlock()
	s.more.Broadcast()
}

// follow runs one schedule: the path, and from there on without a change as far
// as possible.
func (s *search) follow(w *worker, path []int32) {
	defer s.release() // also if the code ends the worker
	d := &decisions{search: s, path: path, last: -1}
	w.sampling = &sampler{draw: d.draw}
	w.sampling.schedule = func(ready []Pending) int { return d.schedule(w.sampling.graph, ready) }
	w.latest = branch{stem: w.stemOf(graph.New())}
	e, err := w.execute()
	if e == nil && err == nil && len(d.taken) < len(path) {
		err = &DivergenceError{Detail: "a task cannot go on, where it could before"}
	}
	switch {
	case errors.Is(err, errTooManyEvents):
		w.cut(fmt.Sprintf("%v (%d)", err, w.config.MaxEvents))
	case err != nil:
		w.fail(err, w.discovered)
	case e != nil && s.isNew(e):
		if e.Graph.Halved() {
			w.cut("schedules that take the high half of a word first")
		}
		w.count(e)
		if w.config.Visit != nil {
			w.config.Visit(e)
		}
	}
}

// isNew reports whether the execution is seen for the first time.
func (s *search) isNew(e *Execution) bool {
	text := e.Graph.Key()
	if e.Violation != nil {
		text += e.Violation.Error()
	}
	key := sha256.Sum256([]byte(text))
	s.tally.Lock()
	defer s.tally.Unlock()
	again := s.shown[key]
	s.shown[key] = true
	return !again
}

// decisions are those of one run: which task goes on at each point, and what the
// environment picks in between.
type decisions struct {
	search *search
	path   []int32 // what was decided beforehand: tasks, and picks of the environment
	taken  []int32
	last   int32 // the task that ran last, or -1
	spent  int
}

// schedule picks the task that goes on: the last one, if it can.
func (d *decisions) schedule(g *graph.Graph, ready []Pending) int {
	at := -1
	if n := len(d.taken); n < len(d.path) {
		at = slices.IndexFunc(ready, func(p Pending) bool { return p.Task == d.path[n] })
	} else {
		at = d.branch(g, ready)
	}
	if at < 0 {
		return at
	}
	d.spent += d.cost(ready, at)
	d.last = ready[at].Task
	d.taken = append(d.taken, d.last)
	return at
}

// cost is how much the bound has to pay if the task goes on.
func (d *decisions) cost(ready []Pending, at int) int {
	if d.last < 0 || ready[at].Task == d.last {
		return 0
	}
	if d.search.bound.All || slices.ContainsFunc(ready, func(p Pending) bool { return p.Task == d.last }) {
		return 1
	}
	return 0
}

// branch picks a task at a point beyond the path, and leaves the others to other
// runs. It returns -1 if there is nothing to find that others do not find.
func (d *decisions) branch(g *graph.Graph, ready []Pending) int {
	s := d.search
	key := sha256.Sum256(fmt.Appendf(nil, "%d %s", d.last, g.Key()))
	s.tally.Lock()
	defer s.tally.Unlock()
	if p, known := s.points[key]; known && p.spent <= d.spent {
		return -1
	}
	here, pick := point{spent: d.spent}, -1
	for at := range ready {
		spent := d.spent + d.cost(ready, at)
		switch {
		case spent > s.bound.Most:
			here.cut = true
		case pick < 0 || ready[at].Task == d.last:
			if pick >= 0 {
				d.leave(ready[pick].Task, d.spent+d.cost(ready, pick))
			}
			pick = at
		default:
			d.leave(ready[at].Task, spent)
		}
	}
	s.points[key] = here
	return pick
}

// leave has another run decide otherwise here.
func (d *decisions) leave(decision int32, spent int) {
	path := append(slices.Clone(d.taken), decision)
	d.search.paths[spent] = append(d.search.paths[spent], path)
	d.search.more.Signal()
}

// draw is the environment's pick: the first alternative here, the others in other
// runs.
func (d *decisions) draw(n int) int {
	pick := 0
	if at := len(d.taken); at < len(d.path) {
		pick = int(d.path[at])
	} else {
		d.search.tally.Lock()
		for other := 1; other < n; other++ {
			d.leave(int32(other), d.spent)
		}
		d.search.tally.Unlock()
	}
	d.taken = append(d.taken, int32(pick))
	return pick
}
