package explore_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/graph"
	"benign/checkers/memmodel"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// strategies are all that there are, with pct of depth 3.
func strategies(t testing.TB) []explore.Strategy {
	t.Helper()
	var all []explore.Strategy
	for _, name := range explore.StrategyNames() {
		s, err := explore.NewStrategy(name, 3)
		if err != nil || s.Name() != name {
			t.Fatalf("%s: %v, %v", name, s, err)
		}
		all = append(all, s)
	}
	return all
}

// sampled draws samples and returns what was visited, in the order of the seeds.
func sampled(t testing.TB, config explore.Config, s explore.Strategy, samples int, seed uint64) ([]*explore.Execution, explore.SampleStats) {
	t.Helper()
	var mutex sync.Mutex
	var all []*explore.Execution
	config.Visit = func(e *explore.Execution) {
		mutex.Lock()
		defer mutex.Unlock()
		all = append(all, e)
	}
	config.Restart = func() { all = nil }
	stats, err := explore.Sample(config, s, samples, seed)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != stats.Executions() || stats.Exhaustive {
		t.Fatalf("%d executions were visited, and %d counted; exhaustive %v", len(all), stats.Executions(), stats.Exhaustive)
	}
	slices.SortFunc(all, func(a, b *explore.Execution) int { return int(int64(a.Seed) - int64(b.Seed)) })
	return all, stats
}

// increment loses an update if another comes between its two steps.
func increment(t *kernel.Task, r *rig) string {
	r.x.Store(t, kernel.Once, r.x.Load(t, kernel.Once)+1)
	return ""
}

// mustEndWith adds a check that x has the value in the end.
func mustEndWith(x int) func(*scenario.Instance, *rig) {
	return func(i *scenario.Instance, r *rig) {
		i.Check = func(t *kernel.Task) error {
			if got := r.x.Load(t, kernel.Plain); got != x {
				return fmt.Errorf("x is %d", got)
			}
			return nil
		}
	}
}

// ask and tell go three steps in turn if the schedule is a certain one: a fault
// of depth 3.
func ask(t *kernel.Task, r *rig) string {
	r.x.Store(t, kernel.Once, 1)
	if r.y.Load(t, kernel.Once) == 1 {
		r.x.Store(t, kernel.Once, 2)
	}
	return ""
}

func tell(t *kernel.Task, r *rig) string {
	if r.x.Load(t, kernel.Once) == 1 {
		r.y.Store(t, kernel.Once, 1)
		t.Assert(r.x.Load(t, kernel.Once) != 2, "answered at once")
	}
	return ""
}

// TestSamplesFindFaults holds each strategy to a number of samples.
func TestSamplesFindFaults(t *testing.T) {
	const samples, seed = 300, 1
	for name, c := range map[string]struct {
		scenario *scenario.Scenario
		want     kernel.ViolationKind
	}{
		"lost update":         {scene(times(3, increment), mustEndWith(3)), kernel.Assertion},
		"waiting for ever":    {scene([]step{deadlock, locked}), kernel.Deadlock},
		"list without a lock": {scene(times(2, func(t *kernel.Task, r *rig) string { r.note(t); return "" })), kernel.DataRace},
		"a choice": {scene(times(2, func(t *kernel.Task, _ *rig) string {
			t.Assert(t.Choose("which", 8) != 7, "the last one")
			return ""
		})), kernel.Assertion},
		"a try that fails": {scene([]step{locked, func(t *kernel.Task, r *rig) string {
			t.Assert(try(t, r) == "free", "somebody has the lock")
			return ""
		}}), kernel.Assertion},
		"question and answer": {scene([]step{ask, tell}), kernel.Assertion},
	} {
		for _, s := range strategies(t) {
			t.Run(name+"/"+s.Name(), func(t *testing.T) {
				found := map[kernel.ViolationKind]int{}
				all, _ := sampled(t, configure(c.scenario, "sc"), s, samples, seed)
				for _, e := range all {
					if e.Violation != nil {
						found[e.Violation.Kind]++
					}
				}
				if found[c.want] == 0 {
					t.Errorf("none of %d samples shows a %s: %v", samples, c.want, found)
				}
			})
		}
	}
}

