package race_test

import (
	"fmt"
	"slices"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/graph"
	"benign/checkers/memmodel"
	"benign/checkers/race"
	"benign/impl/kernel"

	"pgregory.net/rapid"
)

// touch is an access to the one region, after an event of its task (or before
// the first one: graph.Init).
type touch struct {
	task  int32
	after int32
	write bool
}

// closure is happens-before written down naively: nodes are the events and,
// behind them, the touches; edges are what the package comment lists; before is
// their transitive closure.
type closure struct {
	g       *graph.Graph
	touches []touch
	before  [][]bool
}

func newClosure(g *graph.Graph, touches []touch) *closure {
	c := &closure{g: g, touches: touches}
	n := len(g.Events) + len(touches)
	c.before = make([][]bool, n)
	for a := range c.before {
		c.before[a] = make([]bool, n)
		for b := range n {
			c.before[a][b] = c.programOrder(a, b) || c.startOrJoin(a, b)
		}
	}
	for id := range g.Events {
		c.synchronize(int32(id))
	}
	for k := range n {
		for a := range n {
			for b := range n {
				c.before[a][b] = c.before[a][b] || c.before[a][k] && c.before[k][b]
			}
		}
	}
	return c
}

// place is a node's task and position: events at 2·index, touches behind them.
func (c *closure) place(node int) (task int32, at int) {
	if node < len(c.g.Events) {
		e := &c.g.Events[node]
		return e.Task, 2 * int(e.Index)
	}
	x := c.touches[node-len(c.g.Events)]
	if x.after == graph.Init {
		return x.task, -1
	}
	return x.task, 2*int(c.g.Events[x.after].Index) + 1
}

func (c *closure) programOrder(a, b int) bool {
	task, at := c.place(a)
	other, later := c.place(b)
	return task == other && (at < later || at == later && a < b)
}

func (c *closure) startOrJoin(a, b int) bool {
	task, _ := c.place(a)
	other, _ := c.place(b)
	starts := a < len(c.g.Events) && c.g.Events[a].Kind == graph.Spawn && c.g.Events[a].Child == other
	joins := b < len(c.g.Events) && c.g.Events[b].Kind == graph.Join && c.g.Events[b].Child == task
	return starts || joins
}

// synchronize adds the edges that end with what the event reads.
func (c *closure) synchronize(id int32) {
	e := &c.g.Events[id]
	if e.Source == graph.Init {
		return
	}
	if e.Kind == graph.LockRead {
		c.before[c.g.Events[e.Source].End][id] = true
	}
	if e.Kind != graph.Read && e.Kind != graph.UpdateRead || e.Order == kernel.Plain {
		return
	}
	for _, from := range c.released(e.Source) {
		for _, to := range c.acquired(id) {
			c.before[from][to] = true
		}
	}
}

// released returns where the release sequences begin that the write belongs to.
func (c *closure) released(write int32) []int32 {
	w := &c.g.Events[write]
	var from []int32
	if w.Order != kernel.Plain {
		if w.Order.Releases() {
			from = append(from, write)
		}
		for p := w.Previous; p != graph.Init; p = c.g.Events[p].Previous {
			if c.fence(p, kernel.WriteBarrier) {
				from = append(from, p)
			}
		}
	}
	if w.Kind == graph.UpdateWrite {
		if source := c.g.Events[w.Pair].Source; source != graph.Init {
			from = append(from, c.released(source)...)
		}
	}
	return from
}

// acquired returns the events from which on a read is known to have happened.
func (c *closure) acquired(read int32) []int32 {
	var to []int32
	e := &c.g.Events[read]
	if e.Kind == graph.Read && e.Order.Acquires() {
		to = append(to, read)
	}
	switch {
	case e.Kind != graph.UpdateRead:
	case e.Order == kernel.Sequential: // even if it fails
		to = append(to, read)
	case e.Order.Acquires() && e.Pair != graph.Init:
		to = append(to, e.Pair)
	}
	for id := range c.g.Events {
		if later := &c.g.Events[id]; later.Task == e.Task && later.Index > e.Index && c.fence(int32(id), kernel.ReadBarrier) {
			to = append(to, int32(id))
		}
	}
	return to
}

// fence reports whether the event is a barrier of the kind, or stronger.
func (c *closure) fence(id int32, kind kernel.Barrier) bool {
	e := &c.g.Events[id]
	if e.Kind == graph.UpdateWrite {
		return e.Order == kernel.Full
	}
	return e.Kind == graph.Barrier && (e.Barrier == kind || e.Barrier == kernel.FullBarrier)
}

