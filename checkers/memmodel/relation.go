package memmodel

import (
	"math/bits"

	"benign/checkers/graph"
)

// relation is a binary relation over the events of one graph, a bit matrix.
type relation struct {
	words int
	rows  []uint64
}

// arena hands out relations and sets of one size and takes them all back at
// once, so that checking a graph allocates nothing in the steady state.
type arena struct {
	n, words int
	free     []uint64
	used     int
}

func (a *arena) reset(n int) { a.n, a.words, a.used = n, (n+63)/64, 0 }

func (a *arena) take(size int) []uint64 {
	if a.used+size > len(a.free) {
		a.free = make([]uint64, 2*(a.used+size))
		a.used = 0
	}
	s := a.free[a.used : a.used+size : a.used+size]
	a.used += size
	clear(s)
	return s
}

func (a *arena) relation() relation { return relation{a.words, a.take(a.n * a.words)} }
func (a *arena) set() graph.Set     { return a.take(a.words) }

func (r relation) row(i int32) graph.Set {
	return graph.Set(r.rows[int(i)*r.words : (int(i)+1)*r.words])
}

func (r relation) add(from, to int32)      { r.row(from).Add(to) }
func (r relation) has(from, to int32) bool { return r.row(from).Has(to) }

// union adds every pair of the other relations.
func (r relation) union(others ...relation) relation {
	for _, o := range others {
		graph.Set(r.rows).Or(o.rows)
	}
	return r
}

// identity adds every event to itself: r?.
func (r relation) identity(n int) relation {
	for i := range int32(n) {
		r.add(i, i)
	}
	return r
}

// restrict keeps the pairs from one set into another: [from]; r; [to].
func (r relation) restrict(n int, from, to graph.Set) relation {
	for i := range int32(n) {
		row := r.row(i)
		if !from.Has(i) {
			clear(row)
			continue
		}
		for w := range row {
			row[w] &= to[w]
		}
	}
	return r
}

// copyOf returns a copy that may be changed.
func (a *arena) copyOf(r relation) relation {
	c := a.relation()
	copy(c.rows, r.rows)
	return c
}

// compose returns r; s.
func (a *arena) compose(r, s relation) relation {
	c := a.relation()
	for i := range int32(a.n) {
		out := c.row(i)
		for w, word := range r.row(i) {
			for ; word != 0; word &= word - 1 {
				out.Or(s.row(int32(w<<6 + bits.TrailingZeros64(word))))
			}
		}
	}
	return c
}

// closure makes the relation transitive: r+. If there is no cycle, one walk
// does it: a row is its successors with their closed rows, and a successor that
// is already in the row has nothing to add. What a walk adds before it finds a
// cycle is right too.
func (r relation) closure(n int) relation {
	if !r.walk(n) {
		return r.closureOfCyclic(n)
	}
	return r
}

// walk closes the relation depth first and reports whether it has no cycle.
func (r relation) walk(n int) bool {
	var few [256]byte
	w := walk{closed: r, state: few[:]}
	if n > len(few) {
		w.state = make([]byte, n)
	}
	for i := range int32(n) {
		if !w.visit(i) {
			return false
		}
	}
	return true
}

// walk is the state of a walk.
type walk struct {
	closed relation
	state  []byte // by event: not seen, being visited, or closed
}

const (
	beingVisited = iota + 1
	isClosed
)

// visit closes the row of an event; false means that it is on a cycle.
func (w *walk) visit(i int32) bool {
	if w.state[i] != 0 {
		return w.state[i] == isClosed
	}
	w.state[i] = beingVisited
	row := w.closed.row(i)
	for at := range row {
		for rest := row[at]; rest != 0; rest &= rest - 1 {
			j := int32(at<<6 + bits.TrailingZeros64(rest))
			if !w.visit(j) {
				return false
			}
			row.Or(w.closed.row(j))
			rest &^= w.closed.row(j)[at]
			rest |= 1 << (j & 63)
		}
	}
	w.state[i] = isClosed
	return true
}

// closureOfCyclic is the algorithm of Warshall.
func (r relation) closureOfCyclic(n int) relation {
	for k := range int32(n) {
		via := r.row(k)
		for i := range int32(n) {
			if i != k && r.has(i, k) {
				r.row(i).Or(via)
			}
		}
	}
	return r
}

// irreflexive reports whether no event is related to itself.
func (r relation) irreflexive(n int) bool {
	for i := range int32(n) {
		if r.has(i, i) {
			return false
		}
	}
	return true
}

// acyclic reports whether the relation has no cycle.
func (a *arena) acyclic(r relation) bool { return a.copyOf(r).walk(a.n) }
