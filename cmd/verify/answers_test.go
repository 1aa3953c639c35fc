package main

import (
	"benign/checkers/explore"
	"benign/checkers/verdict"
	"benign/impl/scenario"
)

// The answers below are made up, so that the golden files change only when the
// rendering does.

// harmfulAnswer has everything that an answer can have.
func harmfulAnswer() *verdict.Verdict {
	return &verdict.Verdict{
		Race: "cache", Scenario: "evict", Variant: "unlocked", Baseline: "locked", Model: "kernel",
		Class: scenario.Harmful, Expected: scenario.Defers,
		Reason: "an execution uses an object after it was freed",
		Scope: verdict.Scope{
			Arch:       explore.Arch32,
			Tasks:      []string{"reader: lookup(1); lookup(2)", "evictor: evict(1)"},
			Operations: 3,
			Candidate:  explore.Stats{Complete: 20, Blocked: 1, Violating: 4, Pruned: 2, Events: 900, Longest: 41, Exhaustive: true},
			Baseline:   explore.Stats{Complete: 6, Events: 200, Longest: 37, Exhaustive: true},
			Exhaustive: true,
		},
		Outcomes: verdict.Outcomes{
			Baseline: 3, Candidate: 9,
			New: []string{
				"reader lookup(1) = 0; finally one\ntwo", "reader lookup(1) = 2; finally one", "reader lookup(1) = 3; finally one",
				"reader lookup(1) = 4; finally one", "reader lookup(1) = 5; finally one", "reader lookup(1) = 6; finally one",
				"reader lookup(1) = 7; finally one",
			},
			Lost: []string{"reader lookup(1) = 8; finally nothing"},
		},
		Measures: []verdict.Measure{{Name: "steps", Largest: 3, Most: 2}, {Name: "turns", Largest: 1, Most: 2}},
		Deferral: verdict.Deferral{LargestDebt: 2, BaselineDebt: 0, MostRounds: 1, BaselineRounds: 0, Barrier: "the next full scan"},
		Evidence: []verdict.Evidence{{
			Site: "cache-peek", Reason: "the bucket is looked at again under its lock",
			Executions: 21, Racing: 12, ReadFirst: 7, WriteFirst: 8,
		}},
		Finding: evictionFinding(),
	}
}

func evictionFinding() *verdict.Finding {
	return &verdict.Finding{
		Kind: "use after free", Message: "entry#1 is read\nafter evictor has freed it", Count: 4,
		Kinds: map[string]int{"use after free": 3, "crash": 1},
		Tasks: []string{"reader", "evictor"},
		Steps: []verdict.Step{
			{Task: 1, What: "lock bucket#1.lock", Place: "cache/evict.go:30 cache.(*Bucket).evict", Callers: []string{"cache/evict.go:12 cache.Evict"}},
			{Task: 1, What: "release store to bucket#1.first = nil", Place: "cache/evict.go:33 cache.(*Bucket).evict"},
			{Task: 0, What: "once load of bucket#1.first = entry#1", Note: "stale: the newest value was nil", Place: "cache/lookup.go:51 cache.(*Bucket).peek"},
			{Task: 1, Private: true, What: "update of evictor#1.evicted: 0 → 1", Place: "cache/evict.go:34 cache.(*Bucket).evict"},
			{Task: 1, What: "unlock bucket#1.lock", Place: "cache/evict.go:35 cache.(*Bucket).evict"},
			{Task: 0, What: "update of entry#1.references with a name that goes on: 0 → 1", Place: "cache/a-file-with-a-long-name.go:1234 cache.(*Entry).getUnlessZero"},
		},
	}
}

// harmlessAnswer has nothing that need not be there.
func harmlessAnswer() *verdict.Verdict {
	return &verdict.Verdict{
		Race: "cache", Scenario: "insert", Variant: "unlocked", Baseline: "locked", Model: "sc",
		Class: scenario.Indistinguishable, Expected: scenario.Indistinguishable,
		Reason: "all 3 outcomes are outcomes of the baseline",
		Scope: verdict.Scope{
			Arch:  explore.Arch64,
			Tasks: []string{"reader: lookup(1)", "writer: insert(1)"}, Operations: 2,
			Candidate:  explore.Stats{Complete: 8, Longest: 12, Exhaustive: true},
			Baseline:   explore.Stats{Complete: 5, Longest: 14, Exhaustive: true},
			Exhaustive: true,
		},
		Outcomes: verdict.Outcomes{Baseline: 3, Candidate: 3},
	}
}

