package extentmap

import (
	"errors"
	"fmt"

	"benign/impl/kernel"
)

// Snapshot returns what every entry says, in file order. It takes the lock for
// reading.
func (tr *Tree) Snapshot(t *kernel.Task) []Mapping {
	var all []Mapping
	tr.Lock.RLock(t)
	for e := tr.First(t); e != nil; e = tr.Next(t, e) {
		all = append(all, e.Mapping)
	}
	tr.Lock.RUnlock(t)
	return all
}

// Modified returns what the entries on the modified list say, most recently
// added first. It takes the lock for reading.
func (tr *Tree) Modified(t *kernel.Task) []Mapping {
	var listed []Mapping
	tr.Lock.RLock(t)
	tr.reading(t)
	for e := range tr.modified.All() {
		listed = append(listed, e.Mapping)
	}
	tr.Lock.RUnlock(t)
	return listed
}

// CheckInvariants returns every structural invariant that the tree breaks now,
// joined, or nil: the order and disjointness of the ranges, the red-black
// properties, the agreement of tree, lists and flags, and a reference for each
// place that needs one. It takes the lock for reading.
func (tr *Tree) CheckInvariants(t *kernel.Task) error {
	tr.Lock.RLock(t)
	tr.reading(t)
	root := tr.root.Load(t, kernel.Once)
	c := checker{t: t, tree: tr}
	if root != nil && (root.red || root.parent != nil) {
		c.fail("the root %v is red or has a parent", root.Mapping)
	}
	c.subtree(root)
	c.modifiedList()
	tr.Lock.RUnlock(t)
	return errors.Join(c.faults...)
}

// CheckAtRest is CheckInvariants for a tree that nobody works on: no fsync logs
// any of its entries. It takes the lock for reading.
func (tr *Tree) CheckAtRest(t *kernel.Task) error {
	faults := []error{tr.CheckInvariants(t)}
	for _, m := range tr.Snapshot(t) {
		if m.Flags.Has(Logging) {
			faults = append(faults, fmt.Errorf("%v is being logged, but by nobody", m))
		}
	}
	return errors.Join(faults...)
}

// checker walks a tree in file order and collects what is wrong.
type checker struct {
	t      *kernel.Task
	tree   *Tree
	last   *Entry // the entry that was visited before
	faults []error
}

func (c *checker) fail(format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf(format, args...))
}

// subtree checks e and everything below it and returns how many black entries
// there are on each way down, the missing child included.
func (c *checker) subtree(e *Entry) (blacks int) {
	if e == nil {
		return 1
	}
	for _, child := range e.child {
		if child != nil && child.parent != e {
			c.fail("%v is a child of %v and does not know it", child.Mapping, e.Mapping)
		}
		if isRed(e) && isRed(child) {
			c.fail("%v and its child %v are red", e.Mapping, child.Mapping)
		}
	}
	before := c.subtree(e.child[left])
	c.entry(e)
	after := c.subtree(e.child[right])
	if before != after {
		c.fail("%v has %d black entries below on the left, %d on the right", e.Mapping, before, after)
	}
	if e.red {
		return before
	}
	return before + 1
}

// entry checks what can be said of one entry in the tree and the one before it.
func (c *checker) entry(e *Entry) {
	if err := e.WellFormed(); err != nil {
		c.fail("%v: %w", e.Mapping, err)
	}
	if c.last != nil && c.last.End() > e.Start {
		c.fail("%v is followed by %v", c.last.Mapping, e.Mapping)
	}
	c.last = e
	if e.tree != c.tree || e.current.Load(c.t, kernel.Once) != 1 {
		c.fail("%v is in the tree and does not know it", e.Mapping)
	}
	if !e.Alive() || e.refs.Count(c.t) < 1 {
		c.fail("%v is in the tree without a reference", e.Mapping)
	}
	onModified := e.list.On(&c.tree.modified)
	switch logging := e.Flags.Has(Logging); {
	case logging && onModified:
		c.fail("%v is being logged and on the modified list", e.Mapping)
	case !logging && !onModified && e.list.Linked():
		c.fail("%v is on a private list and not being logged", e.Mapping)
	}
}

// modifiedList checks that what has to be logged is in the tree.
func (c *checker) modifiedList() {
	for e := range c.tree.modified.All() {
		if e.tree != c.tree {
			c.fail("%v is on the modified list and not in the tree", e.Mapping)
		}
	}
}
