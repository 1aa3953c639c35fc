package inhibit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"benign/impl/kernel"
	"benign/impl/scenario"
	spec "benign/spec/inhibit"
)

// form is a policy, or a fault, with its role and what is predicted of it.
type form struct {
	name          string
	about         string
	role          scenario.Role
	expect        scenario.Class
	expectByModel map[string]scenario.Class
	policy        Policy
	plant         func(*steps) // puts a fault in, or nil
}

// fixture is a small filesystem, and the handles of the tasks of a scenario.
type fixture struct {
	fs      *Filesystem
	policy  Policy
	owners  []*owner
	initial map[string]spec.Block // what the set-up has made, by partition
	sets    map[string]spec.Set   // what the handles must keep by then, ditto
}

// owner is a task that has a handle, and its number in the specification. Only the task
// uses it, once it runs.
type owner struct {
	number int
	handle *Handle
}

func newFixture(t *kernel.Task, f form) *fixture {
	fs := New(t, f.policy)
	if f.plant != nil {
		f.plant(&fs.steps)
	}
	return &fixture{fs: fs, policy: f.policy, initial: make(map[string]spec.Block), sets: make(map[string]spec.Set)}
}

// leaf is a committed tree of one block.
func (f *fixture) leaf(t *kernel.Task, name string) *Tree {
	return f.fs.NewTree(t, name, Ordinary, 1, 2)
}

// owner returns a task that has no handle yet.
func (f *fixture) owner() *owner {
	o := &owner{number: len(f.owners)}
	f.owners = append(f.owners, o)
	f.sets[setPartition(o.number)] = f.policy.model()
	return o
}

// started returns a task that has changed the only block of some trees, one after the
// other.
func (f *fixture) started(t *kernel.Task, trees ...*Tree) *owner {
	o := f.owner()
	o.begin(t, f.fs, Start)
	for _, tree := range trees {
		f.changed(t, o, tree, 0)
	}
	return o
}

// changed changes a leaf before the tasks run, and tells the specification.
func (f *fixture) changed(t *kernel.Task, o *owner, tree *Tree, leaf int) {
	e := o.keepEffect(tree.Change(t, o.handle, leaf))
	for _, b := range e.Input.([]spec.Buffer) {
		f.sets[e.Partition], _ = f.sets[e.Partition].Inhibit(b)
	}
}

func (o *owner) begin(t *kernel.Task, fs *Filesystem, k Kind) {
	h, err := fs.Begin(t, k)
	t.Assert(err == nil, "begin: %v", err)
	o.handle = h
}

// instance is what every scenario here has in common.
func (f *fixture) instance(t *kernel.Task, tasks ...scenario.Task) *scenario.Instance {
	for _, b := range f.fs.buffers {
		f.initial[partition(b.block)] = f.specBlock(t, b)
	}
	return &scenario.Instance{
		Tasks:    tasks,
		Check:    f.check,
		Debt:     f.debt,
		Quiesce:  f.quiesce,
		Observe:  f.observe,
		Teardown: f.teardown,
		Spec:     f.history(),
	}
}

// specBlock translates a block.
func (f *fixture) specBlock(t *kernel.Task, b *Buffer) spec.Block {
	flags := b.flags.Load(t, kernel.Once)
	s := spec.Block{Generation: b.generation, Dirty: flags&flagDirty != 0, Written: b.written, Stale: flags&flagStale != 0}
	for _, o := range f.live() {
		if slices.Contains(o.handle.set.members(), b) {
			s.Holders |= 1 << o.number
		}
	}
	return s
}

// spec translates a clock.
func (s *clockSet) spec() spec.Clock {
	c := spec.Clock{Size: s.size, Used: s.used, Referenced: s.referenced, Hand: s.hand}
	for i, b := range s.slots[:s.used] {
		c.Slots[i] = spec.Buffer(b.block)
	}
	return c
}

