package inhibit

import (
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// Races returns the questions about blocks that are kept from being written back.
func Races() []scenario.Race {
	return []scenario.Race{{
		Name:  "inhibit",
		Title: "writeback looks at how many handles keep a block while one of them lets it go",
		Question: "A handle that ends, or makes room in its set, counts down without the lock under which background writeback " +
			"looks. Is it harmless to see a count that is about to drop?",
		Sites:   []*kernel.RaceSite{InhibitorsSite},
		Barrier: "the next pass of background writeback, or the commit",
		Reachable: []scenario.Reachable{
			asks("above-one", "Can the counter exceed one?", "meet", 2, scenario.CanHappen),
			asks("above-one-alone", "Can the counter exceed one where there is one handle?", "evict", 2, scenario.CannotHappen),
			asks("above-two", "Can the counter exceed the number of handles?", "take-both", 3, scenario.CannotHappen),
		},
		Scenarios: []scenario.Scenario{
			deferring(racing("end", "a handle that keeps two blocks ends while background writeback comes", ending, lateEmpty, nothing)),
			deferring(racing("evict", "a handle changes a third block, for which its set of two has to make room, and ends while background writeback comes",
				evicting, noReference, neverDown, neverPut, nothing, fixed, everything)),
			racing("evict-twice", "a handle changes a third block and then the first one again, which has been let go by then while background writeback comes",
				evictingTwice, blind, inPlace),
			mapped("map", "a handle that keeps its blocks in a map changes one, with or without memory for that, and ends while background writeback comes", storing),
			racing("end-both", "two handles keep one block, and end while background writeback comes", endingBoth, tornDown),
			guarding("take-both", "two handles change a block that nobody keeps while background writeback comes", taking, copiesOnly),
			guarding("meet", "two handles change a leaf each, and keep the root that they share", meeting, copiesOnly),
			racing("use-again", "a handle changes a leaf again, whose root another handle lets go while background writeback comes", usingAgain, copiesOnly),
			racing("log", "an fsync changes and syncs a log that its own handle keeps, and ends while background writeback comes", syncing, noBypass),
			guarding("log-both", "an fsync syncs a log that its own handle keeps while another one changes it", syncingBoth, noBypass),
			racing("commit", "a commit waits for a handle that lets a block go while background writeback comes", committing, lateEmpty, noWait),
			racing("commit-own", "a commit lets go of what its own handle keeps while background writeback comes", committingOwn, keptAtCommit, inPlace),
			guarding("commit-next", "a task changes a block in this transaction or the next one, which may begin while the commit writes that block",
				overtaking, cleansOld),
			racing("abort", "a transaction fails, and what is left of it is thrown away while background writeback comes", aborting, lateEmpty),
			racing("abort-own", "a transaction fails, and its own handle has kept what is thrown away while background writeback comes", abortingOwn, keptAtFailure),
		},
	}}
}

// asks whether the counter can get to a value.
func asks(name, question, where string, value int64, expect scenario.Reach) scenario.Reachable {
	return scenario.Reachable{
		Name: name, Question: question, Scenario: where, Class: "buffer", Field: "inhibitors",
		Holds: func(v int64) bool { return v >= value }, Expect: expect,
	}
}

// locked counts down under the lock that writeback looks under.
var locked = form{
	name: "locked", role: scenario.Baseline, expect: scenario.Indistinguishable,
	about:  "a clock of two slots; the counter goes down under the lock that writeback looks under",
	policy: Policy{Track: TrackClock, Slots: 2, Count: CountLocked},
}

// clock is on trial.
var clock = form{
	name: "clock", role: scenario.Candidate, expect: scenario.Indistinguishable,
	about:  "a clock of two slots; the counter goes down without a lock",
	policy: Clock(2),
}

// What the clock is compared with.
var (
	nothing    = alternative("none", "keeps nothing", scenario.Indistinguishable, Policy{Track: TrackNone, Count: CountAtomic})
	fixed      = alternative("fixed", "keeps the first two blocks", scenario.Indistinguishable, Policy{Track: TrackFixed, Slots: 2, Count: CountAtomic})
	everything = alternative("xarray", "keeps every block, in a map, so that more is left for later", scenario.Defers, Policy{Track: TrackXArray, Count: CountAtomic})
	inPlace    = alternative("in-place", "a clock of two slots; a block that was written in the transaction is changed where it is", scenario.Indistinguishable,
		Policy{Track: TrackClock, Slots: 2, Count: CountAtomic, OverwriteInPlace: true})
)

// experiment sets one execution up and says what runs.
type experiment func(t *kernel.Task, f *fixture) *scenario.Instance

// racing is a scenario in which the counter goes down while writeback looks.
func racing(name, about string, e experiment, others ...form) scenario.Scenario {
	s := guarding(name, about, e, others...)
	s.Racing = true
	return s
}

// deferring is a scenario in which a weak machine shows a count that has gone down as
// it was before, although one that went down later is seen as it is now. Locks show
// both or none, so that skipping the one and not the other is new.
func deferring(s scenario.Scenario) scenario.Scenario {
	s.Variant(scenario.Candidate).ExpectByModel = map[string]scenario.Class{"kernel": scenario.Defers}
	return s
}

// guarding is a scenario in which background writeback does not come, or not to what
// is let go, and in which the other rules are on trial.
func guarding(name, about string, e experiment, others ...form) scenario.Scenario {
	return scenario.Scenario{Name: name, About: about, Variants: variants(e, append([]form{locked, clock}, others...)...)}
}

// mapped is a racing scenario about the map in the place of the clock.
func mapped(name, about string, e experiment) scenario.Scenario {
	base, candidate := locked, everything
	base.about = "a map; the counter goes down under the lock that writeback looks under"
	base.policy.Track = TrackXArray
	candidate.role, candidate.expect, candidate.about = scenario.Candidate, scenario.Indistinguishable, "a map; the counter goes down without a lock"
	return scenario.Scenario{Name: name, About: about, Racing: true, AllocationFailure: true, Variants: variants(e, base, candidate, storedNowhere)}
}

func variants(e experiment, forms ...form) []scenario.Variant {
	var all []scenario.Variant
	for _, f := range forms {
		all = append(all, f.variant(e))
	}
	return all
}

// variant is the form in an experiment.
func (f form) variant(e experiment) scenario.Variant {
	return scenario.Variant{
		Name: f.name, Role: f.role, About: f.about, Expect: f.expect, ExpectByModel: f.expectByModel,
		Build: func(setup *kernel.Task) *scenario.Instance { return e(setup, newFixture(setup, f)) },
	}
}
