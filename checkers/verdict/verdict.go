// Package verdict turns what an exploration showed into an answer: one of the
// classes of package scenario, never bare, with the scope in which it holds and
// the evidence that the race really happened.
package verdict

import (
	"benign/checkers/explore"
	"benign/impl/scenario"
)

// Verdict is the answer for one variant of one scenario under one memory
// model, compared with the baseline under the same model.
type Verdict struct {
	// Race, Scenario, Variant, Baseline and Model say what was asked.
	Race     string `json:"race"`
	Scenario string `json:"scenario"`
	Variant  string `json:"variant"`
	Baseline string `json:"baseline"`
	Model    string `json:"model"`
	// Class is the answer, and Reason says in a sentence why.
	Class  scenario.Class `json:"class"`
	Reason string         `json:"reason"`
	// Expected is what the catalogue predicts.
	Expected scenario.Class `json:"expected"`
	// Scope is what the answer holds for.
	Scope Scope `json:"scope"`
	// Outcomes compares what the two variants can show.
	Outcomes Outcomes `json:"outcomes"`
	// Deferral is the work that the variant left for later.
	Deferral Deferral `json:"deferral"`
	// Measures are the bounds that operations have kept, or not.
	Measures []Measure `json:"measures,omitempty"`
	// Cost compares what an execution takes with what it took before the code was
	// changed; nil if the baseline is another variant.
	Cost *CostChange `json:"cost,omitempty"`
	// NewSites are the deliberate races that were not reached before the code was
	// changed.
	NewSites []string `json:"newSites,omitempty"`
	// Evidence shows, for each deliberate race, that it happened.
	Evidence []Evidence `json:"evidence,omitempty"`
	// Vacuous reports that a race of the question was never seen in both
	// orders; the class is then Unknown.
	Vacuous bool `json:"vacuous,omitempty"`
	// Finding is the shortest execution that breaks something, or nil.
	Finding *Finding `json:"finding,omitempty"`
}

// AsExpected reports whether the catalogue predicted the answer.
func (v *Verdict) AsExpected() bool { return v.Class == v.Expected && !v.Vacuous }

// Scope bounds an answer.
type Scope struct {
	// Arch is the machine, by the bits of its words: 32 or 64.
	Arch int `json:"arch"`
	// OnBoth says that the scenario is asked about both machines, unless a
	// question names one.
	OnBoth bool `json:"-"`
	// Tasks describes each task with its operations.
	Tasks []string `json:"tasks"`
	// Operations counts the operations of all tasks.
	Operations int `json:"operations"`
	// Candidate and Baseline say how many executions were run.
	Candidate explore.Stats `json:"candidate"`
	Baseline  explore.Stats `json:"baseline"`
	// Sample says how the candidate was sampled, and with what coverage; nil if
	// it was explored.
	Sample *explore.SampleStats `json:"sample,omitempty"`
	// Bound is what the schedules of both were held to; nil for nothing.
	Bound *explore.Bound `json:"bound,omitempty"`
	// Exhaustive reports that both explorations were complete.
	Exhaustive bool `json:"exhaustive"`
}

// Outcomes compares sets of outcomes. An outcome is the results of all
// operations with the abstract final state.
type Outcomes struct {
	// Baseline and Candidate count distinct outcomes.
	Baseline  int `json:"baseline"`
	Candidate int `json:"candidate"`
	// New are outcomes of the candidate that the baseline has not, Lost the
	// other way round, each sorted.
	New  []string `json:"new,omitempty"`
	Lost []string `json:"lost,omitempty"`
}

// Deferral measures work that was left for later. Debt is in units of the
// scenario (for the shrinker: evictable extent maps), rounds are quiescent
// rounds that changed something.
type Deferral struct {
	// LargestDebt is the most work left when the tasks had ended, and
	// BaselineDebt the same of the baseline.
	LargestDebt  int `json:"largestDebt"`
	BaselineDebt int `json:"baselineDebt"`
	// MostRounds is how many rounds the slowest execution needed to do it all,
	// and BaselineRounds the same of the baseline.
	MostRounds     int `json:"mostRounds"`
	BaselineRounds int `json:"baselineRounds"`
	// Barrier names what does the work.
	Barrier string `json:"barrier,omitempty"`
}

