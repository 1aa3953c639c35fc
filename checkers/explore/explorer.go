package explore

import (
	"errors"
	"fmt"
	"time"

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
	// Without lists operations of the variant that are left out.
	Without []scenario.Omitted
	// Model is the name of a memory model, see memmodel.Names.
	Model string
	// Arch is the machine: [Arch32] or, by default, [Arch64].
	Arch int
	// Workers is the number of goroutines; below 1 means 1.
	Workers int
	// MaxExecutions, MaxEvents and MaxRounds bound the work; 0 means the
	// default. An exploration that meets one of the first two is not
	// exhaustive; work that has not come to rest after so many rounds is lost.
	MaxExecutions, MaxEvents, MaxRounds int
	// Deadline, unless zero, ends the exploration at that time; it is not
	// exhaustive then, unless it was done.
	Deadline time.Time
	// Interrupt, if not nil, ends the exploration with [ErrInterrupted] when it
	// is closed.
	Interrupt <-chan struct{}
	// Checkpoint, if not nil, is given a snapshot about every CheckpointEvery (0
	// means the default), while no worker runs or visits anything, and once
	// more when a bound, the deadline or an interruption ends an exploration
	// that is not done. It must copy or encode what it wants to keep, and returns
	// what writes it down, which the other workers do not wait for. An error
	// of that ends the exploration.
	Checkpoint      func(*Snapshot) (save func() error)
	CheckpointEvery time.Duration
	// Resume, if not nil, is what to go on with. It is used up.
	Resume *Snapshot
	// StopAtViolation ends the exploration at the first violation; it is not
	// exhaustive then.
	StopAtViolation bool
	// Strict runs each schedule twice and compares what the code did: the
	// operations of each task, what they returned, and what was left. Code that
	// does something else the second time depends on a clock, on randomness, on
	// map order or on a goroutine of its own, and is a [*DivergenceError], as is a
	// goroutine that uses a task which is not its own. It takes a little more than
	// twice the time. A scenario of WordsOnly is run then, and not scripted.
	Strict bool
	// CheckDefaults has the model confirm every complete execution, including
	// the choices that need no check in theory. Tests set it.
	CheckDefaults bool
	// Visit is called for every execution, by several workers at once. The
	// execution may be kept, unless Borrow is set: it is good during the call only
	// then, as its memory, also that of its graph, is used again.
	Visit  func(*Execution)
	Borrow bool
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
	// Exhaustive reports that nothing was cut off. A violation cuts off what
	// the other tasks could still have done.
	Exhaustive bool `json:"exhaustive"`
	// Cut says what was cut off, and why; empty if nothing was.
	Cut string `json:"cut,omitempty"`
	// Share is how much of an exploration was done by then, from 0 to 1, by
	// estimate, if it is under way or was ended before it was done; otherwise 0.
	Share float64 `json:"share,omitempty"`
}

// Executions returns how many executions were seen.
func (s Stats) Executions() int { return s.Complete + s.Blocked + s.Violating }

var (
	errTooManyEvents = errors.New("an execution has more events than the bound")
	errExited        = errors.New("the code ended its goroutine (runtime.Goexit, as FailNow of package testing does)")
	errTooDeep       = errors.New("tasks start tasks more than six deep")
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
	if err := CheckArch(config.Arch); err != nil {
		return Stats{}, err
	}
	known, scripted, resume := sharers{}, config.Scenario.WordsOnly && !config.Strict, config.Resume
	if resume != nil {
		if err := resume.fits(config); err != nil {
			return Stats{}, err
		}
		known, scripted = resume.known(), resume.Scripted
	}
	for {
		x := newExploration(config, known)
		x.scripted, x.fresh = scripted, resume == nil
		if resume != nil {
			x.restore(resume)
			resume = nil
		}
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

// build sets one execution up, without what is left out.
func (c *Config) build(setup *kernel.Task) (*scenario.Instance, error) {
	i := c.Variant.Build(setup)
	if len(c.Without) == 0 {
		return i, nil
	}
	if err := i.Omit(c.Without); err != nil {
		return nil, &DivergenceError{Detail: err.Error()}
	}
	return i, nil
}

// Tasks returns the tasks of the variant with their operations, none of which is
// run, and without what is left out.
func Tasks(config Config) (tasks []scenario.Task, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			tasks, err = nil, fmt.Errorf("the set-up of variant %s breaks: %v", config.Variant.Name, problem)
		}
	}()
	i, err := config.build(kernel.NewWorld(config.Scenario.Options()).NewTask("setup"))
	if err != nil {
		return nil, err
	}
	return i.Tasks, nil
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
	if c.Arch == 0 {
		c.Arch = Arch64
	}
	if c.CheckpointEvery <= 0 {
		c.CheckpointEvery = DefaultCheckpointEvery
	}
	return c
}
