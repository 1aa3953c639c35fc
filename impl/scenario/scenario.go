// Package scenario holds the nouns of the project: what a reviewer asks (a
// [Race]), the bounded experiments that answer it (a [Scenario] with its
// variants), what runs in one execution (an [Instance] of tasks and
// operations), and the closed list of answers (a [Class]).
//
// It contains words, not machinery, so that mechanisms, explorer, checkers and
// command mean the same by them.
package scenario

import "benign/impl/kernel"

// Race is one question: is this race harmless?
type Race struct {
	// Name is what the command line calls it, such as "rb-empty".
	Name string
	// Title says in a few words what races with what.
	Title string
	// Patch is the title of the kernel patch that raised the question, or "".
	Patch string
	// Question is the reviewer's question in a sentence or two.
	Question string
	// Sites are the deliberate races that the question is about. A verdict
	// shows evidence for each; a race that was never seen makes it vacuous.
	Sites []*kernel.RaceSite
	// Barrier names what discharges deferred work, such as "the next full
	// scan"; it is quoted by a DEFERS verdict.
	Barrier string
	// Reachable are questions whether something can happen at all.
	Reachable []Reachable
	// Finding marks a race in which the kernel's behaviour as it stands, not a
	// patch, is HARMFUL in the reference implementation. It is listed apart.
	Finding bool
	// Scenarios are the experiments; their names are unique within the race.
	Scenarios []Scenario
}

// Scenario is one bounded experiment: the same tasks run with a baseline and
// with a candidate, and with faults planted to prove that the judges see.
type Scenario struct {
	// Name is unique within the race, such as "insert".
	Name string
	// About says what the tasks do and which case it covers.
	About string
	// Racing says whether the race's sites are reached here. Where it is
	// false the scenario guards something else, and a site that is not seen
	// unordered is no sign of vacuity.
	Racing bool
	// WordsOnly states that the tasks share words and locks only, no ordinary
	// memory, that an operation leaves nothing else behind, and that nothing
	// is observed but what operations return. The explorer then runs the code
	// once for each thing that a task can do, and not in every execution.
	WordsOnly bool
	// On32 has the scenario asked about a machine with words of 32 bits too,
	// unless a question names its machine. It matters where tasks share words of
	// 64 bits.
	On32 bool
	// AllocationFailure and Reschedule open the environment's choices.
	AllocationFailure, Reschedule bool
	// Variants lists exactly one Baseline, exactly one Candidate and any
	// number of Alternatives and Planted faults.
	Variants []Variant
}

// Role says what a variant is for. The zero value is invalid.
type Role uint8

const (
	// Baseline is the fully locked form that outcomes are compared with.
	Baseline Role = iota + 1
	// Candidate is the racy form that is on trial.
	Candidate
	// Alternative is another form that a reviewer may ask about by name.
	Alternative
	// Planted is a fault that the checkers must catch.
	Planted
)

// String returns the role in lower case.
func (r Role) String() string {
	names := [...]string{"invalid", "baseline", "candidate", "alternative", "planted"}
	if int(r) >= len(names) {
		return names[0]
	}
	return names[r]
}

// Variant is one way to build the scenario.
type Variant struct {
	// Name is unique within the scenario, such as "patched"; Role says what
	// the variant is for, and About how it differs from the others.
	Name  string
	Role  Role
	About string
	// Expect is the class that the catalogue predicts; a different one fails
	// the run. For a Baseline it is Indistinguishable: nothing is broken.
	Expect Class
	// ExpectByModel overrides Expect for models named here.
	ExpectByModel map[string]Class
	// ExpectOn32, unless zero, overrides both on a machine with words of 32 bits.
	ExpectOn32 Class
	// Build sets one execution up on a fresh world and says what runs. It is
	// called for every execution and must do the same each time.
	Build func(setup *kernel.Task) *Instance
}

// Expected returns the predicted class under a memory model, on a machine with
// words of so many bits.
func (v *Variant) Expected(model string, arch int) Class {
	if arch == 32 && v.ExpectOn32 != 0 {
		return v.ExpectOn32
	}
	if c, ok := v.ExpectByModel[model]; ok {
		return c
	}
	return v.Expect
}

// Variant returns the first variant with the role, or nil.
func (s *Scenario) Variant(role Role) *Variant {
	for i := range s.Variants {
		if s.Variants[i].Role == role {
			return &s.Variants[i]
		}
	}
	return nil
}

// VariantNamed returns the variant with the name, or nil.
func (s *Scenario) VariantNamed(name string) *Variant {
	for i := range s.Variants {
		if s.Variants[i].Name == name {
			return &s.Variants[i]
		}
	}
	return nil
}

// Options returns the world options that the scenario asks for.
func (s *Scenario) Options() kernel.Options {
	return kernel.Options{AllocationFailure: s.AllocationFailure, Reschedule: s.Reschedule}
}

// Instance is one execution, set up and ready to run. The functions after
// Tasks run alone, when every task has ended, and may be nil.
type Instance struct {
	Tasks []Task
	// Check judges the state as the tasks left it and again after quiescence:
	// structural invariants, ownership, counters.
	Check func(t *kernel.Task) error
	// Debt counts the work that the sequential spec says should have been done
	// by now and was not.
	Debt func(t *kernel.Task) int
	// Quiesce does one round of the work that races may have deferred and
	// reports whether the round changed anything.
	Quiesce func(t *kernel.Task) bool
	// Observe describes the abstract final state, after quiescence, in a
	// canonical form: equal states, equal text.
	Observe func(t *kernel.Task) string
	// Teardown frees everything. What is alive afterwards has leaked.
	Teardown func(t *kernel.Task)
	// Spec judges the history of each partition; nil judges none.
	Spec *Spec
}

// Task is a thread of the scenario: operations in program order.
type Task struct {
	// Name heads the task's column in a trace; Operations run in order.
	Name       string
	Operations []Operation
}

// Operation is one call whose result is observed.
type Operation struct {
	// Name and arguments as a trace prints them, such as "insert(0,4096)".
	Name string
	// Run does it.
	Run func(t *kernel.Task) Result
}

// Result is what an operation returned.
type Result struct {
	// Value is printed into the outcome of the execution.
	Value string
	// Effects are the operation's parts, one a partition that it touched, in
	// the terms of the Spec. They take effect somewhere between the call and
	// the return.
	Effects []Effect
	// Counts are what the operation has a bound for. They are no part of the outcome.
	Counts []Count
}

// Effect is what one operation did to one partition.
type Effect struct {
	// Partition names what was touched, such as an inode.
	Partition string
	// Input and Output are in the terms of the Spec.
	Input, Output any
}

// Spec is a sequential specification over the effects of one partition.
type Spec struct {
	// Name is printed with a violation.
	Name string
	// Initial returns the state before the tasks of a partition.
	Initial func(partition string) any
	// Step applies an effect; ok is false if the spec forbids this output in
	// this state. It must not change its argument.
	Step func(state, input, output any) (ok bool, next any)
	// Equal compares states.
	Equal func(a, b any) bool
	// Describe renders an effect for a report.
	Describe func(input, output any) string
}
