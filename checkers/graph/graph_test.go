package graph

import (
	"fmt"
	"slices"
	"testing"

	"benign/impl/kernel"

	"pgregory.net/rapid"
)

func event(kind Kind, task, location int32) Event {
	return Event{Kind: kind, Task: task, Location: location, Source: Init, Pair: Init, End: Init}
}

// twoTasks returns a graph with two tasks and the words x and y.
func twoTasks() *Graph {
	g := New()
	g.AddTask(1, "T1", Init)
	g.AddTask(2, "T2", Init)
	g.AddLocation(Location{Owner: 1, Field: 0, Name: "x"})
	g.AddLocation(Location{Owner: 1, Field: 1, Name: "y"})
	return g
}

func (g *Graph) write(task, location, after int32) int32 {
	id := g.Add(event(Write, task, location))
	g.Place(id, after)
	return id
}

func (g *Graph) read(task, location, source int32) int32 {
	e := event(Read, task, location)
	e.Source = source
	return g.Add(e)
}

// lock adds both halves of an acquisition behind a section.
func (g *Graph) lock(task, location, source int32) int32 {
	e := event(LockRead, task, location)
	e.Source = source
	read := g.Add(e)
	e = event(LockWrite, task, location)
	e.Pair = read
	id := g.Add(e)
	g.Place(id, source)
	return id
}

func (g *Graph) unlock(section int32) int32 {
	s := g.Events[section]
	id := g.Add(event(Unlock, s.Task, s.Location))
	g.Events[section].End = id
	return id
}

func members(s Set) []int32 { return slices.Collect(s.All()) }

func wantPrefix(t *testing.T, g *Graph, id int32, want ...int32) {
	t.Helper()
	if got := members(g.Prefix(id)); !slices.Equal(got, want) {
		t.Errorf("prefix of event %d is %v, want %v", id, got, want)
	}
}

func TestPlace(t *testing.T) {
	g := twoTasks()
	first := g.write(0, 0, Init)
	last := g.write(1, 0, first)
	middle := g.write(0, 0, first)
	start := g.write(1, 0, Init)
	other := g.write(0, 1, Init)
	if want := []int32{start, first, middle, last}; !slices.Equal(g.Coherence[0], want) {
		t.Errorf("coherence of x is %v, want %v", g.Coherence[0], want)
	}
	if g.LastWrite(0) != last || g.LastWrite(1) != other {
		t.Errorf("last writes are %d and %d", g.LastWrite(0), g.LastWrite(1))
	}
	for _, c := range []struct{ after, want int32 }{{Init, start}, {start, first}, {middle, last}, {last, Init}} {
		if got := g.NextWrite(0, c.after); got != c.want {
			t.Errorf("the write after %d is %d, want %d", c.after, got, c.want)
		}
	}
	if empty := New(); empty.AddLocation(Location{}) != 0 || empty.LastWrite(0) != Init || empty.NextWrite(0, Init) != Init {
		t.Error("a location without writes has one")
	}
}

func TestPairsAreLinkedBothWays(t *testing.T) {
	g := twoTasks()
	section := g.lock(0, 0, Init)
	if read := g.Events[section].Pair; g.Events[read].Pair != section {
		t.Errorf("the halves of an acquisition are linked to %d and %d", read, g.Events[read].Pair)
	}
}

func TestPrefix(t *testing.T) {
	g := twoTasks()
	wx := g.write(0, 0, Init)
	wy := g.write(0, 1, Init)
	ry := g.read(1, 1, wy)
	rx := g.read(1, 0, Init)
	wantPrefix(t, g, wx)
	wantPrefix(t, g, wy, wx)
	wantPrefix(t, g, ry, wx, wy)
	wantPrefix(t, g, rx, wx, wy, ry)
}

func TestPrefixOfLocks(t *testing.T) {
	g := twoTasks()
	first := g.lock(0, 0, Init)
	fail := event(LockFail, 1, 0)
	fail.Source = first
	failed := g.Add(fail)
	end := g.unlock(first)
	second := g.lock(1, 0, first)
	wantPrefix(t, g, failed, 0, first)
	wantPrefix(t, g, g.Events[second].Pair, 0, first, failed, end)
}

