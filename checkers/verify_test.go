package checkers_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"benign/checkers"
	"benign/checkers/explore"
	"benign/checkers/verdict"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// fakeT remembers what a test would have been told.
type fakeT struct {
	errors  []string
	helpers int
}

func (t *fakeT) Helper() { t.helpers++ }

func (t *fakeT) Errorf(format string, args ...any) {
	t.errors = append(t.errors, fmt.Sprintf(format, args...))
}

// answers lists the verdicts.
func answers(all []*verdict.Verdict) []string {
	var list []string
	for _, v := range all {
		list = append(list, fmt.Sprintf("%s under %s: %s", v.Variant, v.Model, v.Class))
	}
	return list
}

// TestVerifyPasses asks under the default models, every variant under each.
func TestVerifyPasses(t *testing.T) {
	race := shopRace(peeking, scenario.Indistinguishable,
		fault("does not look again", rash),
		scenario.Variant{Name: "like the candidate", Role: scenario.Alternative, Expect: scenario.Indistinguishable, Build: build(peeking)})
	f := &fakeT{}
	want := []string{
		"candidate under sc: INDISTINGUISHABLE", "like the candidate under sc: INDISTINGUISHABLE", "does not look again under sc: HARMFUL",
		"candidate under kernel: INDISTINGUISHABLE", "like the candidate under kernel: INDISTINGUISHABLE", "does not look again under kernel: HARMFUL",
	}
	if got := answers(checkers.Verify(f, race)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(f.errors) > 0 || f.helpers == 0 {
		t.Errorf("errors %q", f.errors)
	}
	// The testing package's own T will do.
	checkers.Verify(t, race, "rc11")
}

// TestVerifyFails with the interleaving and where it is in the source, but
// without the steps that nobody else can see.
func TestVerifyFails(t *testing.T) {
	f := &fakeT{}
	checkers.Verify(f, shopRace(rash, scenario.Indistinguishable), "sc")
	if len(f.errors) != 1 {
		t.Fatalf("errors %q", f.errors)
	}
	lines := strings.Split(f.errors[0], "\n")
	if want := "shop, variant candidate, under sc: HARMFUL, expected INDISTINGUISHABLE: 2 of 4 executions break something: assertion"; lines[0] != want {
		t.Errorf("it begins with %q, want %q", lines[0], want)
	}
	last := len(lines) - 2
	if want := "\tassertion: the last piece was sold to [Bob Ann] (when the tasks had ended)"; lines[last] != want {
		t.Errorf("the fault is %q, want %q", lines[last], want)
	}
	if want := "\tto run it again: checkers.Replay(t, s, \"benign trace 1\\n"; !strings.HasPrefix(lines[last+1], want) {
		t.Errorf("it ends with %q, want %q", lines[last+1], want)
	}
	step := regexp.MustCompile(`^\t(Ann|Bob): .*\tcheckers/shop_test\.go:\d+ checkers_test\.\(\*shop\)\.buy$`)
	for _, line := range lines[1:last] {
		if !step.MatchString(line) {
			t.Errorf("a step is %q", line)
		}
	}
}

// TestReplay pastes the last line of a failure, and then what does not fit.
func TestReplay(t *testing.T) {
	broken := shopRace(rash, scenario.Indistinguishable)
	f := &fakeT{}
	checkers.Verify(f, broken, "sc")
	shown, call, _ := strings.Cut(strings.Join(f.errors, "\n"), "\n\tto run it again: checkers.Replay(t, s, ")
	trace, err := strconv.Unquote(strings.TrimSuffix(call, ")"))
	if err != nil {
		t.Fatalf("%v in %q", err, call)
	}
	_, steps, _ := strings.Cut(shown, "\n")
	renamed, mended := *broken, shopRace(careful, scenario.Indistinguishable)
	renamed.Name = "market"
	for name, c := range map[string]struct {
		s          *scenario.Scenario
		trace      string
		want       string
		isFollowed bool
	}{
		"the same":    {broken, trace, "shop, variant candidate, under sc:\n" + steps, true},
		"mended":      {mended, trace, "the execution does not fit the code: event ", false},
		"renamed":     {&renamed, trace, "the trace is of scenario shop, variant candidate, and scenario market has no such thing", false},
		"no variant":  {broken, strings.Replace(trace, "variant candidate", "variant other", 1), "the trace is of scenario shop, variant other, ", false},
		"not a trace": {broken, "hello", "trace:1:1: ", false},
	} {
		f := &fakeT{}
		if got := checkers.Replay(f, c.s, c.trace); (got != nil) != c.isFollowed || len(f.errors) != 1 || !strings.HasPrefix(f.errors[0], c.want) {
			t.Errorf("%s: %q, want %q", name, f.errors, c.want)
		}
	}
}

// TestReplayPasses if nobody looks at what the execution breaks.
func TestReplayPasses(t *testing.T) {
	s := shopRace(rash, scenario.Indistinguishable)
	f := &fakeT{}
	trace := checkers.Verify(f, s, "sc")[0].Finding.Trace
	for i := range s.Variants {
		strict := s.Variants[i].Build
		s.Variants[i].Build = func(setup *kernel.Task) *scenario.Instance {
			instance := strict(setup)
			instance.Check, instance.Observe = nil, nil
			return instance
		}
	}
	if got := checkers.Replay(t, s, trace); got == nil || !got.Clean() || len(got.Steps) == 0 {
		t.Errorf("got %+v", got)
	}
}

// TestVerifyNotesStaleLoads under the model that has them.
func TestVerifyNotesStaleLoads(t *testing.T) {
	message := func(order kernel.Order) func(*kernel.Task) *scenario.Instance {
		return func(setup *kernel.Task) *scenario.Instance {
			s := newShop(setup, 0)
			var open kernel.Word[int]
			open.Init(&s.Object, "open", 0)
			run := func(name string, f func(*kernel.Task)) scenario.Task {
				return scenario.Task{Name: name, Operations: []scenario.Operation{{Name: "act", Run: func(t *kernel.Task) scenario.Result { f(t); return scenario.Result{} }}}}
			}
			return &scenario.Instance{Tasks: []scenario.Task{
				run("owner", func(t *kernel.Task) { s.stock.Store(t, kernel.Once, 1); open.Store(t, order, 1) }),
				run("guest", func(t *kernel.Task) {
					if open.Load(t, kernel.Acquire) == 1 {
						t.Assert(s.stock.Load(t, kernel.Once) == 1, "open and empty")
					}
				}),
			}, Teardown: s.Free}
		}
	}
	race := &scenario.Scenario{Name: "opening", Variants: []scenario.Variant{
		{Name: "release", Role: scenario.Baseline, Expect: scenario.Indistinguishable, Build: message(kernel.Release)},
		{Name: "once", Role: scenario.Candidate, Expect: scenario.Indistinguishable, Build: message(kernel.Once)},
	}}
	f := &fakeT{}
	if got := answers(checkers.Verify(f, race)); !slices.Equal(got, []string{"once under sc: INDISTINGUISHABLE", "once under kernel: HARMFUL"}) {
		t.Errorf("got %q", got)
	}
	if len(f.errors) != 1 || !strings.Contains(f.errors[0], "\n\tguest: once load of shop#1.stock = 0 (stale: the newest value was 1)\t") {
		t.Errorf("errors %q", f.errors)
	}
}

// TestVerifyReportsEverySurprise: a fault that is none, a baseline that is
// broken, a race that does not happen, a class that was not predicted.
func TestVerifyReportsEverySurprise(t *testing.T) {
	broken := shopRace(peeking, scenario.Indistinguishable)
	broken.Variants[0].Build = build(rash)
	for name, c := range map[string]struct {
		race *scenario.Scenario
		want []string
	}{
		"missed fault": {shopRace(peeking, scenario.Indistinguishable, fault("none", careful)),
			[]string{"shop, variant none, under sc: INDISTINGUISHABLE, expected HARMFUL: every outcome of none is an outcome of careful"}},
		"vacuous": {shopRace(careful, scenario.Indistinguishable),
			[]string{"shop, variant candidate, under sc: UNKNOWN, expected INDISTINGUISHABLE: vacuous: no annotated race was seen both ways round"}},
		"vacuous as predicted": {shopRace(careful, scenario.Unknown),
			[]string{"shop, variant candidate, under sc: UNKNOWN, expected UNKNOWN: vacuous: no annotated race was seen both ways round"}},
		"better than predicted": {shopRace(peeking, scenario.Harmful),
			[]string{"shop, variant candidate, under sc: INDISTINGUISHABLE, expected HARMFUL: every outcome of candidate is an outcome of careful"}},
		"not predicted": {shopRace(peeking, 0),
			[]string{"shop, variant candidate, under sc: INDISTINGUISHABLE, expected INVALID: every outcome of candidate is an outcome of careful"}},
		"broken baseline": {broken,
			[]string{"shop, variant careful, under sc: HARMFUL, expected INDISTINGUISHABLE: 2 of 4 executions break something: assertion",
				"shop, variant candidate, under sc: UNKNOWN, expected INDISTINGUISHABLE: the baseline is broken itself: assertion"}},
		"harmful as predicted": {shopRace(rash, scenario.Harmful), nil},
		"data race":            {shopRace(rude, scenario.Harmful), nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeT{}
			checkers.Verify(f, c.race, "sc")
			for i := range f.errors {
				f.errors[i], _, _ = strings.Cut(f.errors[i], "\n")
			}
			if !slices.Equal(f.errors, c.want) {
				t.Errorf("errors %q, want %q", f.errors, c.want)
			}
		})
	}
}

