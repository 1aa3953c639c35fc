package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"benign/checkers/explain"
	"benign/checkers/explore"
	"benign/checkers/review"
	"benign/checkers/verdict"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// explainCommand writes what a maintainer asks about a race.
type explainCommand struct {
	Name   string   `arg:"" placeholder:"RACE|PATCH" help:"A race, one of its scenarios as race/scenario, or a patch: a file such as my.patch, or - for the standard input."`
	Format string   `default:"changelog" enum:"changelog,markdown" placeholder:"FORM" help:"changelog, in 72 columns for a commit message, or markdown (${default})."`
	Gain   bool     `help:"Measure what the race gains, briefly, if there is a benchmark for it."`
	Race   []string `placeholder:"NAME" help:"Ask a patch about this race, or one of its scenarios as race/scenario, and no other. Repeat it for several."`

	Model         []string      `placeholder:"NAME" help:"Memory model: ${models}. Repeat it for several. Without it: ${defaults}."`
	Arch          *int          `placeholder:"BITS" help:"The machine's words have 32 or 64 bits. Without it: 64, and 32 too where a scenario shares words of 64 bits."`
	Workers       int           `default:"${processors}" placeholder:"N" help:"Explore with N goroutines (${default})."`
	MaxExecutions int           `default:"${executions}" placeholder:"N" help:"Give up on a variant after N executions; the answer is UNKNOWN then, unless harm was found (${default})."`
	Limit         time.Duration `placeholder:"TIME" help:"Give up on a race after this time; on a form of a patch after this time, or 10m."`
	Quiet         bool          `help:"Show no progress, even on a terminal."`
}

// Validate refuses bounds that allow nothing.
func (c *explainCommand) Validate() error {
	if c.Limit < 0 {
		return fmt.Errorf("--limit %v: want a time", c.Limit)
	}
	asked := c.asking()
	return asked.Validate()
}

func (c *explainCommand) asking() asking {
	return asking{Model: c.Model, Arch: c.Arch, Workers: c.Workers, MaxExecutions: c.MaxExecutions, Quiet: c.Quiet}
}

func (c *explainCommand) run(e *environment) (exit int, err error) {
	asked := c.asking()
	line := asked.progress(e.stderr)
	var s *story
	if isPatch(c.Name, raceNames(e.races)) {
		s, err = c.ofPatch(e, line)
	} else {
		s, err = c.ofRace(e, line)
	}
	if err == nil && c.Gain && s.benchmark != nil {
		s.gain, err = briefly(s.benchmark).measure(line)
	}
	line.clear()
	if err != nil {
		return 0, err
	}
	if c.Format == "markdown" {
		s.document().writeMarkdown(e.stdout)
	} else {
		s.document().writeChangelog(e.stdout)
	}
	return s.exit, nil
}

// isPatch tells a patch from a race or one of its scenarios, which win over files
// of the same name. A name that nearly is a race's is taken for one.
func isPatch(name string, races []string) bool {
	first, _, path := strings.Cut(name, "/")
	switch {
	case name == "-" || strings.HasSuffix(name, ".patch") || strings.HasSuffix(name, ".diff"):
		return true
	case slices.Contains(races, first):
		return false
	}
	if _, err := os.Stat(name); err == nil {
		return true
	}
	return path && len(nearest(first, races)) == 0
}

// ofRace answers the question as verify race does, and takes a closer look at the
// candidates.
func (c *explainCommand) ofRace(e *environment, line *progress) (*story, error) {
	if len(c.Race) > 0 {
		return nil, misuse("--race chooses what a patch is asked about, and %s is none", c.Name)
	}
	race, err := selectRace(e.races, c.Name)
	if err != nil {
		return nil, err
	}
	asked := c.asking()
	asked.Budget.time = c.Limit
	o, err := asked.options(line)
	if err != nil {
		return nil, err
	}
	q, err := verdict.Ask(race, o)
	if err != nil {
		return nil, err
	}
	s := &story{title: q.Title, patch: race.Patch, class: q.Class, verdicts: q.Verdicts, planted: faults(race, q.Planted), finding: race.Finding, exit: exitOf(q)}
	s.benchmark = benchmarkOf(race.Name)
	if missed(q.Planted) > 0 && s.class != scenario.Harmful {
		s.class = scenario.Unknown
	}
	s.races, err = look(race, o)
	return s, err
}

