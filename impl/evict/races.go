package evict

import (
	"errors"
	"fmt"

	"benign/impl/kernel"
	"benign/impl/scenario"
	spec "benign/spec/inode"
)

// Races returns the questions about the end of an inode.
func Races() []scenario.Race {
	return []scenario.Race{{
		Name:  "inode-index",
		Title: "an inode's number is free again before the inode has left the index of its root",
		Question: "Who asks for the number of an inode that is on its way out gets a new one, and for a while both are " +
			"after the same place in the index. Can the old one take the new one along?",
		Scenarios: []scenario.Scenario{
			numberScenario("reopen", "the cache drops an idle inode while somebody asks for its number, and then looks for it in the index", reopening),
			numberScenario("walk", "the same, and somebody else looks for it in the index at any time", walking),
		},
	}}
}

// numberScenario runs with every form of an inode's end.
func numberScenario(name, about string, tasks func(f *number) []scenario.Task) scenario.Scenario {
	variant := func(name string, role scenario.Role, expect scenario.Class, mode GrabMode, forget func(*kernel.Task, *Inode), about string) scenario.Variant {
		return scenario.Variant{Name: name, Role: role, Expect: expect, About: about,
			Build: func(setup *kernel.Task) *scenario.Instance {
				f := newNumber(setup, mode, forget)
				return &scenario.Instance{
					Tasks: tasks(f),
					Check: f.check, Observe: f.observe, Teardown: f.teardown,
					Spec: numberSpec(),
				}
			}}
	}
	return scenario.Scenario{Name: name, About: about, Variants: []scenario.Variant{
		variant("erase-first", scenario.Baseline, scenario.Indistinguishable, GrabByFlags, eraseFirst,
			"gives the number up when the inode has left the index: no two inodes ever have the same"),
		variant("unhash-first", scenario.Candidate, scenario.Indistinguishable, GrabByFlags, unhashFirst,
			"gives the number up first, and leaves the index only if its entry is still the inode's own"),
		variant("igrab-by-count", scenario.Alternative, scenario.Indistinguishable, GrabByCount, unhashFirst,
			"grabs an inode by incrementing its count unless it is zero, without looking at its flags"),
		variant("plain-erase", scenario.Planted, scenario.Harmful, GrabByFlags, unhashThenWipe,
			"gives the number up first, and erases whatever is in the index under it"),
	}}
}

// unhashThenWipe does not look whose entry it erases.
func unhashThenWipe(t *kernel.Task, i *Inode) {
	i.unhash(t)
	root := i.root
	root.Inodes.Lock(t)
	root.Inodes.EraseIf(t, i.number, root.Inodes.Load(t, i.number))
	root.Inodes.Unlock(t)
}

const (
	numberRoot  = 5
	numberInode = 257
)

// number is a filesystem in which one number is in use, by an idle inode at first.
type number struct {
	mount *Mount
	root  *Root
	open  []*Inode // references that the teardown drops; one task appends at a time
}

func newNumber(t *kernel.Task, mode GrabMode, forget func(*kernel.Task, *Inode)) *number {
	m := NewMount(t, 7, mode)
	m.forget = forget
	f := &number{mount: m, root: m.NewRoot(t, numberRoot, true)}
	Get(t, f.root, numberInode).Put(t)
	return f
}

// The idle inode goes, or is used again, or is followed by another one.
func reopening(f *number) []scenario.Task {
	return []scenario.Task{
		{Name: "cache", Operations: []scenario.Operation{f.prune()}},
		{Name: "user", Operations: []scenario.Operation{f.get(), f.find()}},
	}
}

// The same, and a walk that may keep the inode for a moment.
func walking(f *number) []scenario.Task {
	return []scenario.Task{
		{Name: "cache", Operations: []scenario.Operation{f.prune()}},
		{Name: "user", Operations: []scenario.Operation{f.get()}},
		{Name: "walker", Operations: []scenario.Operation{f.find()}},
	}
}

// numberSpec is the specification of the one number.
func numberSpec() *scenario.Spec {
	return &scenario.Spec{
		Name:    "inodes in memory",
		Initial: func(string) any { return spec.State{InMemory: true} },
		Step: func(state, input, output any) (ok bool, next any) {
			return spec.Step(state.(spec.State), input.(spec.Op), output.(bool))
		},
		Describe: func(input, output any) string { return fmt.Sprintf("%v: %v", input, output) },
	}
}

// numberEffect is an operation, and whether it was done.
func numberEffect(op spec.Op, done bool) scenario.Effect {
	return scenario.Effect{Partition: fmt.Sprintf("inode %d", numberInode), Input: op, Output: done}
}

func numberResult(value string, effects ...scenario.Effect) scenario.Result {
	return scenario.Result{Value: value, Effects: effects}
}

// prune drops idle inodes, as page reclaim does.
func (f *number) prune() scenario.Operation {
	return scenario.Operation{Name: "prune", Run: func(t *kernel.Task) scenario.Result {
		evicted := f.root.evictIdle(t)
		return numberResult(fmt.Sprint(evicted), numberEffect(spec.Prune, evicted > 0))
	}}
}

// get asks for the inode and keeps it.
func (f *number) get() scenario.Operation {
	return scenario.Operation{Name: "get", Run: func(t *kernel.Task) scenario.Result {
		f.open = append(f.open, Get(t, f.root, numberInode))
		return numberResult("done", numberEffect(spec.Get, true))
	}}
}

// find looks for the inode as a walk over the index does.
func (f *number) find() scenario.Operation {
	return scenario.Operation{Name: "find", Run: func(t *kernel.Task) scenario.Result {
		f.root.Inodes.Lock(t)
		inode := f.root.Inodes.Load(t, numberInode)
		found := inode != nil && inode.Grab(t)
		f.root.Inodes.Unlock(t)
		if found {
			inode.Put(t)
		}
		return numberResult(fmt.Sprint(found), numberEffect(spec.Find, found))
	}}
}

// check compares the index with the hash: what is found by its number is found by
// walks as well.
func (f *number) check(t *kernel.Task) error {
	byNumber, byWalk := f.inMemory(t)
	if byNumber != byWalk {
		return errors.New("the inode that has the number is not the one in the index")
	}
	return nil
}

func (f *number) inMemory(t *kernel.Task) (byNumber, byWalk *Inode) {
	f.root.hash.Lock(t)
	byNumber = f.root.hash.Load(t, numberInode)
	f.root.hash.Unlock(t)
	f.root.Inodes.Lock(t)
	byWalk = f.root.Inodes.Load(t, numberInode)
	f.root.Inodes.Unlock(t)
	return byNumber, byWalk
}

// observe tells whether the inode is in memory.
func (f *number) observe(t *kernel.Task) string {
	byNumber, _ := f.inMemory(t)
	return fmt.Sprintf("in memory: %v", byNumber != nil)
}

// teardown unmounts the filesystem, after which nothing may be left.
func (f *number) teardown(t *kernel.Task) {
	for _, inode := range f.open {
		inode.Put(t)
	}
	f.mount.Deactivate(t)
	f.mount.Destroy(t)
}
