package explore

import (
	"fmt"
	"slices"
	"strings"

	"benign/checkers/graph"
	"benign/checkers/memmodel"
	"benign/impl/kernel"
)

// The second judge: a small program as data, run in two ways. As tasks of the
// machine it is explored; as a list of instructions it is run by brute force,
// which knows nothing of revisits: it builds every graph event by event, in
// every order, trying every source and every place, and keeps those that the
// model allows.

type instruction struct {
	op       string // load store add cas barrier lock trylock rlock tryrlock unlock
	at       int    // word or lock
	order    kernel.Order
	value    int
	expected int
	barrier  kernel.Barrier
}

func (i instruction) String() string {
	return fmt.Sprintf("%s(%d,%s,%d,%d)", i.op, i.at, i.order, i.value, i.expected)
}

// code is one task; a failed try skips to behind its unlock.
type code []instruction

func (c code) String() string {
	parts := make([]string, len(c))
	for i, ins := range c {
		parts[i] = ins.String()
	}
	return strings.Join(parts, " ")
}

// afterSection returns where a task goes on whose try at position i failed.
func (c code) afterSection(i int) int {
	for j := i + 1; j < len(c); j++ {
		if c[j].op == "unlock" && c[j].at == c[i].at {
			return j + 1
		}
	}
	return len(c)
}

func (c code) shared(i int) bool {
	for j := i - 1; j >= 0; j-- {
		if c[j].at == c[i].at && strings.Contains(c[j].op, "lock") && c[j].op != "unlock" {
			return strings.Contains(c[j].op, "rlock")
		}
	}
	return false
}

// run performs the code on the machine.
func (c code) run(t *kernel.Task, m *machine) {
	for i := 0; i < len(c); {
		ins := c[i]
		next := i + 1
		switch ins.op {
		case "load":
			m.words[ins.at].Load(t, ins.order)
		case "store":
			m.words[ins.at].Store(t, ins.order, ins.value)
		case "add":
			m.words[ins.at].Add(t, ins.order, ins.value)
		case "cas":
			m.words[ins.at].CompareAndSwap(t, ins.order, ins.expected, ins.value)
		case "barrier":
			t.Barrier(ins.barrier)
		case "lock":
			m.rw[ins.at].Lock(t)
		case "rlock":
			m.rw[ins.at].RLock(t)
		case "trylock":
			if !m.rw[ins.at].TryLock(t) {
				next = c.afterSection(i)
			}
		case "tryrlock":
			if !m.rw[ins.at].TryRLock(t) {
				next = c.afterSection(i)
			}
		case "unlock":
			if c.shared(i) {
				m.rw[ins.at].RUnlock(t)
			} else {
				m.rw[ins.at].Unlock(t)
			}
		}
		i = next
	}
}

// bruteState is a partial execution: a graph and where each task is.
type bruteState struct {
	g       *graph.Graph
	at      []int // instruction
	stage   []int // step within the instruction
	blocked []bool
}

type brute struct {
	codes   []code
	model   memmodel.Model // nil: sequential consistency by interleaving
	sharers map[int][]int  // lock → tasks that share it
	seen    map[string]bool
	found   map[string]bool
}

// bruteForce returns the keys of all executions, blocked ones included.
func bruteForce(codes []code, model string) map[string]bool {
	b := &brute{codes: codes, sharers: map[int][]int{}, seen: map[string]bool{}, found: map[string]bool{}}
	if model != "sc" {
		b.model, _ = memmodel.New(model)
	}
	start := &bruteState{g: graph.New(), at: make([]int, len(codes)), stage: make([]int, len(codes)), blocked: make([]bool, len(codes))}
	for i, c := range codes {
		start.g.AddTask(i+1, fmt.Sprintf("T%d", i+1), graph.Init)
		for _, ins := range c {
			if (ins.op == "rlock" || ins.op == "tryrlock") && !slices.Contains(b.sharers[ins.at], i+1) {
				b.sharers[ins.at] = append(b.sharers[ins.at], i+1)
			}
		}
	}
	b.visit(start)
	return b.found
}

func (s *bruteState) clone() *bruteState {
	return &bruteState{s.g.Clone(), slices.Clone(s.at), slices.Clone(s.stage), slices.Clone(s.blocked)}
}

