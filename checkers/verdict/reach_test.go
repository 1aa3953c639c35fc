package verdict_test

import (
	"strings"
	"testing"

	"benign/checkers/verdict"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// adders are two tasks that add to the box by an update, and one that does nothing for it.
func adders(t *kernel.Task, b *box, i *scenario.Instance) {
	add := func(name string, n int) scenario.Operation {
		return run(name, func(t *kernel.Task) string { b.items.Add(t, kernel.Once, n); return "" })
	}
	i.Tasks = []scenario.Task{task("one", add("add", 1), add("take", -1)), task("two", add("add", 1), add("take", -1)),
		task("idle", run("look", func(t *kernel.Task) string { b.flag.Load(t, kernel.Once); return "" }))}
}

func reachable(field string, least int64) scenario.Reachable {
	return scenario.Reachable{Name: "full", Question: "Can it be full?", Scenario: "small", Class: "box", Field: field,
		Holds: func(v int64) bool { return v >= least }, Expect: scenario.CanHappen}
}

func reachRace(questions ...scenario.Reachable) *scenario.Race {
	return &scenario.Race{Name: "box", Title: "the box", Reachable: questions, Scenarios: []scenario.Scenario{{Name: "small",
		Variants: []scenario.Variant{variant("locked", base, indistinguishable, adders), variant("same", candidate, indistinguishable, adders)}}}}
}

func TestReachable(t *testing.T) {
	two, three, below := reachable("items", 2), reachable("items", 3), reachable("items", 0)
	below.Holds = func(v int64) bool { return v < 0 }
	q, err := verdict.Ask(reachRace(two, three, below), verdict.Options{Shrink: true, Models: []string{"sc"}})
	if err != nil || len(q.Reached) != 3 {
		t.Fatalf("%v, %d answers", err, len(q.Reached))
	}
	for i, want := range []scenario.Reach{scenario.CanHappen, scenario.CannotHappen, scenario.CannotHappen} {
		r := q.Reached[i]
		if r.Answer != want || (r.Witness != nil) != (want == scenario.CanHappen) || r.AsExpected() != (want == scenario.CanHappen) || !r.Explored.Exhaustive {
			t.Errorf("question %d: %v, want %v; %+v", i, r.Answer, want, r.Explored)
		}
	}
	w := q.Reached[0].Witness
	if got := strings.Join(w.LeftOut, ", "); got != "one: take, two: take, idle: look" || w.Length() != 2 || w.Count == 0 || w.Kind != verdict.KindReached || w.Message != "box#1.items is 2" {
		t.Errorf("witness of %d steps, left out %q, %s: %s", w.Length(), got, w.Kind, w.Message)
	}
}

func TestReachIsUnknownWithinABudget(t *testing.T) {
	q, err := verdict.Ask(reachRace(reachable("items", 3)), verdict.Options{MaxExecutions: 1, Workers: 1, Models: []string{"sc"}})
	if err != nil {
		t.Fatal(err)
	}
	if r := q.Reached[0]; r.Answer != scenario.MayHappen || r.Witness != nil {
		t.Errorf("%v after %d executions", r.Answer, r.Explored.Executions())
	}
}

func TestReachOfWhatIsNotThere(t *testing.T) {
	wrongVariant := reachable("items", 2)
	wrongVariant.Variant = "other"
	for what, r := range map[string]scenario.Reachable{"word": reachable("weight", 1), "variant": wrongVariant} {
		if _, err := verdict.Ask(reachRace(r), verdict.Options{}); err == nil {
			t.Errorf("a question about a %s that is not there is answered", what)
		}
	}
	elsewhere := reachable("items", 2)
	elsewhere.Scenario = "large"
	if q, err := verdict.Ask(reachRace(elsewhere), verdict.Options{Models: []string{"sc"}}); err != nil || len(q.Reached) != 0 {
		t.Errorf("of a scenario that is left out: %v, %v", q.Reached, err)
	}
}

// counted adds a count to an operation, whose bound is 1.
func counted(n func(items int) int) filling {
	return func(t *kernel.Task, b *box, i *scenario.Instance) {
		adders(t, b, i)
		i.Tasks[0].Operations[0].Run = func(t *kernel.Task) scenario.Result {
			return scenario.Result{Counts: []scenario.Count{{Name: "steps", N: n(b.items.Add(t, kernel.Once, 1)), Most: 1}}}
		}
	}
}

func TestBounds(t *testing.T) {
	never := func(int) int { return 1 }
	q, _ := ask(t, verdict.Options{Planted: true, Models: []string{"sc"}}, nil, variant("locked", base, indistinguishable, counted(never)),
		variant("same", candidate, indistinguishable, counted(never)),
		variant("slow", planted, harmful, counted(func(items int) int { return items })))
	if v := q.Verdicts[0]; len(v.Measures) != 1 || v.Measures[0] != (verdict.Measure{Name: "steps", Largest: 1, Most: 1}) || v.Class != indistinguishable {
		t.Errorf("%s, %+v", v.Class, v.Measures)
	}
	if v := q.Planted[0]; v.Class != harmful || v.Finding.Kind != verdict.KindBound || v.Measures[0].Largest != 2 {
		t.Errorf("%s, %+v", v.Class, v.Measures)
	}
}

func TestReachNames(t *testing.T) {
	for want, r := range map[string]scenario.Reach{"INVALID": 0, "REACHABLE": scenario.CanHappen, "UNREACHABLE": scenario.CannotHappen, "UNKNOWN": scenario.MayHappen, "INVALID ": 9} {
		if text, err := r.MarshalText(); string(text) != strings.TrimSpace(want) || err != nil {
			t.Errorf("%s, want %s", text, want)
		}
		var again scenario.Reach
		if err := again.UnmarshalText([]byte(want)); (err == nil) != (r > 0 && r <= scenario.MayHappen) || err == nil && again != r {
			t.Errorf("%q is read as %v, %v", want, again, err)
		}
	}
}
