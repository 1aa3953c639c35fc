package verdict

import (
	"fmt"
	"maps"
	"runtime"
	"slices"

	"benign/checkers/explore"
	"benign/checkers/memmodel"
	"benign/impl/scenario"
)

// Options say how to ask. The zero value asks under sc and kernel, with a
// worker for each processor and the default bounds.
type Options struct {
	// Models are names of memory models; empty means sc and kernel.
	Models []string
	// Workers is the number of goroutines; below 1 means one a processor.
	Workers int
	// MaxExecutions bounds the executions of each variant; 0 is the default of
	// package explore.
	MaxExecutions int
	// Planted asks about the planted faults and the alternatives too.
	Planted bool
	// Progress, if not nil, is told what is being explored.
	Progress func(Progress)
}

// Progress says what is explored (Race, Scenario, Variant and Model) and, with
// Stats, how far it has come.
type Progress struct {
	Race, Scenario, Variant, Model string
	Stats                          explore.Stats
}

// DefaultModels are the models that a question is asked under: the strongest,
// and the one that the kernel promises.
func DefaultModels() []string { return []string{"sc", "kernel"} }

func (o Options) models() []string {
	if len(o.Models) == 0 {
		return DefaultModels()
	}
	return o.Models
}

func (o Options) config(race *scenario.Race, s *scenario.Scenario, v *scenario.Variant, model string) explore.Config {
	c := explore.Config{Scenario: s, Variant: v, Model: model, Workers: o.Workers, MaxExecutions: o.MaxExecutions}
	if c.Workers < 1 {
		c.Workers = runtime.NumCPU()
	}
	if o.Progress != nil {
		c.Progress = func(stats explore.Stats) {
			o.Progress(Progress{race.Name, s.Name, v.Name, model, stats})
		}
		c.Progress(explore.Stats{})
	}
	return c
}

// Judge answers for one variant of a scenario under one model. An error means
// that the question could not be asked.
func Judge(race *scenario.Race, s *scenario.Scenario, v *scenario.Variant, model string, o Options) (*Verdict, error) {
	baseline := s.Variant(scenario.Baseline)
	if baseline == nil {
		return nil, fmt.Errorf("scenario %s/%s has no baseline", race.Name, s.Name)
	}
	base, err := observe(o.config(race, s, baseline, model))
	if err != nil {
		return nil, err
	}
	return judge(race, s, v, model, o, base)
}

// judge answers with a baseline that has been observed already.
func judge(race *scenario.Race, s *scenario.Scenario, v *scenario.Variant, model string, o Options, base *observation) (*Verdict, error) {
	seen := base
	if v.Role != scenario.Baseline {
		var err error
		if seen, err = observe(o.config(race, s, v, model)); err != nil {
			return nil, err
		}
	}
	verdict := &Verdict{Race: race.Name, Scenario: s.Name, Variant: v.Name, Baseline: s.Variant(scenario.Baseline).Name,
		Model: model, Expected: v.Expected(model)}
	verdict.Scope = Scope{Tasks: seen.tasks, Operations: seen.calls, Candidate: seen.stats, Baseline: base.stats,
		Exhaustive: seen.stats.Exhaustive && base.stats.Exhaustive && !seen.undecided && !base.undecided}
	if len(seen.tasks) == 0 {
		verdict.Scope.Tasks, verdict.Scope.Operations = base.tasks, base.calls
	}
	verdict.Outcomes = Outcomes{Baseline: len(base.outcomes), Candidate: len(seen.outcomes),
		New: without(seen.outcomes, base.outcomes), Lost: without(base.outcomes, seen.outcomes)}
	verdict.Deferral = Deferral{LargestDebt: seen.ledger.LargestDebt, BaselineDebt: base.ledger.LargestDebt,
		MostRounds: seen.ledger.MostRounds, BaselineRounds: base.ledger.MostRounds, Barrier: race.Barrier}
	for _, name := range slices.Sorted(maps.Keys(seen.evidence)) {
		verdict.Evidence = append(verdict.Evidence, *seen.evidence[name])
	}
	return verdict, verdict.decide(race, s, v, seen, base)
}

// decide finds the class. The order matters: what is broken is broken, however
// little was explored; a harmless answer needs everything.
func (v *Verdict) decide(race *scenario.Race, s *scenario.Scenario, variant *scenario.Variant, seen, base *observation) error {
	seen.newStates(base)
	if len(seen.worst) > 0 {
		finding, err := seen.finding(explore.TraceHeader{Race: v.Race, Scenario: v.Scenario, Variant: v.Variant, Model: v.Model})
		if err != nil {
			return err
		}
		v.Class, v.Finding = scenario.Harmful, finding
		v.Reason = fmt.Sprintf("%d of %d executions break something: %s", finding.Count, seen.stats.Executions(), finding.Kind)
		return nil
	}
	if !v.Scope.Exhaustive {
		v.Class, v.Reason = scenario.Unknown, v.cut(seen, base)
		return nil
	}
	if missing := v.missing(race, s, variant); missing != "" {
		v.Class, v.Vacuous, v.Reason = scenario.Unknown, true, missing
		return nil
	}
	v.harmless()
	return nil
}

// newStates blames the executions that end in a state in which the baseline
// never ends. It needs a second look at them, which only happens if there are
// any and the baseline was explored to its end.
func (o *observation) newStates(base *observation) {
	if !base.stats.Exhaustive || len(base.worst) > 0 || len(o.worst) > 0 {
		return
	}
	strange := false
	for state := range o.states {
		strange = strange || !base.states[state]
	}
	if !strange {
		return
	}
	again := o.config
	again.Progress = nil
	again.Restart = func() { o.broken, o.worst = map[string]int{}, nil }
	again.Visit = func(e *explore.Execution) {
		o.mutex.Lock()
		defer o.mutex.Unlock()
		if e.Violation == nil && !base.states[e.State] {
			o.blame(culprit{graph: e.Graph, kind: kindState, message: "the baseline never ends with " + e.State, whole: true})
		}
	}
	// The exploration has succeeded before, and repeats itself.
	_, _ = explore.Explore(again)
}

