package inhibit

import (
	"errors"
	"fmt"

	"benign/impl/kernel"
)

// disk is what is there after a crash: every block that has been written, and for each
// tree, which block is its root.
type disk struct {
	sectors map[Block]*sector // under the cache's lock
	roots   map[*Tree]Block   // ditto: what the last commit, or the last sync of a log, says
}

func newDisk() disk {
	return disk{sectors: make(map[Block]*sector), roots: make(map[*Tree]Block)}
}

// sector is a block on disk.
type sector struct {
	contents kernel.Region // what follows, written where a write completes
	complete bool          // it is on disk as it was when it was changed last
	image
}

// image is what a block says.
type image struct {
	children []Block
	value    int
}

func newSector(fs *Filesystem) *sector {
	s := &sector{}
	s.contents.Init(&fs.Object, "sector")
	return s
}

// image copies what the block says. The caller holds its lock.
func (b *Buffer) image() image {
	i := image{value: b.value}
	for _, child := range b.children {
		i.children = append(i.children, child.block)
	}
	return i
}

// refer makes the blocks the roots of their trees on disk, which they and everything
// below them must be on by now: a crash may come right after.
func (fs *Filesystem) refer(t *kernel.Task, roots map[*Tree]Block) {
	fs.cacheLock.Lock(t)
	fs.cache.Write(t)
	for _, tree := range fs.sorted(roots) {
		err := fs.disk.check(t, roots[tree])
		t.Assert(err == nil, "tree %s is to be found on disk, but %v", tree.name, err)
		fs.disk.roots[tree] = roots[tree]
	}
	fs.cacheLock.Unlock(t)
}

// sorted returns the trees in the order in which they were made; a log comes alone.
func (fs *Filesystem) sorted(roots map[*Tree]Block) []*Tree {
	var trees []*Tree
	for _, tree := range fs.trees {
		if _, found := roots[tree]; found {
			trees = append(trees, tree)
		}
	}
	return trees
}

// check returns an error if the block, or one below it, is not on disk. The caller
// holds the cache's lock.
func (d *disk) check(t *kernel.Task, block Block) error {
	s := d.sectors[block]
	s.contents.Read(t)
	if !s.complete {
		return fmt.Errorf("block %d is not there", block)
	}
	var errs []error
	for _, child := range s.children {
		errs = append(errs, d.check(t, child))
	}
	return errors.Join(errs...)
}

// values returns what the leaves of a tree say on disk.
func (d *disk) values(t *kernel.Task, block Block) []int {
	s := d.sectors[block]
	s.contents.Read(t)
	if len(s.children) == 0 {
		return []int{s.value}
	}
	var values []int
	for _, child := range s.children {
		values = append(values, d.values(t, child)...)
	}
	return values
}
