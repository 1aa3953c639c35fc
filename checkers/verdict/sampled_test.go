package verdict_test

import (
	"strings"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/verdict"
	"benign/impl/scenario"
)

// TestSampledAnswers are harmful or unknown, whatever the exploration would
// say: it says harmless of the peeking takers, and that the lazy worker defers.
func TestSampledAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		base, candidate filling
		want            scenario.Class
		reason          string
	}{
		"harmless": {takers(false, true), takers(true, true), scenario.Unknown, "sampled 400 executions, "},
		"defers":   {worker(false), worker(true), scenario.Unknown, "sampled 400 executions, "},
		"harmful":  {takers(false, true), takers(true, false), harmful, "of 400 executions break something: assertion"},
		"broken baseline": {takers(false, false), takers(true, true), scenario.Unknown,
			"the baseline is broken itself: assertion"},
	} {
		for _, strategy := range []explore.Strategy{explore.RandomWalk{}, explore.PCT{Constraints: 2}, explore.POS{}} {
			t.Run(name+"/"+strategy.Name(), func(t *testing.T) {
				q, _ := ask(t, verdict.Options{Strategy: strategy, Samples: 400, Seed: 3}, racySites,
					variant("locked", base, indistinguishable, c.base), variant("peeking", candidate, indistinguishable, c.candidate))
				if names(q.Verdicts) != "peeking under sc" {
					t.Fatalf("answers: %s", names(q.Verdicts))
				}
				v := q.Verdicts[0]
				if v.Class != c.want || !strings.Contains(v.Reason, c.reason) || v.Scope.Exhaustive {
					t.Errorf("%s: %s; exhaustive %v", v.Class, v.Reason, v.Scope.Exhaustive)
				}
				checkSample(t, v, strategy)
			})
		}
	}
}

// checkSample holds the answer against what was drawn for it.
func checkSample(t *testing.T, v *verdict.Verdict, strategy explore.Strategy) {
	t.Helper()
	s := v.Scope.Sample
	if s == nil || s.Strategy != strategy.Name() || s.Samples != 400 || s.Seed != 3 || s.Distinct < 2 {
		t.Fatalf("sample: %+v", s)
	}
	if (s.Bound > 0) != (strategy.Depth() > 0) {
		t.Errorf("bound %v of depth %d", s.Bound, strategy.Depth())
	}
	if v.Finding != nil && (v.Finding.Seed < 3 || v.Finding.Seed >= 403) {
		t.Errorf("the finding has seed %d", v.Finding.Seed)
	}
}

// TestFindingOfOneSample: the seed of a finding draws it again, alone.
func TestFindingOfOneSample(t *testing.T) {
	variants := []scenario.Variant{variant("locked", base, indistinguishable, takers(false, true)),
		variant("rash", candidate, harmful, takers(true, false))}
	o := verdict.Options{Strategy: explore.POS{}, Samples: 200}
	q, _ := ask(t, o, racySites, variants...)
	found := q.Verdicts[0].Finding
	if found == nil {
		t.Fatal("nothing was found")
	}
	o.Samples, o.Seed = 1, found.Seed
	q, _ = ask(t, o, racySites, variants...)
	if again := q.Verdicts[0].Finding; again == nil || again.Trace != found.Trace {
		t.Errorf("with seed %d alone: %+v", found.Seed, again)
	}
}

// TestOnlyInterleavingsAreSampled under another model there is no answer.
func TestOnlyInterleavingsAreSampled(t *testing.T) {
	race := &scenario.Race{Name: "box", Scenarios: []scenario.Scenario{{Name: "box", Variants: takersQuestion()}}}
	if _, err := verdict.Ask(race, verdict.Options{Strategy: explore.POS{}, Models: []string{"kernel"}}); err == nil {
		t.Error("the model kernel was sampled")
	}
}
