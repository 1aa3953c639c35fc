package extentmap

import "slices"

// releaseFolio lets go of what maps a folio that memory pressure wants to drop: one step for each entry, each a critical
// section of its own.
//
// Kernel label: try_release_extent_mapping.
func (s *State) releaseFolio(folio Range, locked []Range) Output {
	out := Output{Status: Done}
	for position := folio.Start; position < folio.End; {
		step := s.releaseStep(Range{position, folio.End}, locked)
		if step.Status != Done {
			break
		}
		out.Removed += step.Removed
		position = step.Next
	}
	return out
}

// releaseStep looks at the first entry of the rest of the folio. NotFound ends the walk: there is no entry, or its write is
// in flight, or it does not start where the rest starts. Otherwise Next says where to go on and Removed,
// 0 or 1, whether the entry went. It stays while any of its bytes are locked, or while a fsync needs it.
func (s *State) releaseStep(rest Range, locked []Range) Output {
	index, found := s.lookup(rest)
	if !found || s.Tree[index].Flags.Has(Pinned) || s.Tree[index].Start != rest.Start {
		return Output{Status: NotFound}
	}
	n := s.Tree[index]
	out := Output{Status: Done, Next: n.End()}
	needed := n.List != Unlisted && !n.Flags.Has(Logging) && n.Generation >= s.Generation
	if needed || slices.ContainsFunc(locked, n.Range().Intersects) {
		return out
	}
	s.remove(index)
	out.Removed = 1
	return out
}
