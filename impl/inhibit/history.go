package inhibit

import (
	"fmt"
	"reflect"

	"benign/impl/scenario"
	spec "benign/spec/inhibit"
)

// history is the specification of one block's life, and of the set of one handle. Others
// are at work on a block, so that background writeback may skip it.
func (f *fixture) history() *scenario.Spec {
	return &scenario.Spec{
		Name: "inhibition",
		Initial: func(partition string) any {
			if s, found := f.sets[partition]; found {
				return s
			}
			return f.initial[partition] // of a copy, nothing
		},
		Step: func(state, input, output any) (ok bool, next any) {
			if s, isSet := state.(spec.Set); isSet {
				return keepAll(s, input.([]spec.Buffer), output.([]spec.Claim))
			}
			return spec.StepRelaxed(state.(spec.Block), input.(spec.Input), output.(spec.Output))
		},
		Equal:    reflect.DeepEqual,
		Describe: func(input, output any) string { return fmt.Sprintf("%v: %v", input, output) },
	}
}

// keepAll gives blocks to a set, one after the other, and compares what came of it.
func keepAll(s spec.Set, blocks []spec.Buffer, claims []spec.Claim) (ok bool, next any) {
	for i, b := range blocks {
		if _, isMap := s.(spec.Unbounded); isMap && claims[i] == (spec.Claim{}) {
			continue // there was no memory
		}
		var want spec.Claim
		s, want = s.Inhibit(b)
		want.Hit = claims[i].Hit // of which only the set itself knows
		if claims[i] != want {
			return false, s
		}
	}
	return true, s
}

// model returns the specification of an empty set.
func (p Policy) model() spec.Set {
	switch p.Track {
	case TrackXArray:
		return spec.Unbounded{}
	case TrackFixed:
		return spec.Fixed{Size: p.Slots}
	case TrackClock:
		return spec.Second{Clock: spec.NewClock(p.Slots)}
	}
	return spec.None{}
}

// keepEffect is what a handle has given to its set on the way to a leaf.
func (o *owner) keepEffect(trail []Decision) scenario.Effect {
	var blocks []spec.Buffer
	var claims []spec.Claim
	for _, d := range trail {
		block := d.Block
		if d.Copied {
			block = d.Copy
		}
		blocks = append(blocks, spec.Buffer(block))
		claims = append(claims, spec.Claim{Tracked: d.Kept, Clears: d.Clears, Evicted: spec.Buffer(d.Evicted)})
	}
	return scenario.Effect{Partition: setPartition(o.number), Input: blocks, Output: claims}
}

// setPartition names the history of a handle's set.
func setPartition(number int) string { return fmt.Sprintf("set %d", number) }

// partition names the history of a block.
func partition(b Block) string { return fmt.Sprintf("block %d", b) }

func effect(b Block, in spec.Input, out spec.Output) scenario.Effect {
	return scenario.Effect{Partition: partition(b), Input: in, Output: out}
}

// changeEffects is what a change did to the blocks on its way.
func (f *fixture) changeEffects(o *owner, tree *Tree, id uint64, trail []Decision) []scenario.Effect {
	effects := []scenario.Effect{o.keepEffect(trail)}
	for _, d := range trail {
		in := spec.Input{Op: spec.Use, Handle: o.number, Transaction: id,
			Promised: f.policy.promises() && tree.kind != Relocation, InPlace: f.policy.OverwriteInPlace && tree.kind != Log}
		if d.Copied {
			effects = append(effects, effect(d.Block, in, spec.Output{Copied: true}))
			in.Op = spec.Create
			effects = append(effects, effect(d.Copy, in, spec.Output{Tracked: d.Kept}))
		} else {
			effects = append(effects, effect(d.Block, in, spec.Output{Tracked: d.Kept}))
		}
		if d.Evicted != 0 {
			effects = append(effects, effect(d.Evicted, spec.Input{Op: spec.Release, Handle: o.number}, spec.Output{}))
		}
	}
	return effects
}

// releaseEffects is the end of a handle that keeps some blocks.
func (o *owner) releaseEffects(kept []*Buffer) []scenario.Effect {
	var effects []scenario.Effect
	for _, b := range kept {
		effects = append(effects, effect(b.block, spec.Input{Op: spec.Release, Handle: o.number}, spec.Output{}))
	}
	return effects
}

// lookEffects is a pass of writeback.
func lookEffects(m Mode, looks []Look) []scenario.Effect {
	op := spec.Background
	if m == Integrity {
		op = spec.Integrity
	}
	var effects []scenario.Effect
	for _, l := range looks {
		effects = append(effects, effect(l.Block, spec.Input{Op: op}, spec.Output{Wrote: l.Wrote}))
	}
	return effects
}

// endEffects is what the end of a commit means for the blocks of its transaction.
func endEffects(op spec.Op, id uint64, blocks []Block) []scenario.Effect {
	var effects []scenario.Effect
	for _, b := range blocks {
		effects = append(effects, effect(b, spec.Input{Op: op, Transaction: id}, spec.Output{}))
	}
	return effects
}
