package memmodel

import (
	"benign/checkers/graph"
	"benign/impl/kernel"
)

// extends is check for a graph that would pass it without its last n events, on
// which nothing depends. It does not decide graphs that coherent does not cover.
// What happens before an event is not changed by later ones, unless it is the
// first half of an acquisition that waits.
func (c *coherent) extends(g *graph.Graph, n int) (consistent, decided bool) {
	base := len(g.Events) - n
	c.follow(g, base)
	if c.foreign > 0 {
		return false, false
	}
	for id := base; id < len(g.Events); id++ {
		if c.foreignTo(g, &g.Events[id]) {
			return false, false
		}
	}
	c.grow(len(g.Events))
	for id := base; id < len(g.Events); id++ {
		c.find(int32(id))
	}
	consistent = true
	for id := base; consistent && id < len(g.Events); id++ {
		consistent = c.respects(int32(id))
	}
	c.shrink(base)
	return consistent, true
}

// follow looks at the first n events.
func (c *coherent) follow(g *graph.Graph, n int) {
	known := c.seen.still(g, n)
	if words := (len(g.Events) + 63) / 64; c.g != g || words > c.words {
		c.g, c.words = g, max(words, c.words)
		known, c.seen.stamps = 0, c.seen.stamps[:0]
	}
	c.shrink(known)
	c.grow(n)
	if c.foreign > known {
		c.foreign = 0
	}
	for id := known; id < n; id++ {
		if c.foreign == 0 && c.foreignTo(g, &g.Events[id]) {
			c.foreign = id + 1
		}
		c.find(int32(id))
		c.seen.look()
	}
}

// grow makes room for so many events.
func (c *coherent) grow(n int) {
	for len(c.before) < n*c.words {
		c.before = append(c.before, 0)
	}
	for len(c.known) < n {
		c.known = append(c.known, false)
	}
}

// shrink forgets all but the first n events.
func (c *coherent) shrink(n int) {
	c.before, c.known = c.before[:min(len(c.before), n*c.words)], c.known[:min(len(c.known), n)]
}

// respects reports whether nothing that happens before the event comes after it
// in coherence.
func (c *coherent) respects(id int32) bool {
	e := &c.g.Events[id]
	if !e.Reads() && !e.Writes() {
		return true
	}
	if !c.alone(e, id) {
		return false
	}
	if c.passes(e) {
		return true
	}
	at := c.position(e, id)
	past := c.set(id)
	for before := range past.All() {
		f := &c.g.Events[before]
		if f.Location != e.Location || !f.Reads() && !f.Writes() || c.passes(f) || c.passesSource(f) {
			continue
		}
		if p := c.position(f, before); p > at || p == at && e.Writes() {
			return false
		}
	}
	for i, section := range c.g.Coherence[e.Location] {
		if end := c.g.Events[section].End; end != graph.Init && past.Has(end) && int32(2*i+3) > at {
			return false
		}
	}
	return true
}

// passes reports whether the access is not looked at.
func (c *coherent) passes(e *graph.Event) bool {
	return c.rule == byOrderMarked && e.Order == kernel.Plain
}

// passesSource reports whether the access reads what is not looked at: that it
// has seen a plain write puts that write before nothing.
func (c *coherent) passesSource(e *graph.Event) bool {
	return e.Reads() && e.Source != graph.Init && c.passes(&c.g.Events[e.Source])
}

// alone reports whether a write does not come between the two halves of an
// update or acquisition, and nothing comes between its own.
func (c *coherent) alone(e *graph.Event, id int32) bool {
	if !e.Writes() {
		return true
	}
	list := c.g.Coherence[e.Location]
	before, next := graph.Init, graph.Init
	for i, write := range list {
		if write != id {
			continue
		}
		if i > 0 {
			before = list[i-1]
		}
		if i+1 < len(list) {
			next = list[i+1]
		}
	}
	if e.Kind != graph.Write && c.g.Events[e.Pair].Source != before {
		return false
	}
	if next == graph.Init {
		return true
	}
	w := &c.g.Events[next]
	return w.Kind == graph.Write || c.g.Events[w.Pair].Source != before
}
