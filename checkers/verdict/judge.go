package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"benign/checkers/explore"
	"benign/checkers/linear"
	"benign/checkers/memmodel"
	"benign/impl/scenario"
)

// Options say how to ask. The zero value asks under sc and kernel, with a
// worker for each processor and the default bounds.
type Options struct {
	// Models are names of memory models; empty means sc and kernel.
	Models []string
	// Arch is the machine: explore.Arch32 or explore.Arch64. Without it Ask asks
	// about all the machines of each scenario, see Machines, and Judge about
	// explore.Arch64.
	Arch int
	// Workers is the number of goroutines; below 1 means one a processor.
	Workers int
	// MaxExecutions bounds the executions of each variant; 0 is the default of
	// package explore.
	MaxExecutions int
	// Deadline, unless zero, ends every exploration at that time; what was not
	// explored by then is UNKNOWN, unless harm was found.
	Deadline time.Time
	// Interrupt, if not nil, ends everything with [explore.ErrInterrupted] when
	// it is closed.
	Interrupt <-chan struct{}
	// Checkpoint, if not nil, keeps what was done, and has what an earlier run
	// has done.
	Checkpoint *Checkpoint
	// Strategy, if not nil, draws samples instead of exploring, under sc only:
	// Samples of them (below 1 means explore.DefaultSamples), with the seeds from
	// Seed on (0 means 1). The answer is then Harmful or Unknown.
	Strategy explore.Strategy
	Samples  int
	Seed     uint64
	// Bound, if not nil, explores schedules within it, under sc only. The answer is
	// then Harmful or Unknown, unless no schedule is left out.
	Bound *explore.Bound
	// Planted asks about the planted faults and the alternatives too.
	Planted bool
	// Strict runs each schedule twice, see explore.Config.
	Strict bool
	// Shrink makes the scenario of what is broken smaller before it is shown.
	Shrink bool
	// Progress, if not nil, is told what is being explored.
	Progress func(Progress)
	// Before, if not nil, knows what a form has shown before the code was changed,
	// which answers are then compared with, see Compare.
	Before func(Form) (Observed, error)
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
	switch {
	case len(o.Models) > 0:
		return o.Models
	case o.Strategy != nil || o.Bound != nil:
		return []string{"sc"}
	}
	return DefaultModels()
}

// Machines returns the machines that a scenario is asked about.
func (o Options) Machines(s *scenario.Scenario) []int {
	switch {
	case o.Arch != 0:
		return []int{o.Arch}
	case s.On32:
		return []int{explore.Arch64, explore.Arch32}
	}
	return []int{explore.Arch64}
}

func (o Options) config(race *scenario.Race, s *scenario.Scenario, v *scenario.Variant, model string) explore.Config {
	c := explore.Config{Scenario: s, Variant: v, Model: model, Arch: o.Arch, Workers: o.Workers, MaxExecutions: o.MaxExecutions,
		Deadline: o.Deadline, Interrupt: o.Interrupt, Strict: o.Strict}
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
	if err := wellFormed(race.Name, s); err != nil {
		return nil, err
	}
	base, err := o.baseline(race.Name, o.config(race, s, s.Variant(scenario.Baseline), model))
	if err != nil {
		return nil, err
	}
	return judge(race, s, v, model, o, base)
}

// wellFormed returns an error if the scenario cannot be asked about: a question
// without a candidate would be answered by nobody.
func wellFormed(race string, s *scenario.Scenario) error {
	names, roles := map[string]bool{}, map[scenario.Role]int{}
	for i := range s.Variants {
		v := &s.Variants[i]
		switch {
		case v.Role < scenario.Baseline || v.Role > scenario.Planted:
			return fmt.Errorf("scenario %s/%s: variant %s has no role", race, s.Name, v.Name)
		case v.Build == nil:
			return fmt.Errorf("scenario %s/%s: variant %s cannot be built", race, s.Name, v.Name)
		case names[v.Name]:
			return fmt.Errorf("scenario %s/%s has two variants named %s", race, s.Name, v.Name)
		}
		names[v.Name] = true
		roles[v.Role]++
	}
	for _, role := range []scenario.Role{scenario.Baseline, scenario.Candidate} {
		if roles[role] != 1 {
			return fmt.Errorf("scenario %s/%s has %d variants in the role of %s, want 1", race, s.Name, roles[role], role)
		}
	}
	return nil
}

