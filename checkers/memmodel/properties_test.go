package memmodel_test

import (
	"fmt"
	"slices"
	"testing"

	"benign/checkers/graph"
	"benign/checkers/memmodel"
	"benign/impl/kernel"

	"pgregory.net/rapid"
)

// builder grows a random graph event by event.
type builder struct {
	t      *rapid.T
	g      *graph.Graph
	closed []bool // by task: it has been joined
	taste  taste
}

// taste says what a graph is made of: few kinds of events meet more often.
type taste struct {
	operations             []string
	loads, stores, updates []kernel.Order
	barriers               []kernel.Barrier
}

var (
	anyUpdate  = []kernel.Order{kernel.Once, kernel.Acquire, kernel.Release, kernel.AcquireRelease, kernel.Full, kernel.Sequential}
	anyBarrier = []kernel.Barrier{kernel.FullBarrier, kernel.ReadBarrier, kernel.WriteBarrier}
	strongOnly = []kernel.Barrier{kernel.FullBarrier}
)

var tastes = []taste{
	{[]string{"read", "write", "update", "fail", "barrier", "lock", "unlock", "try", "spawn", "join", "read", "write"},
		[]kernel.Order{once, acq, plain}, []kernel.Order{once, rel, plain}, anyUpdate, anyBarrier},
	{[]string{"read", "write", "update", "barrier"},
		[]kernel.Order{once, acq}, []kernel.Order{once, rel}, []kernel.Order{full}, strongOnly},
	{[]string{"read", "write", "lock", "unlock", "try", "lock", "unlock"},
		[]kernel.Order{once, plain}, []kernel.Order{once, plain}, anyUpdate, anyBarrier},
	{[]string{"read", "write", "update", "barrier", "spawn", "join"},
		[]kernel.Order{acq, plain}, []kernel.Order{rel, plain}, []kernel.Order{once}, anyBarrier},
	{[]string{"read", "write", "update", "fail", "barrier", "read", "write"},
		[]kernel.Order{once, acq, seqc}, []kernel.Order{once, rel, seqc}, []kernel.Order{once, full, seqc}, strongOnly},
	{[]string{"read", "write", "update", "fail", "lock", "unlock", "spawn"},
		[]kernel.Order{seqc, plain}, []kernel.Order{seqc, rel}, []kernel.Order{seqc}, anyBarrier},
	{[]string{"wide read", "wide write", "read", "write", "barrier"},
		[]kernel.Order{once, plain}, []kernel.Order{once, plain}, anyUpdate, anyBarrier},
	{[]string{"wide read", "wide write", "wide read", "wide write", "spawn", "join", "lock", "unlock"},
		[]kernel.Order{once, plain}, []kernel.Order{once, plain}, anyUpdate, anyBarrier},
	{[]string{"wide read", "wide write", "read", "write", "update"},
		[]kernel.Order{once, acq}, []kernel.Order{once, rel}, anyUpdate, strongOnly},
}

const (
	wordX, wordY, aLock = 0, 1, 2
	lowZ, highZ         = 3, 4 // the halves of a word
	maxEvents           = 12
)

func newBuilder(t *rapid.T) *builder {
	b := &builder{t: t, g: graph.New(), taste: tastes[rapid.IntRange(0, len(tastes)-1).Draw(t, "taste")]}
	for i := range rapid.IntRange(2, 3).Draw(t, "tasks") {
		b.g.AddTask(i+1, fmt.Sprintf("T%d", i+1), graph.Init)
		b.closed = append(b.closed, false)
	}
	for field := range uint32(3) {
		b.g.AddLocation(graph.Location{Owner: 1, Field: field, Lock: field == aLock})
	}
	for _, half := range []int{graph.LowHalf, graph.HighHalf} {
		b.g.AddLocation(graph.Location{Owner: 1, Field: 3, Strand: half})
	}
	return b
}

func event(kind graph.Kind, task int32, location int32) graph.Event {
	return graph.Event{Kind: kind, Task: task, Location: location, Source: graph.Init, Pair: graph.Init, End: graph.Init}
}

func (b *builder) pick(label string, options ...int32) int32 {
	return rapid.SampledFrom(options).Draw(b.t, label)
}

func (b *builder) order(options []kernel.Order) kernel.Order {
	return rapid.SampledFrom(options).Draw(b.t, "order")
}

