package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"benign/checkers/explore"
	"benign/checkers/graph"
	"benign/impl/scenario"
)

// KindReached is the kind of an execution that shows what was asked about.
const KindReached = "reached"

// Reached is the answer to whether something can happen, with an execution in which it
// does, or the number of those in which it does not.
type Reached struct {
	// Race, Scenario, Variant and Model say where it was looked for, Name and Question
	// what.
	Race     string `json:"race"`
	Scenario string `json:"scenario"`
	Variant  string `json:"variant"`
	Model    string `json:"model"`
	Name     string `json:"name"`
	Question string `json:"question"`
	// Answer is what was found, and Expected what the catalogue predicts.
	Answer   scenario.Reach `json:"answer"`
	Expected scenario.Reach `json:"expected"`
	// Tasks describes each task with its operations, and Explored how many executions
	// were run.
	Tasks    []string      `json:"tasks"`
	Explored explore.Stats `json:"explored"`
	// Witness is the execution with the fewest tasks, operations and switches that
	// shows it, or nil; its Count is how many executions do.
	Witness *Finding `json:"witness,omitempty"`
}

// AsExpected reports whether the catalogue predicted the answer.
func (r *Reached) AsExpected() bool { return r.Answer == r.Expected }

// askReachable answers what a race asks about its scenarios, as far as they are there.
func (q *Question) askReachable(o Options) error {
	for i := range q.Race.Reachable {
		r := &q.Race.Reachable[i]
		at := slices.IndexFunc(q.Race.Scenarios, func(s scenario.Scenario) bool { return s.Name == r.Scenario })
		if at < 0 {
			continue
		}
		for _, model := range o.models() {
			answer, err := Reach(q.Race, &q.Race.Scenarios[at], r, model, o)
			if err != nil {
				return err
			}
			q.Reached = append(q.Reached, answer)
		}
	}
	return nil
}

// Reach answers whether something can happen in a scenario under one model. An error
// means that it could not be asked.
func Reach(race *scenario.Race, s *scenario.Scenario, r *scenario.Reachable, model string, o Options) (*Reached, error) {
	v := s.Variant(scenario.Candidate)
	if r.Variant != "" {
		v = s.VariantNamed(r.Variant)
	}
	if v == nil {
		return nil, fmt.Errorf("question %s/%s: scenario %s has no variant %q", race.Name, r.Name, s.Name, r.Variant)
	}
	o.Checkpoint = nil // which keeps what is judged
	seen := newObservation(o.config(race, s, v, model), nil, nil)
	seen.search = &search{question: r}
	if err := o.gather(race.Name, seen.config, seen); err != nil {
		return nil, err
	}
	answer := &Reached{Race: race.Name, Scenario: s.Name, Variant: v.Name, Model: model, Name: r.Name, Question: r.Question,
		Expected: r.Expect, Tasks: seen.tasks, Explored: seen.stats}
	switch {
	case !seen.worst.empty():
		answer.Answer = scenario.CanHappen
	case seen.stats.Exhaustive && seen.search.known:
		answer.Answer = scenario.CannotHappen
	case seen.stats.Exhaustive:
		return nil, fmt.Errorf("question %s/%s: no task of scenario %s has anything to do with a word %s", race.Name, r.Name, s.Name, r.Word())
	default:
		answer.Answer = scenario.MayHappen
	}
	if answer.Answer != scenario.CanHappen {
		return answer, nil
	}
	var err error
	nobody := newObservation(seen.config, nil, nil) // there is nothing to compare with
	answer.Witness, err = o.finding(seen.worst, seen, nobody, explore.TraceHeader{Race: race.Name, Scenario: s.Name, Variant: v.Name,
		Model: model, Arch: cmp.Or(o.Arch, explore.Arch64)})
	return answer, err
}

// search is what an observation looks for that is about nothing else.
type search struct {
	question *scenario.Reachable
	known    bool // there is such a word
}

// visitReach looks for what is asked about in one execution, and for nothing else.
func (o *observation) visitReach(e *explore.Execution) {
	for id := range e.Graph.Events {
		event := &e.Graph.Events[id]
		if event.Location < 0 || !isWord(e.Graph.Locations[event.Location].Name, o.search.question) {
			continue
		}
		o.search.known = true
		if (event.Kind == graph.Write || event.Kind == graph.UpdateWrite) && o.search.question.Holds(int64(event.Value)) {
			o.worst.add(newCulprit(e.Graph, e.Seed, KindReached, fmt.Sprintf("%s is %d", e.Graph.Locations[event.Location].Name, int64(event.Value)), e.Ended))
			return
		}
	}
}

// isWord reports whether a word's name is one of those that are asked about.
func isWord(name string, r *scenario.Reachable) bool {
	class, rest, _ := strings.Cut(name, "#")
	return class == r.Class && strings.HasSuffix(rest, "."+r.Field)
}