// judge answers with a baseline that has been observed already.
func judge(race *scenario.Race, s *scenario.Scenario, v *scenario.Variant, model string, o Options, base *observation) (*Verdict, error) {
	seen := base
	if v.Role != scenario.Baseline || o.Before != nil {
		var err error
		if seen, err = o.observe(race.Name, o.config(race, s, v, model), base); err != nil {
			return nil, err
		}
	}
	arch := cmp.Or(o.Arch, explore.Arch64)
	verdict := &Verdict{Race: race.Name, Scenario: s.Name, Variant: v.Name, Baseline: s.Variant(scenario.Baseline).Name,
		Model: model, Expected: v.Expected(model, arch)}
	if o.Before != nil {
		verdict.Baseline = v.Name + " without the patch"
		verdict.Cost = &CostChange{Before: base.cost, After: seen.cost}
	}
	verdict.Scope = Scope{Arch: arch, OnBoth: s.On32, Tasks: seen.tasks, Operations: seen.calls, Candidate: seen.stats, Baseline: base.stats, Sample: seen.sample, Bound: o.Bound,
		Exhaustive: seen.stats.Exhaustive && base.stats.Exhaustive && !seen.undecided && !base.undecided}
	if len(seen.tasks) == 0 {
		verdict.Scope.Tasks, verdict.Scope.Operations = base.tasks, base.calls
	}
	verdict.Outcomes = Outcomes{Baseline: len(base.outcomes), Candidate: len(seen.outcomes),
		New: without(seen.outcomes, base.outcomes), Lost: without(base.outcomes, seen.outcomes)}
	verdict.Deferral = Deferral{LargestDebt: seen.ledger.LargestDebt, BaselineDebt: base.ledger.LargestDebt,
		MostRounds: seen.ledger.MostRounds, BaselineRounds: base.ledger.MostRounds, Barrier: race.Barrier}
	verdict.Measures = seen.sortedMeasures()
	for _, name := range slices.Sorted(maps.Keys(seen.evidence)) {
		verdict.Evidence = append(verdict.Evidence, *seen.evidence[name])
		if o.Before != nil && base.evidence[name] == nil {
			verdict.NewSites = append(verdict.NewSites, name)
		}
	}
	err := o.decide(verdict, race, s, v, seen, base)
	if o.Before != nil {
		verdict.Expected = verdict.Class // the catalogue knows no patches
	}
	return verdict, err
}

// decide finds the class. The order matters: what is broken is broken, however
// little was explored; a harmless answer needs everything.
func (o Options) decide(v *Verdict, race *scenario.Race, s *scenario.Scenario, variant *scenario.Variant, seen, base *observation) error {
	worst := seen.worst
	if worst.empty() && base.sound() {
		worst = seen.strange
	}
	if !worst.empty() {
		finding, err := o.finding(worst, seen, base, explore.TraceHeader{Race: v.Race, Scenario: v.Scenario, Variant: v.Variant, Model: v.Model, Arch: v.Scope.Arch})
		if err != nil {
			return err
		}
		v.Class, v.Finding = scenario.Harmful, finding
		v.Reason = fmt.Sprintf("%d of %d executions break something: %s", finding.Count, seen.stats.Executions(), finding.Kind)
		return nil
	}
	if !base.worst.empty() {
		v.Class, v.Reason = scenario.Unknown, "the baseline is broken itself: "+base.worst.shortest[0].kind
		return nil
	}
	if !v.Scope.Exhaustive {
		v.Class, v.Reason = scenario.Unknown, v.cut(seen, base)
		return nil
	}
	if missing := o.missing(v, race, s, variant); missing != "" {
		v.Class, v.Vacuous, v.Reason = scenario.Unknown, true, missing
		return nil
	}
	v.harmless(seen)
	return nil
}

func (v *Verdict) cut(seen, base *observation) string {
	switch {
	case seen.sample != nil:
		return seen.sample.String()
	case seen.stats.Cut != "":
		return "the exploration was cut off: " + seen.stats.CutShort()
	case base.stats.Cut != "":
		return "the exploration of the baseline was cut off: " + base.stats.CutShort()
	}
	return fmt.Sprintf("a history was too hard to judge within %v", linear.Limit)
}

