package inhibit

import (
	"fmt"
	"slices"

	"benign/impl/kernel"
)

// TreeKind says what a tree is for. The zero value is invalid.
type TreeKind uint8

const (
	// Ordinary trees are part of every commit.
	Ordinary TreeKind = iota + 1
	// Log trees are written by syncs, between commits, and are of no use after one.
	Log
	// Relocation trees are made anew in their transaction, and thrown away: nobody
	// keeps their blocks.
	Relocation
)

// Tree is a tree of blocks. Every node has as many children as fit, the last ones
// perhaps fewer.
type Tree struct {
	kernel.Object
	fs     *Filesystem
	name   string
	kind   TreeKind
	height int // levels, one of them of leaves
	fan    int // children of a node

	lock      kernel.SpinLock
	root      kernel.Pointer[Buffer] // it changes under lock and the root's own lock
	forceCopy kernel.Word[int]       // 1 while a snapshot shares blocks that look new (FORCE_COW)
	mutex     kernel.Mutex           // of a log: who changes it keeps syncs out
	logged    []Block                // of a log, what was made for it, under the cache's lock
}

// NewTree makes a committed tree with so many leaves, each of which says 0.
func (fs *Filesystem) NewTree(t *kernel.Task, name string, kind TreeKind, leaves, fan int) *Tree {
	return fs.newTree(t, name, kind, leaves, fan, 1)
}

// newTree is NewTree for a tree of so many levels, or more if it needs them.
func (fs *Filesystem) newTree(t *kernel.Task, name string, kind TreeKind, leaves, fan, height int) *Tree {
	tree := &Tree{fs: fs, name: name, kind: kind, fan: fan}
	tree.Object.Init(t, "tree", tree)
	tree.lock.Init(&tree.Object, "lock")
	tree.mutex.Init(&tree.Object, "log mutex")
	tree.forceCopy.Init(&tree.Object, "force copy", 0)
	tree.root.Init(&tree.Object, "root", tree.grow(t, leaves, height))
	fs.trees = append(fs.trees, tree)
	fs.cacheLock.Lock(t)
	fs.disk.roots[tree] = tree.root.Load(t, kernel.Once).block
	fs.cacheLock.Unlock(t)
	return tree
}

// grow makes the blocks of a tree from the leaves up, and returns the root with a
// reference. All are on disk.
func (tree *Tree) grow(t *kernel.Task, leaves, height int) *Buffer {
	var below []*Buffer
	for level, n := 0, leaves; ; level, n = level+1, (n+tree.fan-1)/tree.fan {
		var row []*Buffer
		for i := range n {
			b := tree.fs.newBuffer(t, tree.fs.last, tree.place(level, i, n), level, nil)
			b.written = true
			if level > 0 {
				b.children = slices.Clone(below[i*tree.fan : min(len(below), (i+1)*tree.fan)])
			}
			b.sector.complete, b.sector.image = true, b.image()
			row = append(row, b)
		}
		for _, b := range below {
			b.put(t)
		}
		if below = row; n == 1 && level+1 >= height {
			tree.height = level + 1
			return row[0]
		}
	}
}

// place names a block: the root is called like the tree.
func (tree *Tree) place(level, i, n int) string {
	switch {
	case n == 1:
		return tree.name
	case level == 0:
		return fmt.Sprintf("%s%d", tree.name, i)
	}
	return fmt.Sprintf("%s%d.%d", tree.name, level, i)
}

// Decision is what became of one block on the way to a leaf.
type Decision struct {
	Block  Block // that the way led to
	Copied bool  // it was copied
	Copy   Block // to there
	// Again means that the block was a copy of the same transaction, and had been
	// written since.
	Again bool
	// Kept means that the handle keeps the block, or its copy; Evicted is the block
	// that had to make room for it, or 0, and Clears how many bits a clock has cleared
	// for that.
	Kept    bool
	Evicted Block
	Clears  int
}

// Change adds 1 to what a leaf says. Before, the blocks on the way to it are copied, if
// they have to be. What was decided about each of them is returned; it stays valid until
// the next call with the handle.
func (tree *Tree) Change(t *kernel.Task, h *Handle, leaf int) []Decision {
	h.check(t)
	h.trail = h.trail[:0]
	if tree.kind == Log {
		tree.mutex.Lock(t)
		defer tree.mutex.Unlock(t)
	}
	b := tree.descend(t, h, leaf)
	b.contents.Write(t)
	b.value++
	b.dirty(t)
	b.lock.Unlock(t)
	b.put(t)
	return h.trail
}

// descend returns the leaf, locked for writing and with a reference. It looks at the
// nodes under shared locks first; where one has to be copied, it begins anew, and locks
// that one and its parent for writing.
func (tree *Tree) descend(t *kernel.Task, h *Handle, leaf int) *Buffer {
	for exclusive := 0; ; {
		b, level := tree.try(t, h, leaf, exclusive)
		if b != nil {
			return b
		}
		exclusive = min(level+1, tree.height-1)
	}
}

// try is a descent that takes exclusive locks up to a level. It returns nil, and the
// level of the block, if that is too low for a block that has to be copied.
func (tree *Tree) try(t *kernel.Task, h *Handle, leaf, exclusive int) (*Buffer, int) {
	b := tree.lockRoot(t, exclusive)
	var parent *Buffer
	for {
		slot := leaf / power(tree.fan, b.level)
		if tree.fs.shouldCopy(t, h, tree, b) {
			if exclusive < min(b.level+1, tree.height-1) {
				level := b.level
				b.unlock(t, exclusive)
				parent.unlock(t, exclusive)
				return nil, level
			}
			b = tree.copyBlock(t, h, b, parent, slot%tree.fan)
		}
		parent.unlock(t, exclusive)
		if b.level == 0 {
			return b, 0
		}
		parent = b
		b = parent.children[leaf/power(tree.fan, b.level-1)%tree.fan]
		b.refs.Get(t)
		b.lockAt(t, exclusive)
	}
}

// power returns how many leaves are below a child of a node on the level.
func power(fan, level int) int {
	n := 1
	for range level {
		n *= fan
	}
	return n
}

// lockRoot returns the root, locked and with a reference. It may be another one by the
// time that its lock is taken, and is looked up again then.
func (tree *Tree) lockRoot(t *kernel.Task, exclusive int) *Buffer {
	for {
		tree.lock.Lock(t)
		b := tree.root.Load(t, kernel.Once)
		b.refs.Get(t)
		tree.lock.Unlock(t)
		b.lockAt(t, exclusive)
		if tree.root.Load(t, kernel.Once) == b {
			return b
		}
		b.unlock(t, exclusive)
	}
}

// lockAt locks the block: for writing, if it is on one of the lowest levels.
func (b *Buffer) lockAt(t *kernel.Task, exclusive int) {
	if b.level <= exclusive {
		b.lock.Lock(t)
	} else {
		b.lock.RLock(t)
	}
}

// unlock is the opposite of lockAt, and drops the reference. Of no block it does nothing.
func (b *Buffer) unlock(t *kernel.Task, exclusive int) {
	if b == nil {
		return
	}
	if b.level <= exclusive {
		b.lock.Unlock(t)
	} else {
		b.lock.RUnlock(t)
	}
	b.put(t)
}

// setRoot makes another block the root. The caller holds the old one's lock, and keeps
// its own reference to either.
func (tree *Tree) setRoot(t *kernel.Task, b *Buffer) {
	b.refs.Get(t)
	tree.lock.Lock(t)
	old := tree.root.Load(t, kernel.Once)
	tree.root.Store(t, kernel.Once, b)
	tree.lock.Unlock(t)
	old.put(t)
}
