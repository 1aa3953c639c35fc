// Package graph holds execution graphs: the events of one execution, their
// program order, where every read takes its value from, and the coherence
// order of the writes to each location. Two runs with the same graph are the
// same execution, whatever the order in which their steps happened to be run.
//
// Locks are locations too. An acquisition is a LockRead followed by a
// LockWrite, and reads from the LockWrite of the section before it, so that
// the sections of one lock form a chain; the Unlock only ends a section. A
// failed try is a LockFail, a pure read of the acquisition that was in its way.
// An await is a Read, or the UpdateRead of an update, once a value has satisfied
// it; until then it is an Await, which is the end of its task for the time being.
// A reader/writer lock is made of several such locations, one for the writers
// and one for every task that ever reads, so that readers of different tasks
// commute; see [Location].
package graph

import (
	"slices"

	"benign/impl/kernel"
)

// Kind is the closed list of event kinds. The zero value is invalid.
type Kind uint8

const (
	// Read is a load.
	Read Kind = iota + 1
	// Write is a store.
	Write
	// UpdateRead is the read part of a read-modify-write, or all of one that
	// did not write.
	UpdateRead
	// UpdateWrite is the write part; it stands directly after its source in
	// coherence.
	UpdateWrite
	// LockRead is the first half of an acquisition.
	LockRead
	// LockWrite is the second half and begins the section.
	LockWrite
	// Unlock ends the sections of its task on one lock.
	Unlock
	// LockFail is a try that found the section of its source in the way.
	LockFail
	// LockBusy is a LockFail that may read from any strand of its lock.
	LockBusy
	// LockIdle is a try that has chosen to fail and finds nobody in the way.
	// It waits for somebody to come; if nobody does, it cannot have failed.
	LockIdle
	// Await waits for a value that satisfies it. Its source, the newest write
	// when it last looked, does not.
	Await
	// Barrier is a stand-alone memory barrier.
	Barrier
	// Choice is an alternative that the environment picked.
	Choice
	// Spawn starts a task.
	Spawn
	// Join waited for the end of a task.
	Join
)

// Turn says how a waiting acquisition and the Unlock that it waits for belong
// together, for an exploration that may still drop the one or the other.
type Turn uint8

const (
	// Either is an acquisition that goes on after the Unlock as a matter of
	// course: without the Unlock it simply waits again.
	Either Turn = iota
	// Waits is an acquisition that is taken to wait although the Unlock is
	// there, because it goes on in another graph.
	Waits
	// Follows is an acquisition that goes on because of the Unlock, at the
	// price of what others had done meanwhile.
	Follows
)

// Init is the source of a read that saw the initial state, and the "no event"
// of every other link.
const Init int32 = -1

// Event is one event of an execution. Links to other events are their numbers
// in [Graph.Events].
type Event struct {
	// Kind says what the event is; Order, Barrier, Mode and Try are those of
	// the operation that it belongs to.
	Kind     Kind
	Order    kernel.Order
	Barrier  kernel.Barrier
	Mode     kernel.LockMode
	Try      bool
	Awaits   bool  // of an event that reads a word: its operation waits for a value that satisfies it
	Turn     Turn  // of a LockRead that had to wait: how it came by its turn
	Task     int32 // number in Graph.Tasks
	Index    int32 // position in program order
	Previous int32 // predecessor in program order, or Init
	Location int32 // number in Graph.Locations, or -1
	Source   int32 // what a reading event reads from, or Init
	Pair     int32 // the other half of an update or acquisition, or Init
	End      int32 // of a LockWrite: the Unlock of its section, or Init
	Choice   int32 // of a Choice: the alternative
	Child    int32 // of a Spawn or Join: the task
	// Condition is scratch space for the engine: what an event that Awaits
	// waits for, by a number that is good for one run.
	Condition int32
	// Value was read or written, and Site is the annotation of the access.
	Value uint64
	Site  *kernel.RaceSite
}

// Reads reports whether the event takes a value from a source.
func (e *Event) Reads() bool {
	return e.Kind == Read || e.Kind == UpdateRead || e.Kind == LockRead || e.Kind == LockFail || e.Kind == LockBusy
}

