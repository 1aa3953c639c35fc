package verdict_test

import (
	"fmt"
	"strings"
	"testing"

	"benign/checkers/verdict"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

const (
	base      = scenario.Baseline
	candidate = scenario.Candidate
	planted   = scenario.Planted

	indistinguishable = scenario.Indistinguishable
	defers            = scenario.Defers
	harmful           = scenario.Harmful
	unknown           = scenario.Unknown
)

// racySites are the sites of a question about the peek.
var racySites = []*kernel.RaceSite{peek}

// TestIndistinguishable has a hint that is looked at without the lock, and
// looked at again under it.
func TestIndistinguishable(t *testing.T) {
	v := answer(t, racySites,
		variant("locked", base, indistinguishable, takers(false, true)),
		variant("peeking", candidate, indistinguishable, takers(true, true)))
	if v.Class != indistinguishable || !v.AsExpected() || v.Reason != "every outcome of peeking is an outcome of locked" || v.Finding != nil {
		t.Errorf("%s: %s", v.Class, v.Reason)
	}
	if len(v.Outcomes.New)+len(v.Outcomes.Lost) > 0 || v.Outcomes.Baseline != 2 || v.Outcomes.Candidate != 2 {
		t.Errorf("outcomes %+v", v.Outcomes)
	}
	if !v.Scope.Exhaustive || v.Scope.Operations != 2 || fmt.Sprint(v.Scope.Tasks) != "[one: take two: take]" {
		t.Errorf("scope %+v", v.Scope)
	}
	if len(v.Evidence) != 1 || v.Evidence[0].Site != peek.Name || v.Evidence[0].Reason != peek.Reason || !v.Evidence[0].BothOrders() {
		t.Errorf("evidence %+v", v.Evidence)
	}
	if e := v.Evidence[0]; e.Executions != v.Scope.Candidate.Complete || e.Racing == 0 || e.Racing > e.Executions {
		t.Errorf("evidence %+v of %+v", e, v.Scope.Candidate)
	}
}

// TestDefers has a worker that believes a stale flag and leaves its work to the
// next round.
func TestDefers(t *testing.T) {
	v := answer(t, racySites,
		variant("diligent", base, indistinguishable, worker(false)),
		variant("lazy", candidate, defers, worker(true)))
	if v.Class != defers || !v.AsExpected() {
		t.Errorf("%s: %s", v.Class, v.Reason)
	}
	if want := "1 outcomes are new; they leave at most 1 undone, which the next round does in at most 1 rounds"; v.Reason != want {
		t.Errorf("reason %q, want %q", v.Reason, want)
	}
	if want := (verdict.Deferral{LargestDebt: 1, BaselineDebt: 1, MostRounds: 1, BaselineRounds: 1, Barrier: "the next round"}); v.Deferral != want {
		t.Errorf("deferral %+v, want %+v", v.Deferral, want)
	}
	if len(v.Outcomes.New) != 1 || v.Outcomes.New[0] != "filler put = ; worker work = 1 there, skips true; finally 0 items" {
		t.Errorf("outcomes %+v", v.Outcomes)
	}
}

// TestHarmfulByViolation takes an item that the other has taken since.
func TestHarmfulByViolation(t *testing.T) {
	v := answer(t, racySites,
		variant("locked", base, indistinguishable, takers(false, true)),
		variant("rash", candidate, harmful, takers(true, false)))
	if v.Class != harmful || !v.AsExpected() || v.Finding == nil || v.Finding.Kind != "assertion" || v.Finding.Message != "-1 items (when the tasks had ended)" {
		t.Fatalf("%s: %s, %+v", v.Class, v.Reason, v.Finding)
	}
	if want := fmt.Sprintf("%d of %d executions break something: assertion", v.Finding.Count, v.Scope.Candidate.Executions()); v.Reason != want {
		t.Errorf("reason %q, want %q", v.Reason, want)
	}
}

// TestHarmfulByLostWork lowers the flag after the work, and with it the flag of
// what came meanwhile. The next round looks at the flag only.
func TestHarmfulByLostWork(t *testing.T) {
	fill := func(late bool) filling {
		return func(setup *kernel.Task, b *box, i *scenario.Instance) {
			worker(false)(setup, b, i)
			i.Tasks[1].Operations[0] = run("work", func(t *kernel.Task) string {
				b.locked(t, func() string {
					b.items.Store(t, kernel.Once, 0)
					if !late {
						b.flag.Store(t, kernel.Once, 0)
					}
					return ""
				})
				if late {
					b.flag.Store(t, kernel.Once, 0)
				}
				return ""
			})
			i.Quiesce = func(t *kernel.Task) bool {
				if b.flag.Load(t, kernel.Plain) == 0 {
					return false
				}
				b.items.Store(t, kernel.Plain, 0)
				b.flag.Store(t, kernel.Plain, 0)
				return true
			}
		}
	}
	v := answer(t, nil, variant("under the lock", base, indistinguishable, fill(false)), variant("late", candidate, harmful, fill(true)))
	if v.Class != harmful || v.Finding == nil || v.Finding.Kind != "work lost" || v.Finding.Message != "no number of rounds does the work that is left: debt per round [1]" {
		t.Errorf("%s: %s, %+v", v.Class, v.Reason, v.Finding)
	}
}

// TestHarmfulByUnrest has rounds that always find something to do.
func TestHarmfulByUnrest(t *testing.T) {
	fill := func(restless bool) filling {
		return func(setup *kernel.Task, b *box, i *scenario.Instance) {
			worker(false)(setup, b, i)
			i.Quiesce = func(*kernel.Task) bool { return restless }
			i.Debt = func(*kernel.Task) int { return 0 }
		}
	}
	v := answer(t, nil, variant("calm", base, indistinguishable, fill(false)), variant("restless", candidate, harmful, fill(true)))
	if v.Class != harmful || v.Finding == nil || v.Finding.Kind != "work lost" || !strings.HasPrefix(v.Finding.Message, "work never comes to rest: ") {
		t.Errorf("%s: %s, %+v", v.Class, v.Reason, v.Finding)
	}
}

// counting are two tasks that add one each, under the lock or not, with nobody
// to say how many there should be.
func counting(locked bool) filling {
	return func(_ *kernel.Task, b *box, i *scenario.Instance) {
		count := run("add", func(t *kernel.Task) string {
			if locked {
				return b.locked(t, func() string { b.add(t, 1); return "" })
			}
			b.add(t, 1)
			return ""
		})
		i.Tasks = []scenario.Task{task("one", count), task("two", count)}
	}
}

// TestHarmfulByFinalState loses an update.
func TestHarmfulByFinalState(t *testing.T) {
	v := answer(t, nil,
		variant("locked", base, indistinguishable, counting(true)),
		variant("unlocked", candidate, harmful, counting(false)))
	if v.Class != harmful || v.Finding == nil || v.Finding.Kind != "final state" || v.Finding.Message != "the baseline never ends with 1 items" {
		t.Fatalf("%s: %s, %+v", v.Class, v.Reason, v.Finding)
	}
	if v.Finding.Count != v.Finding.Kinds["final state"] || len(v.Finding.Kinds) != 1 {
		t.Errorf("kinds %v, count %d", v.Finding.Kinds, v.Finding.Count)
	}
}

// register is the specification of one integer: a positive input writes it, 0
// reads it.
var register = &scenario.Spec{
	Name:    "register",
	Initial: func(string) any { return 0 },
	Step: func(state, input, output any) (bool, any) {
		if input.(int) > 0 {
			return true, input
		}
		return output == state, state
	},
	Equal:    func(a, b any) bool { return a == b },
	Describe: func(input, output any) string { return fmt.Sprintf("%v→%v", input, output) },
}

// effect is an operation on the register.
func effect(name string, input int, f func(*kernel.Task) any) scenario.Operation {
	return scenario.Operation{Name: name, Run: func(t *kernel.Task) scenario.Result {
		output := f(t)
		return scenario.Result{Value: fmt.Sprint(output), Effects: []scenario.Effect{{Partition: "r", Input: input, Output: output}}}
	}}
}

// copies is a register that is kept twice. Each of two reads looks at one of
// the copies, under the lock or not.
func copies(locked bool) filling {
	return func(_ *kernel.Task, b *box, i *scenario.Instance) {
		guard := func(t *kernel.Task, f func()) {
			if locked {
				b.lock.Lock(t)
				defer b.lock.Unlock(t)
			}
			f()
		}
		set := effect("set", 1, func(t *kernel.Task) any {
			guard(t, func() {
				b.items.Store(t, kernel.Once, 1)
				b.flag.Store(t, kernel.Once, 1)
			})
			return nil
		})
		get := func(from *kernel.Word[int]) scenario.Operation {
			return effect("get", 0, func(t *kernel.Task) (seen any) {
				guard(t, func() { seen = from.Load(t, kernel.Once) })
				return seen
			})
		}
		i.Tasks = []scenario.Task{task("setter", set), task("getter", get(&b.items), get(&b.flag))}
		i.Spec = register
	}
}

// TestHarmfulByHistory sees the new value first and then the old one.
func TestHarmfulByHistory(t *testing.T) {
	v := answer(t, nil, variant("locked", base, indistinguishable, copies(true)), variant("unlocked", candidate, harmful, copies(false)))
	if v.Class != harmful || v.Finding == nil || v.Finding.Kind != "not linearizable" ||
		v.Finding.Message != "no order of the operations on r satisfies register: task 1: 1→<nil>; task 2: 0→1; task 2: 0→0" {
		t.Errorf("%s: %s, %+v", v.Class, v.Reason, v.Finding)
	}
}

// TestHarmfulByHistoryOfAWeakMachine judges executions without a common clock
// by the order of each task: of those some are wrong too.
func TestHarmfulByHistoryOfAWeakMachine(t *testing.T) {
	crossed := func(_ *kernel.Task, b *box, i *scenario.Instance) {
		copies(false)(nil, b, i)
		getter := i.Tasks[1].Operations
		getter[0], getter[1] = getter[1], getter[0] // what is written last is read first
	}
	for model, want := range map[string]scenario.Class{"sc": indistinguishable, "kernel": harmful} {
		q, _ := ask(t, verdict.Options{Models: []string{model}}, nil,
			variant("locked", base, indistinguishable, copies(true)), variant("crossed", candidate, harmful, crossed))
		if v := q.Verdicts[0]; v.Class != want {
			t.Errorf("under %s %s: %s", model, v.Class, v.Reason)
		}
	}
}

// TestHistoriesKeepTheOrderOfTheirTask has a read that touches no memory. It
// comes after the write of its own task all the same.
func TestHistoriesKeepTheOrderOfTheirTask(t *testing.T) {
	fill := func(remembered any) filling {
		return func(_ *kernel.Task, b *box, i *scenario.Instance) {
			i.Tasks = []scenario.Task{task("only",
				effect("get", 0, func(*kernel.Task) any { return 0 }),
				effect("set", 1, func(t *kernel.Task) any { b.items.Store(t, kernel.Once, 1); return nil }),
				effect("get", 0, func(*kernel.Task) any { return remembered }),
				effect("get", 0, func(*kernel.Task) any { return 1 }))}
			i.Spec = register
		}
	}
	v := answer(t, nil, variant("right", base, indistinguishable, fill(1)), variant("forgetful", candidate, harmful, fill(0)))
	if v.Class != harmful || v.Finding == nil || v.Finding.Kind != "not linearizable" {
		t.Errorf("%s: %s", v.Class, v.Reason)
	}
}

// TestHistoriesThatPrintAlike differ in the type of an output only, and one of
// them is wrong.
func TestHistoriesThatPrintAlike(t *testing.T) {
	fill := func(outputs ...any) filling {
		return func(_ *kernel.Task, b *box, i *scenario.Instance) {
			i.Tasks = []scenario.Task{task("only", effect("get", 0, func(t *kernel.Task) any { return outputs[t.Choose("output", len(outputs))] }))}
			i.Spec = register
		}
	}
	for _, outputs := range [][]any{{0, "0"}, {"0", 0}} {
		v := answer(t, nil, variant("right", base, indistinguishable, fill(0)), variant("confused", candidate, harmful, fill(outputs...)))
		if v.Class != harmful || v.Finding.Count != 1 || v.Scope.Candidate.Complete != 2 {
			t.Errorf("%s: %s", v.Class, v.Reason)
		}
	}
}

// TestNewOutcomeWithinTheSpecification is one that the specification allows,
// although the baseline never shows it.
func TestNewOutcomeWithinTheSpecification(t *testing.T) {
	loose := *register
	loose.Step = func(state, _, _ any) (bool, any) { return true, state }
	fill := func(output int) filling {
		return func(_ *kernel.Task, b *box, i *scenario.Instance) {
			i.Tasks = []scenario.Task{task("only", effect("get", 0, func(*kernel.Task) any { return output }))}
			i.Spec = &loose
		}
	}
	if v := answer(t, nil, variant("one", base, indistinguishable, fill(1)), variant("two", candidate, defers, fill(2))); v.Class != defers {
		t.Errorf("%s: %s", v.Class, v.Reason)
	}
}

// TestUnknownByBudget does not get to the end of the one or the other.
func TestUnknownByBudget(t *testing.T) {
	for budget, want := range map[int]string{
		1: "the exploration was cut off: budget of 1 executions, when about 50% had been explored, by estimate",
		3: "the exploration was cut off: budget of 3 executions, when about 75% had been explored, by estimate",
	} {
		q, _ := ask(t, verdict.Options{Models: []string{"sc"}, MaxExecutions: budget, Workers: 1}, racySites,
			variant("locked", base, indistinguishable, takers(false, true)),
			variant("peeking", candidate, indistinguishable, takers(true, true)))
		v := q.Verdicts[0]
		if v.Class != unknown || v.Vacuous || v.AsExpected() || v.Reason != want || v.Scope.Exhaustive {
			t.Errorf("%s: %s", v.Class, v.Reason)
		}
	}
	q, _ := ask(t, verdict.Options{Models: []string{"sc"}, MaxExecutions: 1, Workers: 1}, nil,
		variant("two tasks", base, indistinguishable, counting(true)),
		variant("one task", candidate, indistinguishable, func(setup *kernel.Task, b *box, i *scenario.Instance) {
			counting(true)(setup, b, i)
			i.Tasks = i.Tasks[:1]
		}))
	if v := q.Verdicts[0]; v.Class != unknown || v.Reason != "the exploration of the baseline was cut off: budget of 1 executions, when about 50% had been explored, by estimate" {
		t.Errorf("%s: %s", v.Class, v.Reason)
	}
}

// TestHarmIsCertain is found although the budget does not suffice.
func TestHarmIsCertain(t *testing.T) {
	always := func(_ *kernel.Task, b *box, i *scenario.Instance) {
		counting(false)(nil, b, i)
		i.Check = func(*kernel.Task) error { return fmt.Errorf("never right") }
	}
	q, _ := ask(t, verdict.Options{Models: []string{"sc"}, MaxExecutions: 1}, nil,
		variant("locked", base, indistinguishable, counting(true)), variant("wrong", candidate, harmful, always))
	if v := q.Verdicts[0]; v.Class != harmful || v.Scope.Exhaustive {
		t.Errorf("%s: %s", v.Class, v.Reason)
	}
}

// TestVacuous has a race that is not one, or never the other way round, or not
// even there.
func TestVacuous(t *testing.T) {
	site := func(load func(*box, *kernel.Task) int) filling {
		return func(_ *kernel.Task, b *box, i *scenario.Instance) {
			write := run("write", func(t *kernel.Task) string {
				return b.locked(t, func() string {
					b.items.Store(t, kernel.Once, 1)
					b.flag.Store(t, kernel.Once, 1)
					return ""
				})
			})
			read := run("read", func(t *kernel.Task) string { return fmt.Sprint(load(b, t)) })
			i.Tasks = []scenario.Task{task("writer", write), task("reader", read)}
		}
	}
	look := func(b *box, t *kernel.Task) int { return b.items.LoadRacy(t, kernel.Once, peek) }
	const reason = "vacuous: the race at box-peek was never seen both ways round"
	for name, c := range map[string]struct {
		load  func(*box, *kernel.Task) int
		sites []*kernel.RaceSite
		want  scenario.Class
		why   string
	}{
		"a race": {look, racySites, indistinguishable, ""},
		"another race too": {func(b *box, t *kernel.Task) int { b.flag.LoadRacy(t, kernel.Once, glimpse); return look(b, t) },
			racySites, indistinguishable, ""},
		"another race instead": {func(b *box, t *kernel.Task) int { return b.items.LoadRacy(t, kernel.Once, glimpse) }, racySites, unknown, reason},
		"one of two races":     {look, []*kernel.RaceSite{peek, glimpse}, unknown, "vacuous: the race at box-glimpse was never seen both ways round"},
		"never executed":       {func(b *box, t *kernel.Task) int { return b.items.Load(t, kernel.Once) }, racySites, unknown, reason},
		"ordered by the lock": {func(b *box, t *kernel.Task) (seen int) {
			b.locked(t, func() string { seen = look(b, t); return "" })
			return seen
		}, racySites, unknown, reason},
		"one way round": {func(b *box, t *kernel.Task) int {
			if b.flag.Load(t, kernel.Once) == 1 {
				return look(b, t) // nothing orders it, but under sc it cannot be early
			}
			return 0
		}, racySites, unknown, reason},
	} {
		t.Run(name, func(t *testing.T) {
			v := answer(t, c.sites, variant("same", base, indistinguishable, site(c.load)), variant("racy", candidate, indistinguishable, site(c.load)))
			if v.Class != c.want || v.Vacuous != (c.want == unknown) || v.AsExpected() != (c.want != unknown) {
				t.Errorf("%s, vacuous %v: %s", v.Class, v.Vacuous, v.Reason)
			}
			if c.why != "" && v.Reason != c.why {
				t.Errorf("reason %q, want %q", v.Reason, c.why)
			}
			for _, e := range v.Evidence {
				if (e.Racing > 0) == (name == "ordered by the lock") || e.Executions == 0 || e.Racing > e.Executions {
					t.Errorf("evidence %+v", e)
				}
			}
		})
	}
	// On a weak machine the last one happens both ways round.
	t.Run("one way round under kernel", func(t *testing.T) {
		early := func(b *box, t *kernel.Task) int {
			if b.flag.Load(t, kernel.Once) == 1 {
				return look(b, t)
			}
			return 0
		}
		q, _ := ask(t, verdict.Options{Models: []string{"kernel"}}, racySites,
			variant("same", base, indistinguishable, site(early)), variant("racy", candidate, indistinguishable, site(early)))
		if v := q.Verdicts[0]; v.Class != indistinguishable {
			t.Errorf("%s: %s", v.Class, v.Reason)
		}
	})
}

// TestRacingWithoutSites wants some race to be seen, whichever it is; a
// scenario that is not about the race wants none.
func TestRacingWithoutSites(t *testing.T) {
	for _, c := range []struct {
		racing, peeks bool
		want          scenario.Class
	}{{true, true, indistinguishable}, {true, false, unknown}, {false, false, indistinguishable}, {false, true, indistinguishable}} {
		race := &scenario.Race{Name: "box", Scenarios: []scenario.Scenario{{Name: "small", Racing: c.racing, Variants: []scenario.Variant{
			variant("locked", base, indistinguishable, takers(false, true)),
			variant("other", candidate, indistinguishable, takers(c.peeks, true)),
		}}}}
		q, err := verdict.Ask(race, verdict.Options{Models: []string{"sc"}})
		if err != nil {
			t.Fatal(err)
		}
		if v := q.Verdicts[0]; v.Class != c.want || v.Vacuous != (c.want == unknown) {
			t.Errorf("%+v: %s: %s", c, v.Class, v.Reason)
		}
	}
}

// TestUnexplainedOutcome returns what the baseline never returns. No
// specification allows it, and nothing is left for later, so that it is not
// work deferred either.
func TestUnexplainedOutcome(t *testing.T) {
	fill := func(locked bool) filling {
		return func(_ *kernel.Task, b *box, i *scenario.Instance) {
			guard := func(t *kernel.Task, f func() string) string {
				if locked {
					return b.locked(t, f)
				}
				return f()
			}
			both := run("set both", func(t *kernel.Task) string {
				return guard(t, func() string {
					b.items.Store(t, kernel.Once, 1)
					b.flag.Store(t, kernel.Once, 1)
					return ""
				})
			})
			look := run("look at both", func(t *kernel.Task) string {
				return guard(t, func() string { return fmt.Sprint(b.items.Load(t, kernel.Once), b.flag.Load(t, kernel.Once)) })
			})
			i.Tasks = []scenario.Task{task("setter", both), task("looker", look)}
		}
	}
	v := answer(t, nil, variant("locked", base, indistinguishable, fill(true)), variant("torn", candidate, unknown, fill(false)))
	const want = "nothing says whether a new outcome is right, and it leaves nothing for later: setter set both = ; looker look at both = 0 1; finally 1 items"
	if v.Class != unknown || v.Vacuous || v.Reason != want {
		t.Errorf("%s: %s, want %s", v.Class, v.Reason, want)
	}
}

// TestBrokenBaseline compares with something that is broken itself.
func TestBrokenBaseline(t *testing.T) {
	q, race := ask(t, verdict.Options{Models: []string{"sc"}}, racySites,
		variant("broken", base, indistinguishable, takers(true, false)),
		variant("peeking", candidate, indistinguishable, takers(true, true)))
	v := q.Verdicts[0]
	if v.Class != unknown || v.Reason != "the baseline is broken itself: assertion" {
		t.Errorf("%s: %s", v.Class, v.Reason)
	}
	if len(q.Surprises) != 2 || q.Surprises[0].Variant != "broken" || q.Surprises[0].Class != harmful || q.Surprises[0].Finding == nil {
		t.Errorf("surprises %+v", q.Surprises)
	}
	s := &race.Scenarios[0]
	alone, err := verdict.Judge(race, s, s.Variant(base), "sc", verdict.Options{})
	if err != nil || alone.Class != harmful || alone.AsExpected() {
		t.Errorf("alone: %+v, %v", alone, err)
	}
	// A candidate that is broken too is broken.
	v = answer(t, racySites, variant("broken", base, harmful, takers(true, false)), variant("as well", candidate, harmful, takers(true, false)))
	if v.Class != harmful {
		t.Errorf("%s: %s", v.Class, v.Reason)
	}
}
