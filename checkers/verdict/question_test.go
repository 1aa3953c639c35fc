package verdict_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/verdict"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// takersQuestion has a candidate, an alternative, a fault that is one and a
// fault that is none.
func takersQuestion() []scenario.Variant {
	return []scenario.Variant{
		variant("locked", base, indistinguishable, takers(false, true)),
		variant("peeking", candidate, indistinguishable, takers(true, true)),
		variant("also locked", scenario.Alternative, indistinguishable, takers(false, true)),
		variant("rash", planted, harmful, takers(true, false)),
		variant("blind", planted, harmful, takers(false, false)),
		variant("harmless", planted, harmful, takers(true, true)),
	}
}

// names lists the variants of the answers.
func names(answers []*verdict.Verdict) string {
	var list []string
	for _, v := range answers {
		list = append(list, v.Variant+" under "+v.Model)
	}
	return strings.Join(list, ", ")
}

// TestPlantedFaults must be caught. One that is not is a surprise, as is every
// answer that was not predicted.
func TestPlantedFaults(t *testing.T) {
	q, _ := ask(t, verdict.Options{Planted: true}, racySites, takersQuestion()...)
	for what, c := range map[string]struct{ got, want string }{
		"candidates":   {names(q.Verdicts), "peeking under sc, peeking under kernel"},
		"alternatives": {names(q.Alternatives), "also locked under sc"},
		"planted":      {names(q.Planted), "rash under sc, blind under sc, harmless under sc"},
		"surprises":    {names(q.Surprises), "harmless under sc"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", what, c.got, c.want)
		}
	}
	if q.Caught != 2 || q.Class != indistinguishable {
		t.Errorf("%d caught, class %s", q.Caught, q.Class)
	}
	for _, v := range q.Planted[:2] {
		if v.Class != harmful || v.Finding == nil {
			t.Errorf("%s: %s: %s", v.Variant, v.Class, v.Reason)
		}
	}
	if v := q.Planted[2]; v.Class != indistinguishable || v.AsExpected() {
		t.Errorf("%s: %s: %s", v.Variant, v.Class, v.Reason)
	}
}

// TestPlantedFaultsAreLeftOut unless they are asked for.
func TestPlantedFaultsAreLeftOut(t *testing.T) {
	q, _ := ask(t, verdict.Options{}, racySites, takersQuestion()...)
	if len(q.Planted)+len(q.Alternatives)+len(q.Surprises)+q.Caught != 0 || names(q.Verdicts) != "peeking under sc, peeking under kernel" {
		t.Errorf("candidates %s, alternatives %s, planted %s", names(q.Verdicts), names(q.Alternatives), names(q.Planted))
	}
}

// TestClassIsTheWorst of the candidates, in whichever scenario.
func TestClassIsTheWorst(t *testing.T) {
	for _, c := range []struct {
		other filling
		want  scenario.Class
	}{{takers(true, true), indistinguishable}, {takers(true, false), harmful}} {
		race := &scenario.Race{Name: "box", Scenarios: []scenario.Scenario{
			{Name: "first", Variants: []scenario.Variant{variant("a", base, indistinguishable, takers(false, true)), variant("b", candidate, indistinguishable, c.other)}},
			{Name: "second", Variants: []scenario.Variant{variant("a", base, indistinguishable, worker(false)), variant("b", candidate, defers, worker(false))}},
		}}
		q, err := verdict.Ask(race, verdict.Options{Models: []string{"sc"}})
		if err != nil || q.Class != c.want || len(q.Verdicts) != 2 {
			t.Errorf("class %s of %d, want %s; %v", q.Class, len(q.Verdicts), c.want, err)
		}
		if len(q.Surprises) == 0 || q.Surprises[len(q.Surprises)-1].Scenario != "second" {
			t.Errorf("surprises: %s", names(q.Surprises))
		}
	}
}

// TestExpectByModel predicts something else for a weak machine.
func TestExpectByModel(t *testing.T) {
	weak := variant("once", candidate, indistinguishable, message(kernel.Once))
	weak.ExpectByModel = map[string]scenario.Class{"kernel": harmful}
	q, _ := ask(t, verdict.Options{}, nil, variant("release", base, indistinguishable, message(kernel.Release)), weak)
	if len(q.Surprises) != 0 || q.Class != harmful {
		t.Errorf("class %s, surprises %s", q.Class, names(q.Surprises))
	}
	for i, want := range []scenario.Class{indistinguishable, harmful} {
		if v := q.Verdicts[i]; v.Class != want || v.Expected != want {
			t.Errorf("under %s %s, expected %s", v.Model, v.Class, v.Expected)
		}
	}
	weak.ExpectByModel = nil
	q, _ = ask(t, verdict.Options{}, nil, variant("release", base, indistinguishable, message(kernel.Release)), weak)
	if names(q.Surprises) != "once under kernel" {
		t.Errorf("surprises %s", names(q.Surprises))
	}
}

