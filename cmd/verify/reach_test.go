package main

import (
	"bytes"
	"strings"
	"testing"

	"benign/checkers/verdict"
	"benign/impl/scenario"
)

// reachingRace asks whether the counter gets to two, and to three.
func reachingRace() scenario.Race {
	race := counterRace(scenario.Indistinguishable)
	s := &race.Scenarios[0]
	race.Sites, s.Racing, s.Variants[1].Build = nil, false, s.Variants[0].Build
	ask := func(name string, least int64, expect scenario.Reach) scenario.Reachable {
		return scenario.Reachable{Name: name, Question: "Can it?", Scenario: s.Name, Class: "counter", Field: "value",
			Holds: func(v int64) bool { return v >= least }, Expect: expect}
	}
	race.Reachable = []scenario.Reachable{ask("two", 2, scenario.CanHappen), ask("nine", 9, scenario.CannotHappen)}
	return race
}

// A predicted answer is no harm; another one is, to race and to all.
func TestExitOfReached(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(r *scenario.Race)
		want   int
	}{
		{"as predicted", func(*scenario.Race) {}, exitHarmless},
		{"it cannot", func(r *scenario.Race) { r.Reachable[1].Expect = scenario.CanHappen }, exitHarmful},
		{"it can", func(r *scenario.Race) { r.Reachable[0].Expect = scenario.CannotHappen }, exitHarmful},
	} {
		race := reachingRace()
		c.change(&race)
		for _, args := range [][]string{{"race", race.Name}, {"all"}} {
			var out, errs bytes.Buffer
			if got := runOn([]scenario.Race{race}, append(args, "--quiet"), strings.NewReader(""), &out, &errs); got != c.want {
				t.Errorf("%s: %v exits %d, want %d\n%s%s", c.what, args, got, c.want, out.String(), errs.String())
			}
		}
	}
	unknown := &verdict.Reached{Answer: scenario.MayHappen, Expected: scenario.CannotHappen}
	wrong := &verdict.Reached{Answer: scenario.CanHappen, Expected: scenario.CannotHappen}
	if got := exitOfReached([]*verdict.Reached{wrong, unknown}); got != exitHarmful {
		t.Errorf("a wrong answer and none: %d", got)
	}
	if got := worse(exitHarmless, exitOfReached([]*verdict.Reached{unknown})); got != exitUnknown {
		t.Errorf("no answer: %d", got)
	}
}