// Writes reports whether the event has a place in coherence.
func (e *Event) Writes() bool {
	return e.Kind == Write || e.Kind == UpdateWrite || e.Kind == LockWrite
}

// Task is one task of the execution.
type Task struct {
	ID    int    // stable identity, see kernel.World.NewEngineTask
	Name  string // as traces print it
	Last  int32  // its last event so far, or Init
	Count int32  // how many events it has
	Spawn int32  // the event that started it, or Init
}

// End returns what a join with the task waits for: its last event or, if it has
// none, the one that started it; Init if it has neither.
func (t *Task) End() int32 {
	if t.Last != Init {
		return t.Last
	}
	return t.Spawn
}

// Location is a word, or one strand of a lock. Strand 0 of a lock orders its
// exclusive sections; strand t+1 orders them against the shared sections of
// the task with identity t. A word has strand 0, or one strand for each half, see
// [LowHalf].
type Location struct {
	// Owner and Field identify the word or lock in every execution, and Strand
	// the part of the lock.
	Owner  kernel.ObjectID
	Field  uint32
	Strand int
	// Lock tells locks from words, and Name is what traces print.
	Lock bool
	Name string
}

// Graph is one execution, whole or in the making. Events are numbered in the
// order in which they were added.
type Graph struct {
	// Events, Tasks and Locations refer to each other by position.
	Events    []Event
	Tasks     []Task
	Locations []Location
	// Coherence lists the writes of each location in coherence order, without
	// the initial one.
	Coherence [][]int32
	// Focus is the task whose multi-part operation must be finished first,
	// because its read was just redirected; -1 for none.
	Focus int32

	clock    uint64   // how many events were ever added to this memory
	stamps   []uint64 // by event: the clock when it was added
	latest   []int32  // by location: the latest event there, or Init
	earlier  []int32  // by event: the one before it at its location, or Init
	turns    []turned // how Turns were changed, for Undo
	numbers  []int32  // of a restricted graph: the new number of each old event
	words    int      // 64-bit words in a prefix set
	halved   bool     // one of the locations is half a word
	prefixes []uint64 // by event: what must have run before it
}

// turned remembers what the Turn of an event was before the latest event, cause,
// changed it.
type turned struct {
	event, cause int32
	before       Turn
}

// New returns an empty graph.
func New() *Graph { return &Graph{Focus: -1, words: 1} }

// Clone returns a copy that shares nothing that changes.
func (g *Graph) Clone() *Graph { return g.CopyTo(New()) }

// CopyTo is Clone into memory that is used again: it makes c, whatever it was,
// a copy of g, and returns it.
func (g *Graph) CopyTo(c *Graph) *Graph {
	c.Events = append(c.Events[:0], g.Events...)
	c.Tasks = append(c.Tasks[:0], g.Tasks...)
	c.Locations = slices.Clip(g.Locations)
	c.Focus, c.words, c.halved = g.Focus, g.words, g.halved
	c.prefixes = append(c.prefixes[:0], g.prefixes...)
	c.turns = append(c.turns[:0], g.turns...)
	c.stampAll()
	c.copyCoherence(g)
	return c
}

// copyCoherence copies all lists; each keeps memory of its own, to grow in.
func (g *Graph) copyCoherence(from *Graph) {
	for len(g.Coherence) < len(from.Coherence) {
		g.addList()
	}
	g.Coherence = g.Coherence[:len(from.Coherence)]
	for i, list := range from.Coherence {
		g.Coherence[i] = append(g.Coherence[i][:0], list...)
	}
}

// AddLocation appends a location and returns its number.
func (g *Graph) AddLocation(l Location) int32 {
	g.Locations = append(g.Locations, l)
	g.addList()
	g.halved = g.halved || l.isHalf()
	return int32(len(g.Locations) - 1)
}

// ShareLocations gives the graph a list of locations that begins with its own,
// and that it shares with other graphs.
func (g *Graph) ShareLocations(all []Location) {
	g.Locations = slices.Clip(all)
	for len(g.Coherence) < len(g.Locations) {
		g.addList()
	}
}