func TestPrefixOfTasks(t *testing.T) {
	g := twoTasks()
	before := g.write(0, 0, Init)
	start := event(Spawn, 0, -1)
	start.Child = 2
	spawn := g.Add(start)
	g.AddTask(3, "child", spawn)
	after := g.write(0, 0, before)
	inside := g.read(2, 1, Init)
	wait := event(Join, 1, -1)
	wait.Child = 2
	join := g.Add(wait)
	wantPrefix(t, g, after, before, spawn)
	wantPrefix(t, g, inside, before, spawn)
	wantPrefix(t, g, join, before, spawn, inside)
}

func TestPrefixOfJoinWithIdleTask(t *testing.T) {
	g := twoTasks()
	start := event(Spawn, 0, -1)
	start.Child = 2
	spawn := g.Add(start)
	g.AddTask(3, "child", spawn)
	wait := event(Join, 1, -1)
	wait.Child = 2
	wantPrefix(t, g, g.Add(wait), spawn)
	if end := (&Task{Last: Init, Spawn: Init}).End(); end != Init {
		t.Errorf("a task that was there from the beginning and did nothing ends with %d", end)
	}
}

func TestRefresh(t *testing.T) {
	g := twoTasks()
	wx := g.write(0, 0, Init)
	rx := g.read(1, 0, Init)
	later := g.read(1, 1, Init)
	wantPrefix(t, g, rx)
	g.Events[rx].Source = wx
	g.Refresh(rx)
	wantPrefix(t, g, rx, wx)
	g.Refresh(later)
	wantPrefix(t, g, later, wx, rx)
	g.Events[rx].Source = Init
	g.Refresh(rx)
	wantPrefix(t, g, rx)
}

func TestRefreshSeesTheEndOfTheSectionBefore(t *testing.T) {
	g := twoTasks()
	first := g.lock(0, 0, Init)
	e := event(LockRead, 1, 0)
	e.Source = first
	waiting := g.Add(e)
	wantPrefix(t, g, waiting, 0, first)
	end := g.unlock(first)
	g.Refresh(waiting)
	wantPrefix(t, g, waiting, 0, first, end)
}

func TestRestrict(t *testing.T) {
	g := twoTasks()
	w1 := g.write(0, 0, Init)
	dropped := g.write(1, 0, w1)
	w2 := g.write(0, 0, dropped)
	fromDropped := g.read(0, 0, dropped)
	fromKept := g.read(0, 0, w2)
	section := g.lock(0, 1, Init)
	end := g.unlock(section)
	g.Focus = 1

	r, number := g.Restrict(func(id int32) bool { return id != dropped && id != end })
	if len(r.Events) != len(g.Events)-2 || number[dropped] != Init || number[end] != Init || number[w1] != 0 || number[w2] != 1 {
		t.Fatalf("numbers are %v", number)
	}
	if r.Focus != -1 {
		t.Errorf("the focus is task %d", r.Focus)
	}
	if want := []int32{number[w1], number[w2]}; !slices.Equal(r.Coherence[0], want) {
		t.Errorf("coherence is %v, want %v", r.Coherence[0], want)
	}
	if s := r.Events[number[fromDropped]].Source; s != Init {
		t.Errorf("the read of the dropped write reads from %d", s)
	}
	if s := r.Events[number[fromKept]].Source; s != number[w2] {
		t.Errorf("the other read reads from %d, want %d", s, number[w2])
	}
	if e := r.Events[number[section]]; e.End != Init || e.Pair != number[g.Events[section].Pair] {
		t.Errorf("the section has end %d and pair %d", e.End, e.Pair)
	}
	if task := r.Tasks[0]; task.Last != number[section] || task.Count != 6 {
		t.Errorf("the first task has last event %d and count %d", task.Last, task.Count)
	}
	if task := r.Tasks[1]; task.Last != Init || task.Count != 0 || task.End() != Init {
		t.Errorf("the task without events has last event %d and count %d", task.Last, task.Count)
	}
	if g.Events[fromDropped].Source != dropped || len(g.Coherence[0]) != 3 {
		t.Error("the original has changed")
	}
	// What it keeps goes on like any other graph.
	if id := r.write(1, 0, r.LastWrite(0)); r.Events[id].Index != 0 || !slices.Equal(r.Coherence[0], []int32{0, 1, id}) {
		t.Errorf("the next write is event %d of its task, coherence %v", r.Events[id].Index, r.Coherence[0])
	}
}

