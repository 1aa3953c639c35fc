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

// The operations of the tasks. What a caller can tell is their value; which blocks were
// copied, kept and let go it cannot tell, and the specification judges.

func task(name string, operations ...scenario.Operation) scenario.Task {
	return scenario.Task{Name: name, Operations: operations}
}

// begin joins the running transaction.
func (f *fixture) begin(o *owner, k Kind) scenario.Operation {
	return scenario.Operation{Name: "begin", Run: func(t *kernel.Task) scenario.Result {
		o.begin(t, f.fs, k)
		return scenario.Result{Value: "begun"}
	}}
}

// change adds one to a leaf.
func (f *fixture) change(o *owner, tree *Tree, leaf int) scenario.Operation {
	name := fmt.Sprintf("change(%s)", tree.name)
	if tree.height > 1 {
		name = fmt.Sprintf("change(%s%d)", tree.name, leaf)
	}
	return scenario.Operation{Name: name, Run: func(t *kernel.Task) scenario.Result {
		o.handle.clears = 0
		trail := tree.Change(t, o.handle, leaf)
		return scenario.Result{Value: "changed", Counts: o.clearCounts(f.policy), Effects: f.changeEffects(o, tree, o.handle.transaction.id, trail)}
	}}
}

// end gives the handle back.
func (f *fixture) end(o *owner) scenario.Operation {
	return scenario.Operation{Name: "end", Run: func(t *kernel.Task) scenario.Result {
		var kept []*Buffer
		if o.handle.uses == 1 {
			kept = o.handle.set.members()
		}
		o.handle.End(t)
		return scenario.Result{Value: "ended", Counts: o.dropCounts(f.policy), Effects: o.releaseEffects(kept)}
	}}
}

// clearCounts is the work that it takes to make room for a block.
func (o *owner) clearCounts(p Policy) []scenario.Count {
	if p.Track != TrackClock {
		return nil
	}
	return []scenario.Count{{Name: "bits cleared for a block", N: o.handle.clears, Most: p.Slots}}
}

// dropCounts is the work of an end, for which a commit may be waiting.
func (o *owner) dropCounts(p Policy) []scenario.Count {
	if p.Track != TrackClock && p.Track != TrackFixed {
		return nil
	}
	return []scenario.Count{{Name: "blocks let go at an end", N: o.handle.drops, Most: p.Slots}}
}

// commit makes everything durable, or throws it away.
func (f *fixture) commit(o *owner) scenario.Operation {
	return scenario.Operation{Name: "commit", Run: func(t *kernel.Task) scenario.Result {
		tr := o.handle.transaction
		id, kept := tr.id, o.handle.set.members()
		looks, err := o.handle.Commit(t)
		effects := slices.Concat(o.releaseEffects(kept), lookEffects(Integrity, looks))
		if err != nil {
			return scenario.Result{Value: err.Error(), Counts: o.dropCounts(f.policy), Effects: append(effects, endEffects(spec.Discard, id, tr.blocks)...)}
		}
		return scenario.Result{Value: "committed", Counts: o.dropCounts(f.policy), Effects: append(effects, endEffects(spec.Commit, id, tr.blocks)...)}
	}}
}

var errBroken = errors.New("broken")

// abort gives the filesystem up.
func (f *fixture) abort(o *owner) scenario.Operation {
	return scenario.Operation{Name: "abort", Run: func(t *kernel.Task) scenario.Result {
		o.handle.Abort(t, errBroken)
		return scenario.Result{Value: "aborted"}
	}}
}

// writeBack is a pass of background writeback.
func (f *fixture) writeBack() scenario.Operation {
	return scenario.Operation{Name: "write back", Run: func(t *kernel.Task) scenario.Result {
		looks := f.fs.WriteBack(t)
		return scenario.Result{Value: describe(looks), Effects: lookEffects(Background, looks)}
	}}
}

// sync makes a log durable.
func (f *fixture) sync(log *Tree) scenario.Operation {
	return scenario.Operation{Name: fmt.Sprintf("sync(%s)", log.name), Run: func(t *kernel.Task) scenario.Result {
		return scenario.Result{Value: "synced", Effects: lookEffects(Integrity, f.fs.Sync(t, log))}
	}}
}

// describe says what a pass did.
func describe(looks []Look) string {
	var wrote, skipped []string
	for _, l := range looks {
		if l.Wrote {
			wrote = append(wrote, l.Place)
		} else {
			skipped = append(skipped, l.Place)
		}
	}
	return fmt.Sprintf("wrote [%s], skipped [%s]", strings.Join(wrote, " "), strings.Join(skipped, " "))
}