// live returns the tasks that have a handle which is not ended.
func (f *fixture) live() []*owner {
	var live []*owner
	for _, o := range f.owners {
		if o.handle != nil && o.handle.uses > 0 {
			live = append(live, o)
		}
	}
	return live
}

// check judges every block and every set.
func (f *fixture) check(t *kernel.Task) error {
	var faults []error
	counts, references := make(map[*Buffer]int), make(map[*Buffer]int)
	for _, o := range f.owners {
		if o.handle == nil {
			continue
		}
		members := o.handle.set.members()
		if o.handle.uses == 0 && len(members) > 0 {
			faults = append(faults, fmt.Errorf("handle %d has ended and keeps %d blocks", o.number, len(members)))
		}
		for i, b := range members {
			counts[b]++
			references[b]++
			if !slices.Contains(f.fs.buffers, b) || slices.Contains(members[:i], b) {
				faults = append(faults, fmt.Errorf("handle %d keeps block %d twice, or after its end", o.number, b.block))
			}
		}
		faults = append(faults, checkSet(o.handle.set))
	}
	for _, tree := range f.fs.trees {
		references[tree.root.Load(t, kernel.Once)]++
	}
	for _, b := range f.fs.buffers {
		flags := b.flags.Load(t, kernel.Once)
		if flags&flagCached != 0 {
			references[b]++
		}
		if got := b.inhibitors.Load(t, kernel.Once); got != counts[b] {
			faults = append(faults, fmt.Errorf("block %d has %d inhibitors, and is in %d sets", b.block, got, counts[b]))
		}
		if got := b.refs.Count(t); got != references[b] {
			faults = append(faults, fmt.Errorf("block %d has %d references, want %d", b.block, got, references[b]))
		}
		if flags&flagWriteback != 0 {
			faults = append(faults, fmt.Errorf("block %d is being written, and nobody does", b.block))
		}
	}
	return errors.Join(faults...)
}

// checkSet judges a clock; the other sets have nothing to be wrong about.
func checkSet(s set) error {
	if c, ok := s.(*clockSet); ok {
		return c.spec().Check()
	}
	return nil
}

// debt counts the blocks that background writeback would write if it came now.
func (f *fixture) debt(t *kernel.Task) int {
	var blocks []spec.Block
	for _, b := range f.fs.buffers {
		blocks = append(blocks, spec.Block{
			Dirty: b.flags.Load(t, kernel.Once)&flagDirty != 0,
			// How many sets it is in counts, not in which.
			Holders: 1<<b.inhibitors.Load(t, kernel.Once) - 1,
		})
	}
	return spec.Debt(blocks)
}

// quiesce is one pass of background writeback.
func (f *fixture) quiesce(t *kernel.Task) bool {
	return slices.ContainsFunc(f.fs.WriteBack(t), func(l Look) bool { return l.Wrote })
}

// observe describes what every tree says, in memory and after a crash.
func (f *fixture) observe(t *kernel.Task) string {
	var b strings.Builder
	for _, tree := range f.fs.trees {
		fmt.Fprintf(&b, "%s %v, on disk %v; ", tree.name, tree.root.Load(t, kernel.Once).values(), f.fs.disk.values(t, f.fs.disk.roots[tree]))
	}
	return strings.TrimSuffix(b.String(), "; ")
}

// values returns what the leaves say in memory.
func (b *Buffer) values() []int {
	if len(b.children) == 0 {
		return []int{b.value}
	}
	var values []int
	for _, child := range b.children {
		values = append(values, child.values()...)
	}
	return values
}

// teardown ends what no task has ended, and unmounts.
func (f *fixture) teardown(t *kernel.Task) {
	for _, o := range f.live() {
		o.handle.uses = 1
		o.handle.End(t)
	}
	aborted := f.fs.aborted
	err := f.fs.Unmount(t)
	t.Assert(err == aborted, "unmount: %v", err)
}