func TestRestrictTakesTheSpawnAway(t *testing.T) {
	g := twoTasks()
	start := event(Spawn, 0, -1)
	start.Child = 2
	spawn := g.Add(start)
	g.AddTask(3, "child", spawn)
	r, _ := g.Restrict(func(id int32) bool { return id != spawn })
	if len(r.Tasks) != 3 || r.Tasks[2].Spawn != Init {
		t.Errorf("tasks are %+v", r.Tasks)
	}
}

// TestRestrictTakesTurnsBack: who waits although the Unlock is there only waits
// as a matter of course once it is not there.
func TestRestrictTakesTurnsBack(t *testing.T) {
	g := twoTasks()
	section := g.lock(0, 0, Init)
	e := event(LockRead, 1, 0)
	e.Source, e.Turn = section, Waits
	waiter := g.Add(e)
	end := g.unlock(section)
	for _, c := range []struct {
		drop int32
		want Turn
	}{{Init, Waits}, {end, Either}, {section, Either}} {
		r, number := g.Restrict(func(id int32) bool { return id != c.drop })
		if got := r.Events[number[waiter]].Turn; got != c.want {
			t.Errorf("without event %d the turn is %d, want %d", c.drop, got, c.want)
		}
	}
}

func TestClone(t *testing.T) {
	g := twoTasks()
	w := g.write(0, 0, Init)
	c := g.Clone()
	c.write(1, 0, w)
	c.read(1, 1, Init)
	c.Events[w].Value = 7
	c.Tasks[0].Name = "other"
	if len(g.Events) != 1 || len(g.Coherence[0]) != 1 || g.Events[w].Value != 0 || g.Tasks[0].Name != "T1" || g.Tasks[1].Count != 0 {
		t.Errorf("the original has changed: %+v %v %+v", g.Events, g.Coherence, g.Tasks)
	}
	g.write(0, 0, w)
	if len(c.Coherence[0]) != 2 || c.Coherence[0][1] != 1 {
		t.Errorf("the copy has changed: %v", c.Coherence)
	}
}

// TestWidening follows prefix sets across the borders of their words.
func TestWidening(t *testing.T) {
	for _, n := range []int32{63, 64, 65, 127, 128, 129, 200} {
		g := twoTasks()
		for id := range n {
			g.write(id%2, id%2, g.LastWrite(id%2))
		}
		across := g.read(0, 1, g.LastWrite(1))
		for id := range n {
			want := make([]int32, 0, id/2)
			for before := id % 2; before < id; before += 2 {
				want = append(want, before)
			}
			wantPrefix(t, g, id, want...)
		}
		if got := members(g.Prefix(across)); int32(len(got)) != n {
			t.Errorf("%d writes: the read has %d events before it", n, len(got))
		}
		if s := g.NewSet(); int32(len(s)*64) < n+1 {
			t.Errorf("a set of the graph holds %d events, need %d", len(s)*64, n+1)
		}
		half, number := g.Clone().Restrict(func(id int32) bool { return id%2 == 0 || id == across })
		for id := range n {
			if id%2 == 0 && int32(len(members(half.Prefix(number[id])))) != id/2 {
				t.Errorf("%d writes: half of them leave event %d with prefix %v", n, id, members(half.Prefix(number[id])))
			}
		}
	}
}

// history is the text of a random execution: what each task does, where reads
// take their values from, and the coherence orders.
type history struct {
	tasks   [][]Event
	sources map[[2]int32][2]int32 // by task and index of the read
	order   [][][2]int32          // by location: names of its writes
}