func (v *Verdict) cut(seen, base *observation) string {
	switch {
	case seen.stats.Cut != "":
		return "the exploration was cut off: " + seen.stats.Cut
	case base.stats.Cut != "":
		return "the exploration of the baseline was cut off: " + base.stats.Cut
	}
	return "a history was too hard to judge within " + "the time for one history"
}

// missing says which race of the question was not seen as it must be to make a
// harmless answer mean something: unordered, and both ways round.
func (v *Verdict) missing(race *scenario.Race, s *scenario.Scenario, variant *scenario.Variant) string {
	if !s.Racing || variant.Role != scenario.Candidate {
		return ""
	}
	for _, site := range race.Sites {
		if !v.sawBothOrders(site.Name) {
			return fmt.Sprintf("vacuous: the race at %s was never seen both ways round", site.Name)
		}
	}
	if len(race.Sites) == 0 && !v.sawBothOrders("") {
		return "vacuous: no annotated race was seen both ways round"
	}
	return ""
}

// sawBothOrders reports whether the site, or any if it is "", raced both ways.
func (v *Verdict) sawBothOrders(site string) bool {
	return slices.ContainsFunc(v.Evidence, func(e Evidence) bool {
		return (site == "" || e.Site == site) && e.BothOrders()
	})
}

func (v *Verdict) harmless() {
	switch {
	case len(v.Outcomes.New) > 0:
		v.Class = scenario.Defers
		v.Reason = fmt.Sprintf("%d outcomes are new; they leave at most %d undone, which %s does in at most %d rounds",
			len(v.Outcomes.New), v.Deferral.LargestDebt, v.barrier(), v.Deferral.MostRounds)
	case v.Variant == v.Baseline:
		v.Class, v.Reason = scenario.Indistinguishable, "nothing is broken in any execution"
	default:
		v.Class = scenario.Indistinguishable
		v.Reason = fmt.Sprintf("every outcome of %s is an outcome of %s", v.Variant, v.Baseline)
	}
}

func (v *Verdict) barrier() string {
	if v.Deferral.Barrier == "" {
		return "quiescence"
	}
	return v.Deferral.Barrier
}

// Ask answers a question: every candidate of every scenario under every model
// and, if asked for, the alternatives and planted faults under the first model.
func Ask(race *scenario.Race, o Options) (*Question, error) {
	q := &Question{Race: race, Name: race.Name, Title: race.Title, Class: scenario.Indistinguishable}
	for i := range race.Scenarios {
		s := &race.Scenarios[i]
		for n, model := range o.models() {
			if !memmodel.Known(model) {
				_, err := memmodel.New(model)
				return nil, err
			}
			if err := q.ask(s, model, o, o.Planted && n == 0); err != nil {
				return nil, err
			}
		}
	}
	return q, nil
}

// ask answers for the baseline and candidate of one scenario, and its faults.
func (q *Question) ask(s *scenario.Scenario, model string, o Options, planted bool) error {
	baseline := s.Variant(scenario.Baseline)
	if baseline == nil {
		return fmt.Errorf("scenario %s/%s has no baseline", q.Name, s.Name)
	}
	base, err := observe(o.config(q.Race, s, baseline, model))
	if err != nil {
		return err
	}
	for i := range s.Variants {
		v := &s.Variants[i]
		if (v.Role == scenario.Alternative || v.Role == scenario.Planted) && !planted {
			continue
		}
		verdict, err := judge(q.Race, s, v, model, o, base)
		if err != nil {
			return err
		}
		q.take(v.Role, verdict)
	}
	return nil
}

func (q *Question) take(role scenario.Role, v *Verdict) {
	switch role {
	case scenario.Candidate:
		q.Verdicts = append(q.Verdicts, v)
		q.Class = q.Class.Worse(v.Class)
	case scenario.Alternative:
		q.Alternatives = append(q.Alternatives, v)
	case scenario.Planted:
		q.Planted = append(q.Planted, v)
		if v.AsExpected() {
			q.Caught++
		}
	}
	if !v.AsExpected() {
		q.Surprises = append(q.Surprises, v)
	}
}

// Replay runs a trace of the variant again and says what it breaks; a nil
// finding means that it breaks nothing. A [*explore.DivergenceError] means that
// the trace no longer fits the code.
func Replay(race *scenario.Race, s *scenario.Scenario, v *scenario.Variant, model string, trace *explore.Trace) (*Finding, *explore.Execution, error) {
	o := Options{Workers: 1}
	config := o.config(race, s, v, model)
	e, steps, err := explore.Replay(config, trace)
	if err != nil {
		return nil, nil, err
	}
	seen := &observation{config: config}
	seen.forget()
	seen.visit(e)
	f := &Finding{Trace: explore.FormatTrace(explore.TraceHeader{Race: race.Name, Scenario: s.Name, Variant: v.Name, Model: model}, e.Graph)}
	f.show(e, steps)
	if len(seen.worst) > 0 {
		f.Kind, f.Message, f.Count, f.Kinds = seen.worst[0].kind, seen.worst[0].message, 1, seen.broken
	}
	return f, e, nil
}

// Clean reports whether the finding is of an execution that breaks nothing.
func (f *Finding) Clean() bool { return f.Kind == "" }
