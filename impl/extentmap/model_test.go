package extentmap

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"benign/impl/kernel"
	spec "benign/spec/extentmap"
)

// machine runs the tree and its specification side by side, on one task. After
// each operation the outputs and everything that anybody can see must agree.
type machine struct {
	*bench
	model   spec.State
	held    map[spec.Hold]*Entry
	private kernel.List[Entry] // of the fast fsync that is under way
	inHand  *Entry             // the entry that it is logging
	fail    []bool             // which of the next allocations fail
	steps   int
}

// TestAgainstSpec compares the tree with the specification over random
// sequences of operations, 30,000 operations in all.
func TestAgainstSpec(t *testing.T) {
	const enough = 30_000
	steps := 0
	for steps < enough && !t.Failed() {
		rapid.Check(t, func(rt *rapid.T) {
			m := newMachine()
			actions := map[string]func(*rapid.T){"": m.compare}
			for op := spec.OpLookup; op <= spec.OpFullFsync; op++ {
				if op != spec.OpSnapshot && op != spec.OpDropFirst { // compared always; no step that can be made alone
					actions[op.String()] = func(rt *rapid.T) { m.step(rt, op) }
				}
			}
			rt.Repeat(actions)
			m.finish(rt)
			steps += m.steps
		})
	}
}

func newMachine() *machine {
	m := &machine{held: make(map[spec.Hold]*Entry)}
	m.bench = newBench(kernel.Options{AllocationFailure: true, FailAllocation: func(string) bool {
		fails := len(m.fail) > 0 && m.fail[0]
		m.fail = m.fail[min(1, len(m.fail)):]
		return fails
	}})
	m.model = spec.Init(7, true)
	return m
}

// step draws the arguments of an operation and runs it on both sides, if the
// specification allows it here.
func (m *machine) step(rt *rapid.T, op spec.Op) {
	in := m.draw(rt, op)
	next, want := spec.Apply(m.model, in)
	if want.Status == spec.Misuse || m.forbidden(in, want) {
		rt.Skip("not allowed here")
	}
	m.fail = nil
	if in.Spares < 2 {
		// With one spare, either of the two allocations may be the one that fails.
		first := in.Spares == 0 || rapid.Bool().Draw(rt, "the first allocation fails")
		m.fail = []bool{first, in.Spares == 0 || !first}
	}
	got := m.run(in)
	if got != want {
		rt.Fatalf("%v:\ngot  %v\nwant %v", in, got, want)
	}
	if err := spec.CheckStep(m.model, in, got, next); err != nil {
		rt.Fatalf("%v: %v", in, err)
	}
	m.model = next
	m.steps++
}

// forbidden reports what the specification answers or only warns of, and the
// tree takes for a bug of its caller.
func (m *machine) forbidden(in spec.Input, want spec.Output) bool {
	everything := in.Start == 0 && in.End == spec.MaxOffset && !in.SkipPinned
	switch in.Op {
	case spec.OpRemove, spec.OpReplace:
		return want.Status == spec.NotFound || want.Warned
	case spec.OpDropAll:
		return m.model.Fsyncing
	case spec.OpDropRange:
		return everything && m.model.Fsyncing
	case spec.OpFsyncTake:
		return m.inHand != nil || want.Status == spec.NotFound
	}
	return false
}

// finish ends what is under way and checks that nothing is left over.
func (m *machine) finish(rt *rapid.T) {
	for m.model.Fsyncing {
		in := spec.Input{Op: spec.OpFsyncFinish}
		if m.inHand != nil {
			in = spec.Input{Op: spec.OpFsyncLogged, Start: m.inHand.Start}
		} else if e := m.private.Front(); e != nil {
			in = spec.Input{Op: spec.OpFsyncTake, Start: e.Start}
		}
		m.model, _ = spec.Apply(m.model, in)
		m.run(in)
	}
	m.compare(rt)
	for _, e := range m.held {
		e.Put(m.task)
	}
	m.tree.DropAll(m.task)
	m.inode.Object.Free(m.task)
	m.fs.Object.Free(m.task)
	if n := m.world.LiveObjects(); n != 0 {
		rt.Fatalf("%d objects are left", n)
	}
}

