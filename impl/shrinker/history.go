package shrinker

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"benign/impl/evict"
	"benign/impl/extentmap"
	"benign/impl/kernel"
	"benign/impl/scenario"
	mapspec "benign/spec/extentmap"
	spec "benign/spec/shrinker"
)

// history is the specification of one inode's operations. An effect is a short
// sequence of steps without a gap: its input is a []step and its output a
// []spec.Output of the same length. A scan may have been disturbed by whoever
// else is in the scenario, and so may have deferred its work. A state is a
// []spec.Inode, everything that the inode may be by now, in the order of the keys.
func history(initial map[string]spec.Inode) *scenario.Spec {
	return &scenario.Spec{
		Name: "shrinker",
		Initial: func(partition string) any {
			if inode, found := initial[partition]; found {
				return []spec.Inode{inode}
			}
			return []spec.Inode{specInode(0, nil)} // one that a task creates
		},
		Step: func(state, input, output any) (ok bool, next any) {
			inodes := state.([]spec.Inode)
			for i, s := range input.([]step) {
				inodes = s.from(inodes, output.([]spec.Output)[i])
			}
			return len(inodes) > 0, inodes
		},
		Equal: func(a, b any) bool {
			return slices.EqualFunc(a.([]spec.Inode), b.([]spec.Inode), func(x, y spec.Inode) bool { return x.Key() == y.Key() })
		},
		Describe: func(input, output any) string {
			var parts []string
			for i, s := range input.([]step) {
				parts = append(parts, fmt.Sprintf("%v: %s", s, describeOutput(s[0], output.([]spec.Output)[i])))
			}
			return strings.Join(parts, "; ")
		},
	}
}

// step is one operation with its input or, if that depends on something which
// nobody sees, with all that it may have been; then they differ in nothing else.
type step []spec.Input

// from returns what the inode may be after the step, given what it may have been
// before: nothing, if the step may not have this output.
func (s step) from(inodes []spec.Inode, out spec.Output) []spec.Inode {
	after := make(map[string]spec.Inode)
	for _, inode := range inodes {
		for _, in := range s {
			if ok, next := spec.StepRelaxed(inode, in, out); ok {
				after[next.Key()] = next
			}
		}
	}
	next := make([]spec.Inode, 0, len(after))
	for _, key := range slices.Sorted(maps.Keys(after)) {
		next = append(next, after[key])
	}
	return next
}

// String prints the inputs.
func (s step) String() string {
	texts := make([]string, len(s))
	for i, in := range s {
		texts[i] = in.String()
	}
	return strings.Join(texts, " or ")
}

func describeOutput(in spec.Input, out spec.Output) string {
	if in.Op == spec.Map {
		return out.Map.String()
	}
	return fmt.Sprintf("%v %d, removed %v, full-sync %v", out.Visit.Outcome, out.Visit.Scanned, out.Visit.Removed, out.Visit.FullSync)
}

// partition names the history of an inode.
func partition(number uint64) string { return "inode " + strconv.FormatUint(number, 10) }

// effect is a sequence of steps on one inode.
func effect(number uint64, in []step, out []spec.Output) scenario.Effect {
	return scenario.Effect{Partition: partition(number), Input: in, Output: out}
}

// mapEffect is one operation on an inode's extent maps.
func mapEffect(t *kernel.Task, inode *evict.Inode, in mapspec.Input, out mapspec.Output) scenario.Effect {
	return effect(inode.Number(t), []step{{{Op: spec.Map, Map: in}}}, []spec.Output{{Map: out}})
}

// fsyncEffect is a look at the full-sync flag, and the fsync that follows from
// it. Nobody who is kept out by i_mmap_lock can come in between.
func fsyncEffect(t *kernel.Task, inode *evict.Inode, taken int, full bool) scenario.Effect {
	look := mapspec.Input{Op: mapspec.OpIsFullSync}
	sync := mapspec.Input{Op: mapspec.OpFastFsync, Generation: transaction, Size: mapspec.MaxOffset}
	if full {
		sync = mapspec.Input{Op: mapspec.OpFullFsync}
	}
	return effect(inode.Number(t),
		[]step{{{Op: spec.Map, Map: look}}, {{Op: spec.Map, Map: sync}}},
		[]spec.Output{
			{Map: mapspec.Output{Status: mapspec.Done, FullSync: full}},
			{Map: mapspec.Output{Status: mapspec.Done, Taken: taken}},
		})
}

// lookEffects is what a run did, inode by inode. An inode that it passed over
// has no effect.
func lookEffects(r Report, budget int64) []scenario.Effect {
	var effects []scenario.Effect
	for _, v := range r.Visits {
		visit := spec.Visit{Outcome: spec.Skipped, Scanned: uint64(v.Scanned), FullSync: v.FullSync}
		if v.Scanned > 0 {
			visit.Outcome = spec.Scanned
		}
		for _, m := range v.Dropped {
			visit.Removed = append(visit.Removed, mapspec.Range{Start: m.Start, End: m.End()})
		}
		in := spec.Input{Op: spec.Look, Budget: uint64(budget), Touched: true}
		effects = append(effects, effect(v.Inode, []step{{in}}, []spec.Output{{Visit: visit}}))
		budget -= v.Scanned
	}
	return effects
}

// dropInput is an undisturbed drop of the bytes [start, end), with memory for
// both pieces.
func dropInput(start, end uint64) mapspec.Input {
	return mapspec.Input{Op: mapspec.OpDropRange, Start: start, End: end - 1, Spares: 2}
}

// specInode is an inode with the given mappings in the terms of the
// specification.
func specInode(number uint64, mappings []extentmap.Mapping) spec.Inode {
	inode := spec.Init(number, transaction)
	for _, m := range mappings {
		in := mapspec.Input{Op: mapspec.OpInsert, New: specEntry(m), Modified: uncommitted(m)}
		inode.Map, _ = mapspec.Apply(inode.Map, in)
	}
	return inode
}

// specEntry translates a mapping.
func specEntry(m extentmap.Mapping) mapspec.Entry {
	return mapspec.Entry{
		Start: m.Start, Len: m.Len,
		DiskBytenr: m.DiskBytenr, DiskNumBytes: m.DiskNumBytes,
		Offset: m.Offset, RAMBytes: m.RAMBytes,
		Generation: m.Generation, Flags: mapspec.Flags(m.Flags),
	}
}
