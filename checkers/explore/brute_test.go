package explore

import (
	"fmt"
	"slices"
	"strings"

	"benign/checkers/graph"
	"benign/checkers/memmodel"
	"benign/impl/kernel"
)

// bruteState is a partial execution: a graph and where each task is.
type bruteState struct {
	g       *graph.Graph
	started []bool
	at      []int // instruction
	stage   []int // step within the instruction
	blocked []bool
}

type brute struct {
	codes   []code
	ids     []int
	model   memmodel.Model // nil: sequential consistency by interleaving
	sharers map[int][]int  // lock → identities of the tasks that share it
	reached map[int][]int  // those of them that ever come to it
	seen    map[string]bool
	found   map[string]bool
}

// bruteForce returns the keys of all executions, blocked ones included. Only
// tasks that can come to share a lock count as its sharers: a first search
// finds out which do.
func bruteForce(codes []code, model string) map[string]bool {
	ids := identities(codes)
	listed := map[int][]int{}
	for i, c := range codes {
		for _, ins := range c {
			listed[ins.at] = noteSharer(listed[ins.at], ins, ids[i])
		}
	}
	for {
		b := &brute{codes: codes, ids: ids, sharers: listed, reached: map[int][]int{}, seen: map[string]bool{}, found: map[string]bool{}}
		if model != "sc" {
			b.model, _ = memmodel.New(model)
		}
		b.visit(b.start())
		same := true
		for at := range bruteLocks + 1 {
			same = same && slices.Equal(b.reached[at], listed[at])
		}
		if same {
			return b.found
		}
		listed = b.reached
	}
}

// noteSharer adds a task to the sorted list if the instruction shares a lock.
func noteSharer(list []int, ins instruction, id int) []int {
	if ins.op == "rlock" || ins.op == "tryrlock" {
		if at, known := slices.BinarySearch(list, id); !known {
			return slices.Insert(list, at, id)
		}
	}
	return list
}

func (b *brute) start() *bruteState {
	n := len(b.codes)
	s := &bruteState{g: graph.New(), started: make([]bool, n), at: make([]int, n), stage: make([]int, n), blocked: make([]bool, n)}
	for i, id := range b.ids {
		s.g.AddTask(id, fmt.Sprintf("T%d", i+1), graph.Init)
		s.started[i] = id == i+1
	}
	return s
}

func (s *bruteState) clone() *bruteState {
	return &bruteState{s.g.Clone(), slices.Clone(s.started), slices.Clone(s.at), slices.Clone(s.stage), slices.Clone(s.blocked)}
}

// active reports whether the task has begun, has not ended, and does not wait
// for ever.
func (b *brute) active(s *bruteState, task int) bool {
	return s.started[task] && !s.blocked[task] && s.at[task] < len(b.codes[task])
}

func (b *brute) visit(s *bruteState) {
	key := fmt.Sprint(s.g.Key(), s.started, s.at, s.stage, s.blocked)
	if b.seen[key] {
		return
	}
	b.seen[key] = true
	moved, busy := false, false
	for task := range b.codes {
		for _, next := range b.moves(s, task) {
			moved = true
			busy = busy || !b.codes[task][s.at[task]].awaits()
			if b.model == nil || b.model.Consistent(next.g) {
				b.visit(next)
			}
		}
	}
	if !busy {
		b.giveUp(s)
	}
	if !moved {
		b.standstill(s)
	}
}

// giveUp has each await that the newest value does not satisfy wait for ever,
// also one that an older value might satisfy.
func (b *brute) giveUp(s *bruteState) {
	for task := range b.codes {
		if !b.active(s, task) {
			continue
		}
		ins := b.codes[task][s.at[task]]
		if !ins.awaits() || ins.ends(b.value(s, s.g.LastWrite(b.word(s, ins)))) {
			continue
		}
		next := s.clone()
		next.blocked[task] = true
		next.g.Add(b.event(graph.Await, task, ins, b.word(next, ins)))
		b.visit(next)
	}
}

// inVain reports whether no await waits for what the word has in the end.
func (b *brute) inVain(s *bruteState) bool {
	for id := range s.g.Events {
		e := &s.g.Events[id]
		if e.Kind == graph.Await && b.codes[e.Task][s.at[e.Task]].ends(b.value(s, s.g.LastWrite(e.Location))) {
			return false
		}
	}
	return true
}

func (b *brute) value(s *bruteState, source int32) int {
	if source == graph.Init {
		return 0
	}
	return int(s.g.Events[source].Value)
}

