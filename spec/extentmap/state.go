package extentmap

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// List says which list an entry is on. An entry has one link, so it is on one list at most.
type List uint8

// The lists.
const (
	_          List = iota
	Unlisted        // on no list
	OnModified      // waiting for the next fast fsync to copy it into the log
	OnPrivate       // taken over by a running fast fsync, not copied yet
)

// String returns the name of the list.
func (l List) String() string {
	switch l {
	case Unlisted:
		return "unlisted"
	case OnModified:
		return "modified"
	case OnPrivate:
		return "private"
	}
	return fmt.Sprintf("invalid list %d", l)
}

// Hold is the name, 1 to 64, that a caller gives to a reference which it keeps after an operation has returned.
// The zero value stands for "the reference is dropped before the operation returns". A name is free again
// after [OpPut].
type Hold uint8

// MaxHold is the largest name of a reference.
const MaxHold Hold = 64

// Holders is a set of references by name.
type Holders uint64

// HoldersOf returns the set of the given names. Zero is left out, as it names no reference.
func HoldersOf(holds ...Hold) Holders {
	var set Holders
	for _, h := range holds {
		if h != 0 {
			set |= 1 << (h - 1)
		}
	}
	return set
}

// Has reports whether the set has the name.
func (h Holders) Has(hold Hold) bool { return h&HoldersOf(hold) != 0 }

// Count returns how many references the set stands for.
func (h Holders) Count() int { return bits.OnesCount64(uint64(h)) }

// Node is an entry and what the tree keeps beside it.
type Node struct {
	Entry
	List    List    // the list that it is on, if any
	Rank    int     // position on the modified list, 0 is the front; 0 on any other
	Holders Holders // references of callers
	Fsync   bool    // a fast fsync holds a reference, from collecting the entry until it has logged it
}

// references returns how many references are held on the node, the tree's own one left out.
func (n Node) references() int {
	count := n.Holders.Count()
	if n.Fsync {
		count++
	}
	return count
}

// State is one inode's extent map tree and the flags that belong with it. It is a value: operations return a
// new one. The fields are open so that a running implementation can be translated into a State and judged;
// whoever edits one by hand edits a Clone. The zero value has no generation; [Init] makes an empty tree.
type State struct {
	Tree []Node // the entries in the tree, by Start
	Gone []Node // taken out of the tree, but somebody still holds a reference

	Generation uint64 // the running transaction of the filesystem
	FullSync   bool   // the next fsync must not trust the modified list
	Fsyncing   bool   // a fast fsync is between collecting the modified list and finishing
	Counted    bool   // the inode belongs to a file tree, so its entries count as evictable
	Evictable  int    // entries added minus entries removed since Init, if Counted
}

// Init returns the state of an inode without any entry, in the given running transaction. Counted says whether the
// inode's root is a file tree.
func Init(generation uint64, counted bool) State {
	return State{Generation: generation, Counted: counted}
}

// Clone returns a copy that shares no memory with s.
func (s State) Clone() State {
	s.Tree, s.Gone = slices.Clone(s.Tree), slices.Clone(s.Gone)
	return s
}

// Equal reports whether nobody could tell the two states apart.
func (s State) Equal(o State) bool {
	return s.header() == o.header() && slices.Equal(s.Tree, o.Tree) && slices.Equal(s.Gone, o.Gone)
}

// header is the part of the state that is not a slice.
type header struct {
	generation                  uint64
	fullSync, fsyncing, counted bool
	evictable                   int
}

func (s State) header() header {
	return header{s.Generation, s.FullSync, s.Fsyncing, s.Counted, s.Evictable}
}

// Key returns a short string that is equal for equal states and differs for different ones, for use as a map key. It is
// not meant to be read.
func (s State) Key() string {
	h := s.header()
	key := binary.AppendUvarint(nil, h.generation)
	key = append(key, bit(h.fullSync)|bit(h.fsyncing)<<1|bit(h.counted)<<2)
	key = binary.AppendVarint(key, int64(h.evictable))
	for _, nodes := range [][]Node{s.Tree, s.Gone} {
		key = binary.AppendUvarint(key, uint64(len(nodes)))
		for _, n := range nodes {
			key = n.appendKey(key)
		}
	}
	return string(key)
}