// conflict reports whether two touches conflict and are not ordered.
func (c *closure) conflict(a, b int) bool {
	x, y := c.touches[a], c.touches[b]
	first, second := a+len(c.g.Events), b+len(c.g.Events)
	return x.task != y.task && (x.write || y.write) && !c.before[first][second] && !c.before[second][first]
}

// drawTask draws a task of the machine. Children are started by the first only.
func drawTask(t *rapid.T, length int, spawns bool) body {
	var steps []body
	operations := []string{"load", "store", "add", "cas", "barrier", "section", "reading section", "writing section"}
	if spawns {
		operations = append(operations, "child", "joined child", "child", "joined child")
	}
	for range rapid.IntRange(1, length).Draw(t, "length") {
		word := rapid.IntRange(0, 1).Draw(t, "word")
		at := func(m *shared) *kernel.Word[int] { return []*kernel.Word[int]{&m.x, &m.y}[word] }
		order := func(orders ...kernel.Order) kernel.Order { return rapid.SampledFrom(orders).Draw(t, "order") }
		updates := []kernel.Order{once, acq, rel, kernel.AcquireRelease, full, kernel.Sequential}
		switch rapid.SampledFrom(operations).Draw(t, "operation") {
		case "load":
			o := order(once, acq, kernel.Sequential)
			steps = append(steps, func(t *kernel.Task, m *shared) { at(m).Load(t, o) })
		case "store":
			o := order(once, rel, kernel.Sequential)
			steps = append(steps, func(t *kernel.Task, m *shared) { at(m).Store(t, o, 1) })
		case "add":
			o := order(updates...)
			steps = append(steps, func(t *kernel.Task, m *shared) { at(m).Add(t, o, 1) })
		case "cas":
			o := order(updates...)
			steps = append(steps, func(t *kernel.Task, m *shared) { at(m).CompareAndSwap(t, o, 1, 2) })
		case "barrier":
			b := rapid.SampledFrom([]kernel.Barrier{mb, rmb, wmb}).Draw(t, "barrier")
			steps = append(steps, func(t *kernel.Task, _ *shared) { t.Barrier(b) })
		case "section":
			steps = append(steps, inLock(func(t *kernel.Task, m *shared) {}))
		case "reading section":
			steps = append(steps, inRead(func(t *kernel.Task, m *shared) {}))
		case "writing section":
			steps = append(steps, inWrite(func(t *kernel.Task, m *shared) {}))
		case "child", "joined child":
			child, join := drawTask(t, 2, false), rapid.Bool().Draw(t, "join")
			steps = append(steps, func(t *kernel.Task, m *shared) {
				c := t.Go("child", func(t *kernel.Task) { child(t, m) })
				if join {
					t.Join(c)
				}
			})
		}
	}
	return func(t *kernel.Task, m *shared) {
		for _, step := range steps {
			step(t, m)
		}
	}
}

