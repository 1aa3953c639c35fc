package memmodel

import "benign/checkers/graph"

// An exploration asks about one graph again and again, each time with another
// last event. What a model has found out about the events before it stays true,
// and only what the last events add is looked at.

// watch knows which events of a graph have been looked at.
type watch struct {
	g      *graph.Graph
	stamps []uint64
}

// still returns how many of the first n events of the graph are those that were
// looked at; the others are forgotten.
func (w *watch) still(g *graph.Graph, n int) int {
	if w.g != g {
		w.g, w.stamps = g, w.stamps[:0]
	}
	known := min(len(w.stamps), n)
	for known > 0 && w.stamps[known-1] != g.Stamp(int32(known-1)) {
		known--
	}
	w.stamps = w.stamps[:known]
	return known
}

// look notes that the next event has been looked at.
func (w *watch) look() { w.stamps = append(w.stamps, w.g.Stamp(int32(len(w.stamps)))) }

// growth holds the pairs of coherence and from-reads of a graph that program
// order and reads-from do not imply, in the order in which they came about. A
// pair stays true when later events come between the two.
type growth struct {
	watch
	pairs  []pair
	cyclic int // so many events have a cycle; 0 if those looked at have none

	reached []bool // by pair, see returns
	todo    []int32
}

// extends reports whether the graph is an interleaving, and whether it would be
// one without its last n events, on which nothing depends.
func (s *growth) extends(g *graph.Graph, n int) (with, without bool) {
	base := len(g.Events) - n
	s.follow(g, base)
	if s.cyclic > 0 {
		return false, false
	}
	known := len(s.pairs)
	with = true
	for id := base; with && id < len(g.Events); id++ {
		with = s.learn(int32(id))
	}
	with = with && !s.cycle(g, known)
	s.pairs = s.pairs[:known]
	return with, true
}

// follow looks at the first n events.
func (s *growth) follow(g *graph.Graph, n int) {
	known := s.still(g, n)
	kept := s.pairs[:0]
	for _, p := range s.pairs {
		if int(max(p.from, p.to)) < known {
			kept = append(kept, p)
		}
	}
	s.pairs = kept
	sound := len(s.pairs) // so many pairs have no cycle among them
	if s.cyclic > known {
		s.cyclic, sound = 0, 0
	}
	for id := known; id < n; id++ {
		if !s.learn(int32(id)) && s.cyclic == 0 {
			s.cyclic = id + 1
		}
		s.look()
	}
	if s.cyclic == 0 && s.cycle(g, sound) {
		s.cyclic = n
	}
}

// learn adds the pairs of the event and events before it, each with its nearest
// neighbours of those in coherence. False means that one of them contradicts
// what is implied, or atomicity.
func (s *growth) learn(id int32) bool {
	switch e := &s.g.Events[id]; {
	case e.Kind == graph.Unlock:
		return s.learnEnd(id)
	case e.Writes():
		return s.learnWrite(id)
	case e.Kind == graph.LockFail || e.Kind == graph.LockBusy:
		end := s.g.Events[e.Source].End
		return end > id || s.note(id, end)
	case e.Reads():
		return s.note(id, s.next(e.Location, e.Source, id))
	}
	return true
}

// next returns the write after another one in coherence, of those that are
// older than the event, or Init.
func (s *growth) next(location, write, event int32) int32 {
	passed := write == graph.Init
	for _, other := range s.g.Coherence[location] {
		if passed && other < event {
			return other
		}
		passed = passed || other == write
	}
	return graph.Init
}

// previous returns the write before another one, of those that are older.
func (s *growth) previous(location, write int32) int32 {
	before := graph.Init
	for _, other := range s.g.Coherence[location] {
		if other == write {
			break
		}
		if other < write {
			before = other
		}
	}
	return before
}

// learnEnd adds the tries that failed because of the sections that end.
func (s *growth) learnEnd(id int32) bool {
	for try := range id {
		e := &s.g.Events[try]
		if (e.Kind == graph.LockFail || e.Kind == graph.LockBusy) && s.g.Events[e.Source].End == id && !s.note(try, id) {
			return false
		}
	}
	return true
}

// learnWrite adds a write with its neighbours, the reads that it overwrites, and
// those that read from it although they are older.
func (s *growth) learnWrite(id int32) bool {
	e := &s.g.Events[id]
	before, next := s.previous(e.Location, id), s.next(e.Location, id, id)
	if e.Kind != graph.Write && s.g.Events[e.Pair].Source != before {
		return false
	}
	if next != graph.Init {
		if w := &s.g.Events[next]; w.Kind != graph.Write && s.g.Events[w.Pair].Source == before {
			return false
		}
	}
	if !s.note(id, next) || before != graph.Init && !s.note(before, id) {
		return false
	}
	for read := s.g.Earlier(id); read != graph.Init; read = s.g.Earlier(read) {
		r := &s.g.Events[read]
		if read == e.Pair || !r.Reads() || r.Kind == graph.LockFail || r.Kind == graph.LockBusy {
			continue
		}
		if r.Source == before && !s.note(read, id) || r.Source == id && !s.note(read, next) {
			return false
		}
	}
	return true
}

// note keeps a pair, if there is one and it is not implied; false means that
// its opposite is.
func (s *growth) note(from, to int32) bool {
	if to == graph.Init {
		return true
	}
	if s.g.Prefix(from).Has(to) {
		return false
	}
	if !s.g.Prefix(to).Has(from) {
		s.pairs = append(s.pairs, pair{from, to})
	}
	return true
}

// cycle reports whether one of the pairs from the first on is part of a cycle.
// Those before it have none among themselves.
func (s *growth) cycle(g *graph.Graph, first int) bool {
	for i := first; i < len(s.pairs); i++ {
		if s.returns(g, i) {
			return true
		}
	}
	return false
}

// returns reports whether a way leads from the end of the pair to its beginning.
func (s *growth) returns(g *graph.Graph, first int) bool {
	target := s.pairs[first].from
	s.reached = append(s.reached[:0], make([]bool, len(s.pairs))...)
	s.todo = append(s.todo[:0], int32(first))
	for len(s.todo) > 0 {
		last := len(s.todo) - 1
		at := s.pairs[s.todo[last]].to
		s.todo = s.todo[:last]
		if at == target || g.Prefix(target).Has(at) {
			return true
		}
		for i, p := range s.pairs {
			if !s.reached[i] && (p.from == at || g.Prefix(p.from).Has(at)) {
				s.reached[i] = true
				s.todo = append(s.todo, int32(i))
			}
		}
	}
	return false
}
