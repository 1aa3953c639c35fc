package review

import (
	"time"

	"benign/checkers/explain"
	"benign/checkers/verdict"
	"benign/impl/scenario"
)

// question is what one process asks the other. One field is set.
type question struct {
	Catalogue bool
	Observe   *task
	Compare   *task
	Explain   *task
	Replay    *replay
	// Before answers a reply of that name.
	Before *before
}

// task is a form to explore.
type task struct {
	Form verdict.Form
	// Workers is the number of goroutines, and Limit how long it may take; 0 is
	// for ever.
	Workers int
	Limit   time.Duration
	// NoShrink leaves what is broken as it was found.
	NoShrink bool
	// Coverage is a directory that takes the counters of what it ran, or "".
	Coverage string
}

// replay is a trace to run again.
type replay struct {
	// Name is the file, and Text what is in it.
	Name string
	Text []byte
}

// before is what a form has shown in the unpatched build.
type before struct {
	Observed verdict.Observed
	Error    string
}

// reply is what the other process says to a question: one field, beside
// any number of replies with Before or Progress that come first.
type reply struct {
	Catalogue []Race
	Observed  verdict.Observed
	Verdict   *verdict.Verdict
	Explained []explain.Race
	Replayed  *Replayed
	Error     *failure
	// Before asks what a form has shown in the unpatched build.
	Before *verdict.Form
	// Progress says what is being explored.
	Progress *verdict.Progress
}

// failure is an error of the other process. Misuse says that the question was
// wrong, not the code.
type failure struct {
	Message string
	Misuse  bool
}

// Race is a question of a build's catalogue.
type Race struct {
	// Name and Title are the question's, and Finding says that the code is
	// HARMFUL as it stands.
	Name, Title string
	Finding     bool
	// Scenarios are its experiments.
	Scenarios []Scenario
}

// Scenario is an experiment of a build's catalogue, with its forms that are no
// faults: the baseline and the candidate.
type Scenario struct {
	// Name is the scenario's, and Variants are the names of those forms.
	Name     string
	Variants []string
	// Machines are those that it is asked about, by the bits of their words.
	Machines []int
}

// Replayed is an execution that was run again.
type Replayed struct {
	// Form is what was run, without MaxExecutions.
	Form verdict.Form
	// Finding is what it shows.
	Finding *verdict.Finding
}

// listing is the catalogue as plain data.
func listing(races []scenario.Race) []Race {
	var list []Race
	for i := range races {
		r := Race{Name: races[i].Name, Title: races[i].Title, Finding: races[i].Finding}
		for n := range races[i].Scenarios {
			s := &races[i].Scenarios[n]
			one := Scenario{Name: s.Name, Machines: verdict.Options{}.Machines(s)}
			for _, role := range []scenario.Role{scenario.Baseline, scenario.Candidate} {
				if v := s.Variant(role); v != nil {
					one.Variants = append(one.Variants, v.Name)
				}
			}
			r.Scenarios = append(r.Scenarios, one)
		}
		list = append(list, r)
	}
	return list
}