// TestVerifyCannotAsk fails the test too.
func TestVerifyCannotAsk(t *testing.T) {
	unheard := shopRace(peeking, scenario.Indistinguishable)
	unheard.Variants = unheard.Variants[:1]
	for name, c := range map[string]struct {
		race   *scenario.Scenario
		models []string
		want   []string
	}{
		"another model": {shopRace(peeking, scenario.Indistinguishable), []string{"x86"}, []string{`memory model "x86": want one of sc, tso, ra, rc11, kernel`}},
		"no candidate":  {unheard, []string{"sc"}, []string{"scenario shop/shop has 0 variants in the role of candidate, want 1"}},
	} {
		f := &fakeT{}
		if all := checkers.Verify(f, c.race, c.models...); len(all) != 0 || !slices.Equal(f.errors, c.want) {
			t.Errorf("%s: errors %q, want %q", name, f.errors, c.want)
		}
	}
}

// TestVerifyIsStrict: a clock in a result is no outcome, even if the code does
// the same otherwise.
func TestVerifyIsStrict(t *testing.T) {
	race := shopRace(peeking, scenario.Indistinguishable)
	for i := range race.Variants {
		innocent := race.Variants[i].Build
		race.Variants[i].Build = func(setup *kernel.Task) *scenario.Instance {
			instance := innocent(setup)
			instance.Observe = func(*kernel.Task) string { return fmt.Sprint(time.Now().UnixNano()) }
			return instance
		}
	}
	f := &fakeT{}
	checkers.Verify(f, race, "sc")
	if len(f.errors) != 1 || !strings.Contains(f.errors[0], "the execution does not fit the code: the execution ended with ") {
		t.Errorf("errors %q", f.errors)
	}
}