// Evidence says how a deliberate race was seen over all executions of the
// candidate.
type Evidence struct {
	// Site and Reason come from the annotation in the code.
	Site   string `json:"site"`
	Reason string `json:"reason"`
	// Executions in which the access ran, and Racing those in which it was
	// unordered by happens-before with a conflicting access.
	Executions int `json:"executions"`
	Racing     int `json:"racing"`
	// ReadFirst and WriteFirst count the racing pairs by who came first.
	ReadFirst  int `json:"readFirst"`
	WriteFirst int `json:"writeFirst"`
}

// BothOrders reports whether the race was seen both ways round.
func (e *Evidence) BothOrders() bool { return e.ReadFirst > 0 && e.WriteFirst > 0 }

// Finding is an execution that breaks something.
type Finding struct {
	// Kind and Message say what is broken; Kind is a kernel.ViolationKind's
	// name, or one of "not linearizable", "work lost", "final state", "bound exceeded"; of a
	// witness it is "reached".
	Kind    string `json:"kind"`
	Message string `json:"message"`
	// Count is how many executions of the exploration broke something, and
	// Kinds how many by kind of what they broke first.
	Count int            `json:"count"`
	Kinds map[string]int `json:"kinds"`
	// After is how many executions had been explored when the first one broke
	// something. With several workers it differs from run to run.
	After int `json:"-"`
	// Seed draws the sample again that the execution was found in; 0 if it was
	// none.
	Seed uint64 `json:"seed,omitempty"`
	// LeftOut lists the operations, each with its task, that are not needed to
	// show it, and that the steps and the trace leave out.
	LeftOut []string `json:"leftOut,omitempty"`
	// Tasks names the columns, Steps are the visible operations in an order in
	// which they can have happened.
	Tasks []string `json:"tasks"`
	Steps []Step   `json:"steps"`
	// Trace is the text that replays it, see explore.ParseTrace.
	Trace string `json:"-"`
}

// Length is how many steps a reader sees.
func (f *Finding) Length() int {
	n := 0
	for i := range f.Steps {
		if !f.Steps[i].Private {
			n++
		}
	}
	return n
}

// Step is one visible operation of a finding.
type Step struct {
	// Task is the column.
	Task int `json:"task"`
	// Private marks a step on memory that no other task of the trace touches;
	// a reader can leave it out.
	Private bool `json:"private,omitempty"`
	// What was done, and a Note where the reader would expect otherwise.
	What string `json:"what"`
	Note string `json:"note,omitempty"`
	// Place is where, as "file.go:line function", and Callers who called it.
	Place   string   `json:"place,omitempty"`
	Callers []string `json:"callers,omitempty"`
}

// Question is a race with the answers for each of its scenarios and models.
type Question struct {
	// Race is what was asked, with its Name and Title, and Class the worst
	// answer for the candidates.
	Race  *scenario.Race `json:"-"`
	Name  string         `json:"race"`
	Title string         `json:"title"`
	Class scenario.Class `json:"class"`
	// Verdicts are the answers for candidates, in catalogue order.
	Verdicts []*Verdict `json:"verdicts"`
	// Alternatives are the answers for other forms that a reviewer may ask
	// about; they do not count into Class.
	Alternatives []*Verdict `json:"alternatives,omitempty"`
	// Planted are the answers for planted faults, which must be caught.
	Planted []*Verdict `json:"planted,omitempty"`
	// Caught counts the planted faults that were.
	Caught int `json:"caught"`
	// Reached are the answers to whether something can happen.
	Reached []*Reached `json:"reached,omitempty"`
	// Surprises are the answers about variants that the catalogue did not predict.
	Surprises []*Verdict `json:"surprises,omitempty"`
}
