package shrinker

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"benign/impl/extentmap"
	mapspec "benign/spec/extentmap"
	spec "benign/spec/shrinker"
)

// Undisturbed, a run does what the strict specification says: the same visits
// with the same results, the same cursors, and the same maps left.
func TestRunAgainstTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		policy := rapid.SampledFrom([]Policy{Base, Patched, {ReadUnlocked, IputDelayed, RunByWorker}, {ReadUnlocked, IputDelayed, RunByCaller}}).Draw(rt, "policy")
		b := newBench(policy)
		model := draw(rt, b)
		for range rapid.IntRange(1, 4).Draw(rt, "runs") {
			budget := rapid.Int64Range(1, 6).Draw(rt, "budget")
			report := b.shrinker.Run(b.task, budget)
			model, _ = spec.Trigger(model, uint64(budget))
			var want spec.Result
			model, want = spec.Run(model)
			compare(rt, b, report, model, want)
		}
		if live, debt := b.unpinned(), spec.Debt(model); live != debt {
			rt.Fatalf("%d maps are left to free, want %d", live, debt)
		}
	})
}

// draw makes a filesystem, and its model.
func draw(rt *rapid.T, b *bench) spec.State {
	var model spec.State
	for r := range rapid.IntRange(1, 3).Draw(rt, "roots") {
		root := spec.Root{ID: uint64(5 + 2*r), FileTree: rapid.IntRange(0, 3).Draw(rt, "kind") > 0}
		real := b.mount.NewRoot(b.task, root.ID, root.FileTree)
		for i := range rapid.IntRange(0, 3).Draw(rt, "inodes") {
			number := firstInode + uint64(2*i)
			inode, modeled := b.inode(real, number), spec.Inode{Number: number, Map: mapspec.Init(transaction, root.FileTree)}
			for n := range rapid.IntRange(0, 3).Draw(rt, "maps") {
				m := rapid.SampledFrom([]extentmap.Mapping{block(uint64(n)), written(uint64(n)), inFlight(uint64(n))}).Draw(rt, "map")
				modified := rapid.Bool().Draw(rt, "modified")
				insert(b.task, inode, m, modified)
				modeled.Map, _ = mapspec.Apply(modeled.Map, mapspec.Input{Op: mapspec.OpInsert, New: specEntry(m), Modified: modified})
			}
			root.Inodes = append(root.Inodes, modeled)
		}
		model.Roots = append(model.Roots, root)
	}
	if err := spec.Validate(model); err != nil {
		rt.Fatal(err)
	}
	return model
}

func compare(rt *rapid.T, b *bench, got Report, model spec.State, want spec.Result) {
	if uint64(got.Scanned) != want.Scanned || len(got.Visits) != len(want.Visits) {
		rt.Fatalf("got %+v, want %+v", got, want)
	}
	for i, v := range got.Visits {
		effect := lookEffects(Report{Visits: []Visit{v}}, 1)[0]
		at, visit := spec.Position{Root: v.Root, Inode: v.Inode}, effect.Output.([]spec.Output)[0].Visit
		if at != want.Visits[i].At || !visit.Equal(want.Visits[i].Visit) {
			rt.Fatalf("visit %d: got %v %+v, want %+v", i, at, visit, want.Visits[i])
		}
	}
	if root, inode := b.shrinker.Cursors(b.task); root != model.LastRoot || inode != model.LastIno {
		rt.Fatalf("the cursors stand at %d/%d, want %d/%d", root, inode, model.LastRoot, model.LastIno)
	}
	for at, inode := range b.inodes {
		modeled, _ := model.Inode(spec.Position{Root: at.root, Inode: at.inode})
		var entries []mapspec.Entry
		for _, n := range modeled.Map.Tree {
			entries = append(entries, n.Entry)
		}
		var real []mapspec.Entry
		for _, m := range inode.Maps.Snapshot(b.task) {
			real = append(real, specEntry(m))
		}
		if !slices.Equal(real, entries) {
			rt.Fatalf("inode %v has the maps %v, want %v", at, real, entries)
		}
	}
}

// unpinned counts the extent maps in files that nothing keeps.
func (b *bench) unpinned() int {
	count := 0
	for _, inode := range b.inodes {
		if !inode.Root(b.task).FileTree() {
			continue
		}
		for _, m := range inode.Maps.Snapshot(b.task) {
			if !m.Flags.Has(extentmap.Pinned) {
				count++
			}
		}
	}
	return count
}
