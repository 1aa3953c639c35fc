package verdict_test

import (
	"fmt"
	"slices"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/verdict"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// crowded puts others around the tasks of a filling: one that looks at the box
// before and after, and one that does something else.
func crowded(fill filling) filling {
	return func(setup *kernel.Task, b *box, i *scenario.Instance) {
		fill(setup, b, i)
		other := &box{}
		other.Init(setup, "other", other)
		other.items.Init(&other.Object, "items", 0)
		teardown := i.Teardown
		i.Teardown = func(t *kernel.Task) { other.Free(t); teardown(t) }
		look := run("look on", func(t *kernel.Task) string { b.flag.Load(t, kernel.Once); return "" })
		elsewhere := run("elsewhere", func(t *kernel.Task) string { other.items.Load(t, kernel.Once); return "" })
		i.Tasks = append([]scenario.Task{task("onlooker", look, look)}, i.Tasks...)
		i.Tasks = append(i.Tasks, task("stranger", elsewhere))
		last := &i.Tasks[1]
		last.Operations = append(slices.Clone(last.Operations), elsewhere)
	}
}

// TestShrinkLeavesOthersOut whatever is broken: what crowded has added goes, and
// the trace of what is left shows the same fault.
func TestShrinkLeavesOthersOut(t *testing.T) {
	added := []string{"onlooker: look on", "onlooker: look on", "stranger: elsewhere"}
	for name, c := range broken {
		t.Run(name, func(t *testing.T) {
			q, race := ask(t, verdict.Options{Models: []string{"sc"}, Shrink: true}, nil,
				variant("right", base, indistinguishable, crowded(c.right)), variant("wrong", candidate, harmful, crowded(c.wrong)))
			f := q.Verdicts[0].Finding
			if f == nil || f.Kind != c.kind {
				t.Fatalf("%s, %+v", q.Verdicts[0].Reason, f)
			}
			for _, one := range added {
				if !slices.Contains(f.LeftOut, one) {
					t.Errorf("%s is not left out, but %q", one, f.LeftOut)
				}
			}
			if slices.Contains(f.Tasks, "onlooker") || slices.Contains(f.Tasks, "stranger") {
				t.Errorf("the columns are %q", f.Tasks)
			}
			_, trace, err := explore.ParseTrace("trace", []byte(f.Trace))
			if err != nil || len(trace.Without) != len(f.LeftOut) {
				t.Fatalf("%+v, %v", trace, err)
			}
			s := &race.Scenarios[0]
			again, _, err := verdict.Replay(race, s, s.Variant(candidate), "sc", trace)
			if err != nil || again.Kind != f.Kind || again.Message != f.Message || again.Trace != f.Trace ||
				fmt.Sprint(again.Steps, again.Tasks, again.LeftOut) != fmt.Sprint(f.Steps, f.Tasks, f.LeftOut) {
				t.Errorf("replayed it is %+v, %v; it was %+v", again, err, f)
			}
			whole := answer(t, nil, variant("right", base, indistinguishable, crowded(c.right)), variant("wrong", candidate, harmful, crowded(c.wrong))).Finding
			if len(whole.LeftOut) > 0 || whole.Count != f.Count || whole.Kind != f.Kind {
				t.Errorf("unshrunk it is %+v", whole)
			}
		})
	}
}

// TestShrinkKeepsWhatTheBaselineNeeds: without the one who lets go of the box it
// leaks, with any code. That is not the leak which the wrong code has.
func TestShrinkKeepsWhatTheBaselineNeeds(t *testing.T) {
	owners := func(wrong bool) filling {
		return func(setup *kernel.Task, b *box, i *scenario.Instance) {
			thing := &box{}
			thing.Init(setup, "thing", thing)
			let := run("let go", func(t *kernel.Task) string {
				if !wrong || b.flag.Load(t, kernel.Once) == 0 {
					thing.Free(t)
				}
				return ""
			})
			set := run("set", func(t *kernel.Task) string { b.flag.Store(t, kernel.Once, 1); return "" })
			i.Tasks = []scenario.Task{task("owner", let), task("setter", set, set)}
			i.Observe = nil
		}
	}
	q, _ := ask(t, verdict.Options{Models: []string{"sc"}, Shrink: true}, nil,
		variant("right", base, indistinguishable, owners(false)), variant("wrong", candidate, harmful, owners(true)))
	f := q.Verdicts[0].Finding
	if f == nil || f.Kind != "leak" || !slices.Equal(f.LeftOut, []string{"setter: set"}) {
		t.Errorf("%+v", f)
	}
}

// TestShrinkStaysWithTheFault: another assertion fails in a smaller scenario, and
// is not taken for this one; one that differs in a number is.
func TestShrinkStaysWithTheFault(t *testing.T) {
	asserts := func(wrong bool) filling {
		return func(_ *kernel.Task, b *box, i *scenario.Instance) {
			set := run("set", func(t *kernel.Task) string { b.flag.Add(t, kernel.Once, 1); return "" })
			look := run("look", func(t *kernel.Task) string {
				n := b.flag.Load(t, kernel.Once)
				b.items.Add(t, kernel.Once, 1)
				t.Assert(!wrong || n == 0, "found %d", n)
				return ""
			})
			i.Tasks = []scenario.Task{task("setter", set, set), task("looker", look, look)}
			i.Check = func(t *kernel.Task) error {
				if wrong && b.items.Load(t, kernel.Plain) < 2 {
					return fmt.Errorf("the looker looked less than twice")
				}
				return nil
			}
			i.Observe = nil
		}
	}
	q, _ := ask(t, verdict.Options{Models: []string{"sc"}, Shrink: true}, nil,
		variant("right", base, indistinguishable, asserts(false)), variant("wrong", candidate, harmful, asserts(true)))
	f := q.Verdicts[0].Finding
	if f == nil || f.Message != "found 1" || !slices.Equal(f.LeftOut, []string{"setter: set", "looker: look"}) || len(f.Steps) != 3 {
		t.Errorf("%+v", f)
	}
}

// TestShrinkSamples: what samples have found is explored.
func TestShrinkSamples(t *testing.T) {
	for _, o := range []verdict.Options{
		{Strategy: explore.RandomWalk{}, Samples: 300, Shrink: true},
		{Bound: &explore.Bound{Most: 1}, Shrink: true},
	} {
		q, _ := ask(t, o, nil, variant("right", base, indistinguishable, crowded(takers(false, true))), variant("wrong", candidate, harmful, crowded(takers(true, false))))
		if f := q.Verdicts[0].Finding; f == nil || f.Kind != "assertion" || len(f.LeftOut) != 4 {
			t.Errorf("%+v", f)
		}
	}
}

// TestShrinkOfABrokenSetUp leaves it as it is.
func TestShrinkOfABrokenSetUp(t *testing.T) {
	q, _ := ask(t, verdict.Options{Models: []string{"sc"}, Shrink: true}, nil, variant("right", base, indistinguishable, takers(false, true)),
		variant("wrong", candidate, harmful, func(*kernel.Task, *box, *scenario.Instance) { panic("no set-up") }))
	if f := q.Verdicts[0].Finding; f == nil || f.Kind != "crash" || len(f.LeftOut) != 0 {
		t.Errorf("%+v", f)
	}
}

// TestFindingIs knows the same fault in another message.
func TestFindingIs(t *testing.T) {
	for _, c := range []struct {
		kind     kernel.ViolationKind
		one, two string
		same     bool
	}{
		{kernel.Assertion, "found 1 of 2", "found 12 of 0x3f", true},
		{kernel.Assertion, "found 1 of 2", "lost 1 of 2", false},
		{kernel.Crash, "index 5 at a/b.go:12", "index 6 at a/b.go:12", true},
		{kernel.Crash, "index 5 at a/b.go:12", "index 5 at a/b.go:13", false},
		{kernel.UseAfterFree, "thing#1 is freed, and more", "thing#2.1 is used after it was freed", true},
		{kernel.UseAfterFree, "thing#1 is freed, and more", "box#1 is freed, and more", false},
		{kernel.DataRace, "read of box#1.x is not ordered with a write by task A", "write of box#1.x is not ordered with a write by task B", true},
		{kernel.DataRace, "read of box#1.x is not ordered with a write by task A", "read of box#1.y is not ordered with a write by task A", false},
		{kernel.Deadlock, "A waits for l", "B waits for m", true},
	} {
		f := verdict.Finding{Kind: c.kind.String(), Message: c.one}
		if f.Is(&kernel.Violation{Kind: c.kind, Message: c.two}) != c.same || f.Is(&kernel.Violation{Kind: kernel.Leak, Message: c.one}) {
			t.Errorf("%s: %q and %q", c.kind, c.one, c.two)
		}
	}
}

// TestShrinkPrefersFewSwitches to few steps: the looker finds the flag up after
// many steps in a row, or sees it go up between two.
func TestShrinkPrefersFewSwitches(t *testing.T) {
	looks := func(wrong bool) filling {
		return func(_ *kernel.Task, b *box, i *scenario.Instance) {
			set := run("set", func(t *kernel.Task) string {
				b.items.Add(t, kernel.Once, 1)
				b.flag.Store(t, kernel.Once, 1)
				return ""
			})
			look := run("look", func(t *kernel.Task) string {
				before := 0
				if t.Choose("at length", 2) == 0 {
					before = b.flag.Load(t, kernel.Once)
				} else {
					for range 6 {
						b.items.Load(t, kernel.Once)
					}
				}
				t.Assert(!wrong || b.flag.Load(t, kernel.Once) == before, "the flag is up")
				return ""
			})
			i.Tasks = []scenario.Task{task("setter", set), task("looker", look)}
		}
	}
	q, _ := ask(t, verdict.Options{Models: []string{"sc"}, Shrink: true}, nil,
		variant("right", base, indistinguishable, looks(false)), variant("wrong", candidate, harmful, looks(true)))
	f, switches := q.Verdicts[0].Finding, 0
	for i := range f.Steps {
		if i > 0 && f.Steps[i].Task != f.Steps[i-1].Task {
			switches++
		}
	}
	if switches != 1 || len(f.Steps) != 10 {
		t.Errorf("%d switches in %+v", switches, f.Steps)
	}
}
