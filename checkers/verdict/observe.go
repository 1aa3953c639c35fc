package verdict

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"benign/checkers/explore"
	"benign/checkers/graph"
	"benign/checkers/linear"
	"benign/checkers/memmodel"
	"benign/checkers/progress"
	"benign/impl/kernel"
)

// observation is what all executions of one variant under one model showed.
type observation struct {
	config explore.Config
	stats  explore.Stats

	mutex     sync.Mutex
	outcomes  map[string]int
	states    map[string]bool
	evidence  map[string]*Evidence
	ledger    progress.Ledger
	broken    map[string]int // executions that break something, by kind
	worst     []culprit      // the shortest of the worst of them
	histories map[string]error
	undecided bool
	tasks     []string
	calls     int
}

// culprit is an execution that breaks something.
type culprit struct {
	graph    *graph.Graph
	kind     string
	message  string
	whole    bool // only the whole execution shows it
	steps    int
	identity string
}

// culprits is how many of the shortest are kept for shortening.
const culprits = 12

// Kinds of findings beside the violations of the machine.
const (
	kindHistory = "not linearizable"
	kindLost    = "work lost"
	kindState   = "final state"
)

// observe explores the variant and adds up what it shows.
func observe(config explore.Config) (*observation, error) {
	o := &observation{config: config}
	o.forget()
	config.Visit, config.Restart = o.visit, o.forget
	stats, err := explore.Explore(config)
	o.stats = stats
	return o, err
}

// forget begins anew, when the exploration does.
func (o *observation) forget() {
	o.outcomes, o.states, o.evidence = map[string]int{}, map[string]bool{}, map[string]*Evidence{}
	o.ledger, o.broken, o.worst = progress.Ledger{}, map[string]int{}, nil
	o.histories, o.undecided = map[string]error{}, false
}