// cutAnswer met a bound.
func cutAnswer() *verdict.Verdict {
	v := harmlessAnswer()
	v.Model, v.Class, v.Reason = "kernel", scenario.Unknown, "the exploration was cut: budget of 10 executions"
	v.Scope.Exhaustive = false
	v.Scope.Candidate = explore.Stats{Complete: 10, Longest: 12, Cut: "budget of 10 executions"}
	return v
}

// vacuousAnswer is about a race that was not seen.
func vacuousAnswer() *verdict.Verdict {
	v := harmlessAnswer()
	v.Scenario, v.Class, v.Vacuous = "idle", scenario.Unknown, true
	v.Reason = "cache-peek was never unordered with a write"
	v.Evidence = []verdict.Evidence{{Site: "cache-peek", Reason: "the bucket is looked at again under its lock", Executions: 1}}
	return v
}

// plantedAnswer is about a fault that is planted in the scenario of another
// answer.
func plantedAnswer(in *verdict.Verdict, variant string, class scenario.Class) *verdict.Verdict {
	v := harmlessAnswer()
	v.Scenario, v.Scope.Arch, v.Model, v.Variant = in.Scenario, in.Scope.Arch, in.Model, variant
	v.Class, v.Expected, v.Reason = class, scenario.Harmful, "no execution breaks anything"
	if class == scenario.Harmful {
		v.Reason, v.Finding = "an execution breaks something", evictionFinding()
	}
	return v
}

// alternativeAnswer is about a form that nobody has on trial.
func alternativeAnswer() *verdict.Verdict {
	v := harmlessAnswer()
	v.Variant = "hashed"
	return v
}

// cacheQuestion has an answer of each sort.
func cacheQuestion() *verdict.Question {
	answers := []*verdict.Verdict{harmlessAnswer(), cutAnswer(), harmfulAnswer(), vacuousAnswer()}
	planted := []*verdict.Verdict{
		plantedAnswer(answers[0], "no-recheck", scenario.Harmful),
		plantedAnswer(answers[0], "no-reference", scenario.Indistinguishable),
		plantedAnswer(answers[2], "no-recheck", scenario.Harmful),
	}
	race := &scenario.Race{
		Name: "cache", Title: "a lookup peeks at a bucket without its lock",
		Patch: "cache: peek before locking", Question: "Is a stale answer wrong,\nor only late?",
	}
	return &verdict.Question{
		Race: race, Name: race.Name, Title: race.Title, Class: scenario.Harmful,
		Verdicts: answers, Planted: planted, Caught: 2,
		Alternatives: []*verdict.Verdict{alternativeAnswer()},
		Surprises:    []*verdict.Verdict{answers[1], answers[2], answers[3], planted[1]},
		Reached:      reachedAnswers(),
	}
}

// reachedAnswers are one of each kind.
func reachedAnswers() []*verdict.Reached {
	answer := func(name string, answer, expected scenario.Reach, explored explore.Stats) *verdict.Reached {
		return &verdict.Reached{Race: "cache", Scenario: "evict", Variant: "unlocked", Model: "sc", Name: name, Question: "Can two of them\nmeet?",
			Answer: answer, Expected: expected, Tasks: []string{"reader: lookup(1)", "evictor: evict(1)"}, Explored: explored}
	}
	witnessed := answer("two", scenario.CanHappen, scenario.CanHappen, explore.Stats{Complete: 9, Longest: 30, Exhaustive: true})
	witnessed.Witness = evictionFinding()
	witnessed.Witness.Kind, witnessed.Witness.Message = verdict.KindReached, "entry#1.users is 2"
	return []*verdict.Reached{
		witnessed,
		answer("three", scenario.CannotHappen, scenario.CanHappen, explore.Stats{Complete: 9, Longest: 30, Exhaustive: true}),
		answer("four", scenario.MayHappen, scenario.CannotHappen, explore.Stats{Complete: 5, Longest: 30, Cut: "budget of 5 executions"}),
	}
}

// predictedQuestion has no surprises.
func predictedQuestion() *verdict.Question {
	under := func(model string) *verdict.Verdict {
		v := harmlessAnswer()
		v.Model = model
		return v
	}
	q := cacheQuestion()
	q.Class, q.Verdicts, q.Surprises = scenario.Indistinguishable, []*verdict.Verdict{under("sc"), under("kernel")}, nil
	q.Planted, q.Alternatives, q.Reached = nil, nil, q.Reached[:1]
	return q
}

// findingQuestion is known to be harmful.
func findingQuestion() *verdict.Question {
	q := cacheQuestion()
	v := harmfulAnswer()
	v.Expected = scenario.Harmful
	q.Race.Finding = true
	q.Verdicts, q.Planted, q.Alternatives, q.Surprises = []*verdict.Verdict{v}, nil, nil, nil
	q.Reached = nil
	return q
}