// executions explores a random program and returns a few of its executions.
func executions(t *rapid.T, model string) []*graph.Graph {
	tasks := []body{drawTask(t, 3, true), drawTask(t, 3, false)}
	if rapid.Bool().Draw(t, "third") {
		tasks = append(tasks, drawTask(t, 1, false))
	}
	var graphs []*graph.Graph
	s := program(tasks...)
	_, err := explore.Explore(explore.Config{Scenario: s, Variant: &s.Variants[0], Model: model, MaxExecutions: 500,
		Restart: func() { graphs = nil },
		Visit: func(e *explore.Execution) {
			if e.Ended {
				graphs = append(graphs, e.Graph)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	if len(graphs) > 5 {
		at := rapid.IntRange(0, len(graphs)-5).Draw(t, "executions from")
		graphs = graphs[at : at+5]
	}
	return graphs
}

// TestDetectorAgreesWithClosure runs the detector over executions of random
// programs, with touches of a region drawn into them and some of the accesses
// turned plain, and compares every answer with the naive closure.
func TestDetectorAgreesWithClosure(t *testing.T) {
	for _, model := range memmodel.Names() {
		t.Run(model, func(t *testing.T) {
			var d race.Detector
			rapid.Check(t, func(t *rapid.T) {
				for _, g := range executions(t, model) {
					g = g.Clone()
					for id := range g.Events {
						if k := g.Events[id].Kind; (k == graph.Read || k == graph.Write) && rapid.IntRange(0, 4).Draw(t, "plain") == 0 {
							g.Events[id].Order = kernel.Plain
							if rapid.IntRange(0, 2).Draw(t, "annotated") == 0 {
								g.Events[id].Site = meant
							}
						}
					}
					replay{g: g, d: &d, closure: newClosure(g, drawTouches(t, g))}.run(t)
				}
			})
		})
	}
}

// meant is the annotation of some of the plain accesses.
var meant = kernel.DataRaceSite("meant", "it is drawn so")

func drawTouches(t *rapid.T, g *graph.Graph) []touch {
	var touches []touch
	for task := range int32(len(g.Tasks)) {
		for id := range int32(len(g.Events)) {
			if g.Events[id].Task == task && rapid.IntRange(0, 5).Draw(t, "touch") == 0 {
				touches = append(touches, touch{task: task, after: id, write: rapid.Bool().Draw(t, "write")})
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "touch first") == 0 {
			touches = append(touches, touch{task: task, after: graph.Init, write: rapid.Bool().Draw(t, "write")})
		}
	}
	return touches
}

// replay runs the detector as a run of the explorer does.
type replay struct {
	g       *graph.Graph
	d       *race.Detector
	closure *closure
}

func (r replay) run(t *rapid.T) {
	r.d.Reset()
	order := memmodel.Interleave(r.g)
	slot, touched, raced := 0, []int{}, false
	visit := func(task, after int32) {
		for i, x := range r.closure.touches {
			if x.task != task || x.after != after || raced {
				continue
			}
			raced = r.touch(t, i, &slot, touched)
			touched = append(touched, i)
		}
	}
	// start launches a task: its touches before the first event come at once.
	start := func(task int32) {
		r.d.Start(task, r.g.Tasks[task].Spawn)
		visit(task, graph.Init)
		if r.g.Tasks[task].Last == graph.Init {
			r.d.Finish(task)
		}
	}
	for task := range int32(len(r.g.Tasks)) {
		if r.g.Tasks[task].Spawn == graph.Init {
			start(task)
		}
	}
	var done []int32
	for _, id := range order {
		e := &r.g.Events[id]
		r.d.Event(r.g, id)
		if e.Kind == graph.Read || e.Kind == graph.Write || e.Kind == graph.UpdateRead || e.Kind == graph.UpdateWrite {
			r.word(t, id, done)
		}
		done = append(done, id)
		if e.Kind == graph.Spawn {
			start(e.Child)
		}
		visit(e.Task, id)
		if r.g.Tasks[e.Task].Last == id {
			r.d.Finish(e.Task)
		}
	}
	for a := range int32(len(r.g.Events)) {
		for b := range int32(len(r.g.Events)) {
			if a != b && r.d.Ordered(r.g, a, b) != r.closure.before[a][b] {
				t.Fatalf("event %d happens before %d: detector says %v, closure %v%s", a, b, r.d.Ordered(r.g, a, b), r.closure.before[a][b], show(r.g))
			}
		}
	}
}

// touch compares the answer for one access to the region and reports whether it
// was a conflict.
func (r replay) touch(t *rapid.T, i int, slot *int, touched []int) bool {
	x := r.closure.touches[i]
	conflict := r.d.Region(x.task, slot, x.write)
	var with []int32
	for _, earlier := range touched {
		if r.closure.conflict(earlier, i) {
			with = append(with, r.closure.touches[earlier].task)
		}
	}
	if (conflict != nil) != (len(with) > 0) || conflict != nil && !slices.Contains(with, conflict.Other) {
		t.Fatalf("touch %+v conflicts with %+v, closure says with tasks %v; touches %+v%s", x, conflict, with, r.closure.touches, show(r.g))
	}
	return conflict != nil
}

// word compares the answer for one access to a word.
func (r replay) word(t *rapid.T, id int32, done []int32) {
	e := &r.g.Events[id]
	var with []int32
	for _, other := range done {
		f := &r.g.Events[other]
		switch f.Kind {
		case graph.Read, graph.Write, graph.UpdateRead, graph.UpdateWrite:
		default:
			continue
		}
		plain := e.Order == kernel.Plain && e.Site != meant || f.Order == kernel.Plain && f.Site != meant
		if f.Location == e.Location && f.Task != e.Task && (e.Writes() || f.Writes()) && plain && !r.closure.before[other][id] {
			with = append(with, other)
		}
	}
	conflict := r.d.Word(r.g, id)
	if (conflict != nil) != (len(with) > 0) || conflict != nil && !slices.Contains(with, conflict.OtherEvent) {
		t.Fatalf("event %d conflicts with %+v, closure says with %v%s", id, conflict, with, show(r.g))
	}
}

func show(g *graph.Graph) string {
	text := ""
	for id, e := range g.Events {
		text += fmt.Sprintf("\n%d: T%d %v %v %v at %d from %d pair %d end %d", id, e.Task+1, e.Kind, e.Order, e.Barrier, e.Location, e.Source, e.Pair, e.End)
	}
	return text
}