// visit takes one execution into account. Several workers call it at once.
func (o *observation) visit(e *explore.Execution) {
	history, key := historyOf(e)
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.describe(e)
	if e.Violation != nil {
		o.blame(culprit{graph: e.Graph, kind: e.Violation.Kind.String(), message: e.Violation.Message, whole: e.Ended})
		return
	}
	o.outcomes[e.Outcome()]++
	o.states[e.State] = true
	o.collect(e)
	if err := o.ledger.Add(e); err != nil {
		o.blame(culprit{graph: e.Graph, kind: kindLost, message: err.Error(), whole: true})
	}
	if err := o.explained(e, history, key); err != nil {
		o.blame(culprit{graph: e.Graph, kind: kindHistory, message: err.Error(), whole: true})
	}
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

// blame counts an execution that breaks something and keeps it if there are
// few worse and shorter ones.
func (o *observation) blame(c culprit) {
	o.broken[c.kind]++
	c.steps, c.identity = visible(c.graph), c.graph.Key()
	o.worst = append(o.worst, c)
	slices.SortFunc(o.worst, compareCulprits)
	o.worst = o.worst[:min(len(o.worst), culprits)]
}

// compareCulprits puts broken memory first, then what takes fewer steps to
// show; the rest keeps the order the same on every run.
func compareCulprits(a, b culprit) int {
	return cmp.Or(cmp.Compare(rank(a.kind), rank(b.kind)), cmp.Compare(a.steps, b.steps),
		cmp.Compare(len(a.graph.Events), len(b.graph.Events)), cmp.Compare(a.identity, b.identity))
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
		if k := g.Events[id].Kind; k != graph.LockWrite && k != graph.UpdateWrite && !private(int32(id)) {
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

// explained judges the history against the scenario's specification. Equal
// histories are judged once.
func (o *observation) explained(e *explore.Execution, history []linear.Call, key string) error {
	if e.Spec == nil || len(history) == 0 {
		return nil
	}
	err, known := o.histories[key]
	if known {
		return err
	}
	var result linear.Result
	if history[0].Return < 0 {
		result, err = linear.CheckProgramOrder(e.Spec, history)
	} else {
		result, err = linear.Check(e.Spec, history)
	}
	o.undecided = o.undecided || result == linear.Undecided
	o.histories[key] = err
	return err
}

// historyOf turns the operations into calls with times, and names the history
// so that equal ones are known. An execution that is an interleaving has times;
// of another only the order within each task is known, and Return is -1.
func historyOf(e *explore.Execution) ([]linear.Call, string) {
	if !e.Ended || e.Spec == nil {
		return nil, ""
	}
	sequential, _ := memmodel.New("sc")
	timed := sequential.Consistent(e.Graph)
	var position map[int32]map[int32]int64
	if timed {
		position = positions(e.Graph)
	}
	calls := make([]linear.Call, len(e.Operations))
	for i, op := range e.Operations {
		calls[i] = linear.Call{Task: op.Task, Name: op.Name, Call: -1, Return: -1, Effects: op.Result.Effects}
		if timed {
			calls[i].Call, calls[i].Return = interval(position[int32(op.Task)], op)
		}
	}
	var key strings.Builder
	for i, op := range e.Operations {
		fmt.Fprintf(&key, "%d %s %v;", op.Task, op.Name, op.Result.Effects)
		for j := range calls {
			if timed && calls[j].Return < calls[i].Call {
				fmt.Fprintf(&key, " %d", j)
			}
		}
		fmt.Fprintf(&key, " %v\n", timed)
	}
	return calls, key.String()
}

// positions says where each event, named by task and index, stands in one
// interleaving.
func positions(g *graph.Graph) map[int32]map[int32]int64 {
	at := map[int32]map[int32]int64{}
	for n, id := range memmodel.Interleave(g) {
		e := &g.Events[id]
		if at[e.Task] == nil {
			at[e.Task] = map[int32]int64{}
		}
		at[e.Task][e.Index] = int64(n)
	}
	return at
}

// interval is the time from before the operation's first event to after its
// last. One without events stands right after what its task did before.
func interval(at map[int32]int64, op explore.Operation) (call, end int64) {
	if op.First == op.End {
		after := int64(0)
		if op.First > 0 {
			after = 3*at[op.First-1] + 1
		}
		return after, after
	}
	return 3 * at[op.First], 3*at[op.End-1] + 1
}

// finding turns the shortest culprit into something to read, shortened and
// replayed with source places.
func (o *observation) finding(h explore.TraceHeader) (*Finding, error) {
	var best *culprit
	for i := range o.worst {
		c := &o.worst[i]
		if !c.whole {
			c.graph = explore.Shorten(o.config, c.graph, c.kind)
			c.steps = visible(c.graph)
		}
		if best == nil || compareCulprits(*c, *best) < 0 {
			best = c
		}
	}
	if best == nil {
		return nil, errors.New("verdict: nothing is broken")
	}
	f := &Finding{Kind: best.kind, Message: best.message, Count: total(o.broken), Kinds: o.broken, Trace: explore.FormatTrace(h, best.graph)}
	e, steps, err := explore.ReplayGraph(o.config, best.graph)
	if err != nil {
		return nil, err
	}
	if e.Violation != nil {
		f.Message = e.Violation.Message
	}
	f.show(e, steps)
	return f, nil
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

func (f *Finding) show(e *explore.Execution, steps []explore.Step) {
	for i := range e.Graph.Tasks {
		f.Tasks = append(f.Tasks, e.Graph.Tasks[i].Name)
	}
	private := private(e.Graph)
	few := len(slices.DeleteFunc(slices.Clone(steps), func(s explore.Step) bool { return private(s.Event) })) < fewSteps
	for i, s := range steps {
		step := Step{Task: s.Task, Private: private(s.Event) && !few && i < len(steps)-1, What: s.What, Note: s.Note}
		if len(s.Places) > 0 {
			step.Place, step.Callers = s.Places[0], s.Places[1:]
		}
		f.Steps = append(f.Steps, step)
	}
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