// TestSameAnswerEveryTime asks everything twice, and with more workers.
func TestSameAnswerEveryTime(t *testing.T) {
	questions := map[string][]scenario.Variant{
		"takers":   takersQuestion(),
		"worker":   {variant("diligent", base, indistinguishable, worker(false)), variant("lazy", candidate, defers, worker(true))},
		"state":    {variant("locked", base, indistinguishable, counting(true)), variant("unlocked", candidate, harmful, counting(false))},
		"history":  {variant("locked", base, indistinguishable, copies(true)), variant("unlocked", candidate, harmful, copies(false))},
		"memory":   {variant("kept", base, indistinguishable, lives(true)), variant("freed", candidate, harmful, lives(false))},
		"deadlock": {variant("apart", base, indistinguishable, joins(false)), variant("held", candidate, harmful, joins(true))},
	}
	for name, variants := range questions {
		var first []byte
		for _, workers := range []int{1, 1, 2, 4} {
			q, _ := ask(t, verdict.Options{Planted: true, Workers: workers}, racySites, variants...)
			text, err := json.Marshal(q)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range slices.Concat(q.Verdicts, q.Planted) {
				if v.Finding != nil {
					text = append(text, v.Finding.Trace...)
				}
			}
			if first == nil {
				first = text
			}
			if string(text) != string(first) {
				t.Errorf("%s with %d workers:\n%s\nand with one:\n%s", name, workers, text, first)
			}
		}
	}
}

// joins starts a task that wants the lock, and waits for it with the lock held
// or not.
func joins(held bool) filling {
	return func(_ *kernel.Task, b *box, i *scenario.Instance) {
		var sleep kernel.Mutex
		sleep.Init(&b.Object, "sleep")
		wait := run("wait", func(t *kernel.Task) string {
			child := t.Go("child", func(t *kernel.Task) { sleep.Lock(t); sleep.Unlock(t) })
			sleep.Lock(t)
			if held {
				t.Join(child)
			}
			sleep.Unlock(t)
			t.Join(child)
			return ""
		})
		i.Tasks = []scenario.Task{task("parent", wait)}
	}
}