func drawHistory(t *rapid.T) *history {
	h := &history{sources: map[[2]int32][2]int32{}, order: make([][][2]int32, 2)}
	for task := range int32(rapid.IntRange(2, 3).Draw(t, "tasks")) {
		var events []Event
		for index := range int32(rapid.IntRange(0, 4).Draw(t, "length")) {
			kind := rapid.SampledFrom([]Kind{Read, Write, Barrier, Choice}).Draw(t, "kind")
			e := event(kind, task, int32(rapid.IntRange(0, 1).Draw(t, "location")))
			switch kind {
			case Write:
				at := rapid.IntRange(0, len(h.order[e.Location])).Draw(t, "place")
				h.order[e.Location] = slices.Insert(h.order[e.Location], at, [2]int32{task, index})
			case Barrier:
				e.Location = -1
			case Choice:
				e.Location, e.Choice = -1, int32(rapid.IntRange(0, 2).Draw(t, "choice"))
			}
			events = append(events, e)
		}
		h.tasks = append(h.tasks, events)
	}
	for task, events := range h.tasks {
		for index, e := range events {
			if writes := h.order[max(0, e.Location)]; e.Kind == Read && len(writes) > 0 && rapid.Bool().Draw(t, "seen") {
				h.sources[[2]int32{int32(task), int32(index)}] = rapid.SampledFrom(writes).Draw(t, "source")
			}
		}
	}
	return h
}

// graph builds the execution, taking events from the tasks in a random order,
// tasks and locations numbered in a random order too.
func (h *history) graph(t *rapid.T) *Graph {
	g := New()
	tasks := rapid.Permutation(indices(len(h.tasks))).Draw(t, "order of tasks")
	locations := rapid.Permutation(indices(len(h.order))).Draw(t, "order of locations")
	for _, task := range tasks {
		g.AddTask(int(task)+1, fmt.Sprintf("T%d", task+1), Init)
	}
	for _, l := range locations {
		g.AddLocation(Location{Owner: 1, Field: uint32(l)})
	}
	var waiting []int32
	for task, events := range h.tasks {
		for range events {
			waiting = append(waiting, int32(task))
		}
	}
	ids := map[[2]int32]int32{}
	for _, task := range rapid.Permutation(waiting).Draw(t, "order of events") {
		number := int32(slices.Index(tasks, task))
		e := h.tasks[task][g.Tasks[number].Count]
		e.Task = number
		if e.Location >= 0 {
			e.Location = int32(slices.Index(locations, e.Location))
		}
		name := [2]int32{task, g.Tasks[number].Count}
		ids[name] = g.Add(e)
	}
	for read, source := range h.sources {
		g.Events[ids[read]].Source = ids[source]
	}
	for l, names := range h.order {
		after := Init
		for _, name := range names {
			g.Place(ids[name], after)
			after = ids[name]
		}
		if at := slices.Index(locations, int32(l)); len(g.Coherence[at]) != len(names) {
			t.Fatalf("location %d has coherence %v, want %v", l, g.Coherence[at], names)
		}
	}
	return g
}

func indices(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i)
	}
	return list
}

func TestKeyDoesNotDependOnTheOrderOfAdding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		if one, other := h.graph(t).Key(), h.graph(t).Key(); one != other {
			t.Fatalf("two ways to add %+v differ", h)
		}
	})
}

// TestKeyTellsExecutionsApart: one change of a source, of coherence or of a
// choice is another execution.
func TestKeyTellsExecutionsApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		g := h.graph(t)
		key := g.Key()
		for id := range g.Events {
			c := g.Clone()
			e := &c.Events[id]
			switch e.Kind {
			case Read:
				for _, source := range append([]int32{Init}, g.Coherence[e.Location]...) {
					e.Source = source
					if same := source == g.Events[id].Source; same != (c.Key() == key) {
						t.Fatalf("reading from %d instead of %d: same key is %v", source, g.Events[id].Source, c.Key() == key)
					}
				}
			case Choice:
				e.Choice++
				if c.Key() == key {
					t.Fatal("another choice has the same key")
				}
			case Write:
				if list := c.Coherence[e.Location]; len(list) > 1 {
					list[0], list[1] = list[1], list[0]
					if c.Key() == key {
						t.Fatal("another coherence order has the same key")
					}
				}
			}
		}
	})
}

