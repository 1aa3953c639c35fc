package explore

import (
	"errors"
	"fmt"
	"sync"

	"benign/checkers/graph"
	"benign/checkers/memmodel"
	"benign/checkers/race"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// Default bounds of an exploration.
const (
	// DefaultMaxExecutions bounds the executions of one variant.
	DefaultMaxExecutions = 2_000_000
	// DefaultMaxEvents bounds the events of one execution.
	DefaultMaxEvents = 1000
	// DefaultMaxRounds bounds the quiescent rounds after one execution.
	DefaultMaxRounds = 20
)

// Config says what to explore and how far.
type Config struct {
	// Scenario and Variant say what is run.
	Scenario *scenario.Scenario
	Variant  *scenario.Variant
	// Model is the name of a memory model, see memmodel.Names.
	Model string
	// Workers is the number of goroutines; below 1 means 1.
	Workers int
	// MaxExecutions, MaxEvents and MaxRounds bound the work; 0 means the
	// default. An exploration that meets one is not exhaustive.
	MaxExecutions, MaxEvents, MaxRounds int
	// StopAtViolation ends the exploration at the first violation; it is not
	// exhaustive then.
	StopAtViolation bool
	// CheckDefaults has the model confirm every complete execution, including
	// the choices that need no check in theory. Tests set it.
	CheckDefaults bool
	// Visit is called for every execution, by several workers at once. The
	// execution may be kept.
	Visit func(*Execution)
	// Restart, if not nil, is called when the exploration begins anew because
	// it learned of a lock that is shared; what was visited so far is void.
	Restart func()
	// Progress, if not nil, is called now and then with what has been done.
	Progress func(Stats)
}

// Stats counts what an exploration did.
type Stats struct {
	// Complete executions ran every task to its end.
	Complete int `json:"complete"`
	// Blocked executions ended with a task that waits for ever.
	Blocked int `json:"blocked"`
	// Violating executions were ended by a violation.
	Violating int `json:"violating"`
	// Pruned runs turned out to lead nowhere and showed nothing.
	Pruned int `json:"pruned"`
	// Events is the number of events in all executions.
	Events int `json:"events"`
	// Longest is the number of events of the longest execution.
	Longest int `json:"longest"`
	// Exhaustive reports that nothing was cut off.
	Exhaustive bool `json:"exhaustive"`
	// Cut says what was cut off, and why; empty if nothing was.
	Cut string `json:"cut,omitempty"`
}

// Executions returns how many executions were seen.
func (s Stats) Executions() int { return s.Complete + s.Blocked + s.Violating }

var (
	errTooManyEvents = errors.New("an execution has more events than the bound")
	errTooManyTasks  = fmt.Errorf("an execution has more than %d tasks", race.MaxTasks)
)

// Explore runs the variant of the scenario under every execution that the
// model allows, within the bounds. An error means that the question could not
// be asked: an unknown model, or code that does not repeat itself.
func Explore(config Config) (Stats, error) {
	config = config.withDefaults()
	if !memmodel.Known(config.Model) {
		_, err := memmodel.New(config.Model)
		return Stats{}, err
	}
	known, scripted := sharers{}, config.Scenario.WordsOnly
	for {
		x := newExploration(config, known)
		x.scripted = scripted
		x.run()
		if len(x.discovered) > 0 || errors.Is(x.err, errNeedsCode) {
			known = known.with(x.discovered)
			scripted = scripted && !errors.Is(x.err, errNeedsCode)
			if config.Restart != nil {
				config.Restart()
			}
			continue
		}
		if x.err != nil {
			return Stats{}, fmt.Errorf("scenario %s, variant %s, model %s: %w", config.Scenario.Name, config.Variant.Name, config.Model, x.err)
		}
		return x.stats, nil
	}
}

func (c Config) withDefaults() Config {
	for _, bound := range []struct {
		value   *int
		missing int
	}{{&c.MaxExecutions, DefaultMaxExecutions}, {&c.MaxEvents, DefaultMaxEvents}, {&c.MaxRounds, DefaultMaxRounds}} {
		if *bound.value <= 0 {
			*bound.value = bound.missing
		}
	}
	return c
}

// exploration is the state that the workers share.
type exploration struct {
	config    Config
	scripted  bool
	places    places
	sharers   sharers
	lockOrder *kernel.LockOrder

	mutex      sync.Mutex
	changed    sync.Cond
	waiting    []*graph.Graph // graphs that nobody has run yet, newest last
	running    int
	stopped    bool
	stats      Stats
	err        error
	discovered []sharer
}

func newExploration(config Config, known sharers) *exploration {
	x := &exploration{config: config, sharers: known, lockOrder: kernel.NewLockOrder(), waiting: []*graph.Graph{graph.New()}}
	x.changed.L = &x.mutex
	x.stats.Exhaustive = true
	return x
}

func (x *exploration) run() {
	var workers sync.WaitGroup
	for range max(1, x.config.Workers) {
		workers.Go(func() {
			w := newWorker(x)
			defer w.pool.close()
			w.loop()
		})
	}
	workers.Wait()
}

// take waits for a graph to run; nil means that there is nothing left to do.
func (x *exploration) take() *graph.Graph {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	for len(x.waiting) == 0 && x.running > 0 && !x.stopped {
		x.changed.Wait()
	}
	if x.stopped || len(x.waiting) == 0 {
		return nil
	}
	g := x.waiting[len(x.waiting)-1]
	x.waiting = x.waiting[:len(x.waiting)-1]
	x.running++
	return g
}

// report takes over what one run found.
func (x *exploration) report(e *Execution, pushed []*graph.Graph, discovered []sharer, failure error) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.running--
	x.waiting = append(x.waiting, pushed...)
	x.discovered = append(x.discovered, discovered...)
	switch {
	case len(discovered) > 0:
		x.stopped = true
	case errors.Is(failure, errTooManyEvents):
		x.cut(fmt.Sprintf("%v (%d)", failure, x.config.MaxEvents))
	case failure != nil:
		x.err = failure
		x.stopped = true
	case e == nil:
		x.stats.Pruned++
	default:
		x.count(e)
	}
	x.changed.Broadcast()
}

