package review

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"benign/checkers/explain"
	"benign/checkers/patch"
	"benign/checkers/verdict"
	"benign/impl/scenario"
)

// Options say how a patch is reviewed.
type Options struct {
	// Models are those under which forms are compared, and Arch is the machine, 32
	// or 64, or 0 for the machines of each scenario.
	Models []string
	Arch   int
	// Races names the questions, or scenarios as "race/scenario", that are asked;
	// empty for all.
	Races []string
	// All compares the scenarios too that run nothing of what the patch changes.
	All bool
	// Explain takes a closer look at the races that the patch brings.
	Explain bool
	// Workers is the number of goroutines of a process.
	Workers int
	// MaxExecutions and Limit bound the exploration of each form: in executions, 0
	// for the default, and in time, 0 for none.
	MaxExecutions int
	Limit         time.Duration
	// Cache is a directory that keeps what the unpatched code has shown, until
	// that changes; "" keeps nothing.
	Cache string
	// Progress, if not nil, is told what is being done.
	Progress func(stage string, p verdict.Progress)
}

// Report is what a patch changes.
type Report struct {
	// Patch is the patch.
	Patch *patch.Patch `json:"-"`
	// Title is its title, or its file.
	Title string `json:"title"`
	// Class is the worst answer, and Reason says in a sentence why.
	Class  scenario.Class `json:"class"`
	Reason string         `json:"reason"`
	// Touched are the functions that it changes and that some scenario runs.
	Touched []string `json:"touched"`
	// Compared are the scenarios that were, and Untouched counts the others.
	Compared  []string `json:"compared"`
	Untouched int      `json:"untouched"`
	// Verdicts compare each form with what it was before, in catalogue order.
	Verdicts []*verdict.Verdict `json:"verdicts"`
	// Races are the annotated races that the patch brings, with how they were seen
	// in all comparisons together.
	Races []verdict.Evidence `json:"races,omitempty"`
	// Explained says more about each of them, if Options.Explain wants it.
	Explained []explain.Race `json:"explained,omitempty"`
	// Missing are scenarios or variants that only one of the builds has.
	Missing []string `json:"missing,omitempty"`
	// Unjudged are changed files of which nothing runs in a scenario, such as
	// documents and tests.
	Unjudged []string `json:"unjudged,omitempty"`
}

// judged is the directory of the code that a patch can be judged about.
const judged = "impl/"

// Check returns an error if the patch changes what judges it.
func Check(p *patch.Patch) error {
	for i := range p.Files {
		if file := p.Files[i].Path(); !patch.IsTest(file) && !strings.HasPrefix(file, judged) {
			return fmt.Errorf("%s changes %s: only what is in %s can be judged, by the rest as it is", p.Name, file, judged)
		}
	}
	return nil
}

