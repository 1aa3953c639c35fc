package extentmap

import (
	"fmt"
	"strings"
	"testing"
)

// shape is a search tree without the kernel around it.
type shape struct{ root *Entry }

func (s *shape) apply(tb testing.TB, change func(*surgery)) {
	tb.Helper()
	var cut surgery
	change(&cut)
	if !cut.rootMoved {
		return
	}
	if cut.root == s.root {
		tb.Fatalf("%v is stored again", cut.root)
	}
	s.root = cut.root
}

func (s *shape) insert(tb testing.TB, key uint64) {
	tb.Helper()
	var parent *Entry
	at := left
	for e := s.root; e != nil; e = e.child[at] {
		parent, at = e, left
		if key > e.Start {
			at = right
		}
	}
	s.apply(tb, func(cut *surgery) { cut.link(&Entry{Mapping: Mapping{Start: key}}, parent, at) })
}

func (s *shape) find(key uint64) *Entry {
	for e := s.root; e != nil; {
		switch {
		case key < e.Start:
			e = e.child[left]
		case key > e.Start:
			e = e.child[right]
		default:
			return e
		}
	}
	return nil
}

// encode writes the shape down, colours included: equal shapes behave alike.
func encode(e *Entry) string {
	if e == nil {
		return "."
	}
	colour := "b"
	if e.red {
		colour = "r"
	}
	return fmt.Sprintf("%s%d%s%s", colour, e.Start, encode(e.child[left]), encode(e.child[right]))
}

// clone copies a tree, so that several changes can start from the same one.
func clone(e, parent *Entry) *Entry {
	if e == nil {
		return nil
	}
	c := &Entry{Mapping: e.Mapping}
	c.red, c.parent = e.red, parent
	for s := range c.child {
		c.child[s] = clone(e.child[s], c)
	}
	return c
}

// verify checks the red-black properties below e and returns the number of
// black entries on each way down.
func verify(tb testing.TB, e *Entry) int {
	tb.Helper()
	if e == nil {
		return 1
	}
	for s, child := range e.child {
		if child == nil {
			continue
		}
		if child.parent != e {
			tb.Fatalf("%d is not the parent of its child %d", e.Start, child.Start)
		}
		if e.red && child.red {
			tb.Fatalf("%d and its child %d are red", e.Start, child.Start)
		}
		if (child.Start < e.Start) != (side(s) == left) {
			tb.Fatalf("%d is on the wrong side of %d", child.Start, e.Start)
		}
	}
	before, after := verify(tb, e.child[left]), verify(tb, e.child[right])
	if before != after {
		tb.Fatalf("%d is out of balance: %d and %d", e.Start, before, after)
	}
	if e.red {
		return before
	}
	return before + 1
}

// expect checks everything about a tree that must have exactly the keys whose
// bits are set.
func (s *shape) expect(tb testing.TB, keys uint64, limit uint64) {
	tb.Helper()
	if s.root != nil && (s.root.red || s.root.parent != nil) {
		tb.Fatal("the root is red or has a parent")
	}
	if (s.root == nil) != (keys == 0) {
		tb.Fatalf("root %v with keys %b", s.root, keys)
	}
	verify(tb, s.root)
	var forward, backward []string
	if s.root != nil {
		for e := outermost(s.root, left); e != nil; e = neighbour(e, right) {
			forward = append(forward, fmt.Sprint(e.Start))
		}
		for e := outermost(s.root, right); e != nil; e = neighbour(e, left) {
			backward = append([]string{fmt.Sprint(e.Start)}, backward...)
		}
	}
	var want []string
	for key := range limit {
		if keys&(1<<key) != 0 {
			want = append(want, fmt.Sprint(key))
		}
	}
	for _, got := range [][]string{forward, backward} {
		if strings.Join(got, " ") != strings.Join(want, " ") {
			tb.Fatalf("keys %v, want %v", got, want)
		}
	}
}

// TestRedBlackExhaustive goes through every tree that any sequence of
// insertions, erasures and replacements of up to eight keys can lead to. What a
// change does depends on the shape alone, so it is enough to leave each shape
// once in each way.
func TestRedBlackExhaustive(t *testing.T) {
	const limit = 8
	type state struct {
		root *Entry
		keys uint64
	}
	seen := map[string]bool{encode(nil): true}
	todo := []state{{}}
	changes := 0
	visit := func(from state, keys uint64, change func(s *shape)) {
		s := &shape{clone(from.root, nil)}
		change(s)
		s.expect(t, keys, limit)
		changes++
		if name := encode(s.root); !seen[name] {
			seen[name] = true
			todo = append(todo, state{s.root, keys})
		}
	}
	for len(todo) > 0 {
		from := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for key := range uint64(limit) {
			bit := uint64(1) << key
			if from.keys&bit == 0 {
				visit(from, from.keys|bit, func(s *shape) { s.insert(t, key) })
				continue
			}
			visit(from, from.keys&^bit, func(s *shape) {
				e := s.find(key)
				s.apply(t, func(cut *surgery) { cut.erase(e) })
				if e.node != (node{}) {
					t.Fatalf("%d is erased but still linked", key)
				}
			})
			visit(from, from.keys, func(s *shape) {
				e := s.find(key)
				s.apply(t, func(cut *surgery) { cut.replace(e, &Entry{Mapping: e.Mapping}) })
			})
		}
	}
	t.Logf("%d trees, %d changes", len(seen), changes)
	if len(seen) < 1000 {
		t.Errorf("only %d trees were reached", len(seen))
	}
}