// write is any write of the location, or the initial one.
func (b *builder) write(g *graph.Graph, location int32) int32 {
	return b.pick("write", append([]int32{graph.Init}, g.Coherence[location]...)...)
}

// open returns the section of the lock that has not ended, or Init.
func open(g *graph.Graph) int32 {
	if last := g.LastWrite(aLock); last != graph.Init && g.Events[last].End == graph.Init {
		return last
	}
	return graph.Init
}

// step returns the graph with one more operation of a random task, or nil if
// the operation drawn is not possible. newest has every choice be the newest.
func (b *builder) step(newest bool) *graph.Graph {
	g := b.g.Clone()
	var running []int32
	for task, closed := range b.closed {
		if !closed {
			running = append(running, int32(task))
		}
	}
	task := b.pick("task", running...)
	location := b.pick("word", wordX, wordY)
	choose := func() int32 { return b.write(g, location) }
	if newest {
		choose = func() int32 { return g.LastWrite(location) }
	}
	switch rapid.SampledFrom(b.taste.operations).Draw(b.t, "operation") {
	case "read":
		e := event(graph.Read, task, location)
		e.Order, e.Source = b.order(b.taste.loads), choose()
		g.Add(e)
	case "write":
		e := event(graph.Write, task, location)
		e.Order = b.order(b.taste.stores)
		g.Place(g.Add(e), choose())
	case "wide read", "wide write":
		b.halves(g, task, newest)
	case "update":
		e := event(graph.UpdateRead, task, location)
		e.Order, e.Source = b.order(b.taste.updates), choose()
		addPair(g, e, graph.UpdateWrite)
	case "fail":
		e := event(graph.UpdateRead, task, location)
		e.Order, e.Source = b.order(b.taste.updates), choose()
		g.Add(e)
	case "barrier":
		e := event(graph.Barrier, task, -1)
		e.Barrier = rapid.SampledFrom(b.taste.barriers).Draw(b.t, "barrier")
		g.Add(e)
	case "lock", "unlock", "try":
		return b.lockStep(g, task, newest)
	case "spawn":
		if len(g.Tasks) == 5 {
			return nil
		}
		e := event(graph.Spawn, task, -1)
		e.Child = int32(len(g.Tasks))
		spawn := g.Add(e)
		g.AddTask(100+len(g.Tasks), "child", spawn)
	case "join":
		child := b.pick("child", running...)
		if child == task || g.Tasks[child].Spawn == graph.Init {
			return nil
		}
		e := event(graph.Join, task, -1)
		e.Child = child
		g.Add(e)
	}
	return g
}

// halves adds an access to both halves of a word.
func (b *builder) halves(g *graph.Graph, task int32, newest bool) {
	order, write := rapid.SampledFrom([]kernel.Order{once, plain}).Draw(b.t, "order"), rapid.Bool().Draw(b.t, "write")
	for _, location := range []int32{lowZ, highZ} {
		at := g.LastWrite(location)
		if !newest {
			at = b.write(g, location)
		}
		e := event(graph.Read, task, location)
		e.Order, e.Source = order, at
		if write {
			e.Kind, e.Source = graph.Write, graph.Init
			g.Place(g.Add(e), at)
		} else {
			g.Add(e)
		}
	}
}

// lockStep does what the task can do with the lock.
func (b *builder) lockStep(g *graph.Graph, task int32, newest bool) *graph.Graph {
	held := open(g)
	switch {
	case held == graph.Init && (newest || len(g.Coherence[aLock]) == 0 || rapid.Bool().Draw(b.t, "take")):
		e := event(graph.LockRead, task, aLock)
		e.Source = g.LastWrite(aLock)
		addPair(g, e, graph.LockWrite)
	case held != graph.Init && g.Events[held].Task == task:
		g.Events[held].End = g.Add(event(graph.Unlock, task, aLock))
	default:
		e := event(graph.LockFail, task, aLock)
		e.Source = held
		if !newest {
			e.Source = b.pick("section", g.Coherence[aLock]...)
		}
		if g.Events[e.Source].Task == task {
			return nil
		}
		g.Add(e)
	}
	return g
}

// addPair adds both halves of an update or acquisition.
func addPair(g *graph.Graph, first graph.Event, second graph.Kind) {
	read := g.Add(first)
	e := event(second, first.Task, first.Location)
	e.Order, e.Pair = first.Order, read
	g.Place(g.Add(e), first.Source)
}