// TestSamplesAreExecutions of the exhaustive exploration, and on programs this
// small all of them.
func TestSamplesAreExecutions(t *testing.T) {
	for _, sample := range samples() {
		if sample.name == "an assertion" {
			continue // how long an execution is when it is broken depends on the schedule
		}
		s := scene(sample.steps)
		every := map[string]bool{}
		for _, e := range exhausted(t, s, "sc") {
			every[e.Graph.Key()] = true
		}
		for _, strategy := range strategies(t) {
			t.Run(sample.name+"/"+strategy.Name(), func(t *testing.T) {
				all, stats := sampled(t, configure(s, "sc"), strategy, 1000, 1)
				seen := map[string]int{}
				for _, e := range all {
					if !every[e.Graph.Key()] {
						t.Fatalf("sample %d is no execution of the scenario: %s", e.Seed, shown(e))
					}
					seen[e.Graph.Key()]++
				}
				checkTally(t, stats, seen, len(every))
			})
		}
	}
}

// checkTally holds the figures against the executions that were seen.
func checkTally(t *testing.T, stats explore.SampleStats, seen map[string]int, every int) {
	t.Helper()
	once := 0
	for _, n := range seen {
		if n == 1 {
			once++
		}
	}
	if stats.Distinct != len(seen) || stats.Singletons != once || stats.Unseen != float64(once)/float64(stats.Executions()) {
		t.Errorf("%d distinct, %d once, unseen %v; want %d and %d", stats.Distinct, stats.Singletons, stats.Unseen, len(seen), once)
	}
	if stats.Distinct != every {
		t.Errorf("%d of %d executions were seen", stats.Distinct, every)
	}
}

// TestSamplesRepeat, with any number of workers, and alone.
func TestSamplesRepeat(t *testing.T) {
	for _, sample := range samples() {
		for _, s := range strategies(t) {
			t.Run(sample.name+"/"+s.Name(), func(t *testing.T) {
				config := configure(scene(sample.steps), "sc")
				first, one := sampled(t, config, s, 40, 7)
				config.Workers = 3
				again, three := sampled(t, config, s, 40, 7)
				if one != three {
					t.Errorf("one worker: %+v\nthree workers: %+v", one, three)
				}
				config.Workers = 1
				for i, e := range first {
					if !sameSample(e, again[i]) {
						t.Errorf("sample %d: %s, then %s", e.Seed, shown(e), shown(again[i]))
					}
				}
				alone, _ := sampled(t, config, s, 1, first[33].Seed)
				if !sameSample(alone[0], first[33]) {
					t.Errorf("sample %d: %s, and alone %s", first[33].Seed, shown(first[33]), shown(alone[0]))
				}
			})
		}
	}
}

func sameSample(a, b *explore.Execution) bool {
	return a.Seed == b.Seed && a.Graph.Key() == b.Graph.Key() && shown(a) == shown(b)
}

// TestSamplesReplay: a sample is an execution like others, with steps and places.
func TestSamplesReplay(t *testing.T) {
	for _, sample := range samples() {
		config := configure(scene(sample.steps), "sc")
		all, _ := sampled(t, config, explore.POS{}, 20, 1)
		for _, e := range all {
			again, steps, err := explore.ReplayGraph(config, e.Graph)
			if err != nil {
				t.Fatalf("%s: %v", sample.name, err)
			}
			if len(steps) == 0 || again.Ended != e.Ended || (again.Violation == nil) != (e.Violation == nil) {
				t.Errorf("%s: %s, replayed %s", sample.name, shown(e), shown(again))
			}
		}
	}
}

// TestPCTBound: a fault of depth 2 is found at least as often as promised.
func TestPCTBound(t *testing.T) {
	for _, c := range []struct {
		tasks, steps, depth int
		want                float64
	}{{4, 10, 1, 0.25}, {4, 10, 2, 0.025}, {2, 10, 3, 0.005}, {0, 10, 1, 0}, {1, 0, 1, 0}, {1, 1, 0, 0}} {
		if got := explore.PCTBound(c.tasks, c.steps, c.depth); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%d tasks, %d steps, depth %d: %v, want %v", c.tasks, c.steps, c.depth, got, c.want)
		}
	}
	busy := func(t *kernel.Task, r *rig) string {
		for range 10 {
			r.y.Load(t, kernel.Once)
		}
		return ""
	}
	use := func(t *kernel.Task, r *rig) string { // another must come between its two steps
		busy(t, r)
		if r.x.Load(t, kernel.Once) == 0 {
			t.Assert(r.x.Load(t, kernel.Once) == 0, "x has changed")
		}
		return busy(t, r)
	}
	change := func(t *kernel.Task, r *rig) string {
		r.x.Store(t, kernel.Once, 1)
		return ""
	}
	const samples = 6000
	_, stats := sampled(t, configure(scene([]step{use, change, busy}), "sc"), explore.PCT{Constraints: 2}, samples, 1)
	if stats.Tasks != 3 || stats.Steps != 33 || stats.Planned != 33 || stats.Bound != 1.0/99 {
		t.Errorf("%+v", stats)
	}
	if promised := stats.Bound * samples; float64(stats.Violating) < promised {
		t.Errorf("%d of %d samples show the fault, and %.0f were promised", stats.Violating, samples, promised)
	}
	_, shallow := sampled(t, configure(scene([]step{use, change, busy}), "sc"), explore.PCT{Constraints: 1}, 200, 1)
	if shallow.Violating != 0 {
		t.Errorf("depth 1 shows a fault of depth 2 in %d samples", shallow.Violating)
	}
}

