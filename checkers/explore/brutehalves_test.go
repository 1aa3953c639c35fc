package explore

import (
	"cmp"
	"slices"
	"testing"

	"benign/checkers/graph"
	"benign/checkers/memmodel"
	"benign/impl/kernel"

	"pgregory.net/rapid"
)

// How brute force reads and writes words of 64 bits on a 32-bit machine: in two
// steps, one half each, and in either order.

// bruteWide is the field of the first word of 64 bits, which come last.
const bruteWide = bruteWords + bruteLocks + 1 // behind RCU

// What a task has done of an access to two halves, by its stage.
const (
	neither = iota
	onlyLow
	onlyHigh
)

// wide returns every way to take the next step of an access to two halves. Those
// that take the high one first differ by interleaving only: for a model the order
// of events in the graph says nothing.
func (b *brute) wide(s *bruteState, task int, ins instruction) (out []*bruteState) {
	switch s.stage[task] {
	case neither:
		out = b.half(s, task, ins, graph.LowHalf, onlyLow)
		if b.model == nil {
			out = append(out, b.half(s, task, ins, graph.HighHalf, onlyHigh)...)
		}
	case onlyLow:
		out = b.half(s, task, ins, graph.HighHalf, neither)
	case onlyHigh:
		out = b.half(s, task, ins, graph.LowHalf, neither)
		for _, n := range out {
			last := n.g.Tasks[task].Last
			n.g.Events[last].Index--
			n.g.Events[n.g.Events[last].Previous].Index++
		}
	}
	return out
}

// half accesses one half and goes on to the stage; after the last one, to the
// next instruction.
func (b *brute) half(s *bruteState, task int, ins instruction, half, stage int) (out []*bruteState) {
	for _, at := range b.sources(s, b.location(s, uint32(bruteWide+ins.at), half, false)) {
		n := s.clone()
		e := b.event(graph.Read, task, ins, b.location(n, uint32(bruteWide+ins.at), half, false))
		if ins.op == "wide store" {
			e.Kind = graph.Write
			n.g.Place(n.g.Add(e), at)
		} else {
			e.Source = at
			n.g.Add(e)
		}
		if n.stage[task] = stage; stage == neither {
			n.at[task]++
		}
		out = append(out, n)
	}
	return out
}

// inProgramOrder returns the graph with its events numbered task by task, as
// their indices say, which may be another order than that in which they came.
func inProgramOrder(g *graph.Graph) *graph.Graph {
	old := make([]int32, len(g.Events))
	for i := range old {
		old[i] = int32(i)
	}
	slices.SortFunc(old, func(a, b int32) int {
		e, f := &g.Events[a], &g.Events[b]
		return cmp.Or(cmp.Compare(e.Task, f.Task), cmp.Compare(e.Index, f.Index))
	})
	number := func(id int32) int32 { return int32(slices.Index(old, id)) } // -1 is Init
	sorted := graph.New()
	sorted.Tasks = slices.Clone(g.Tasks)
	for i := range sorted.Tasks {
		sorted.Tasks[i].Last, sorted.Tasks[i].Count, sorted.Tasks[i].Spawn = graph.Init, 0, graph.Init
	}
	for _, l := range g.Locations {
		sorted.AddLocation(l)
	}
	for _, id := range old {
		e := g.Events[id]
		e.Source, e.Pair, e.End = graph.Init, graph.Init, graph.Init
		if e.Kind == graph.Join {
			e.Kind = graph.Barrier // whose prefix is its own task's
		}
		sorted.Add(e)
	}
	for at, id := range old {
		e := &sorted.Events[at]
		e.Kind, e.Source = g.Events[id].Kind, number(g.Events[id].Source)
	}
	for l, list := range g.Coherence {
		for _, id := range list {
			sorted.Coherence[l] = append(sorted.Coherence[l], number(id))
		}
	}
	return sorted
}

// wideSite excuses the plain accesses of these programs.
var wideSite = kernel.DataRaceSite("wide", "it is what the judge is about")

func (i instruction) accessHalves(t *kernel.Task, m *machine) {
	if i.op == "wide store" {
		m.wide[i.at].StoreRacy(t, i.order, int64(i.value)<<32+int64(i.value), wideSite)
	} else {
		m.wide[i.at].LoadRacy(t, i.order, wideSite)
	}
}

// halvesProgram draws a program in which most accesses are to two halves.
func halvesProgram(t *rapid.T) []code {
	p := &programmer{t: t, words: 1, locks: []int{0}, wide: true}
	tasks := p.number("tasks", 2, min(3, *bruteTasks))
	p.codes, p.left = make([]code, tasks), make([]int, tasks)
	for i := range min(6, *bruteEvents) {
		p.left[i%tasks]++
	}
	for i := range tasks {
		p.task(i)
	}
	return p.codes
}

// TestPlainStoresAreNotHandedOn: under kernel, a marked load that has seen a plain
// store makes nobody see it who comes later, since a plain store is in no order
// until something puts it there.
func TestPlainStoresAreNotHandedOn(t *testing.T) {
	load := instruction{op: "wide load", order: kernel.Once}
	store := code{{op: "wide store", order: kernel.Plain, value: 1}}
	locked := code{{op: "lock"}, load, {op: "unlock"}}
	for _, model := range memmodel.Names() {
		compare(t, []code{{load, {op: "spawn", at: 2}}, store, {load}}, model)
		compare(t, []code{locked, locked, store}, model)
	}
}

// TestSecondJudgeOfHalves draws as many programs as -brute.checks says.
func TestSecondJudgeOfHalves(t *testing.T) {
	withChecks(*bruteChecks, func() {
		for _, model := range memmodel.Names() {
			t.Run(model, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) { compare(t, halvesProgram(t), model) })
			})
		}
	})
}
