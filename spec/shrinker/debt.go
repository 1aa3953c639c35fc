package shrinker

import "fmt"

// Debt returns how many entries an undisturbed scan of everything would still remove. After the concurrent phase of a scenario
// it is the work that was left for later. Pinned entries and inodes that are being freed are nobody's debt: they
// are not the shrinker's to remove. A filesystem that is being unmounted has none, since its inodes get evicted anyway.
func Debt(s State) int {
	if s.Closing {
		return 0
	}
	debt := 0
	for _, root := range s.Roots {
		if !root.FileTree || root.Dying {
			continue
		}
		for _, inode := range root.Inodes {
			if !inode.Freeing {
				_, visit := scan(inode.Map, unlimited)
				debt += len(visit.Removed)
			}
		}
	}
	return debt
}

// Rounds returns how many undisturbed runs with the given budget it takes until there is no debt, and the state then. The error
// says that no number of runs would do: the runs repeat themselves and the debt stays. That is so when the budget is
// too small to get past the pinned entries at the beginning of an inode, because a scan that is out of budget
// starts that inode from the front again the next time.
func Rounds(s State, budget uint64) (rounds int, end State, err error) {
	seen := make(map[string]bool)
	for Debt(s) > 0 {
		key := s.Key()
		if seen[key] {
			return rounds, s, fmt.Errorf("a debt of %d stays for ever: the runs repeat themselves after %d", Debt(s), rounds)
		}
		seen[key] = true
		s, _ = Trigger(s, budget)
		if !s.Queued {
			return rounds, s, fmt.Errorf("a debt of %d stays for ever: no run is queued, %d entries are pending", Debt(s), s.Pending)
		}
		s, _ = Run(s)
		rounds++
	}
	return rounds, s, nil
}
