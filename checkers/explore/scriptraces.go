package explore

import "benign/checkers/graph"

// A scripted exploration may have plain accesses as long as none of them races:
// then each has one value. Whether one does is looked at when an execution is
// whole; if so, the code must run, which ends at the race and says where.

// races reports whether a plain access of the scripted execution races.
func (r *run) races() bool {
	d := &r.worker.detector
	d.Reset()
	r.done = r.done[:0]
	for range len(r.g.Events)/64 + 1 {
		r.done = append(r.done, 0)
	}
	pending := r.worker.scratch.pending[:0]
	for id := range r.g.Events {
		pending = append(pending, int32(id))
	}
	r.worker.scratch.pending = pending
	for progress := true; progress; {
		progress = false
		left := pending[:0]
		for _, id := range pending {
			if !r.comesNext(id) {
				left = append(left, id)
				continue
			}
			progress = true
			r.done.Add(id)
			d.Event(r.g, id)
			if e := &r.g.Events[id]; isAccess(e.Kind) && d.Word(r.g, id) != nil {
				return true
			}
		}
		pending = left
	}
	return false
}

// comesNext reports whether everything that must run before the event has been
// looked at.
func (r *run) comesNext(id int32) bool {
	e := &r.g.Events[id]
	for i, word := range r.g.Prefix(id) {
		if word&^r.done[i] != 0 {
			return false
		}
	}
	if e.Kind != graph.LockRead || e.Source == graph.Init {
		return true
	}
	end := r.g.Events[e.Source].End
	return end != graph.Init && r.done.Has(end)
}

// isAccess reports whether the event reads or writes a word.
func isAccess(kind graph.Kind) bool {
	switch kind {
	case graph.Read, graph.Write, graph.UpdateRead, graph.UpdateWrite:
		return true
	}
	return false
}