// TestKeyIsWhole: a task's number that looks like a separator is none.
func TestKeyIsWhole(t *testing.T) {
	keys := map[string]string{}
	for _, id := range []int{1, 10, 45, 124} {
		for first := range 2 {
			for second := range 2 {
				g := New()
				g.AddTask(id, "T", Init)
				g.AddLocation(Location{Owner: 1})
				g.AddLocation(Location{Owner: kernel.ObjectID(id + 1)})
				for _, location := range []int{first, second} {
					g.write(0, int32(location), g.LastWrite(int32(location)))
				}
				what := fmt.Sprint(id, first, second)
				if other, found := keys[g.Key()]; found {
					t.Errorf("%s and %s have the same key", what, other)
				}
				keys[g.Key()] = what
			}
		}
	}
}

func TestSamePlace(t *testing.T) {
	g := New()
	g.AddTask(1, "T1", Init)
	for strand := range 2 {
		g.AddLocation(Location{Owner: 1, Lock: true, Strand: strand})
	}
	g.AddLocation(Location{Owner: 2, Lock: true})
	first := g.lock(0, 0, Init)
	second := g.lock(0, 1, Init)
	other := g.lock(0, 2, Init)
	end := g.unlock(first)
	barrier := g.Add(event(Barrier, 0, -1))
	for _, c := range []struct {
		a, b int32
		want bool
	}{{first, first, true}, {first, second, false}, {second, end, true}, {end, first, true}, {end, other, false}, {barrier, barrier, false}} {
		if got := g.SamePlace(c.a, c.b); got != c.want {
			t.Errorf("events %d and %d touch the same place: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestHinders(t *testing.T) {
	for _, c := range []struct {
		strand int
		mode   kernel.LockMode
		want   bool
	}{{0, kernel.Exclusive, true}, {2, kernel.Exclusive, false}, {2, kernel.Shared, true}} {
		g := New()
		g.AddTask(1, "T1", Init)
		g.AddLocation(Location{Owner: 1, Lock: true, Strand: c.strand})
		section := g.lock(0, 0, Init)
		g.Events[section].Mode = c.mode
		if got := g.Hinders(section); got != c.want {
			t.Errorf("%v section of strand %d hinders: %v, want %v", c.mode, c.strand, got, c.want)
		}
		if g.Hinders(g.Events[section].Pair) {
			t.Error("the first half of an acquisition hinders")
		}
	}
}

func TestKindNames(t *testing.T) {
	seen := map[string]bool{}
	for k := Read; k <= Join; k++ {
		if name := k.String(); name == "" || name == "invalid" || seen[name] {
			t.Errorf("kind %d is called %q", k, name)
		} else {
			seen[name] = true
		}
	}
	if Kind(0).String() != "invalid" || (Join+1).String() != "invalid" {
		t.Error("a kind that is none has a name")
	}
}

// TestUndo takes back every kind of addition, also across the border of a set's
// word, and goes on from there.
func TestUndo(t *testing.T) {
	for _, before := range []int32{0, 1, 63, 64} {
		g := twoTasks()
		for range before {
			g.write(0, 0, g.LastWrite(0))
		}
		key, count := g.Key(), g.Tasks[1].Count
		same := func(what string) {
			t.Helper()
			if g.Key() != key || int32(len(g.Events)) != before || g.Tasks[1].Count != count || g.Tasks[1].Last != Init {
				t.Errorf("after %d events, %s and its undoing leave %+v, coherence %v", before, what, g.Tasks, g.Coherence)
			}
		}
		g.read(1, 0, g.LastWrite(0))
		g.Undo()
		same("a read")
		g.write(1, 0, Init)
		g.Undo()
		same("a write")
		g.Add(event(Write, 1, 0))
		g.Undo()
		same("a write without a place")
		section := g.lock(1, 1, Init)
		read := g.Events[section].Pair
		g.Undo()
		if g.Events[read].Pair != Init || g.LastWrite(1) != Init {
			t.Errorf("the first half is still linked to %d, coherence %v", g.Events[read].Pair, g.Coherence)
		}
		g.Undo()
		same("an acquisition")
		last := g.read(1, 0, g.LastWrite(0))
		if got := int32(len(members(g.Prefix(last)))); got != before {
			t.Errorf("the read after it all has %d events before it, want %d", got, before)
		}
	}
}