// TestJSON pins the names of the fields that programs read.
func TestJSON(t *testing.T) {
	q, _ := ask(t, verdict.Options{Models: []string{"sc"}, Planted: true}, racySites, takersQuestion()...)
	text, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"race":"box","title":"the box","class":"INDISTINGUISHABLE","verdicts":[{"race":"box","scenario":"small","variant":"peeking",` +
		`"baseline":"locked","model":"sc","class":"INDISTINGUISHABLE","reason":"every outcome of peeking is an outcome of locked","expected":"INDISTINGUISHABLE",` +
		`"scope":{"arch":64,"tasks":["one: take","two: take"],"operations":2,"candidate":{"complete":`, `"exhaustive":true},"outcomes":{"baseline":2,"candidate":2},"deferral":{`,
		`"evidence":[{"site":"box-peek","reason":"whoever sees it looks again under the lock","executions":`, `"caught":2,"surprises":[`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	var again verdict.Question
	if err := json.Unmarshal(text, &again); err != nil || again.Class != q.Class || again.Verdicts[0].Reason != q.Verdicts[0].Reason {
		t.Errorf("read back: %v, %v", again, err)
	}
}

// TestProgress says what is being explored, before and after.
func TestProgress(t *testing.T) {
	var told []string
	_, _ = ask(t, verdict.Options{Models: []string{"sc"}, Progress: func(p verdict.Progress) {
		told = append(told, fmt.Sprintf("%s/%s %s %s %d", p.Race, p.Scenario, p.Variant, p.Model, p.Stats.Executions()))
	}}, racySites, takersQuestion()...)
	if want := []string{"box/small locked sc 0", "box/small peeking sc 0"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// TestQuestionsThatCannotBeAsked are errors, not answers.
func TestQuestionsThatCannotBeAsked(t *testing.T) {
	good := takers(false, true)
	locked, peeking := variant("locked", base, indistinguishable, good), variant("peeking", candidate, indistinguishable, good)
	for want, variants := range map[string][]scenario.Variant{
		"scenario box/small has 0 variants in the role of baseline, want 1":  {peeking},
		"scenario box/small has 0 variants in the role of candidate, want 1": {locked},
		"scenario box/small has 2 variants in the role of baseline, want 1":  {locked, peeking, variant("other", base, indistinguishable, good)},
		"scenario box/small has 2 variants in the role of candidate, want 1": {locked, peeking, variant("other", candidate, indistinguishable, good)},
		"scenario box/small has two variants named locked":                   {locked, peeking, variant("locked", planted, harmful, good)},
		"scenario box/small: variant other has no role":                      {locked, peeking, variant("other", 0, harmful, good)},
		"scenario box/small: variant strange has no role":                    {locked, peeking, variant("strange", 9, harmful, good)},
		"scenario box/small: variant built by nobody cannot be built":        {locked, peeking, {Name: "built by nobody", Role: planted}},
	} {
		race := &scenario.Race{Name: "box", Scenarios: []scenario.Scenario{{Name: "small", Variants: variants}}}
		if q, err := verdict.Ask(race, verdict.Options{}); err == nil || err.Error() != want {
			t.Errorf("got %v, %v; want %s", q, err, want)
		}
		if v, err := verdict.Judge(race, &race.Scenarios[0], &variants[0], "sc", verdict.Options{}); err == nil || err.Error() != want {
			t.Errorf("got %v, %v; want %s", v, err, want)
		}
	}
	if q, err := verdict.Ask(&scenario.Race{Name: "box"}, verdict.Options{}); err == nil || err.Error() != "race box has no scenario" {
		t.Errorf("got %v, %v", q, err)
	}
	race := &scenario.Race{Name: "box", Scenarios: []scenario.Scenario{{Name: "small", Variants: []scenario.Variant{locked, peeking}}}}
	const unknownModel = `memory model "x86": want one of sc, tso, ra, rc11, kernel`
	if q, err := verdict.Ask(race, verdict.Options{Models: []string{"sc", "x86"}}); err == nil || err.Error() != unknownModel {
		t.Errorf("got %v, %v", q, err)
	}
	if v, err := verdict.Judge(race, &race.Scenarios[0], &race.Scenarios[0].Variants[1], "x86", verdict.Options{}); err == nil || err.Error() != unknownModel {
		t.Errorf("got %v, %v", v, err)
	}
}

// TestCodeThatDoesNotRepeatItself gets no answer.
func TestCodeThatDoesNotRepeatItself(t *testing.T) {
	calls := 0
	erratic := func(setup *kernel.Task, b *box, i *scenario.Instance) {
		counting(true)(setup, b, i)
		i.Tasks[0].Operations[0] = run("add", func(t *kernel.Task) string {
			if calls++; calls%2 == 0 {
				b.flag.Load(t, kernel.Once)
			}
			b.add(t, 1)
			return ""
		})
	}
	for _, variants := range [][]scenario.Variant{
		{variant("locked", base, indistinguishable, counting(true)), variant("erratic", candidate, indistinguishable, erratic)},
		{variant("erratic", base, indistinguishable, erratic), variant("locked", candidate, indistinguishable, counting(true))},
	} {
		race := &scenario.Race{Name: "box", Scenarios: []scenario.Scenario{{Name: "small", Variants: variants}}}
		var diverged *explore.DivergenceError
		if q, err := verdict.Ask(race, verdict.Options{Workers: 1}); !errors.As(err, &diverged) {
			t.Errorf("got %v, %v", q, err)
		}
	}
}

// TestLateSharer has a lock of which one learns late that it is shared. What
// was seen before that must not count.
func TestLateSharer(t *testing.T) {
	fill := func(peeks bool) filling {
		return func(_ *kernel.Task, b *box, i *scenario.Instance) {
			var rw kernel.RWLock
			rw.Init(&b.Object, "rw")
			write := run("write", func(t *kernel.Task) string {
				rw.Lock(t)
				b.items.Store(t, kernel.Once, 1)
				rw.Unlock(t)
				return ""
			})
			read := run("read", func(t *kernel.Task) string {
				if peeks && b.items.LoadRacy(t, kernel.Once, peek) == 1 {
					return "1"
				}
				rw.RLock(t)
				defer rw.RUnlock(t)
				return fmt.Sprint(b.items.Load(t, kernel.Once))
			})
			i.Tasks = []scenario.Task{task("writer", write), task("reader", read)}
		}
	}
	v := answer(t, racySites, variant("locked", base, indistinguishable, fill(false)), variant("peeking", candidate, indistinguishable, fill(true)))
	if v.Class != indistinguishable || v.Evidence[0].Executions != v.Scope.Candidate.Complete {
		t.Errorf("%s: %s; evidence %+v of %+v", v.Class, v.Reason, v.Evidence[0], v.Scope.Candidate)
	}
}