// addList appends the empty list of one more location, in memory that was used
// before if there is any.
func (g *Graph) addList() {
	n := len(g.Coherence)
	if n == cap(g.Coherence) {
		g.Coherence = append(g.Coherence, nil)
		return
	}
	g.Coherence = g.Coherence[:n+1]
	g.Coherence[n] = g.Coherence[n][:0]
}

// AddTask appends a task without events and returns its number.
func (g *Graph) AddTask(id int, name string, spawn int32) int32 {
	g.Tasks = append(g.Tasks, Task{ID: id, Name: name, Last: Init, Spawn: spawn})
	return int32(len(g.Tasks) - 1)
}

// Add appends an event to its task and returns its number. A write still has
// to be placed with [Graph.Place].
func (g *Graph) Add(e Event) int32 {
	id := int32(len(g.Events))
	t := &g.Tasks[e.Task]
	e.Index, e.Previous = t.Count, t.Last
	t.Count++
	t.Last = id
	if (e.Kind == UpdateWrite || e.Kind == LockWrite) && e.Pair != Init {
		g.Events[e.Pair].Pair = id
	}
	g.Events = append(g.Events, e)
	g.clock++
	g.stamps = append(g.stamps, g.clock)
	g.chain(id)
	if len(g.Events) > g.words*64 {
		g.widen()
	}
	for range g.words {
		g.prefixes = append(g.prefixes, 0)
	}
	g.Refresh(id)
	return id
}

// SetTurn changes the turn of an acquisition on account of the latest event.
func (g *Graph) SetTurn(id int32, turn Turn) {
	e := &g.Events[id]
	g.turns = append(g.turns, turned{id, int32(len(g.Events) - 1), e.Turn})
	e.Turn = turn
}

// CutTo takes back the latest events until n are left.
func (g *Graph) CutTo(n int) {
	for len(g.Events) > n {
		g.Undo()
	}
}

// Undo takes back the last Add, with its place in coherence, the sections that
// it ended, and the turns that were changed because of it.
func (g *Graph) Undo() {
	id := int32(len(g.Events) - 1)
	e := &g.Events[id]
	for last := len(g.turns) - 1; last >= 0 && g.turns[last].cause == id; last-- {
		g.Events[g.turns[last].event].Turn = g.turns[last].before
		g.turns = g.turns[:last]
	}
	if e.Kind == Unlock {
		for section := e.Previous; section != Init; section = g.Events[section].Previous {
			if g.Events[section].End == id {
				g.Events[section].End = Init
			}
		}
	}
	if e.Writes() {
		if at := slices.Index(g.Coherence[e.Location], id); at >= 0 {
			g.Coherence[e.Location] = slices.Delete(g.Coherence[e.Location], at, at+1)
		}
		if e.Pair != Init {
			g.Events[e.Pair].Pair = Init
		}
	}
	t := &g.Tasks[e.Task]
	t.Last, t.Count = e.Previous, t.Count-1
	if e.Location >= 0 {
		g.latest[e.Location] = g.earlier[id]
	}
	g.Events, g.stamps, g.earlier = g.Events[:id], g.stamps[:id], g.earlier[:id]
	g.prefixes = g.prefixes[:int(id)*g.words]
}

// Stamp tells the event from every other one that ever had its number in this
// graph: if it is the same as it was, so are those of all events before it.
func (g *Graph) Stamp(id int32) uint64 { return g.stamps[id] }

// stampAll gives all events new stamps, and finds out which of them are at one
// location.
func (g *Graph) stampAll() {
	g.stamps = g.stamps[:0]
	for range g.Events {
		g.clock++
		g.stamps = append(g.stamps, g.clock)
	}
	g.chainAll()
}

// Latest returns the latest event at the location, or Init.
func (g *Graph) Latest(location int32) int32 {
	if int(location) >= len(g.latest) {
		return Init
	}
	return g.latest[location]
}

// Earlier returns the latest event at the event's location that is older, or
// Init.
func (g *Graph) Earlier(id int32) int32 { return g.earlier[id] }

