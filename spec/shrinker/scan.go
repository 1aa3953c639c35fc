package shrinker

import (
	"fmt"
	"math"
	"slices"

	"benign/spec/extentmap"
)

// Outcome says what came of a visit to an inode. The zero value is none.
type Outcome uint8

// The outcomes.
const (
	_       Outcome = iota
	Skipped         // no entry was looked at
	Scanned         // at least one entry was looked at
)

// String returns the name of the outcome.
func (o Outcome) String() string {
	switch o {
	case Skipped:
		return "skipped"
	case Scanned:
		return "scanned"
	}
	return fmt.Sprintf("invalid outcome %d", uint8(o))
}

// Visit is what a scan did to one inode. The walk records one for each inode that it took a reference on; the cursor moves
// there even if the visit came to nothing.
type Visit struct {
	Outcome  Outcome           // what came of it; the zero value is invalid
	Scanned  uint64            // how many entries were looked at, pinned ones included
	Removed  []extentmap.Range // what was removed, in file order
	FullSync bool              // the inode's next fsync was told not to trust the modified list
}

// Equal reports whether both visits did the same.
func (v Visit) Equal(o Visit) bool {
	return v.Outcome == o.Outcome && v.Scanned == o.Scanned && v.FullSync == o.FullSync && slices.Equal(v.Removed, o.Removed)
}

// unlimited is a budget that never runs out.
const unlimited = math.MaxUint64

// scan looks at the entries of a map from the first on, at most as many as the budget says, and removes those that are not
// pinned. Before an entry goes that the next fast fsync would log, that fsync is made a full one; what an older
// transaction made is on disk already and needs no such care. A fast fsync in progress keeps the shrinker out.
//
// Kernel label: btrfs_scan_inode.
func scan(m extentmap.State, budget uint64) (extentmap.State, Visit) {
	if m.Fsyncing || len(m.Tree) == 0 {
		return m, Visit{Outcome: Skipped}
	}
	visit := Visit{Outcome: Scanned}
	for _, n := range m.Tree {
		if visit.Scanned == budget {
			break
		}
		visit.Scanned++
		if n.Flags.Has(extentmap.Pinned) {
			continue
		}
		if neededByFsync(m, n) {
			visit.FullSync = true
			m, _ = extentmap.Apply(m, extentmap.Input{Op: extentmap.OpSetFull})
		}
		m, _ = extentmap.Apply(m, extentmap.Input{Op: extentmap.OpRemove, Start: n.Start})
		visit.Removed = append(visit.Removed, n.Range())
	}
	return m, visit
}

// neededByFsync reports whether the next fast fsync would log the node.
func neededByFsync(m extentmap.State, n extentmap.Node) bool {
	return n.List != extentmap.Unlisted && n.Generation >= m.Generation
}

// allowed reports whether a scan may have done what the visit says to a map that somebody else may have touched, and returns
// the map after it. Undisturbed it must do all that scan does. Disturbed it may skip the inode or stop after any entry, and
// it may have set the full-sync flag for nothing, because it compares with a transaction number that it read
// before the transaction ended; but only when it removed something from a list at all.
func allowed(m extentmap.State, budget uint64, touched bool, visit Visit) (after extentmap.State, ok bool) {
	full, strict := scan(m, budget)
	if visit.Equal(strict) {
		return full, true
	}
	if !touched {
		return m, false
	}
	if visit.Equal(Visit{Outcome: Skipped}) {
		return m, true
	}
	if visit.Scanned == 0 || visit.Scanned > strict.Scanned {
		return m, false
	}
	after, partial := scan(m, visit.Scanned)
	if visit.FullSync && !partial.FullSync && removesListed(m, visit.Scanned) {
		partial.FullSync = true
		after, _ = extentmap.Apply(after, extentmap.Input{Op: extentmap.OpSetFull})
	}
	return after, visit.Equal(partial)
}

// removesListed reports whether a scan of the first entries, as many as count says, removes one from a list.
func removesListed(m extentmap.State, count uint64) bool {
	return slices.ContainsFunc(m.Tree[:count], func(n extentmap.Node) bool {
		return n.List != extentmap.Unlisted && !n.Flags.Has(extentmap.Pinned)
	})
}
