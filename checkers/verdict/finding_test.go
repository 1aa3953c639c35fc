package verdict_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/verdict"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// lives are two tasks that use a thing which one of them frees, without asking
// the other unless it is kept. Something else is broken too, in fewer steps.
func lives(kept bool) filling {
	return func(setup *kernel.Task, b *box, i *scenario.Instance) {
		thing := &box{}
		thing.Init(setup, "thing", thing)
		thing.items.Init(&thing.Object, "items", 0)
		use := run("use", func(t *kernel.Task) string {
			b.flag.Store(t, kernel.Once, 1)
			b.items.Load(t, kernel.Once)
			thing.items.Load(t, kernel.Once)
			return ""
		})
		free := run("free", func(t *kernel.Task) string {
			if kept {
				return ""
			}
			t.Assert(b.flag.Load(t, kernel.Once) == 0, "the other was quicker")
			b.items.Store(t, kernel.Once, 1)
			thing.Free(t)
			return ""
		})
		i.Tasks = []scenario.Task{task("user", use), task("owner", free)}
		i.Teardown = func(t *kernel.Task) {
			b.Free(t)
			if kept {
				thing.Free(t)
			}
		}
		i.Observe = nil
	}
}

// TestFindingLeadsWithMemory although broken memory takes more steps to show
// than the assertion; both are counted.
func TestFindingLeadsWithMemory(t *testing.T) {
	v := answer(t, nil, variant("kept", base, indistinguishable, lives(true)), variant("freed", candidate, harmful, lives(false)))
	f := v.Finding
	if f == nil || f.Kind != "use after free" {
		t.Fatalf("%s: %s, %+v", v.Class, v.Reason, f)
	}
	if f.Kinds["assertion"] == 0 || f.Kinds["use after free"] == 0 || f.Count != f.Kinds["assertion"]+f.Kinds["use after free"] || len(f.Kinds) != 2 {
		t.Errorf("kinds %v, count %d", f.Kinds, f.Count)
	}
	if f.Count > v.Scope.Candidate.Executions() {
		t.Errorf("%d of %d", f.Count, v.Scope.Candidate.Executions())
	}
}

// TestFindingIsTheShortest of many ways to the same end, of which the shortest
// is met last. What a third task does has nothing to do with it.
func TestFindingIsTheShortest(t *testing.T) {
	ways := func(wrong bool) filling {
		return func(_ *kernel.Task, b *box, i *scenario.Instance) {
			stand := run("stand by", func(t *kernel.Task) string {
				b.items.Load(t, kernel.Once)
				b.flag.Load(t, kernel.Once)
				return ""
			})
			act := run("act", func(t *kernel.Task) string {
				for range (t.Choose("detour", 15) + 14) % 15 {
					b.flag.Load(t, kernel.Once)
				}
				t.Assert(!wrong || b.items.Load(t, kernel.Once) == 0, "there is an item")
				return ""
			})
			put := run("put", func(t *kernel.Task) string {
				b.items.Store(t, kernel.Once, 1)
				b.flag.Store(t, kernel.Once, 1)
				return ""
			})
			i.Tasks = []scenario.Task{task("bystander", stand), task("actor", act), task("putter", put)}
		}
	}
	v := answer(t, nil, variant("right", base, indistinguishable, ways(false)), variant("wrong", candidate, harmful, ways(true)))
	var what []string
	for _, s := range v.Finding.Steps {
		what = append(what, v.Finding.Tasks[s.Task]+": "+s.What)
	}
	want := []string{"actor: detour: 1", "putter: once store to box#1.items = 1", "actor: once load of box#1.items = 1"}
	slices.Sort(what)
	slices.Sort(want)
	if !slices.Equal(what, want) || v.Finding.Count < 15 {
		t.Errorf("steps %q, want %q; %d found", what, want, v.Finding.Count)
	}
}

// TestFindingIsShortToRead has fewer steps that a reader must see, although it
// has more in all.
func TestFindingIsShortToRead(t *testing.T) {
	fill := func(wrong bool) filling {
		return func(setup *kernel.Task, b *box, i *scenario.Instance) {
			own := &box{}
			own.Init(setup, "own", own)
			own.items.Init(&own.Object, "items", 0)
			act := run("act", func(t *kernel.Task) string {
				word, times := &b.flag, 1
				if t.Choose("own", 2) == 1 {
					word, times = &own.items, 5
				}
				for range times {
					word.Load(t, kernel.Once)
				}
				t.Assert(!wrong || b.items.Load(t, kernel.Once) == 0, "there is an item")
				return ""
			})
			put := run("put", func(t *kernel.Task) string {
				b.flag.Store(t, kernel.Once, 1)
				b.items.Store(t, kernel.Once, 1)
				return ""
			})
			i.Tasks = []scenario.Task{task("actor", act), task("putter", put)}
			i.Teardown = func(t *kernel.Task) { b.Free(t); own.Free(t) }
		}
	}
	v := answer(t, nil, variant("right", base, indistinguishable, fill(false)), variant("wrong", candidate, harmful, fill(true)))
	private := 0
	for _, s := range v.Finding.Steps {
		if s.Private {
			private++
		}
	}
	if private != 6 { // the five loads, and the store that nobody reads then
		t.Errorf("%d of the steps are private, want 6: %+v", private, v.Finding.Steps)
	}
}