// look explores the candidates once more for what a verdict does not keep.
func look(race *scenario.Race, o verdict.Options) ([]explain.Race, error) {
	var sum []explain.Race
	for i := range race.Scenarios {
		s := &race.Scenarios[i]
		for _, model := range o.Models {
			for _, arch := range o.Machines(s) {
				found, err := explain.Collect(lookConfig(race, s, model, arch, o))
				if err != nil {
					return nil, err
				}
				sum = explain.Sum(sum, found)
			}
		}
	}
	return sum, nil
}

// lookConfig explores the candidate of a scenario as the judge did.
func lookConfig(race *scenario.Race, s *scenario.Scenario, model string, arch int, o verdict.Options) explore.Config {
	v := s.Variant(scenario.Candidate)
	config := explore.Config{Scenario: s, Variant: v, Model: model, Arch: arch, Workers: o.Workers, MaxExecutions: o.MaxExecutions, Deadline: o.Deadline}
	if o.Progress != nil {
		config.Progress = func(stats explore.Stats) {
			o.Progress(verdict.Progress{Race: race.Name, Scenario: s.Name, Variant: v.Name, Model: model, Stats: stats})
		}
	}
	return config
}

// patchLimit is how long a form of a patch may take if nothing else is said.
const patchLimit = 10 * time.Minute

// ofPatch compares the code as verify patch does, and lets the patched build take
// a closer look at the races that are new.
func (c *explainCommand) ofPatch(e *environment, line *progress) (*story, error) {
	p, err := readPatch(e, c.Name)
	if err != nil {
		return nil, err
	}
	t, err := tree()
	if err != nil {
		return nil, err
	}
	names, err := models(c.Model)
	if err != nil {
		return nil, err
	}
	asked := c.asking()
	o := review.Options{Models: names, Arch: asked.arch(), Workers: c.Workers, MaxExecutions: c.MaxExecutions, Limit: c.Limit, Races: c.Race,
		Explain: true, Cache: cacheDirectory(), Progress: line.stages()}
	if o.Limit == 0 {
		o.Limit = patchLimit
	}
	ctx, stop := interruptible()
	defer stop()
	r, err := t.Review(ctx, p, o)
	if err != nil {
		return nil, blame(ctx, err)
	}
	s := &story{title: r.Title, patch: r.Patch.Name, class: r.Class, verdicts: r.Verdicts, races: r.Explained, review: r, exit: exitOfClass(r.Class)}
	for _, race := range e.races {
		if slices.ContainsFunc(race.Sites, s.explains) {
			s.related = append(s.related, race.Name)
			if s.benchmark == nil {
				s.benchmark = benchmarkOf(race.Name)
			}
		}
	}
	return s, nil
}

// explains reports whether the site is one of those that the story is about.
func (s *story) explains(site *kernel.RaceSite) bool {
	return slices.ContainsFunc(s.races, func(r explain.Race) bool { return r.Site == site.Name })
}

// benchmarkOf returns what measures the gain of a race, with its defaults, or nil.
func benchmarkOf(race string) *rbEmptyBench {
	if race != "rb-empty" {
		return nil
	}
	return &rbEmptyBench{Inodes: 100_000, WithMaps: 200, Rounds: 15, Readers: 4}
}

// briefly is a benchmark that is over in a few seconds.
func briefly(b *rbEmptyBench) *rbEmptyBench {
	return &rbEmptyBench{Inodes: b.Inodes / 5, WithMaps: b.WithMaps / 5, Rounds: 5}
}

// fault is a planted fault, in all scenarios that it was tried in.
type fault struct {
	name, about string
	scenarios   []string
	noticed     []string // as what, in words
	missed      int
}

// faults puts the answers about one fault together.
func faults(race *scenario.Race, planted []*verdict.Verdict) []fault {
	var list []fault
	for _, v := range planted {
		at := slices.IndexFunc(list, func(f fault) bool { return f.name == v.Variant })
		if at < 0 {
			at = len(list)
			list = append(list, fault{name: v.Variant, about: aboutVariant(race, v)})
		}
		f := &list[at]
		if !slices.Contains(f.scenarios, v.Scenario) {
			f.scenarios = append(f.scenarios, v.Scenario)
		}
		if !v.AsExpected() {
			f.missed++
		}
		as := v.Class.String()
		if v.Finding != nil {
			as = v.Finding.Kind
		}
		if !slices.Contains(f.noticed, as) {
			f.noticed = append(f.noticed, as)
		}
	}
	return list
}

func aboutVariant(race *scenario.Race, v *verdict.Verdict) string {
	for i := range race.Scenarios {
		if s := &race.Scenarios[i]; s.Name == v.Scenario {
			return s.VariantNamed(v.Variant).About
		}
	}
	return ""
}
