package verdict

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"benign/checkers/explore"
	"benign/checkers/graph"
	"benign/checkers/linear"
	"benign/checkers/progress"
	"benign/impl/kernel"
)

// observation is what all executions of one variant under one model showed.
type observation struct {
	config explore.Config
	base   *observation // of the baseline, to compare final states with; nil for none
	stats  explore.Stats
	sample *explore.SampleStats // if it was sampled

	mutex     sync.Mutex
	outcomes  map[string]int
	explained map[string]bool // outcomes that a specification allows, or that leave work for later
	states    map[string]bool
	evidence  map[string]*Evidence
	ledger    progress.Ledger
	cost      Cost
	measures  map[string]Measure
	search    *search          // all that is looked for; nil looks for what is broken
	visited   int              // executions
	found     int              // what visited was when the first one broke something; 0 for none
	worst     culprits         // what breaks something
	strange   culprits         // what breaks nothing and ends as the baseline never does
	wanted    *fault           // the only one that is looked for; nil looks for all
	judged    map[string]error // by the key of a history
	undecided bool
	tasks     []string
	calls     int

	text  []byte            // of an outcome
	texts map[string]string // the outcomes, by their text

	unfinished bool // a bound or an interruption ended it, and a later run goes on
}

// culprit is an execution that breaks something.
type culprit struct {
	graph    *graph.Graph
	seed     uint64 // of the sample, if it is one
	kind     string
	message  string
	whole    bool // only the whole execution shows it
	switches int  // between tasks, once it is shortened
	steps    int
	identity string
}

func newCulprit(g *graph.Graph, seed uint64, kind, message string, whole bool) culprit {
	return culprit{graph: g, seed: seed, kind: kind, message: message, whole: whole, steps: visible(g), identity: g.Key()}
}

// culprits counts executions that break something, and keeps the shortest of
// the worst.
type culprits struct {
	wanted   *fault // see observation
	kinds    map[string]int
	shortest []culprit
}

// How many of the shortest are kept for shortening: a few of all faults, and
// practically all of a single one, in a scenario that has been shrunk.
const (
	maxCulprits = 12
	maxWanted   = 2000
)

// Kinds of findings beside the violations of the machine.
const (
	// KindHistory is a history that the specification forbids.
	KindHistory = "not linearizable"
	// KindLost is work that no number of rounds does.
	KindLost = "work lost"
	// KindState is a final state that the baseline never ends with.
	KindState = "final state"
)

// observe explores or samples the variant and adds up what it shows.
func (o Options) observe(race string, config explore.Config, base *observation) (*observation, error) {
	seen := newObservation(config, base, nil)
	return seen, o.gather(race, config, seen)
}

// gather adds up for an observation that has seen nothing yet. What a checkpoint
// has of it need not be done again; but what is compared with a baseline that was
// not done is not kept, for the baseline will have another say.
func (o Options) gather(race string, config explore.Config, seen *observation) (err error) {
	config.Visit, config.Borrow, config.Restart = seen.visit, true, seen.forget
	c, name := o.Checkpoint, partName(race, config.Scenario.Name, config.Variant.Name, config.Model, config.Arch)
	if seen.base != nil && seen.base.unfinished {
		c = nil
	}
	switch {
	case o.Bound != nil: // which no checkpoint keeps
		seen.stats, err = explore.ExploreBounded(config, *o.Bound)
	case o.Strategy != nil:
		err = o.sample(name, config, c, seen)
	case c != nil:
		err = c.explore(name, config, seen)
	default:
		seen.stats, err = explore.Explore(config)
	}
	return err
}

// sample draws the samples. A checkpoint has them all or none.
func (o Options) sample(name string, config explore.Config, c *Checkpoint, seen *observation) error {
	if c != nil {
		if p, drawn := c.parts[name]; drawn {
			return c.resume(p, &config, seen)
		}
	}
	samples := o.Samples
	if samples < 1 {
		samples = explore.DefaultSamples
	}
	stats, err := explore.Sample(config, o.Strategy, samples, max(1, o.Seed))
	seen.stats, seen.sample = stats.Stats, &stats
	seen.unfinished = stats.Samples < samples
	if err != nil || c == nil || seen.unfinished {
		return err
	}
	return c.finish(name, seen)
}

func newObservation(config explore.Config, base *observation, wanted *fault) *observation {
	o := &observation{config: config, base: base, wanted: wanted}
	o.forget()
	return o
}