func (b *builder) adopt(g *graph.Graph) {
	b.g = g
	last := g.Events[len(g.Events)-1]
	for len(b.closed) < len(g.Tasks) {
		b.closed = append(b.closed, false)
	}
	if last.Kind == graph.Join {
		b.closed[last.Child] = true
	}
}

// grow adds random operations as long as the model allows them; a nil model
// allows everything.
func (b *builder) grow(model memmodel.Model) *graph.Graph {
	for range rapid.IntRange(4, 18).Draw(b.t, "steps") {
		g := b.step(false)
		if g == nil || len(g.Events) > maxEvents || model != nil && !model.Consistent(g) {
			continue
		}
		b.adopt(g)
	}
	return b.g
}

func show(g *graph.Graph) string {
	text := ""
	for id, e := range g.Events {
		text += fmt.Sprintf("\n%d: T%d %v %v %v at %d from %d pair %d end %d child %d", id, e.Task+1, e.Kind, e.Order, e.Barrier, e.Location, e.Source, e.Pair, e.End, e.Child)
	}
	return text + fmt.Sprint("\ncoherence ", g.Coherence)
}

func model(t *rapid.T, name string) memmodel.Model {
	m, err := memmodel.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestRemovalKeepsConsistency: an event that nothing depends on may be taken
// away from a consistent graph.
func TestRemovalKeepsConsistency(t *testing.T) {
	for _, name := range memmodel.Names() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				m := model(t, name)
				g := newBuilder(t).grow(m)
				for last := range int32(len(g.Events)) {
					needed := false
					for id := range int32(len(g.Events)) {
						needed = needed || g.Prefix(id).Has(last)
					}
					if needed {
						continue
					}
					less, _ := g.Restrict(func(id int32) bool { return id != last })
					for i := range less.Events {
						if p := less.Events[i].Pair; p != graph.Init && less.Events[p].Pair != int32(i) {
							t.Fatalf("half of a pair is left linked%s", show(less))
						}
					}
					if !m.Consistent(less) {
						t.Fatalf("without event %d the graph is inconsistent%s", last, show(g))
					}
				}
			})
		})
	}
}

// TestNewestChoiceKeepsConsistency: an event that reads the newest write, or
// writes at the end of coherence, may be added to a consistent graph.
func TestNewestChoiceKeepsConsistency(t *testing.T) {
	for _, name := range memmodel.Names() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				m := model(t, name)
				b := newBuilder(t)
				b.grow(m)
				for range 4 {
					g := b.step(true)
					if g == nil {
						continue
					}
					if !m.Consistent(g) {
						t.Fatalf("the newest choice makes the graph inconsistent%s", show(g))
					}
					b.adopt(g)
				}
			})
		})
	}
}

// TestModelsAgreeWithTheirPapers compares each model with its naive twin, and
// checks that the weaker models allow what sequential consistency allows.
func TestModelsAgreeWithTheirPapers(t *testing.T) {
	for _, guide := range append([]string{"anything"}, memmodel.Names()...) {
		t.Run("guided by "+guide, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var keep memmodel.Model
				if guide != "anything" {
					keep = model(t, guide)
				}
				b := newBuilder(t)
				b.grow(keep)
				if g := b.step(false); g != nil {
					b.adopt(g)
				}
				n := newNaive(b.g)
				want := map[string]bool{"sc": n.sc(), "tso": n.tso(), "ra": n.ra(), "rc11": n.rc11(), "kernel": n.linux()}
				for name, allowed := range want {
					if got := model(t, name).Consistent(b.g); got != allowed {
						t.Fatalf("%s says %v, as written down it is %v%s", name, got, allowed, show(b.g))
					}
					if want["sc"] && !allowed {
						t.Fatalf("%s forbids an interleaving%s", name, show(b.g))
					}
				}
				sequentialLoad := slices.ContainsFunc(b.g.Events, func(e graph.Event) bool { return e.Reads() && e.Order == seqc })
				if want["tso"] && !(want["ra"] && want["rc11"] && (want["kernel"] || sequentialLoad)) {
					t.Fatalf("tso allows what a weaker model forbids: %v%s", want, show(b.g))
				}
			})
		})
	}
}