// MoveTo changes the location of an event.
func (g *Graph) MoveTo(id, location int32) {
	if e := &g.Events[id]; e.Location != location {
		e.Location = location
		g.chainAll()
	}
}

func (g *Graph) chainAll() {
	g.latest, g.earlier = g.latest[:0], g.earlier[:0]
	for id := range g.Events {
		g.chain(int32(id))
	}
}

// chain makes the event the latest at its location.
func (g *Graph) chain(id int32) {
	at := g.Events[id].Location
	if at < 0 {
		g.earlier = append(g.earlier, Init)
		return
	}
	for int(at) >= len(g.latest) {
		g.latest = append(g.latest, Init)
	}
	g.earlier = append(g.earlier, g.latest[at])
	g.latest[at] = id
}

// widen makes room for more events in every prefix set.
func (g *Graph) widen() {
	n := len(g.Events) - 1
	wide := make([]uint64, n*(g.words+1), (n+64)*(g.words+1))
	for i := range n {
		copy(wide[i*(g.words+1):], g.prefixes[i*g.words:(i+1)*g.words])
	}
	g.words++
	g.prefixes = wide
}

// Refresh recomputes what must have run before the event: its predecessor in
// program order, its source with the end of the source's section, the task's
// start, the joined task's end, and whatever had to run before those.
func (g *Graph) Refresh(id int32) {
	e := &g.Events[id]
	set := g.Prefix(id)
	clear(set)
	g.include(set, e.Previous)
	if e.Previous == Init {
		g.include(set, g.Tasks[e.Task].Spawn)
	}
	if (e.Reads() || e.Kind == LockIdle) && e.Source != Init {
		g.include(set, e.Source)
		if e.Kind == LockRead {
			g.include(set, g.Events[e.Source].End)
		}
	}
	if e.Kind == Join {
		g.include(set, g.Tasks[e.Child].End())
	}
}

func (g *Graph) include(set Set, id int32) {
	if id != Init {
		set.Add(id)
		set.Or(g.Prefix(id))
	}
}

// Prefix returns the set of events that must run before the event. It is
// backed by the graph and must not be changed.
func (g *Graph) Prefix(id int32) Set {
	return g.prefixes[int(id)*g.words : (int(id)+1)*g.words : (int(id)+1)*g.words]
}

// NewSet returns an empty set that can hold every event of the graph.
func (g *Graph) NewSet() Set { return make(Set, g.words) }

// Place puts a write into the coherence order of its location, directly after
// another write; Init puts it first.
func (g *Graph) Place(id, after int32) {
	l := g.Events[id].Location
	list := g.Coherence[l]
	if after == g.LastWrite(l) {
		g.Coherence[l] = append(list, id)
		return
	}
	g.Coherence[l] = slices.Insert(list, slices.Index(list, after)+1, id)
}

// Move puts a write that has a place in coherence to another position.
func (g *Graph) Move(id int32, position int) {
	l := g.Events[id].Location
	list := g.Coherence[l]
	at := slices.Index(list, id)
	list = slices.Delete(list, at, at+1)
	g.Coherence[l] = slices.Insert(list, position, id)
}

// LastWrite returns the coherence-last write of a location, or Init.
func (g *Graph) LastWrite(location int32) int32 {
	if list := g.Coherence[location]; len(list) > 0 {
		return list[len(list)-1]
	}
	return Init
}

// NextWrite returns the write directly after another one in coherence, or Init
// if that is the last; of Init, the first.
func (g *Graph) NextWrite(location, after int32) int32 {
	list := g.Coherence[location]
	if i := slices.Index(list, after) + 1; i < len(list) {
		return list[i]
	}
	return Init
}

// Restrict returns the graph of the kept events only, numbered anew in the same
// order, and the new numbers by the old ones (Init for dropped events). Links
// to dropped events become Init.
func (g *Graph) Restrict(keep func(id int32) bool) (*Graph, []int32) {
	return g.RestrictTo(New(), keep)
}