// TestFindingPointsIntoTheCode of the scenario: every step says where it is
// done, and who called.
func TestFindingPointsIntoTheCode(t *testing.T) {
	v := answer(t, racySites, variant("locked", base, indistinguishable, takers(false, true)), variant("rash", candidate, harmful, takers(true, false)))
	f := v.Finding
	if !slices.Equal(f.Tasks, []string{"one", "two"}) || len(f.Steps) == 0 {
		t.Fatalf("tasks %q, %d steps", f.Tasks, len(f.Steps))
	}
	for _, s := range f.Steps {
		if !strings.HasPrefix(s.Place, "verdict/box_test.go:") {
			t.Errorf("%s is done at %q", s.What, s.Place)
		}
		if s.Task < 0 || s.Task >= len(f.Tasks) {
			t.Errorf("%s is done by task %d", s.What, s.Task)
		}
		for _, caller := range s.Callers {
			if !strings.HasPrefix(caller, "verdict/box_test.go:") {
				t.Errorf("%s is called from %q", s.What, caller)
			}
		}
		if strings.HasPrefix(s.What, "once store") && len(s.Callers) < 2 {
			t.Errorf("%s is called from %q: there is more between the task and the store", s.What, s.Callers)
		}
	}
}

// TestPrivateSteps are those on memory that no other task of the finding
// touches. What breaks is shown all the same, and so is everything if little
// else is left to see.
func TestPrivateSteps(t *testing.T) {
	fill := func(wrong bool, shared int) filling {
		return func(setup *kernel.Task, b *box, i *scenario.Instance) {
			own := &box{}
			own.Init(setup, "own", own)
			own.items.Init(&own.Object, "items", 0)
			own.flag.Init(&own.Object, "flag", 0)
			act := run("act", func(t *kernel.Task) string {
				own.items.Store(t, kernel.Once, 1)
				seen := b.items.Load(t, kernel.Once)
				own.flag.Load(t, kernel.Once)
				t.Assert(seen < shared || !wrong, "there are items")
				return ""
			})
			put := run("put", func(t *kernel.Task) string {
				for n := range shared {
					b.items.Store(t, kernel.Once, n+1)
				}
				return ""
			})
			i.Tasks = []scenario.Task{task("actor", act), task("putter", put)}
			i.Teardown = func(t *kernel.Task) { b.Free(t); own.Free(t) }
		}
	}
	for shared, want := range map[int][]string{1: nil, 2: {"once store to own#2.items = 1"}} {
		v := answer(t, nil, variant("right", base, indistinguishable, fill(false, shared)), variant("wrong", candidate, harmful, fill(true, shared)))
		var private []string
		for _, s := range v.Finding.Steps {
			if s.Private {
				private = append(private, s.What)
			}
		}
		if !slices.Equal(private, want) {
			t.Errorf("%d stores: private %q, want %q", shared, private, want)
		}
		if last := v.Finding.Steps[len(v.Finding.Steps)-1]; last.What != "once load of own#2.flag = 0" || last.Private {
			t.Errorf("the last step is %+v", last)
		}
	}
}

// TestStaleStepsAreNoted shows what a weak machine did not see yet.
func TestStaleStepsAreNoted(t *testing.T) {
	q, _ := ask(t, verdict.Options{Models: []string{"kernel"}}, nil,
		variant("release", base, indistinguishable, message(kernel.Release)), variant("once", candidate, harmful, message(kernel.Once)))
	steps := q.Verdicts[0].Finding.Steps
	if last := steps[len(steps)-1]; last.What != "once load of box#1.items = 0" || last.Note != "stale: the newest value was 1" {
		t.Errorf("the last step is %+v", last)
	}
}

// broken are candidates that break something, with what that is.
var broken = map[string]struct {
	kind         string
	right, wrong filling
	models       []string
}{
	"assertion":        {kind: "assertion", right: takers(false, true), wrong: takers(true, false)},
	"memory":           {kind: "use after free", right: lives(true), wrong: lives(false)},
	"deadlock":         {kind: "deadlock", right: joins(false), wrong: joins(true)},
	"history":          {kind: "not linearizable", right: copies(true), wrong: copies(false)},
	"final state":      {kind: "final state", right: counting(true), wrong: counting(false)},
	"leak":             {kind: "leak", right: counting(true), wrong: leaking},
	"data race":        {kind: "data race", right: counting(true), wrong: plainly},
	"crash":            {kind: "crash", right: counting(true), wrong: crashing},
	"check afterwards": {kind: "assertion", right: counting(true), wrong: checked},
}