func (b *brute) visit(s *bruteState) {
	key := fmt.Sprint(s.g.Key(), s.at, s.stage, s.blocked)
	if b.seen[key] {
		return
	}
	b.seen[key] = true
	moved := false
	for task := range b.codes {
		for _, next := range b.moves(s, task) {
			moved = true
			if b.model == nil || b.model.Consistent(next.g) {
				b.visit(next)
			}
		}
	}
	if moved {
		return
	}
	for task := range b.codes {
		if s.at[task] < len(b.codes[task]) && !s.blocked[task] { // waits for ever
			ins := b.codes[task][s.at[task]]
			if strings.HasPrefix(ins.op, "try") {
				return // it cannot have chosen so
			}
			strand := b.strands(s, task, ins)[s.stage[task]/2]
			next := s.clone()
			next.blocked[task] = true
			e := b.event(graph.LockRead, task, ins, strand)
			e.Source = next.g.LastWrite(strand)
			next.g.Add(e)
			b.visit(next)
			return
		}
	}
	b.found[s.g.Key()] = true
}

func (b *brute) event(kind graph.Kind, task int, ins instruction, location int32) graph.Event {
	mode := kernel.Exclusive
	if strings.Contains(ins.op, "rlock") {
		mode = kernel.Shared
	}
	return graph.Event{Kind: kind, Mode: mode, Order: ins.order, Barrier: ins.barrier, Task: int32(task), Location: location,
		Source: graph.Init, Pair: graph.Init, End: graph.Init, Try: strings.HasPrefix(ins.op, "try")}
}

func (b *brute) location(s *bruteState, field uint32, strand int, lock bool) int32 {
	for i, l := range s.g.Locations {
		if l.Field == field && l.Strand == strand {
			return int32(i)
		}
	}
	owner := kernel.ObjectID(1<<24 | 1) // the first object of the set-up
	return s.g.AddLocation(graph.Location{Owner: owner, Field: field, Strand: strand, Lock: lock})
}

func (b *brute) strands(s *bruteState, task int, ins instruction) []int32 {
	field := uint32(bruteWords + ins.at)
	if strings.Contains(ins.op, "rlock") {
		return []int32{b.location(s, field, task+2, true)}
	}
	list := []int32{b.location(s, field, 0, true)}
	for _, sharer := range b.sharers[ins.at] {
		if sharer != task+1 {
			list = append(list, b.location(s, field, sharer+1, true))
		}
	}
	return list
}

// bruteWords is how many words come before the locks in the machine.
const bruteWords = 2

// sources returns every write that a read may be given; by interleaving only
// the newest.
func (b *brute) sources(s *bruteState, location int32) []int32 {
	if b.model == nil {
		return []int32{s.g.LastWrite(location)}
	}
	return append([]int32{graph.Init}, s.g.Coherence[location]...)
}

// moves returns every way in which a task can take one step.
func (b *brute) moves(s *bruteState, task int) []*bruteState {
	if s.at[task] >= len(b.codes[task]) || s.blocked[task] {
		return nil
	}
	ins := b.codes[task][s.at[task]]
	var out []*bruteState
	step := func(f func(n *bruteState) bool) {
		n := s.clone()
		n.at[task]++
		n.stage[task] = 0
		if f(n) {
			out = append(out, n)
		}
	}
	word := func() int32 { return b.location(s, uint32(ins.at), 0, false) }
	switch ins.op {
	case "barrier":
		step(func(n *bruteState) bool { n.g.Add(b.event(graph.Barrier, task, ins, -1)); return true })
	case "load":
		for _, source := range b.sources(s, word()) {
			step(func(n *bruteState) bool {
				e := b.event(graph.Read, task, ins, word())
				e.Source = source
				n.g.Add(e)
				return true
			})
		}
	case "store":
		places := []int32{s.g.LastWrite(word())}
		if b.model != nil {
			places = b.sources(s, word())
		}
		for _, after := range places {
			step(func(n *bruteState) bool {
				e := b.event(graph.Write, task, ins, word())
				e.Value = uint64(ins.value)
				n.g.Place(n.g.Add(e), after)
				return unbroken(n.g)
			})
		}
	case "add", "cas":
		for _, source := range b.sources(s, word()) {
			step(func(n *bruteState) bool {
				value := 0
				if source != graph.Init {
					value = int(n.g.Events[source].Value)
				}
				e := b.event(graph.UpdateRead, task, ins, word())
				e.Source = source
				read := n.g.Add(e)
				updated := value + ins.value
				if ins.op == "cas" {
					if value != ins.expected {
						return true
					}
					updated = ins.value
				}
				e = b.event(graph.UpdateWrite, task, ins, word())
				e.Pair, e.Value = read, uint64(updated)
				n.g.Place(n.g.Add(e), source)
				return unbroken(n.g)
			})
		}
	case "unlock":
		step(func(n *bruteState) bool {
			strand := 0
			if b.codes[task].shared(s.at[task]) {
				strand = task + 2
			}
			id := n.g.Add(b.event(graph.Unlock, task, ins, b.location(n, uint32(bruteWords+ins.at), strand, true)))
			for l, list := range n.g.Coherence {
				if !n.g.Locations[l].Lock || n.g.Locations[l].Field != uint32(bruteWords+ins.at) || len(list) == 0 {
					continue
				}
				if last := list[len(list)-1]; n.g.Events[last].Task == int32(task) && n.g.Events[last].End == graph.Init {
					n.g.Events[last].End = id
				}
			}
			return true
		})
	case "lock", "rlock":
		return b.acquires(s, task, ins)
	case "trylock", "tryrlock":
		if len(b.strands(s, task, ins)) > 1 {
			return b.chooses(s, task, ins)
		}
		return b.tries(s, task, ins)
	}
	return out
}