// spinner waits for x without a lock.
func spinner(t *kernel.Task, r *rig) string {
	for r.x.Load(t, kernel.Once) == 0 {
	}
	return ""
}

// TestSamplesThatAreTooLong are counted apart, and take the bound away.
func TestSamplesThatAreTooLong(t *testing.T) {
	config := configure(scene([]step{spinner, func(t *kernel.Task, r *rig) string {
		r.x.Store(t, kernel.Once, 1)
		return ""
	}}), "sc")
	config.MaxEvents = 40
	all, stats := sampled(t, config, explore.PCT{Constraints: 1}, 50, 1)
	if stats.TooLong == 0 || stats.TooLong+len(all) != 50 || stats.Bound != 0 {
		t.Errorf("%d seen, %+v", len(all), stats)
	}
	if !strings.Contains(stats.String(), "more were too long") {
		t.Error(stats.String())
	}
}

// TestSampleRefuses what cannot be sampled.
func TestSampleRefuses(t *testing.T) {
	s := scene(times(2, increment))
	if _, err := explore.Sample(configure(s, "kernel"), explore.POS{}, 1, 1); err == nil || !strings.Contains(err.Error(), "only the model sc") {
		t.Error(err)
	}
	if _, err := explore.Sample(configure(s, "sc"), explore.POS{}, 0, 1); err == nil {
		t.Error("no samples were drawn without complaint")
	}
	for name, depth := range map[string]int{"pct": 0, "dfs": 3} {
		if s, err := explore.NewStrategy(name, depth); err == nil {
			t.Errorf("%s of depth %d: %v", name, depth, s)
		}
	}
}

// TestSamplesOfBadCode: code that panics in its set-up breaks something, and
// code that ends its goroutine gives no answer.
func TestSamplesOfBadCode(t *testing.T) {
	s := scene(times(2, increment))
	s.Variants[0].Build = func(*kernel.Task) *scenario.Instance { panic(errors.New("no set-up")) }
	all, _ := sampled(t, configure(s, "sc"), explore.POS{}, 3, 1)
	if len(all) != 3 || all[0].Violation == nil || all[0].Violation.Kind != kernel.Crash {
		t.Errorf("%d executions without a set-up", len(all))
	}
	gone := scene([]step{increment, func(t *kernel.Task, r *rig) string {
		r.y.Load(t, kernel.Once)
		runtime.Goexit()
		return ""
	}})
	for _, workers := range []int{1, 3} {
		config := configure(gone, "sc")
		config.Workers = workers
		if _, err := explore.Sample(config, explore.POS{}, 100, 1); err == nil || !strings.Contains(err.Error(), "ended its goroutine") {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}

// TestSamplesAreInterleavings: nothing stale is ever read.
func TestSamplesAreInterleavings(t *testing.T) {
	sequential, err := memmodel.New("sc")
	if err != nil {
		t.Fatal(err)
	}
	for _, sample := range samples() {
		all, _ := sampled(t, configure(scene(sample.steps), "sc"), explore.RandomWalk{}, 50, 1)
		if slices.ContainsFunc(all, func(e *explore.Execution) bool { return !sequential.Consistent(e.Graph) || hasIdle(e.Graph) }) {
			t.Errorf("%s: a sample is no interleaving", sample.name)
		}
	}
}

func hasIdle(g *graph.Graph) bool {
	return slices.ContainsFunc(g.Events, func(e graph.Event) bool { return e.Kind == graph.LockIdle })
}
