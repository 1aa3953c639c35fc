package explain

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"benign/checkers/explore"
	"benign/checkers/graph"
	"benign/checkers/race"
	"benign/impl/kernel"
)

// mostSteps bounds the steps of a continuation that are told apart and shown.
const mostSteps = 6

// Collect explores what the configuration says and returns what the executions
// show of each annotated race that one of them reaches, sorted by site. The same
// configuration gets the same answer with any number of workers. Visit and Restart
// of the configuration are not called. An error is one of [explore.Explore].
func Collect(config explore.Config) ([]Race, error) {
	c := &collector{}
	c.forget()
	config.Visit, config.Restart = c.visit, c.forget
	if _, err := explore.Explore(config); err != nil {
		return nil, err
	}
	config.Visit, config.Restart = nil, nil
	return newShower(config).races(c.sites)
}

// collector counts kinds of things over executions.
type collector struct {
	mutex    sync.Mutex
	names    names
	detector race.Detector
	sites    map[string]*site
}

// site is what is known of one annotated race.
type site struct {
	reason              string
	executions, racing  int
	accesses, conflicts map[string]*kind
	values              map[string]*values
}

// values are the accesses that read, or stored, one value.
type values struct {
	of     string // see Access.Name
	stored bool
	kinds  map[string]*kind
}

// kind counts what looks the same, and keeps the shortest execution of it.
type kind struct {
	seen, stale, broken, behind, racing int

	what  string
	locks []string
	acts  []string
	more  bool
	check Check

	graph  *graph.Graph
	event  int32   // what it is about
	events []int32 // those of the acts
	key    string  // of the graph, if it was asked for
}

// forget begins anew, when the exploration does.
func (c *collector) forget() {
	c.names, c.sites = names{}, map[string]*site{}
}

