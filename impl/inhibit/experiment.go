package inhibit

import (
	"errors"
	"math/rand/v2"

	"benign/impl/kernel"
)

// Workload is an eviction of files with very many extents in one transaction, while
// background writeback comes, as far as it matters for what is copied: which blocks
// are changed, and in which order. What the leaves say is of no interest.
//
// A handle walks the leaves of the files' tree from right to left, and descends to
// each of them several times. Now and then it descends to a leaf of the tree of free
// space, and another task to a leaf of a third tree.
type Workload struct {
	Height int // of all trees
	Fan    int // children of a node
	Leaves int // of the files' tree
	Visits int // descents to each of them
	Handle int // descents of the evicting task until it ends its handle and begins another

	Sweep      float64 // descents from one pass of writeback to the next, on average
	Space      float64 // descents to a leaf of the tree of free space, for each to one of the files'
	SpaceTree  int     // leaves of that
	Other      float64 // ditto, of the other task
	OthersTree int     // leaves of that one
}

// Eviction is the workload that was reported, of 16 files of 64 MiB with an extent for
// each 4 KiB. The sizes of the trees follow from that; what is not reported was fitted to
// the four figures that are.
var Eviction = Workload{
	Height: 4, Fan: 12, Leaves: 16 * 79, Visits: 4, Handle: 1000,
	Sweep: 2.46, Space: 0.02, SpaceTree: 120, Other: 0.15, OthersTree: 380,
}

// Copies counts what a workload has copied.
type Copies struct {
	// First are the copies of blocks of an earlier transaction, and Again those of copies
	// that had been written meanwhile.
	First int `json:"first"`
	Again int `json:"again"`
}

// Ratio is how many copies were made again for each first one.
func (c Copies) Ratio() float64 { return float64(c.Again) / float64(c.First) }

// Validate returns an error unless the workload can be run.
func (w Workload) Validate() error {
	switch {
	case w.Height < 1 || w.Height > MaxHeight || w.Fan < 2:
		return errors.New("inhibit: a tree has 1 to 8 levels, and its nodes two children at least")
	case w.Leaves < 1 || w.Visits < 1 || w.Handle < 1 || w.SpaceTree < 1 || w.OthersTree < 1 || w.Sweep < 1:
		return errors.New("inhibit: a workload has one of everything at least")
	case max(w.Leaves, w.SpaceTree, w.OthersTree) > power(w.Fan, w.Height-1):
		return errors.New("inhibit: a tree has more leaves than its height allows")
	}
	return nil
}

// Run runs the workload, which must be valid, on the implementation itself, one task
// after the other. Equal seeds have equal results.
func (w Workload) Run(p Policy, seed uint64) Copies { return w.run(p, seed, nil) }

// RunFIFO is Run with a clock that knows no second chance.
func (w Workload) RunFIFO(slots int, seed uint64) Copies {
	return w.run(Clock(slots), seed, func(fs *Filesystem) set { return &fifoSet{clockSet{fs: fs, size: slots}} })
}

// fifoSet is a clock that takes no note of what is used.
type fifoSet struct{ clockSet }

func (s *fifoSet) keep(t *kernel.Task, b *Buffer) claim {
	c := s.clockSet.keep(t, b)
	s.referenced = 0
	return c
}

func (w Workload) run(p Policy, seed uint64, newSet func(*Filesystem) set) Copies {
	t := kernel.NewWorld(kernel.Options{}).NewTask("eviction")
	fs := New(t, p)
	if newSet != nil {
		fs.steps.newSet = newSet
	}
	files := fs.newTree(t, "F", Ordinary, w.Leaves, w.Fan, w.Height)
	space := fs.newTree(t, "X", Ordinary, w.SpaceTree, w.Fan, w.Height)
	others := fs.newTree(t, "O", Ordinary, w.OthersTree, w.Fan, w.Height)
	random := rand.New(rand.NewPCG(seed, 0))
	var copies Copies
	begin := func() *Handle {
		h, err := fs.Begin(t, Join)
		t.Assert(err == nil, "begin: %v", err)
		return h
	}
	holder := begin() // the transaction goes on
	h := begin()
	for n := range w.Leaves * w.Visits {
		if n > 0 && n%w.Handle == 0 {
			h.End(t)
			h = begin()
		}
		copies.count(files.Change(t, h, w.Leaves-1-n/w.Visits))
		if random.Float64() < w.Space {
			copies.count(space.Change(t, h, random.IntN(w.SpaceTree)))
		}
		if random.Float64() < w.Other {
			other := begin()
			copies.count(others.Change(t, other, random.IntN(w.OthersTree)))
			other.End(t)
		}
		if random.Float64()*w.Sweep < 1 {
			fs.WriteBack(t)
		}
	}
	h.End(t)
	holder.End(t)
	err := fs.Unmount(t)
	t.Assert(err == nil, "unmount: %v", err)
	return copies
}

func (c *Copies) count(trail []Decision) {
	for _, d := range trail {
		switch {
		case d.Again:
			c.Again++
		case d.Copied:
			c.First++
		}
	}
}