// forget begins anew, when the exploration does.
func (o *observation) forget() {
	o.outcomes, o.explained, o.states, o.evidence = map[string]int{}, map[string]bool{}, map[string]bool{}, map[string]*Evidence{}
	o.cost, o.measures, o.visited, o.found = Cost{}, map[string]Measure{}, 0, 0
	o.ledger, o.worst, o.strange = progress.Ledger{}, culprits{wanted: o.wanted}, culprits{wanted: o.wanted}
	o.judged, o.undecided = map[string]error{}, false
	o.texts = map[string]string{}
}

// sound reports whether every final state of the variant is known.
func (o *observation) sound() bool { return o.stats.Exhaustive && o.worst.empty() }

// visit takes one execution into account, which is lent. Several workers call it
// at once.
func (o *observation) visit(e *explore.Execution) {
	h := histories.Get().(*history)
	defer histories.Put(h)
	h.read(e)
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.visited++
	defer o.notice()
	o.describe(e)
	if o.search != nil {
		o.visitReach(e)
		return
	}
	if e.Violation != nil {
		o.worst.add(newCulprit(e.Graph, e.Seed, e.Violation.Kind.String(), e.Violation.Message, e.Ended))
		return
	}
	if !e.Ended {
		return // a trace that ends before the code does
	}
	outcome := o.outcomeOf(e)
	o.outcomes[outcome]++
	o.explained[outcome] = o.explained[outcome] || e.Spec != nil || len(e.Debt) > 0 && e.Debt[0] > 0
	o.states[e.State] = true
	o.cost.add(e.Graph)
	o.measure(e)
	o.collect(e)
	if o.base != nil && !o.base.states[e.State] {
		o.strange.add(strange(e))
	}
	if err := o.ledger.Add(e); err != nil {
		o.worst.add(newCulprit(e.Graph, e.Seed, KindLost, err.Error(), true))
	}
	if err := o.judge(e, h); err != nil {
		o.worst.add(newCulprit(e.Graph, e.Seed, KindHistory, err.Error(), true))
	}
}

// notice notes when the first execution has broken something.
func (o *observation) notice() {
	if o.found == 0 && !(o.worst.empty() && o.strange.empty()) {
		o.found = o.visited
	}
}

// outcomeOf returns the outcome of the execution, which is one string for all that
// have it.
func (o *observation) outcomeOf(e *explore.Execution) string {
	o.text = e.AppendOutcome(o.text[:0])
	outcome, known := o.texts[string(o.text)]
	if !known {
		outcome = string(o.text)
		o.texts[outcome] = outcome
	}
	return outcome
}

// strange blames an execution for its final state.
func strange(e *explore.Execution) culprit {
	return newCulprit(e.Graph, e.Seed, KindState, "the baseline never ends with "+e.State, true)
}

// describe notes the tasks and their operations, once.
func (o *observation) describe(e *explore.Execution) {
	if o.tasks != nil || !e.Ended {
		return
	}
	for i := range e.Graph.Tasks {
		var names []string
		for _, op := range e.Operations {
			if op.Task == i {
				names = append(names, op.Name)
				o.calls++
			}
		}
		if len(names) > 0 {
			o.tasks = append(o.tasks, e.Graph.Tasks[i].Name+": "+strings.Join(names, ", "))
		}
	}
}

func (c *culprits) empty() bool { return len(c.shortest) == 0 }

// add counts an execution that breaks something and keeps it if there are few
// worse and shorter ones.
func (c *culprits) add(one culprit) {
	most := maxCulprits
	if c.wanted != nil {
		most = maxWanted
		if !c.wanted.is(one.kind, one.message) {
			return
		}
	}
	if c.kinds == nil {
		c.kinds = map[string]int{}
	}
	c.kinds[one.kind]++
	at, _ := slices.BinarySearchFunc(c.shortest, one, compareCulprits)
	if at == most {
		return
	}
	one.graph = one.graph.Clone() // which was lent
	c.shortest = slices.Insert(c.shortest, at, one)
	c.shortest = c.shortest[:min(len(c.shortest), most)]
}

// compareCulprits puts broken memory first, then what takes fewer switches and
// fewer steps to show; the rest keeps the order the same on every run.
func compareCulprits(a, b culprit) int {
	return cmp.Or(cmp.Compare(rank(a.kind), rank(b.kind)), cmp.Compare(a.switches, b.switches), cmp.Compare(a.steps, b.steps),
		cmp.Compare(len(a.graph.Events), len(b.graph.Events)), cmp.Compare(a.identity, b.identity), cmp.Compare(a.seed, b.seed))
}

