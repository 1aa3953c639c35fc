package memmodel

import (
	"benign/checkers/graph"
	"benign/impl/kernel"
)

// synchronization says which reads take over what happened before their source.
type synchronization uint8

const (
	// byOrder: acquiring reads of a release, or of updates after it.
	byOrder synchronization = iota
	// byReading: all reads, whatever they are marked as.
	byReading
	// byOrderMarked is byOrder, and plain accesses are not looked at.
	byOrderMarked
)

// coherent decides the coherence axiom of C11 for graphs in which only accesses
// and locks synchronize: no barriers, and nothing sequentially consistent. It
// gives each event the set of events that happen before it, and each access its
// position in the coherence order of its location; happens-before must not lead
// backwards. (The four shapes of coherence: Boehm and Adve, "Foundations of the
// C++ Concurrency Memory Model", PLDI 2008; C11, 5.1.2.4.)
type coherent struct {
	rule    synchronization
	g       *graph.Graph
	words   int
	before  []uint64 // by event
	known   []bool
	touched []access

	seen    watch
	foreign int // so many events have one that is not covered; 0 if all that were looked at are
}

// access is one access to the location that is looked at.
type access struct {
	id       int32
	position int32
	writes   bool
}

// covers reports whether coherent is enough to decide the graph.
func (c *coherent) covers(g *graph.Graph) bool {
	for id := range g.Events {
		if c.foreignTo(g, &g.Events[id]) {
			return false
		}
	}
	return true
}

// foreignTo reports whether the event takes a graph out of coherent's reach. A
// failed try of a lock that has several strands does, because it orders nothing
// and yet belongs to all of them: an Unlock may stand between what it saw on one
// strand and what was seen on another.
func (c *coherent) foreignTo(g *graph.Graph, e *graph.Event) bool {
	if c.rule == byReading {
		return false
	}
	strands := e.Kind == graph.LockBusy || e.Kind == graph.LockFail && g.Locations[e.Location].Strand > 0
	return strands || e.Kind == graph.Barrier || e.Order == kernel.Full || e.Order == kernel.Sequential
}

// check reports whether happens-before respects coherence.
func (c *coherent) check(g *graph.Graph) bool {
	n := len(g.Events)
	c.g, c.words = g, (n+63)/64
	c.seen.stamps = c.seen.stamps[:0]
	c.shrink(0)
	c.grow(n)
	for id := range int32(n) {
		c.find(id)
	}
	for l := range g.Locations {
		if !c.location(int32(l)) {
			return false
		}
	}
	return true
}

func (c *coherent) set(id int32) graph.Set {
	return c.before[int(id)*c.words : (int(id)+1)*c.words]
}

// find computes what happens before the event.
func (c *coherent) find(id int32) {
	if c.known[id] {
		return
	}
	c.known[id] = true
	e := &c.g.Events[id]
	if e.Kind == graph.LockWrite || e.Kind == graph.UpdateWrite { // its first half may have waited when it was looked at
		clear(c.set(e.Pair))
		c.known[e.Pair] = false
	}
	c.follows(id, predecessor(c.g, id))
	switch {
	case e.Kind == graph.LockRead && e.Source != graph.Init:
		c.include(id, c.g.Events[e.Source].End)
	case e.Kind == graph.Join:
		c.follows(id, c.g.Tasks[e.Child].End())
	case !e.Reads():
	case c.rule == byReading:
		c.include(id, e.Source)
	case e.Kind == graph.Read && e.Order.Acquires() || e.Kind == graph.UpdateRead && e.Order.Acquires() && e.Pair != graph.Init:
		c.acquire(id, e.Source)
	}
}

// follows includes the event that is before another one in program order, and
// the other half of it.
func (c *coherent) follows(id, before int32) {
	c.include(id, before)
	if before != graph.Init && c.g.SecondHalf(before) {
		c.include(id, c.g.Events[before].Previous)
	}
}

func (c *coherent) include(id, earlier int32) {
	if earlier == graph.Init {
		return
	}
	c.find(earlier)
	set := c.set(id)
	set.Add(earlier)
	set.Or(c.set(earlier))
}

// acquire includes every release whose release sequence the source is in.
func (c *coherent) acquire(id, source int32) {
	for source != graph.Init {
		w := &c.g.Events[source]
		if w.Order.Releases() {
			c.include(id, source)
		}
		if w.Kind != graph.UpdateWrite {
			return
		}
		source = c.g.Events[w.Pair].Source
	}
}

// location checks the accesses to one location against each other.
func (c *coherent) location(l int32) bool {
	c.touched = c.touched[:0]
	for id := range int32(len(c.g.Events)) {
		if e := &c.g.Events[id]; e.Location == l && (e.Reads() || e.Writes()) {
			c.touched = append(c.touched, access{id, c.position(e, id), e.Writes()})
		}
	}
	for i, section := range c.g.Coherence[l] {
		if end := c.g.Events[section].End; end != graph.Init {
			c.touched = append(c.touched, access{end, int32(2*i + 3), true})
		}
	}
	for _, b := range c.touched {
		past := c.set(b.id)
		for _, a := range c.touched {
			if past.Has(a.id) && (a.position > b.position || a.position == b.position && b.writes) {
				return false
			}
		}
	}
	return true
}

// position is where an access stands: a write by its place in coherence, a read
// by that of its source. The end of a lock section has a place of its own.
func (c *coherent) position(e *graph.Event, id int32) int32 {
	source := id
	if !e.Writes() {
		source = e.Source
	}
	at := int32(2)
	for _, write := range c.g.Coherence[e.Location] {
		if source == graph.Init {
			break
		}
		if write == source {
			if e.Kind == graph.LockRead && c.g.Events[write].End != graph.Init {
				return at + 1
			}
			return at
		}
		at += 2
	}
	return 0
}
