package shrinker

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"benign/spec/extentmap"
)

// Position names an inode in the filesystem, by the numbers of its Root and of the Inode.
type Position struct {
	Root, Inode uint64
}

// String returns the two numbers as root/inode.
func (p Position) String() string { return fmt.Sprintf("%d/%d", p.Root, p.Inode) }

// Inode is what the shrinker knows of an inode.
type Inode struct {
	Number  uint64          // unique in its root
	Freeing bool            // it is being evicted: no reference can be taken any more
	Map     extentmap.State // its extent maps
}

// busy reports whether a scan of the inode finds nothing to scan: it cannot be had, or it has no entries.
func (i Inode) busy() bool { return i.Freeing || len(i.Map.Tree) == 0 }

// equal reports whether nobody could tell the two inodes apart.
func (i Inode) equal(o Inode) bool {
	return i.Number == o.Number && i.Freeing == o.Freeing && i.Map.Equal(o.Map)
}

// Key returns a string that is equal for equal inodes and differs for different ones. It is not meant to be read.
func (i Inode) Key() string {
	key := binary.AppendUvarint(nil, i.Number)
	return string(append(key, bit(i.Freeing))) + i.Map.Key()
}

// Root is a tree of inodes.
type Root struct {
	ID       uint64  // its number, unique in the filesystem
	FileTree bool    // its inodes are files; no other root is scanned
	Dying    bool    // no reference to it can be taken any more
	Inodes   []Inode // by Number
}

// State is a filesystem as the shrinker sees it. It is a value; whoever edits one by hand edits a Clone.
type State struct {
	Roots []Root // by ID

	LastRoot, LastIno uint64 // the cursors: where the last run stopped; 0 for the beginning

	Pending uint64 // how many entries the queued run is to look at; 0 when idle (kernel label: nr_to_scan)
	Queued  bool   // the one work item is queued
	Closing bool   // the filesystem is being unmounted
}

// Clone returns a copy that shares no memory with s.
func (s State) Clone() State {
	s.Roots = slices.Clone(s.Roots)
	for r := range s.Roots {
		s.Roots[r].Inodes = slices.Clone(s.Roots[r].Inodes)
		for i := range s.Roots[r].Inodes {
			s.Roots[r].Inodes[i].Map = s.Roots[r].Inodes[i].Map.Clone()
		}
	}
	return s
}

// Equal reports whether nobody could tell the two states apart.
func (s State) Equal(o State) bool { return s.Key() == o.Key() }

// Key returns a string that is equal for equal states and differs for different ones. It is not meant to be read.
func (s State) Key() string {
	key := binary.AppendUvarint(nil, s.LastRoot)
	key = binary.AppendUvarint(key, s.LastIno)
	key = binary.AppendUvarint(key, s.Pending)
	key = append(key, bit(s.Queued)|bit(s.Closing)<<1)
	for _, root := range s.Roots {
		key = binary.AppendUvarint(key, root.ID)
		key = append(key, bit(root.FileTree)|bit(root.Dying)<<1)
		key = binary.AppendUvarint(key, uint64(len(root.Inodes)))
		for _, inode := range root.Inodes {
			key = append(key, inode.Key()...)
		}
	}
	return string(key)
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// String prints the cursors and, inode by inode, the maps.
func (s State) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cursor %d/%d, pending %d, queued %v, closing %v\n", s.LastRoot, s.LastIno, s.Pending, s.Queued, s.Closing)
	for _, root := range s.Roots {
		fmt.Fprintf(&b, "root %d: file tree %v, dying %v\n", root.ID, root.FileTree, root.Dying)
		for _, inode := range root.Inodes {
			fmt.Fprintf(&b, "inode %d: freeing %v\n%v", inode.Number, inode.Freeing, inode.Map)
		}
	}
	return b.String()
}

// Inode returns the inode at a position.
func (s State) Inode(at Position) (Inode, bool) {
	if inode := s.inode(at); inode != nil {
		return *inode, true
	}
	return Inode{}, false
}

// inode returns the inode itself, or nil.
func (s *State) inode(at Position) *Inode {
	r, found := slices.BinarySearchFunc(s.Roots, at.Root, func(root Root, id uint64) int { return cmp.Compare(root.ID, id) })
	if !found {
		return nil
	}
	inodes := s.Roots[r].Inodes
	i, found := slices.BinarySearchFunc(inodes, at.Inode, func(i Inode, number uint64) int { return cmp.Compare(i.Number, number) })
	if !found {
		return nil
	}
	return &inodes[i]
}

// Positions returns all inodes in the order of the walk from the beginning.
func (s State) Positions() []Position {
	var all []Position
	for _, root := range s.Roots {
		for _, inode := range root.Inodes {
			all = append(all, Position{root.ID, inode.Number})
		}
	}
	return all
}

// Evictable returns how many entries count as evictable in the whole filesystem, pinned ones included. It never reads as less
// than zero, though it can be that for a moment.
func (s State) Evictable() int {
	sum := 0
	for _, root := range s.Roots {
		for _, inode := range root.Inodes {
			sum += inode.Map.Evictable
		}
	}
	return max(sum, 0)
}

// Validate reports what makes s no possible filesystem: numbers out of order or zero (the cursors need zero for themselves),
// maps that are broken or live in different transactions, or count although their root is no file tree.
func Validate(s State) error {
	var errs []error
	report := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	previous, generation := uint64(0), uint64(0)
	for _, root := range s.Roots {
		report(root.ID <= previous, "root %d stands behind root %d", root.ID, previous)
		previous = root.ID
		last := uint64(0)
		for _, inode := range root.Inodes {
			at := Position{root.ID, inode.Number}
			report(inode.Number <= last, "inode %v stands behind inode %d", at, last)
			report(inode.Map.Counted != root.FileTree, "inode %v: counted %v, but file tree %v", at, inode.Map.Counted, root.FileTree)
			report(generation != 0 && inode.Map.Generation != generation, "inode %v lives in transaction %d, others in %d", at, inode.Map.Generation, generation)
			if err := extentmap.Check(inode.Map); err != nil {
				errs = append(errs, fmt.Errorf("inode %v: %w", at, err))
			}
			last, generation = inode.Number, inode.Map.Generation
		}
	}
	return errors.Join(errs...)
}