// compare fails if the tree and the model differ in anything.
func (m *machine) compare(rt *rapid.T) {
	if err := errors.Join(m.tree.CheckInvariants(m.task), spec.Check(m.model)); err != nil {
		rt.Fatal(err)
	}
	if got := m.observe(); !got.Equal(m.model) {
		rt.Fatalf("tree:\n%v\nmodel:\n%v", got, m.model)
	}
	for _, n := range slices.Concat(m.model.Tree, m.model.Gone) {
		m.compareReferences(rt, n)
	}
	const inodeAndFilesystem = 2
	if got, want := m.world.LiveObjects(), inodeAndFilesystem+len(m.model.Tree)+len(m.model.Gone); got != want {
		rt.Fatalf("%d objects are alive, want %d", got, want)
	}
}

// compareReferences checks EM-2 for one entry.
func (m *machine) compareReferences(rt *rapid.T, n spec.Node) {
	want := n.Holders.Count()
	if n.Fsync {
		want++
	}
	var e *Entry
	if i := slices.IndexFunc(m.model.Tree, func(o spec.Node) bool { return o == n }); i >= 0 {
		want++
		e = m.entries()[i]
	} else {
		e = m.gone(n)
	}
	if got := e.refs.Count(m.task); got != want {
		rt.Fatalf("%v has %d references, want %d", n.Entry, got, want)
	}
}

// gone finds an entry that has left the tree by who holds it.
func (m *machine) gone(n spec.Node) *Entry {
	for hold, e := range m.held {
		if n.Holders.Has(hold) {
			return e
		}
	}
	if m.inHand != nil && m.inHand.Start == n.Start {
		return m.inHand
	}
	for e := range m.private.All() {
		if e.Start == n.Start {
			return e
		}
	}
	return nil
}

func (m *machine) entries() []*Entry {
	var all []*Entry
	m.tree.Lock.RLock(m.task)
	for e := m.tree.First(m.task); e != nil; e = m.tree.Next(m.task, e) {
		all = append(all, e)
	}
	m.tree.Lock.RUnlock(m.task)
	return all
}

// observe translates the tree into a state of the specification.
func (m *machine) observe() spec.State {
	s := spec.State{
		Generation: m.fs.Generation.Load(m.task, kernel.Once),
		FullSync:   m.fullSync(),
		Fsyncing:   m.model.Fsyncing,
		Counted:    true,
		Evictable:  int(m.evictable()),
	}
	for _, e := range m.entries() {
		s.Tree = append(s.Tree, m.node(e))
	}
	var gone []*Entry
	fsyncs := slices.Collect(m.private.All())
	if m.inHand != nil {
		fsyncs = append(fsyncs, m.inHand)
	}
	for _, e := range m.held {
		gone = append(gone, e)
	}
	for _, e := range append(gone, fsyncs...) {
		if n := m.node(e); e.tree == nil && !slices.Contains(s.Gone, n) {
			s.Gone = append(s.Gone, n)
		}
	}
	slices.SortFunc(s.Gone, func(a, b spec.Node) int {
		fsync := func(n spec.Node) int {
			if n.Fsync {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Holders, b.Holders), cmp.Compare(fsync(a), fsync(b)))
	})
	return s
}

// node translates one entry.
func (m *machine) node(e *Entry) spec.Node {
	n := spec.Node{Entry: entryOf(e.Mapping), List: spec.Unlisted}
	switch {
	case e.list.On(&m.tree.modified):
		n.List = spec.OnModified
		n.Rank = slices.Index(slices.Collect(m.tree.modified.All()), e)
	case e.list.On(&m.private):
		n.List = spec.OnPrivate
	}
	for hold, held := range m.held {
		if held == e {
			n.Holders |= spec.HoldersOf(hold)
		}
	}
	n.Fsync = n.List == spec.OnPrivate || e == m.inHand
	return n
}

func entryOf(m Mapping) spec.Entry {
	return spec.Entry{
		Start: m.Start, Len: m.Len, DiskBytenr: m.DiskBytenr, DiskNumBytes: m.DiskNumBytes,
		Offset: m.Offset, RAMBytes: m.RAMBytes, Generation: m.Generation, Flags: spec.Flags(m.Flags),
	}
}

func mappingOf(e spec.Entry) Mapping {
	return Mapping{
		Start: e.Start, Len: e.Len, DiskBytenr: e.DiskBytenr, DiskNumBytes: e.DiskNumBytes,
		Offset: e.Offset, RAMBytes: e.RAMBytes, Generation: e.Generation, Flags: Flags(e.Flags),
	}
}
