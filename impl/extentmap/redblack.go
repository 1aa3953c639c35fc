package extentmap

// The search tree is a red-black tree: a binary search tree ordered by Start
// in which every entry is red or black, such that
//
//	(1) the root is black,
//	(2) a red entry has no red child, and
//	(3) every way down from the root to a missing child meets equally many
//	    black entries.
//
// By (3) all ways down are equally long if only black entries count, and by (2)
// red ones can at most double a way, so the tree is never deeper than twice the
// logarithm of its size. Both properties are repaired locally after a change,
// by recolouring and by rotations, which change the shape but not the order.
//
// Left and right are mirror images throughout, so children are numbered by
// side and each case is written once.
//
// Nothing in this file touches the tree's root word. An entry without a parent
// is the root; a change notes in a [surgery] which entry has become that, and
// the caller stores it once, when all is done. So a reader of the word sees the
// old root or the new one, and nil only when there really is no entry.

// side says which child, or which neighbour.
type side int

const (
	left side = iota
	right
)

func (s side) other() side { return 1 - s }

// node is the place of an entry in the tree; all zero out of it.
type node struct {
	child  [2]*Entry
	parent *Entry // nil for the root
	red    bool
}

// outermost returns the last entry below e, e included, toward the side.
func outermost(e *Entry, s side) *Entry {
	for e.child[s] != nil {
		e = e.child[s]
	}
	return e
}

// neighbour returns the next entry in file order on the side, or nil: the
// nearest below, if there is any, else the first ancestor that lies that way.
func neighbour(e *Entry, s side) *Entry {
	if below := e.child[s]; below != nil {
		return outermost(below, s.other())
	}
	for e.parent != nil && e == e.parent.child[s] {
		e = e.parent
	}
	return e.parent
}

// sideOf returns which child of its parent the entry is.
func sideOf(e *Entry) side {
	if e == e.parent.child[left] {
		return left
	}
	return right
}

func isRed(e *Entry) bool { return e != nil && e.red }

// surgery is one change of the tree's shape: an entry linked, erased, or
// replaced. The zero value has not changed the root.
type surgery struct {
	root      *Entry // the new root, if rootMoved
	rootMoved bool
}

// hang puts e, which may be nil, where old hangs.
func (s *surgery) hang(old, e *Entry) {
	if old.parent == nil {
		s.root, s.rootMoved = e, true
	} else {
		old.parent.child[sideOf(old)] = e
	}
	if e != nil {
		e.parent = old.parent
	}
}

// rotate turns the edge between e and its child on the far side of down: that
// child rises to the place of e, and e sinks toward down.
func (s *surgery) rotate(e *Entry, down side) {
	up := down.other()
	riser := e.child[up]
	s.hang(e, riser)
	middle := riser.child[down]
	e.child[up] = middle
	if middle != nil {
		middle.parent = e
	}
	riser.child[down] = e
	e.parent = riser
}

// link adds e at a free place: below parent on the given side, or as the only
// entry if parent is nil.
func (s *surgery) link(e, parent *Entry, at side) {
	e.node = node{parent: parent, red: true}
	if parent == nil {
		s.root, s.rootMoved = e, true
	} else {
		parent.child[at] = e
	}
	s.repairRed(e)
}

// repairRed restores (1) and (2) around a red entry that may be the root or
// have a red parent. Nothing else is wrong.
func (s *surgery) repairRed(e *Entry) {
	for isRed(e.parent) {
		parent := e.parent
		grandparent := parent.parent // exists and is black: parent is red
		at := sideOf(parent)
		uncle := grandparent.child[at.other()]
		if isRed(uncle) {
			// Two red children hand their colour up; two levels higher the
			// same may be wrong again.
			parent.red, uncle.red, grandparent.red = false, false, true
			e = grandparent
			continue
		}
		if sideOf(e) != at {
			// Bring the two red entries into one line.
			s.rotate(parent, at)
			parent = e
		}
		parent.red, grandparent.red = false, true
		s.rotate(grandparent, at.other())
		return
	}
	if e.parent == nil {
		e.red = false
	}
}

// erase takes e out.
func (s *surgery) erase(e *Entry) {
	if e.child[left] != nil && e.child[right] != nil {
		// The next entry has no left child, so it is easier to take out. It
		// then steps into the place of e, colour and all.
		stand := neighbour(e, right)
		s.erase(stand)
		s.replace(e, stand)
		return
	}
	child := e.child[left]
	if child == nil {
		child = e.child[right]
	}
	parent, at := e.parent, left
	if parent != nil {
		at = sideOf(e)
	}
	s.hang(e, child)
	switch {
	case e.red:
		// No way down has lost a black entry.
	case isRed(child):
		child.red = false
	default:
		s.repairBlack(parent, at)
	}
	e.node = node{}
}

// repairBlack restores (3): the ways down through the child of parent at the
// given side are one black entry short. Without a parent all ways are, which
// is no fault.
func (s *surgery) repairBlack(parent *Entry, at side) {
	for parent != nil {
		away := at.other()
		sibling := parent.child[away] // exists: its ways have a black entry more
		if sibling.red {
			// Get a black sibling by turning; the shortage stays where it is.
			sibling.red, parent.red = false, true
			s.rotate(parent, at)
			sibling = parent.child[away]
		}
		if isRed(sibling.child[left]) || isRed(sibling.child[right]) {
			s.borrow(parent, sibling, at)
			return
		}
		// Take a black entry away on the other side too. That is made good by
		// blackening a red parent; else all ways through parent are short.
		sibling.red = true
		if parent.red {
			parent.red = false
			return
		}
		parent, at = stepUp(parent)
	}
}

// stepUp returns the parent of e and which of its children e is.
func stepUp(e *Entry) (parent *Entry, at side) {
	if e.parent == nil {
		return nil, left
	}
	return e.parent, sideOf(e)
}

// borrow ends a shortage below parent at the given side: the black sibling has
// a red child, which becomes the black entry that is missing.
func (s *surgery) borrow(parent, sibling *Entry, at side) {
	away := at.other()
	if !isRed(sibling.child[away]) {
		// Bring the red child to the outside.
		sibling.red, sibling.child[at].red = true, false
		s.rotate(sibling, away)
		sibling = sibling.parent
	}
	sibling.red, parent.red = parent.red, false
	sibling.child[away].red = false
	s.rotate(parent, at)
}

// replace puts e, which is in no tree, into the place of old.
func (s *surgery) replace(old, e *Entry) {
	s.hang(old, e)
	e.node = old.node
	for _, child := range e.child {
		if child != nil {
			child.parent = e
		}
	}
	old.node = node{}
}