func rank(kind string) int {
	for _, memory := range []kernel.ViolationKind{kernel.UseAfterFree, kernel.DoubleFree, kernel.ReferenceUnderflow, kernel.Crash} {
		if kind == memory.String() {
			return 0
		}
	}
	return 1
}

// visible counts the operations that a reader must see: not the second halves,
// and not those on memory that no other task touches.
func visible(g *graph.Graph) int {
	n, private := 0, private(g)
	for id := range g.Events {
		if k := g.Events[id].Kind; k != graph.LockWrite && k != graph.UpdateWrite && !g.SecondHalf(int32(id)) && !private(int32(id)) {
			n++
		}
	}
	return n
}

// private returns a test for events on words and locks that only one task of
// the execution touches.
func private(g *graph.Graph) func(id int32) bool {
	type place struct {
		owner kernel.ObjectID
		field uint32
	}
	name := func(id int32) place {
		l := &g.Locations[g.Events[id].Location]
		return place{l.Owner, l.Field}
	}
	task, shared := map[place]int32{}, map[place]bool{}
	for id := range g.Events {
		e := &g.Events[id]
		if e.Location < 0 {
			continue
		}
		at := name(int32(id))
		if first, known := task[at]; known && first != e.Task {
			shared[at] = true
		}
		task[at] = e.Task
	}
	return func(id int32) bool { return g.Events[id].Location >= 0 && !shared[name(id)] }
}

// collect adds the evidence of the deliberate races.
func (o *observation) collect(e *explore.Execution) {
	for _, seen := range e.Evidence {
		sum := o.evidence[seen.Site.Name]
		if sum == nil {
			sum = &Evidence{Site: seen.Site.Name, Reason: seen.Site.Reason}
			o.evidence[seen.Site.Name] = sum
		}
		sum.Executions++
		if seen.Unordered > 0 {
			sum.Racing++
		}
		sum.ReadFirst += seen.ReadFirst
		sum.WriteFirst += seen.WriterFirst
	}
}

// judge holds the history against the scenario's specification. Equal histories
// are judged once.
func (o *observation) judge(e *explore.Execution, h *history) error {
	if e.Spec == nil || len(h.calls) == 0 {
		return nil
	}
	if err, judged := o.judged[string(h.key)]; judged && h.known {
		return err
	}
	var result linear.Result
	var err error
	if h.timed {
		result, err = linear.Check(e.Spec, h.keep())
	} else {
		result, err = linear.CheckProgramOrder(e.Spec, h.keep())
	}
	o.undecided = o.undecided || result == linear.Undecided
	if h.known {
		o.judged[string(h.key)] = err
	}
	return err
}

func total(counts map[string]int) int {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}

// fewSteps is how many shared steps make a story by themselves; with fewer, the
// private ones are needed to see what happens.
const fewSteps = 3

func (f *Finding) show(e *explore.Execution, steps []explore.Step, config explore.Config) {
	private := private(e.Graph)
	few := len(slices.DeleteFunc(slices.Clone(steps), func(s explore.Step) bool { return private(s.Event) })) < fewSteps
	column := f.columns(e, steps, config)
	for i, s := range steps {
		step := Step{Task: column[s.Task], Private: private(s.Event) && !few && i < len(steps)-1, What: s.What, Note: s.Note}
		if len(s.Places) > 0 {
			step.Place, step.Callers = s.Places[0], s.Places[1:]
		}
		f.Steps = append(f.Steps, step)
	}
}

// columns names the tasks, and says which column each has. A task of which all
// is left out has none.
func (f *Finding) columns(e *explore.Execution, steps []explore.Step, config explore.Config) []int {
	column := make([]int, len(e.Graph.Tasks))
	for i, task := range e.Graph.Tasks {
		column[i] = len(f.Tasks)
		if len(config.Without) == 0 || slices.ContainsFunc(steps, func(s explore.Step) bool { return s.Task == i }) {
			f.Tasks = append(f.Tasks, task.Name)
		}
	}
	for _, o := range config.Without {
		f.LeftOut = append(f.LeftOut, e.Graph.Tasks[o.Task].Name+": "+o.Name)
	}
	return column
}

// without lists the outcomes of a that are not in b.
func without(a, b map[string]int) []string {
	var list []string
	for outcome := range a {
		if b[outcome] == 0 {
			list = append(list, outcome)
		}
	}
	slices.Sort(list)
	return list
}