func (n Node) appendKey(key []byte) []byte {
	for _, v := range []uint64{
		n.Start, n.Len, n.DiskBytenr, n.DiskNumBytes, n.Offset, n.RAMBytes, n.Generation,
		uint64(n.Rank), uint64(n.Holders),
	} {
		key = binary.AppendUvarint(key, v)
	}
	return append(key, byte(n.Flags), byte(n.List), bit(n.Fsync))
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// Visible returns, as text, what the tree lock protects: the entries, the list that each is on, and the full-sync flag.
// References and the evictable count, which live outside of that lock, are left out. It is the output of [OpSnapshot].
func (s State) Visible() string {
	var b strings.Builder
	for _, n := range s.Tree {
		fmt.Fprintf(&b, "%v %v", n.Entry, n.List)
		if n.List == OnModified {
			fmt.Fprintf(&b, "#%d", n.Rank)
		}
		b.WriteByte('\n')
	}
	if s.FullSync {
		b.WriteString("full-sync\n")
	}
	return b.String()
}

// String prints everything, one entry a line.
func (s State) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "generation %d, evictable %+d, fsyncing %v\n", s.Generation, s.Evictable, s.Fsyncing)
	b.WriteString(s.Visible())
	for _, n := range s.Gone {
		fmt.Fprintf(&b, "gone: %v %v\n", n.Entry, n.List)
	}
	for _, nodes := range [][]Node{s.Tree, s.Gone} {
		for _, n := range nodes {
			if n.references() > 0 {
				fmt.Fprintf(&b, "held: %v by %v, fsync %v\n", n.Range(), n.Holders, n.Fsync)
			}
		}
	}
	return b.String()
}

// String lists the names in the set.
func (h Holders) String() string {
	var names []string
	for hold := Hold(1); hold <= MaxHold; hold++ {
		if h.Has(hold) {
			names = append(names, fmt.Sprint(uint8(hold)))
		}
	}
	return "{" + strings.Join(names, " ") + "}"
}

// Modified returns the entries on the modified list, front first: the most recently added one leads.
func (s State) Modified() []Entry {
	var listed []Node
	for _, n := range s.Tree {
		if n.List == OnModified {
			listed = append(listed, n)
		}
	}
	slices.SortFunc(listed, func(a, b Node) int { return cmp.Compare(a.Rank, b.Rank) })
	entries := make([]Entry, len(listed))
	for i, n := range listed {
		entries[i] = n.Entry
	}
	return entries
}

// Held returns the node on which the named reference is held, whether it is still in the tree, and whether
// anybody holds a reference of that name at all.
func (s State) Held(hold Hold) (node Node, inTree, found bool) {
	n, inTree := s.held(hold)
	if n == nil {
		return Node{}, false, false
	}
	return *n, inTree, true
}

// held is Held with access to the node itself, nil if there is none.
func (s *State) held(hold Hold) (node *Node, inTree bool) {
	has := func(n Node) bool { return n.Holders.Has(hold) }
	if i := slices.IndexFunc(s.Tree, has); i >= 0 {
		return &s.Tree[i], true
	}
	if i := slices.IndexFunc(s.Gone, has); i >= 0 {
		return &s.Gone[i], false
	}
	return nil, false
}

// holdsFree reports whether the names are valid and nobody uses them yet.
func (s State) holdsFree(hold Hold, others Holders) bool {
	names := HoldersOf(hold)
	if hold > MaxHold || names&others != 0 {
		return false
	}
	names |= others
	for _, nodes := range [][]Node{s.Tree, s.Gone} {
		for _, n := range nodes {
			if n.Holders&names != 0 {
				return false
			}
		}
	}
	return true
}

// at returns the position of the entry that starts exactly at start.
func (s *State) at(start uint64) (index int, found bool) {
	return slices.BinarySearchFunc(s.Tree, start, func(n Node, start uint64) int { return cmp.Compare(n.Start, start) })
}

// count changes the number of evictable entries.
func (s *State) count(delta int) {
	if s.Counted {
		s.Evictable += delta
	}
}

// pushFront puts the node at index on the modified list.
func (s *State) pushFront(index int) {
	for i := range s.Tree {
		if s.Tree[i].List == OnModified {
			s.Tree[i].Rank++
		}
	}
	s.Tree[index].List, s.Tree[index].Rank = OnModified, 0
}

// unlink takes the node at index off whichever list it is on.
func (s *State) unlink(index int) {
	n := &s.Tree[index]
	list, rank := n.List, n.Rank
	n.List, n.Rank = Unlisted, 0
	if list != OnModified {
		return
	}
	for i := range s.Tree {
		if s.Tree[i].List == OnModified && s.Tree[i].Rank > rank {
			s.Tree[i].Rank--
		}
	}
}

// detach takes the node at index out of the tree and drops the tree's reference on it. Its link is left alone.
func (s *State) detach(index int) {
	n := s.Tree[index]
	s.Tree = slices.Delete(s.Tree, index, index+1)
	s.keepGone(n)
}

// keepGone remembers a node that has left the tree for as long as somebody holds a reference on it. The order
// is one that depends on nothing but the nodes, so that equal states have equal slices.
func (s *State) keepGone(n Node) {
	if n.references() == 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(s.Gone, n, func(a, b Node) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Holders, b.Holders), cmp.Compare(bit(a.Fsync), bit(b.Fsync)))
	})
	s.Gone = slices.Insert(s.Gone, i, n)
}

// dropReferences takes the named references, and with fsync the fast fsync's one, from the node that has left the tree
// at position index, and forgets the node when it was the last.
func (s *State) dropReferences(index int, holders Holders, fsync bool) {
	n := s.Gone[index]
	s.Gone = slices.Delete(s.Gone, index, index+1)
	n.Holders &^= holders
	n.Fsync = n.Fsync && !fsync
	s.keepGone(n)
}