// missing says which race of the question was not seen as it must be to make a
// harmless answer mean something: unordered, and both ways round.
func (o Options) missing(v *Verdict, race *scenario.Race, s *scenario.Scenario, variant *scenario.Variant) string {
	if !s.Racing || variant.Role != scenario.Candidate || o.Before != nil {
		return "" // a patch may do away with a race, and bring another one
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

// harmless tells the harmless classes apart. A new outcome that no specification
// allows, and that leaves nothing for later either, is none of them.
func (v *Verdict) harmless(seen *observation) {
	unexplained := slices.IndexFunc(v.Outcomes.New, func(o string) bool { return !seen.explained[o] })
	switch {
	case unexplained >= 0:
		v.Class = scenario.Unknown
		v.Reason = "nothing says whether a new outcome is right, and it leaves nothing for later: " + v.Outcomes.New[unexplained]
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

// Ask answers a question: every candidate of every scenario on every machine under
// every model and, if asked for, the alternatives and planted faults under the
// first model.
func Ask(race *scenario.Race, o Options) (*Question, error) {
	q := &Question{Race: race, Name: race.Name, Title: race.Title, Class: scenario.Indistinguishable}
	if len(race.Scenarios) == 0 {
		return nil, fmt.Errorf("race %s has no scenario", race.Name)
	}
	for i := range race.Scenarios {
		s := &race.Scenarios[i]
		if err := wellFormed(race.Name, s); err != nil {
			return nil, err
		}
		for n, model := range o.models() {
			if !memmodel.Known(model) {
				_, err := memmodel.New(model)
				return nil, err
			}
			for _, arch := range o.Machines(s) {
				on := o
				on.Arch = arch
				if err := q.ask(s, model, on, o.Planted && n == 0); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := q.askReachable(o); err != nil {
		return nil, err
	}
	return q, nil
}

// ask answers for the baseline and candidate of one scenario, and its faults.
func (q *Question) ask(s *scenario.Scenario, model string, o Options, planted bool) error {
	base, err := o.observe(q.Name, o.config(q.Race, s, s.Variant(scenario.Baseline), model), nil)
	if err != nil {
		return err
	}
	for i := range s.Variants {
		v := &s.Variants[i]
		if (v.Role == scenario.Alternative || v.Role == scenario.Planted) && !planted {
			continue
		}
		asked := o
		if v.Role != scenario.Candidate && v.Expected(model, o.Arch) == scenario.Harmful {
			asked.Shrink = false // nobody looks at how it is broken
		}
		verdict, err := judge(q.Race, s, v, model, asked, base)
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

// Replay runs a trace of the variant again and says what it breaks; a finding
// that is Clean says that it breaks nothing. To know whether the final state is
// one of the baseline's, the baseline is explored, unless something else is
// broken. A [*explore.DivergenceError] means that the trace no longer fits the
// code.
func Replay(race *scenario.Race, s *scenario.Scenario, v *scenario.Variant, model string, trace *explore.Trace) (*Finding, *explore.Execution, error) {
	return Options{}.Replay(race, s, v, model, trace)
}

// Replay is the function of that name with what Options.Before knows in the
// place of the baseline.
func (o Options) Replay(race *scenario.Race, s *scenario.Scenario, v *scenario.Variant, model string, trace *explore.Trace) (*Finding, *explore.Execution, error) {
	if err := wellFormed(race.Name, s); err != nil {
		return nil, nil, err
	}
	o.Arch = trace.Arch()
	config := o.config(race, s, v, model)
	config.Without = trace.Without
	e, steps, err := explore.Replay(config, trace)
	if err != nil {
		return nil, nil, err
	}
	seen := newObservation(config, nil, nil)
	seen.visit(e)
	if seen.worst.empty() && e.Ended && (v.Role != scenario.Baseline || o.Before != nil) {
		base, err := o.baseline(race.Name, alike(o.config(race, s, o.reference(s, v), model), trace.Without))
		if err != nil {
			return nil, nil, err
		}
		if base.sound() && !base.states[e.State] {
			seen.worst.add(strange(e))
		}
	}
	f := &Finding{Trace: explore.FormatTrace(explore.TraceHeader{Race: race.Name, Scenario: s.Name, Variant: v.Name, Model: model, Arch: trace.Arch()}, e.Graph, trace.Without...)}
	f.show(e, steps, config)
	if !seen.worst.empty() {
		worst := seen.worst.shortest[0]
		f.Kind, f.Message, f.Count, f.Kinds = worst.kind, worst.message, 1, seen.worst.kinds
	}
	return f, e, nil
}

// Clean reports whether the finding is of an execution that breaks nothing.
func (f *Finding) Clean() bool { return f.Kind == "" }