func (x *exploration) count(e *Execution) {
	switch {
	case e.Violation != nil && e.Violation.Kind == kernel.Deadlock:
		x.stats.Blocked++
	case e.Violation != nil && !e.Ended:
		x.stats.Violating++
	default:
		x.stats.Complete++
	}
	x.stats.Events += len(e.Graph.Events)
	x.stats.Longest = max(x.stats.Longest, len(e.Graph.Events))
	if e.Violation != nil && x.config.StopAtViolation {
		x.cut("stopped at the first violation")
		x.stopped = true
	}
	if x.stats.Executions() >= x.config.MaxExecutions && (len(x.waiting) > 0 || x.running > 0) {
		x.cut(fmt.Sprintf("budget of %d executions", x.config.MaxExecutions))
		x.stopped = true
	}
	if x.config.Progress != nil && x.stats.Executions()%1024 == 0 {
		x.config.Progress(x.stats)
	}
}

func (x *exploration) cut(why string) {
	x.stats.Exhaustive = false
	if x.stats.Cut == "" {
		x.stats.Cut = why
	}
}

// worker runs graphs, one at a time.
type worker struct {
	*exploration
	pool     pool
	model    memmodel.Model
	detector race.Detector
	script   script
	threads  []*thread // used again by each scripted run

	pushed     []*graph.Graph
	discovered []sharer
}

func newWorker(x *exploration) *worker {
	model, _ := memmodel.New(x.config.Model) // Explore has checked the name
	w := &worker{exploration: x, model: model}
	w.script.worker = w
	return w
}

func (w *worker) loop() {
	for {
		g := w.take()
		if g == nil {
			return
		}
		w.pushed, w.discovered = nil, nil
		e, err := w.execute(g)
		if e != nil && err == nil && w.config.Visit != nil {
			w.config.Visit(e)
		}
		w.report(e, w.pushed, w.discovered, err)
	}
}

// execute runs one graph to its end. A nil execution shows nothing.
func (w *worker) execute(g *graph.Graph) (*Execution, error) {
	r := w.start(g, nil)
	r.setUp()
	if !r.stopped() {
		r.replay(inOrder(len(g.Events)))
	}
	r.extend()
	return r.conclude()
}

func inOrder(n int) []int32 {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	return order
}