func leaking(setup *kernel.Task, b *box, i *scenario.Instance) {
	counting(true)(setup, b, i)
	i.Teardown = func(*kernel.Task) {}
}

func plainly(setup *kernel.Task, b *box, i *scenario.Instance) {
	counting(true)(setup, b, i)
	i.Tasks[1].Operations[0] = run("look", func(t *kernel.Task) string { return fmt.Sprint(b.items.Load(t, kernel.Plain) > 5) })
}

func crashing(setup *kernel.Task, b *box, i *scenario.Instance) {
	counting(true)(setup, b, i)
	i.Tasks[1].Operations[0] = run("index", func(t *kernel.Task) string { return []string{"0"}[b.items.Load(t, kernel.Once)] })
}

func checked(setup *kernel.Task, b *box, i *scenario.Instance) {
	counting(false)(setup, b, i)
	i.Check = func(t *kernel.Task) error {
		if n := b.items.Load(t, kernel.Plain); n != 2 {
			return fmt.Errorf("%d items", n)
		}
		return nil
	}
}

// TestFindingsAreReplayed takes every kind of finding through its trace.
func TestFindingsAreReplayed(t *testing.T) {
	for name, c := range broken {
		t.Run(name, func(t *testing.T) {
			q, race := ask(t, verdict.Options{Models: []string{"sc"}}, nil,
				variant("right", base, indistinguishable, c.right), variant("wrong", candidate, harmful, c.wrong))
			found := q.Verdicts[0].Finding
			if found == nil || found.Kind != c.kind {
				t.Fatalf("%s, %+v", q.Verdicts[0].Reason, found)
			}
			h, trace, err := explore.ParseTrace("trace", []byte(found.Trace))
			if err != nil {
				t.Fatalf("%v in\n%s", err, found.Trace)
			}
			if h != (explore.TraceHeader{Race: "box", Scenario: "small", Variant: "wrong", Model: "sc"}) {
				t.Errorf("header %+v", h)
			}
			s := &race.Scenarios[0]
			again, _, err := verdict.Replay(race, s, s.Variant(candidate), "sc", trace)
			if err != nil {
				t.Fatal(err)
			}
			if again.Trace != found.Trace || fmt.Sprint(again.Steps) != fmt.Sprint(found.Steps) || !slices.Equal(again.Tasks, found.Tasks) {
				t.Errorf("replayed it is\n%s\n%v\nand it was\n%s\n%v", again.Trace, again.Steps, found.Trace, found.Steps)
			}
			if again.Clean() || again.Kind != found.Kind || again.Message != found.Message || again.Count != 1 || again.Kinds[c.kind] != 1 {
				t.Errorf("replayed it breaks %s: %s, and broke %s: %s", again.Kind, again.Message, found.Kind, found.Message)
			}
		})
	}
}

// TestReplayOfAMendedFault finds nothing, or that it no longer fits.
func TestReplayOfAMendedFault(t *testing.T) {
	q, race := ask(t, verdict.Options{Models: []string{"sc"}}, nil,
		variant("right", base, indistinguishable, counting(true)), variant("wrong", candidate, harmful, checked))
	_, trace, err := explore.ParseTrace("trace", []byte(q.Verdicts[0].Finding.Trace))
	if err != nil {
		t.Fatal(err)
	}
	s := &race.Scenarios[0]
	mended := variant("wrong", candidate, harmful, func(setup *kernel.Task, b *box, i *scenario.Instance) {
		checked(setup, b, i)
		i.Check, i.Observe = nil, nil
	})
	s.Variant(base).Build = variant("right", base, indistinguishable, func(setup *kernel.Task, b *box, i *scenario.Instance) {
		counting(true)(setup, b, i)
		i.Observe = nil
	}).Build
	if f, e, err := verdict.Replay(race, s, &mended, "sc", trace); err != nil || !f.Clean() || !e.Ended || len(f.Steps) == 0 {
		t.Errorf("got %+v, %v, %v", f, e, err)
	}
	longer := variant("wrong", candidate, harmful, func(setup *kernel.Task, b *box, i *scenario.Instance) {
		checked(setup, b, i)
		i.Tasks[1].Operations = append(i.Tasks[1].Operations, i.Tasks[1].Operations[0])
	})
	if f, e, err := verdict.Replay(race, s, &longer, "sc", trace); err != nil || !f.Clean() || e.Ended {
		t.Errorf("a trace that ends early: got %+v, %v, %v", f, e, err)
	}
	if f, _, err := verdict.Replay(race, s, s.Variant(base), "sc", trace); err == nil {
		t.Errorf("other code: got %+v", f)
	}
	if f, _, err := verdict.Replay(race, s, &mended, "x86", trace); err == nil || !strings.Contains(err.Error(), "x86") {
		t.Errorf("another model: got %+v, %v", f, err)
	}
}