// TestVerifySeesGoroutines that the code leaves behind: those of an exploration
// are gone, but what a scenario starts by itself is its own affair.
func TestVerifySeesGoroutines(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	race := shopRace(peeking, scenario.Indistinguishable)
	innocent := race.Variants[1].Build
	once := true
	race.Variants[1].Build = func(setup *kernel.Task) *scenario.Instance {
		if once {
			once = false
			go func() { <-stop }()
		}
		return innocent(setup)
	}
	f := &fakeT{}
	checkers.Verify(f, race, "sc")
	if len(f.errors) != 1 || !strings.HasPrefix(f.errors[0], "the exploration left goroutines: ") || !strings.Contains(f.errors[0], "TestVerifySeesGoroutines") {
		t.Errorf("errors %q", f.errors)
	}
}

// TestExploreVisitsOnce each execution, also if it begins anew on the way.
func TestExploreVisitsOnce(t *testing.T) {
	race := &scenario.Scenario{Name: "late", Variants: []scenario.Variant{{Name: "only", Role: scenario.Candidate, Build: func(setup *kernel.Task) *scenario.Instance {
		s := newShop(setup, 0)
		var door kernel.RWLock
		door.Init(&s.Object, "door")
		run := func(name string, f func(*kernel.Task)) scenario.Task {
			return scenario.Task{Name: name, Operations: []scenario.Operation{{Name: "act", Run: func(t *kernel.Task) scenario.Result { f(t); return scenario.Result{} }}}}
		}
		write := func(t *kernel.Task) { door.Lock(t); s.stock.Add(t, kernel.Once, 1); door.Unlock(t) }
		return &scenario.Instance{Tasks: []scenario.Task{run("Ann", write), run("Bob", write), run("Cid", func(t *kernel.Task) {
			if s.stock.Load(t, kernel.Once) == 0 {
				door.RLock(t)
				door.RUnlock(t)
			}
		})}}
	}}}}
	restarts, visits := 0, 0
	seen := map[string]bool{}
	stats, err := checkers.Explore(race, &race.Variants[0], "kernel", func(e *explore.Execution) {
		visits++
		seen[e.Graph.Key()] = true
	})
	if err != nil || visits != stats.Executions() || len(seen) != visits || !stats.Exhaustive {
		t.Errorf("%d visits of %d executions, and %+v, %v", visits, len(seen), stats, err)
	}
	_, err = explore.Explore(explore.Config{Scenario: race, Variant: &race.Variants[0], Model: "kernel", Restart: func() { restarts++ }})
	if err != nil || restarts == 0 {
		t.Errorf("%d restarts: the scenario is no test of them; %v", restarts, err)
	}
	if _, err := checkers.Explore(race, &race.Variants[0], "x86", func(*explore.Execution) { t.Error("a visit") }); err == nil {
		t.Error("there is no model x86")
	}
}