// Review applies the patch, builds the code with and without it, and compares
// what the scenarios show that it touches. An error means that there is no
// answer: a [*patch.ApplyError], a [*CompileError], or that something went wrong.
func (t Tree) Review(ctx context.Context, p *patch.Patch, o Options) (*Report, error) {
	if err := Check(p); err != nil {
		return nil, &MisuseError{err.Error()}
	}
	sources, err := t.Apply(p)
	if err != nil {
		return nil, err
	}
	r := &Report{Patch: p, Title: p.Header.Title, Class: scenario.Indistinguishable}
	if r.Title == "" {
		r.Title = filepath.Base(p.Name)
	}
	directory, err := os.MkdirTemp("", "benign-review-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(directory)
	s := &session{tree: t, options: o, directory: directory, report: r}
	defer s.close()
	return r, s.review(ctx, p, slices.DeleteFunc(sources, func(s patch.Source) bool {
		if patch.IsTest(s.Path) {
			r.Unjudged = append(r.Unjudged, s.Path)
		}
		return patch.IsTest(s.Path)
	}))
}

// session is a review under way.
type session struct {
	tree      Tree
	options   Options
	directory string
	report    *Report
	old, new  *Process
	program   string // that new runs
	known     *memory
}

func (s *session) close() {
	for _, p := range []*Process{s.old, s.new} {
		if p != nil {
			p.Close()
		}
	}
}

func (s *session) tell(stage string) {
	if s.options.Progress != nil {
		s.options.Progress(stage, verdict.Progress{})
	}
}

func (s *session) review(ctx context.Context, p *patch.Patch, sources []patch.Source) (err error) {
	if len(sources) == 0 {
		s.conclude()
		return nil
	}
	s.tell("build the code with the patch")
	if s.program, err = s.build(ctx, Build{Patch: p, Sources: sources}, "patched"); err != nil {
		return err
	}
	s.tell("build the code without the patch")
	if s.old, err = s.start(ctx, Build{Coverage: true}, "unpatched"); err != nil {
		return err
	}
	s.known = newMemory(s.old, filepath.Join(s.directory, "unpatched", "serve"), s.options.Cache)
	defer s.known.save()
	if err := s.restart(ctx); err != nil {
		return err
	}
	work, err := s.choose(ctx, sources)
	if err != nil {
		return err
	}
	for _, t := range work {
		if err := s.compare(ctx, t); err != nil {
			return err
		}
		if v := s.report.Verdicts[len(s.report.Verdicts)-1]; s.options.Explain && len(v.NewSites) > 0 {
			if err := s.explain(t, v.NewSites); err != nil {
				return err
			}
		}
	}
	s.conclude()
	return nil
}

// explain takes a closer look at races that the patch brings to a form.
func (s *session) explain(t task, sites []string) error {
	races, err := s.new.explain(t)
	if err != nil {
		return fmt.Errorf("explain %s/%s, %s under %s: %w", t.Form.Race, t.Form.Scenario, t.Form.Variant, t.Form.Model, err)
	}
	races = slices.DeleteFunc(races, func(r explain.Race) bool { return !slices.Contains(sites, r.Site) })
	s.report.Explained = explain.Sum(s.report.Explained, races)
	return nil
}

// start builds and starts one of the two.
func (s *session) start(ctx context.Context, b Build, name string) (*Process, error) {
	file, err := s.build(ctx, b, name)
	if err != nil {
		return nil, err
	}
	return s.run(ctx, file, name)
}

func (s *session) build(ctx context.Context, b Build, name string) (file string, err error) {
	directory := filepath.Join(s.directory, name)
	if err := os.Mkdir(directory, 0o755); err != nil {
		return "", err
	}
	return s.tree.Build(ctx, b, directory)
}

func (s *session) run(ctx context.Context, file, name string) (*Process, error) {
	p, err := s.tree.Start(ctx, file)
	if err == nil && s.options.Progress != nil {
		p.Progress = func(news verdict.Progress) { s.options.Progress("explore "+name, news) }
	}
	return p, err
}

// restart starts the patched build, in the place of a process that has ended.
func (s *session) restart(ctx context.Context) (err error) {
	if s.new != nil {
		s.new.Close()
	}
	if s.new, err = s.run(ctx, s.program, "patched"); err == nil {
		s.new.Before = s.known.observed
	}
	return err
}

// choose lists the forms to compare: those of the scenarios that run something of
// what the patch changes.
func (s *session) choose(ctx context.Context, sources []patch.Source) ([]task, error) {
	before, err := s.old.Catalogue()
	if err != nil {
		return nil, err
	}
	after, err := s.new.Catalogue()
	if err != nil {
		return nil, fmt.Errorf("the code with the patch does not even start: %w", err)
	}
	both := s.common(before, after)
	if len(both) == 0 {
		return nil, &MisuseError{fmt.Sprintf("no question or scenario is named %s", strings.Join(s.options.Races, " or "))}
	}
	var work []task
	for n, e := range both {
		c, err := s.known.run(ctx, e, filepath.Join(s.directory, "counters-"+strconv.Itoa(n)), s.tree)
		if err != nil {
			return nil, err
		}
		touched := c.touches(sources)
		if len(touched) == 0 && !s.options.All {
			s.report.Untouched++
			continue
		}
		s.report.Touched = append(s.report.Touched, touched...)
		s.report.Compared = append(s.report.Compared, e.name)
		work = append(work, e.tasks...)
	}
	slices.Sort(s.report.Touched)
	s.report.Touched = slices.Compact(s.report.Touched)
	return work, nil
}

// experiment is a scenario that both builds have, with its forms.
type experiment struct {
	name  string
	tasks []task
}

// common lists what both builds have and what is asked about, and notes what only
// one has.
func (s *session) common(before, after []Race) []experiment {
	patched := map[string]bool{}
	for _, f := range forms(after) {
		patched[f] = true
	}
	for _, f := range forms(before) {
		if !patched[f] {
			s.report.Missing = append(s.report.Missing, f+" is gone with the patch")
		}
		delete(patched, f)
	}
	for f := range patched {
		s.report.Missing = append(s.report.Missing, f+" is only there with the patch")
	}
	slices.Sort(s.report.Missing)
	there := map[string]bool{}
	for _, f := range forms(after) {
		there[f] = true
	}
	var both []experiment
	for _, race := range before {
		for _, sc := range race.Scenarios {
			e := experiment{name: race.Name + "/" + sc.Name}
			if !Asked(s.options.Races, race.Name, sc.Name) {
				continue
			}
			for _, t := range s.options.tasks(race.Name, &sc) {
				if there[e.name+" "+t.Form.Variant] {
					e.tasks = append(e.tasks, t)
				}
			}
			if len(e.tasks) > 0 {
				both = append(both, e)
			}
		}
	}
	return both
}

// Asked reports whether a scenario is among those that names, each "race" or
// "race/scenario", mean; no name means all.
func Asked(names []string, race, scenario string) bool {
	return len(names) == 0 || slices.Contains(names, race) || slices.Contains(names, race+"/"+scenario)
}

// tasks lists the forms of a scenario, each on each machine and under each model.
func (o Options) tasks(race string, s *Scenario) []task {
	machines := s.Machines
	if o.Arch != 0 {
		machines = []int{o.Arch}
	}
	var list []task
	for _, arch := range machines {
		for _, model := range o.Models {
			for _, v := range s.Variants {
				list = append(list, task{Workers: o.Workers, Limit: o.Limit,
					Form: verdict.Form{Race: race, Scenario: s.Name, Variant: v, Model: model, Arch: arch, MaxExecutions: o.MaxExecutions}})
			}
		}
	}
	return list
}

func forms(races []Race) []string {
	var names []string
	for _, r := range races {
		for _, s := range r.Scenarios {
			for _, v := range s.Variants {
				names = append(names, r.Name+"/"+s.Name+" "+v)
			}
		}
	}
	return names
}

// compare explores a form with the patch. Code that breaks the process, or never
// gives an answer, leaves the question open; the next one is asked another process.
func (s *session) compare(ctx context.Context, t task) error {
	v, err := s.new.compare(t)
	broken := (*BrokenError)(nil)
	switch {
	case errors.As(err, &broken) && ctx.Err() == nil:
		v = &verdict.Verdict{Race: t.Form.Race, Scenario: t.Form.Scenario, Variant: t.Form.Variant, Model: t.Form.Model,
			Baseline: t.Form.Variant + " without the patch", Class: scenario.Unknown, Expected: scenario.Unknown, Reason: broken.Error()}
		v.Scope.Arch = t.Form.Arch
		if err := s.restart(ctx); err != nil {
			return err
		}
	case err != nil:
		return fmt.Errorf("%s/%s, %s under %s with the patch: %w", t.Form.Race, t.Form.Scenario, t.Form.Variant, t.Form.Model, err)
	}
	s.report.Verdicts = append(s.report.Verdicts, v)
	s.report.Class = s.report.Class.Worse(v.Class)
	return nil
}

// conclude says why the class is what it is.
func (s *session) conclude() {
	r := s.report
	if len(r.Touched) == 0 && r.Class != scenario.Harmful {
		r.Class = scenario.Unknown
		r.Reason = "the patch touches nothing that any scenario runs, so nothing is known about it"
		return
	}
	r.Races = newRaces(r.Verdicts)
	if unseen := slices.IndexFunc(r.Races, func(e verdict.Evidence) bool { return !e.BothOrders() }); unseen >= 0 && r.Class != scenario.Harmful {
		r.Class = scenario.Unknown
		r.Reason = "vacuous: the race that the patch brings was never seen both ways round: " + r.Races[unseen].Site
		return
	}
	worst := r.Verdicts[slices.IndexFunc(r.Verdicts, func(v *verdict.Verdict) bool { return v.Class == r.Class })]
	r.Reason = fmt.Sprintf("%s/%s, %s under %s: %s", worst.Race, worst.Scenario, worst.Variant, worst.Model, worst.Reason)
	if r.Class == scenario.Indistinguishable {
		r.Reason = fmt.Sprintf("every outcome with the patch is one without it, in %d comparisons", len(r.Verdicts))
	}
}

// newRaces adds up the evidence of the races that were reached with the patch
// only.
func newRaces(verdicts []*verdict.Verdict) []verdict.Evidence {
	var sums []verdict.Evidence
	for _, v := range verdicts {
		for _, e := range v.Evidence {
			if !slices.Contains(v.NewSites, e.Site) {
				continue
			}
			at := slices.IndexFunc(sums, func(sum verdict.Evidence) bool { return sum.Site == e.Site })
			if at < 0 {
				at = len(sums)
				sums = append(sums, verdict.Evidence{Site: e.Site, Reason: e.Reason})
			}
			sums[at].Executions += e.Executions
			sums[at].Racing += e.Racing
			sums[at].ReadFirst += e.ReadFirst
			sums[at].WriteFirst += e.WriteFirst
		}
	}
	slices.SortFunc(sums, func(a, b verdict.Evidence) int { return strings.Compare(a.Site, b.Site) })
	return sums
}

// Replay runs a trace again in a build with the patch; name is what messages call
// the trace. What the form shows without the patch is explored if it matters.
func (t Tree) Replay(ctx context.Context, p *patch.Patch, name string, trace []byte) (*Replayed, error) {
	if err := Check(p); err != nil {
		return nil, &MisuseError{err.Error()}
	}
	sources, err := t.Apply(p)
	if err != nil {
		return nil, err
	}
	directory, err := os.MkdirTemp("", "benign-review-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(directory)
	s := &session{tree: t, directory: directory}
	defer s.close()
	if s.new, err = s.start(ctx, Build{Patch: p, Sources: sources}, "patched"); err != nil {
		return nil, err
	}
	s.new.Before = func(f verdict.Form) (o verdict.Observed, err error) {
		if s.old == nil {
			if s.old, err = s.start(ctx, Build{}, "unpatched"); err != nil {
				return nil, err
			}
		}
		return s.old.observe(task{Form: f, Workers: 1})
	}
	return s.new.Replay(name, trace)
}