// acquires takes one strand after the other.
func (b *brute) acquires(s *bruteState, task int, ins instruction) []*bruteState {
	strands := b.strands(s, task, ins)
	strand := strands[s.stage[task]/2]
	if !free(s.g, strand) {
		return nil
	}
	n := s.clone()
	n.take(b, task, ins, strand)
	if n.stage[task] += 2; n.stage[task] == 2*len(strands) {
		n.at[task]++
		n.stage[task] = 0
	}
	return []*bruteState{n}
}

// chooses is a try of several strands: it chooses, and then either acquires or
// finds any holder in the way. Stage -1 means that it chose to acquire and has
// not begun, stage -2 that it chose to fail.
func (b *brute) chooses(s *bruteState, task int, ins instruction) []*bruteState {
	switch s.stage[task] {
	case 0:
		var out []*bruteState
		for choice, stage := range []int{-1, -2} {
			n := s.clone()
			e := b.event(graph.Choice, task, instruction{}, -1)
			e.Choice = int32(choice)
			n.g.Add(e)
			n.stage[task] = stage
			out = append(out, n)
		}
		return out
	case -2:
		return b.busy(s, task, ins)
	case -1:
		s = s.clone()
		s.stage[task] = 0
	}
	return b.acquires(s, task, ins)
}

func (b *brute) busy(s *bruteState, task int, ins instruction) []*bruteState {
	var out []*bruteState
	for section := range s.g.Events {
		e := &s.g.Events[section]
		if !s.g.Hinders(int32(section)) || s.g.Locations[e.Location].Field != uint32(bruteWords+ins.at) {
			continue
		}
		if int(e.Task) == task || b.model == nil && e.End != graph.Init {
			continue
		}
		n := s.clone()
		f := b.event(graph.LockBusy, task, ins, e.Location)
		f.Source = int32(section)
		n.g.Add(f)
		n.at[task], n.stage[task] = b.codes[task].afterSection(s.at[task]), 0
		out = append(out, n)
	}
	return out
}

// tries looks at the one strand and takes it if it is free.
func (b *brute) tries(s *bruteState, task int, ins instruction) []*bruteState {
	var out []*bruteState
	strand := b.strands(s, task, ins)[0]
	for _, section := range s.g.Coherence[strand] {
		if b.model == nil && (section != s.g.LastWrite(strand) || free(s.g, strand)) {
			continue
		}
		n := s.clone()
		e := b.event(graph.LockFail, task, ins, strand)
		e.Source = section
		n.g.Add(e)
		n.at[task], n.stage[task] = b.codes[task].afterSection(s.at[task]), 0
		out = append(out, n)
	}
	if free(s.g, strand) {
		n := s.clone()
		n.take(b, task, ins, strand)
		n.at[task]++
		out = append(out, n)
	}
	return out
}

func free(g *graph.Graph, strand int32) bool {
	last := g.LastWrite(strand)
	return last == graph.Init || g.Events[last].End != graph.Init
}

func (s *bruteState) take(b *brute, task int, ins instruction, strand int32) {
	e := b.event(graph.LockRead, task, ins, strand)
	e.Source = s.g.LastWrite(strand)
	read := s.g.Add(e)
	w := b.event(graph.LockWrite, task, ins, strand)
	w.Pair = read
	s.g.Place(s.g.Add(w), e.Source)
}

// unbroken reports whether every update still stands directly behind its source.
func unbroken(g *graph.Graph) bool {
	for id := range g.Events {
		e := &g.Events[id]
		if e.Kind == graph.UpdateWrite && g.NextWrite(e.Location, g.Events[e.Pair].Source) != int32(id) {
			return false
		}
	}
	return true
}