// visit takes one execution into account. Several workers call it at once.
func (c *collector) visit(e *explore.Execution) {
	if !slices.ContainsFunc(e.Graph.Events, func(e graph.Event) bool { return e.Site != nil }) {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	v := &visit{collector: c, g: e.Graph, broken: e.Violation != nil, line: timeline(e.Graph), shared: sharedPlaces(e.Graph)}
	for i := range e.Operations {
		op := &e.Operations[i]
		v.ends = append(v.ends, end{int32(op.Task), op.First, op.End})
	}
	follow(&c.detector, e.Graph, v.line)
	raced := map[*site]bool{}
	for id := range v.g.Events {
		event := &v.g.Events[id]
		if event.Site == nil || v.g.SecondHalf(int32(id)) {
			continue
		}
		s := c.site(event.Site)
		raced[s] = v.access(s, int32(id)) || raced[s]
	}
	for s, happened := range raced {
		s.executions++
		if happened {
			s.racing++
		}
	}
}

func (c *collector) site(annotation *kernel.RaceSite) *site {
	s := c.sites[annotation.Name]
	if s == nil {
		s = &site{reason: annotation.Reason, accesses: map[string]*kind{}, conflicts: map[string]*kind{}, values: map[string]*values{}}
		c.sites[annotation.Name] = s
	}
	return s
}

// visit is one execution that is looked at.
type visit struct {
	*collector
	g      *graph.Graph
	broken bool
	line   [][]int32
	shared map[place]bool
	ends   []end
}

// end delimits an operation: events [first, end) of a task.
type end struct{ task, first, end int32 }

// access takes one annotated access into account, and reports whether it races.
func (v *visit) access(s *site, id int32) (races bool) {
	e := &v.g.Events[id]
	line := v.line[e.Task]
	last := id // it may be made in two halves
	if next := e.Index + 1; int(next) < len(line) && v.g.SecondHalf(line[next]) {
		last = line[next]
	}
	locks := v.names.held(v.g, line, id)
	for part := id; ; part = last {
		for _, other := range v.conflicts(part) {
			races = true
			o := &v.g.Events[other]
			if v.g.SecondHalf(other) && part == last && part != id {
				continue // counted with the first
			}
			v.count(s.conflicts, kind{what: v.names.access(v.g, o), locks: lockNames(v.names.held(v.g, v.line[o.Task], other)), event: v.whole(other)},
				v.g.Tasks[o.Task].Name, fmt.Sprint(o.Value == 0))
		}
		if part == last {
			break
		}
	}
	access := kind{what: v.names.access(v.g, e), locks: lockNames(locks), event: last}
	if races {
		access.racing = 1
	}
	v.count(s.accesses, access)
	window := v.window(id, last)
	one := kind{event: last, behind: max(v.behind(id), v.behind(last)), check: v.check(id, window, locks)}
	acts := v.names.acts(v.g, window, v.shared)
	one.more = len(acts) > mostSteps
	for _, a := range acts[:min(len(acts), mostSteps)] {
		one.acts, one.events = append(one.acts, a.what), append(one.events, a.event)
	}
	of := Access{What: access.what, Locks: access.locks}.Name()
	value := fmt.Sprintln(of, e.Value, v.g.Events[last].Value)
	if s.values[value] == nil {
		s.values[value] = &values{of: of, stored: e.Writes(), kinds: map[string]*kind{}}
	}
	v.count(s.values[value].kinds, one)
	return races
}

// whole is the event that completes the access which the event is a part of.
func (v *visit) whole(id int32) int32 {
	e := &v.g.Events[id]
	if line := v.line[e.Task]; int(e.Index)+1 < len(line) && v.g.SecondHalf(line[e.Index+1]) {
		return line[e.Index+1]
	}
	return id
}

// count counts one more of a kind, which is told from others by what it says and
// by the distinctions.
func (v *visit) count(kinds map[string]*kind, one kind, distinctions ...string) {
	key := fmt.Sprintf("%q %q %q %v %+v %q", one.what, one.locks, one.acts, one.more, one.check, distinctions)
	one.graph = v.g
	racing := one.racing
	known := kinds[key]
	if known == nil {
		known = &one
		known.racing = 0
		kinds[key] = known
	} else if one.shorterThan(known) {
		known.graph, known.event, known.events, known.key = one.graph, one.event, one.events, one.key
	}
	known.seen++
	known.racing += racing
	if one.behind > 0 {
		known.stale++
	}
	if v.broken {
		known.broken++
	}
	known.behind = max(known.behind, one.behind)
}

// shorterThan puts executions in an order that does not depend on who ran them
// when.
func (k *kind) shorterThan(other *kind) bool {
	if len(k.graph.Events) != len(other.graph.Events) {
		return len(k.graph.Events) < len(other.graph.Events)
	}
	if k.graph == other.graph {
		return false // the first of the execution
	}
	for _, one := range []*kind{k, other} {
		if one.key == "" {
			one.key = one.graph.Key()
		}
	}
	return k.key < other.key
}

// conflicts returns the accesses of other tasks that happens-before orders neither
// before nor after the event, and one of which is a write.
func (v *visit) conflicts(id int32) []int32 {
	e := &v.g.Events[id]
	before := e.Previous // the access itself may synchronize with what it races with
	if before == graph.Init {
		before = v.g.Tasks[e.Task].Spawn
	}
	var found []int32
	for other := range v.g.Events {
		o := &v.g.Events[other]
		if o.Task == e.Task || o.Location != e.Location || !o.Writes() && !e.Writes() || o.Kind == graph.UpdateRead && o.Pair != graph.Init {
			continue
		}
		if v.detector.Ordered(v.g, id, int32(other)) || before != graph.Init && v.detector.Ordered(v.g, int32(other), before) {
			continue
		}
		found = append(found, int32(other))
	}
	return found
}

// behind counts the writes that are later in coherence than the one that the
// event is of, and that are not ordered after the event.
func (v *visit) behind(id int32) int {
	e := &v.g.Events[id]
	of := e.Source
	if e.Writes() {
		of = id
	}
	n, seen := 0, of == graph.Init
	for _, write := range v.g.Coherence[e.Location] {
		if seen && !v.detector.Ordered(v.g, id, write) {
			n++
		}
		seen = seen || write == of
	}
	return n
}

// window returns the events of the task after the access, to the end of its
// operation, or to the next access of the same site.
func (v *visit) window(first, last int32) []int32 {
	e := &v.g.Events[first]
	events := v.line[e.Task][v.g.Events[last].Index+1:]
	for _, op := range v.ends {
		if op.task == e.Task && op.first <= e.Index && e.Index < op.end {
			events = v.line[e.Task][v.g.Events[last].Index+1 : op.end]
		}
	}
	next := slices.IndexFunc(events, func(id int32) bool { return v.g.Events[id].Site != nil && v.g.Events[id].Site.Name == e.Site.Name })
	if next >= 0 {
		events = events[:next]
	}
	return events
}

// check finds the first check that the task meets in the window; held are the
// locks that it had at the access.
func (v *visit) check(id int32, window []int32, held []holding) Check {
	e := &v.g.Events[id]
	for _, later := range window {
		l := &v.g.Events[later]
		switch {
		case l.Kind == graph.LockFail || l.Kind == graph.LockBusy:
			return Check{Kind: FailedTry, On: v.names.at(v.g, l.Location)}
		case l.Kind == graph.UpdateRead && l.Pair == graph.Init && !l.Awaits:
			return Check{Kind: FailedUpdate, On: v.names.at(v.g, l.Location)}
		case (l.Kind == graph.Read || l.Kind == graph.UpdateRead) && l.Location == e.Location:
			if lock := v.guard(e, later, held); lock != "" {
				return Check{Kind: Reread, On: v.names.at(v.g, l.Location), Lock: lock, Changed: v.changed(id, later)}
			}
		}
	}
	return Check{}
}

// changed reports whether a word that is read again has another value. Of a word
// in halves both count.
func (v *visit) changed(id, later int32) bool {
	if v.g.Events[id].Value != v.g.Events[later].Value {
		return true
	}
	return v.whole(id) != id && v.g.Events[v.whole(id)].Value != v.g.Events[v.whole(later)].Value
}

// guard names a lock that makes reading a word again a check: the task did not
// hold it at the access, and every other task that wrote the word did; "" if there
// is none.
func (v *visit) guard(access *graph.Event, later int32, held []holding) string {
	var names []string
	for _, lock := range v.names.held(v.g, v.line[access.Task], later) {
		if holds(held, lock.place) {
			continue
		}
		all := true
		for _, write := range v.g.Coherence[access.Location] {
			task := v.g.Events[write].Task
			all = all && (task == access.Task || holds(v.names.held(v.g, v.line[task], write), lock.place))
		}
		if all {
			names = append(names, lock.name)
		}
	}
	return strings.Join(names, " and ")
}