// standstill is a state in which nobody can go on: the end, or somebody waits
// for ever. An acquisition that does says so in the graph.
func (b *brute) standstill(s *bruteState) {
	for task := range b.codes {
		if !b.active(s, task) {
			continue
		}
		ins := b.codes[task][s.at[task]]
		if strings.HasPrefix(ins.op, "try") || ins.awaits() {
			return // it cannot have chosen so, or giveUp has seen to it
		}
		next := s.clone()
		next.blocked[task] = true
		if ins.op != "join" {
			strand := b.strands(s, task, ins)[s.stage[task]/2]
			e := b.event(graph.LockRead, task, ins, strand)
			e.Source = next.g.LastWrite(strand)
			next.g.Add(e)
		}
		b.visit(next)
		return
	}
	if b.inVain(s) {
		b.found[inProgramOrder(s.g).Key()] = true
	}
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

const (
	bruteWords = 2 // they come before the locks in the machine
	bruteLocks = 3 // a mutex and then reader/writer locks
	bruteRCU   = bruteLocks
)

func (b *brute) word(s *bruteState, ins instruction) int32 {
	return b.location(s, uint32(ins.at), 0, false)
}

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
	if !b.active(s, task) {
		return nil
	}
	ins := b.codes[task][s.at[task]]
	b.reached[ins.at] = noteSharer(b.reached[ins.at], ins, b.ids[task])
	switch ins.op {
	case "load", "await", "await-not":
		return b.loads(s, task, ins)
	case "store":
		return b.stores(s, task, ins)
	case "add", "cas", "await-add":
		return b.updates(s, task, ins)
	case "wide load", "wide store":
		return b.wide(s, task, ins)
	case "choose":
		return b.picks(s, task, ins)
	case "join":
		return b.joins(s, task, ins)
	case "lock", "rlock":
		return b.acquires(s, task, ins)
	case "synchronize":
		return b.synchronizes(s, task, ins)
	case "trylock", "tryrlock":
		if len(b.strands(s, task, ins)) > 1 {
			return b.chooses(s, task, ins)
		}
		return b.tries(s, task, ins)
	}
	n := b.stepped(s, task)
	switch ins.op {
	case "barrier":
		n.g.Add(b.event(graph.Barrier, task, ins, -1))
	case "unlock":
		b.unlock(n, task, s.at[task])
	case "spawn":
		e := b.event(graph.Spawn, task, ins, -1)
		e.Child = int32(ins.at)
		n.g.Tasks[ins.at].Spawn = n.g.Add(e)
		n.started[ins.at] = true
	default:
		panic("what is a " + ins.op)
	}
	return []*bruteState{n}
}

// stepped returns a copy in which the task is at its next instruction.
func (b *brute) stepped(s *bruteState, task int) *bruteState {
	n := s.clone()
	n.at[task]++
	n.stage[task] = 0
	return n
}

func (b *brute) loads(s *bruteState, task int, ins instruction) (out []*bruteState) {
	for _, source := range b.sources(s, b.word(s, ins)) {
		if ins.awaits() && !ins.ends(b.value(s, source)) {
			continue
		}
		n := b.stepped(s, task)
		e := b.event(graph.Read, task, ins, b.word(n, ins))
		e.Source = source
		n.g.Add(e)
		out = append(out, n)
	}
	return out
}

// stores returns the store at every place in coherence; by interleaving only at
// the end.
func (b *brute) stores(s *bruteState, task int, ins instruction) (out []*bruteState) {
	for _, after := range b.sources(s, b.word(s, ins)) {
		n := b.stepped(s, task)
		e := b.event(graph.Write, task, ins, b.word(n, ins))
		e.Value = uint64(ins.value)
		if n.g.Place(n.g.Add(e), after); unbroken(n.g) {
			out = append(out, n)
		}
	}
	return out
}

func (b *brute) updates(s *bruteState, task int, ins instruction) (out []*bruteState) {
	for _, source := range b.sources(s, b.word(s, ins)) {
		value := b.value(s, source)
		if ins.awaits() && !ins.ends(value) {
			continue
		}
		n := b.stepped(s, task)
		e := b.event(graph.UpdateRead, task, ins, b.word(n, ins))
		e.Source = source
		read := n.g.Add(e)
		updated := value + ins.value
		if ins.op == "cas" {
			updated = ins.value
		}
		if ins.op != "cas" || value == ins.expected {
			e = b.event(graph.UpdateWrite, task, ins, b.word(n, ins))
			e.Pair, e.Value = read, uint64(updated)
			n.g.Place(n.g.Add(e), source)
		}
		if unbroken(n.g) {
			out = append(out, n)
		}
	}
	return out
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

// picks returns every alternative of the environment.
func (b *brute) picks(s *bruteState, task int, ins instruction) (out []*bruteState) {
	for choice := range ins.value {
		n := b.stepped(s, task)
		e := b.event(graph.Choice, task, ins, -1)
		e.Choice = int32(choice)
		n.g.Add(e)
		n.at[task] = b.codes[task].afterChoice(s.at[task], choice)
		out = append(out, n)
	}
	return out
}

// joins waits for the end of a task, if it was spawned at all.
func (b *brute) joins(s *bruteState, task int, ins instruction) []*bruteState {
	n := b.stepped(s, task)
	if s.started[ins.at] {
		if s.at[ins.at] < len(b.codes[ins.at]) {
			return nil
		}
		e := b.event(graph.Join, task, ins, -1)
		e.Child = int32(ins.at)
		n.g.Add(e)
	}
	return []*bruteState{n}
}
