package explore

import (
	"strings"

	"benign/checkers/graph"
	"benign/impl/kernel"
)

// How brute force takes and frees locks.

func (b *brute) strands(s *bruteState, task int, ins instruction) []int32 {
	field := uint32(bruteWords + ins.at)
	if strings.Contains(ins.op, "rlock") {
		return []int32{b.location(s, field, b.ids[task]+1, true)}
	}
	var list []int32
	if ins.op != "synchronize" {
		list = append(list, b.location(s, field, 0, true))
	}
	for _, sharer := range b.sharers[ins.at] {
		if sharer != b.ids[task] {
			list = append(list, b.location(s, field, sharer+1, true))
		}
	}
	if len(list) == 0 {
		list = append(list, b.location(s, field, b.ids[task]+1, true))
	}
	return list
}

// synchronizes takes and leaves one strand after the other, between two barriers.
// Stage 2i+1 is before strand i.
func (b *brute) synchronizes(s *bruteState, task int, ins instruction) []*bruteState {
	strands := b.strands(s, task, ins)
	at := (s.stage[task] - 1) / 2
	if s.stage[task] > 0 && at < len(strands) && !free(s.g, strands[at]) {
		return nil
	}
	n := s.clone()
	if s.stage[task] == 0 || at == len(strands) {
		e := b.event(graph.Barrier, task, instruction{}, -1)
		e.Barrier = kernel.FullBarrier
		n.g.Add(e)
		n.stage[task]++
	} else {
		n.take(b, task, ins, strands[at])
		section := n.g.Tasks[task].Last
		n.g.Events[section].End = n.g.Add(b.event(graph.Unlock, task, ins, strands[at]))
		n.stage[task] += 2
	}
	if n.stage[task] > 2*len(strands)+1 {
		n.at[task]++
		n.stage[task] = 0
	}
	return []*bruteState{n}
}

// unlock ends the sections of the task on the lock.
func (b *brute) unlock(n *bruteState, task, at int) {
	ins := b.codes[task][at]
	field := uint32(bruteWords + ins.at)
	strand := 0
	if b.codes[task].shared(at) {
		strand = b.ids[task] + 1
	}
	id := n.g.Add(b.event(graph.Unlock, task, ins, b.location(n, field, strand, true)))
	for l, list := range n.g.Coherence {
		if !n.g.Locations[l].Lock || n.g.Locations[l].Field != field || len(list) == 0 {
			continue
		}
		if last := &n.g.Events[list[len(list)-1]]; last.Task == int32(task) && last.End == graph.Init {
			last.End = id
		}
	}
}

// acquires takes one strand after the other.
func (b *brute) acquires(s *bruteState, task int, ins instruction) []*bruteState {
	strands := b.strands(s, task, ins)
	strand := strands[s.stage[task]/2]
	if !free(s.g, strand) {
		return nil
	}
	n := s.clone()
	n.take(b, task, ins, strand)
	if n.stage[task] += 2; n.stage[task] == 2*len(strands) {
		n.at[task]++
		n.stage[task] = 0
	}
	return []*bruteState{n}
}

// chooses is a try of several strands: it chooses, and then either acquires or
// finds any holder in the way. Stage -1 means that it chose to acquire and has
// not begun, stage -2 that it chose to fail.
func (b *brute) chooses(s *bruteState, task int, ins instruction) []*bruteState {
	switch s.stage[task] {
	case 0:
		var out []*bruteState
		for choice, stage := range []int{-1, -2} {
			n := s.clone()
			e := b.event(graph.Choice, task, instruction{}, -1)
			e.Choice = int32(choice)
			n.g.Add(e)
			n.stage[task] = stage
			out = append(out, n)
		}
		return out
	case -2:
		return b.busy(s, task, ins)
	case -1:
		s = s.clone()
		s.stage[task] = 0
	}
	return b.acquires(s, task, ins)
}

func (b *brute) busy(s *bruteState, task int, ins instruction) []*bruteState {
	var out []*bruteState
	for section := range s.g.Events {
		e := &s.g.Events[section]
		if !s.g.Hinders(int32(section)) || s.g.Locations[e.Location].Field != uint32(bruteWords+ins.at) {
			continue
		}
		if int(e.Task) == task || b.model == nil && e.End != graph.Init {
			continue
		}
		n := s.clone()
		f := b.event(graph.LockBusy, task, ins, e.Location)
		f.Source = int32(section)
		n.g.Add(f)
		n.at[task], n.stage[task] = b.codes[task].afterSection(s.at[task]), 0
		out = append(out, n)
	}
	return out
}

// tries looks at the one strand and takes it if it is free.
func (b *brute) tries(s *bruteState, task int, ins instruction) []*bruteState {
	var out []*bruteState
	strand := b.strands(s, task, ins)[0]
	for _, section := range s.g.Coherence[strand] {
		if b.model == nil && (section != s.g.LastWrite(strand) || free(s.g, strand)) {
			continue
		}
		n := s.clone()
		e := b.event(graph.LockFail, task, ins, strand)
		e.Source = section
		n.g.Add(e)
		n.at[task], n.stage[task] = b.codes[task].afterSection(s.at[task]), 0
		out = append(out, n)
	}
	if free(s.g, strand) {
		n := s.clone()
		n.take(b, task, ins, strand)
		n.at[task]++
		out = append(out, n)
	}
	return out
}

func free(g *graph.Graph, strand int32) bool {
	last := g.LastWrite(strand)
	return last == graph.Init || g.Events[last].End != graph.Init
}

func (s *bruteState) take(b *brute, task int, ins instruction, strand int32) {
	e := b.event(graph.LockRead, task, ins, strand)
	e.Source = s.g.LastWrite(strand)
	read := s.g.Add(e)
	w := b.event(graph.LockWrite, task, ins, strand)
	w.Pair = read
	s.g.Place(s.g.Add(w), e.Source)
}