// RestrictTo is Restrict into memory that is used again, like [Graph.CopyTo].
// The numbers are valid as long as the graph.
func (g *Graph) RestrictTo(r *Graph, keep func(id int32) bool) (*Graph, []int32) {
	r.Events, r.numbers, r.turns = r.Events[:0], r.numbers[:0], r.turns[:0]
	r.Tasks = append(r.Tasks[:0], g.Tasks...)
	r.Locations, r.Focus, r.words, r.halved = slices.Clip(g.Locations), -1, g.words, g.halved
	for id := range g.Events {
		if keep(int32(id)) {
			r.numbers = append(r.numbers, int32(len(r.Events)))
			r.Events = append(r.Events, g.Events[id])
		} else {
			r.numbers = append(r.numbers, Init)
		}
	}
	number := r.numbers
	r.stampAll()
	r.relink(number)
	r.restrictCoherence(g, number)
	r.restrictPrefixes(g, number)
	return r, number
}

// relink makes the links of a restricted graph refer to the new numbers.
func (g *Graph) relink(number []int32) {
	renumber := func(link *int32) {
		if *link != Init {
			*link = number[*link]
		}
	}
	for i := range g.Tasks {
		g.Tasks[i].Last, g.Tasks[i].Count = Init, 0
		renumber(&g.Tasks[i].Spawn)
	}
	for id := range g.Events {
		e := &g.Events[id]
		renumber(&e.Previous)
		renumber(&e.Source)
		renumber(&e.Pair)
		renumber(&e.End)
		t := &g.Tasks[e.Task]
		t.Last, t.Count = int32(id), e.Index+1
	}
	for id := range g.Events {
		if e := &g.Events[id]; e.Turn == Waits && (e.Source == Init || g.Events[e.Source].End == Init) {
			e.Turn = Either
		}
	}
}

func (g *Graph) restrictCoherence(from *Graph, number []int32) {
	g.copyCoherence(from)
	for l, list := range g.Coherence {
		kept := list[:0]
		for _, id := range list {
			if number[id] != Init {
				kept = append(kept, number[id])
			}
		}
		g.Coherence[l] = kept
	}
}

// restrictPrefixes renumbers the prefix sets. Kept events keep their whole
// prefix, except one whose source was dropped; its owner refreshes it.
func (g *Graph) restrictPrefixes(from *Graph, number []int32) {
	g.prefixes = slices.Grow(g.prefixes[:0], len(g.Events)*g.words)[:len(g.Events)*g.words]
	same := 0 // so many events keep their numbers
	for same < len(number) && number[same] == int32(same) {
		same++
	}
	for old, id := range number {
		if id == Init {
			continue
		}
		set := g.Prefix(id)
		copy(set, from.Prefix(int32(old)))
		set.renumber(same, number)
	}
}

// SamePlace reports whether two events touch the same location. The end of a
// section touches every strand of its lock.
func (g *Graph) SamePlace(a, b int32) bool {
	first, second := g.Events[a].Location, g.Events[b].Location
	if first < 0 || second < 0 {
		return false
	}
	if g.Events[a].Kind != Unlock && g.Events[b].Kind != Unlock {
		return first == second
	}
	return g.SameLock(first, second)
}

// SameLock reports whether two locations are strands of one lock or word.
func (g *Graph) SameLock(a, b int32) bool {
	l, m := &g.Locations[a], &g.Locations[b]
	return l.Owner == m.Owner && l.Field == m.Field
}

// Hinders reports whether the section makes an exclusive try fail by itself:
// an exclusive one is told from its first strand, a shared one has only one.
func (g *Graph) Hinders(section int32) bool {
	e := &g.Events[section]
	return e.Kind == LockWrite && (e.Mode == kernel.Shared || g.Locations[e.Location].Strand == 0)
}

var kindNames = [...]string{"invalid", "read", "write", "update-read", "update-write", "lock-read", "lock-write",
	"unlock", "lock-fail", "lock-busy", "lock-idle", "await", "barrier", "choice", "spawn", "join"}

// String returns the name that traces use.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return kindNames[0]
	}
	return kindNames[k]
}

// KindNames returns the names of all kinds by number; the first is invalid.
func KindNames() []string { return slices.Clone(kindNames[:]) }

// String returns the name that traces use.
func (t Turn) String() string { return [...]string{"either", "waits", "follows"}[t] }
