package graph

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Key returns a text that two graphs share exactly when they are the same
// execution: the same events in each task, the same sources, the same coherence
// orders. The order in which events were added does not matter.
func (g *Graph) Key() string { return string(g.AppendKey(nil)) }

// AppendKey appends the text of [Graph.Key] to a buffer.
func (g *Graph) AppendKey(key []byte) []byte {
	var memory [32]int32
	tasks := memory[:0]
	for i := range g.Tasks {
		tasks = append(tasks, int32(i))
	}
	slices.SortFunc(tasks, func(a, b int32) int { return cmp.Compare(g.Tasks[a].ID, g.Tasks[b].ID) })
	for _, t := range tasks {
		for id := range g.Events {
			if g.Events[id].Task == t {
				key = g.appendEvent(key, int32(id))
			}
		}
	}
	locations := memory[:0] // the tasks are done
	for i := range g.Locations {
		locations = append(locations, int32(i))
	}
	slices.SortFunc(locations, func(a, b int32) int { return compareLocations(&g.Locations[a], &g.Locations[b]) })
	for _, l := range locations {
		if len(g.Coherence[l]) == 0 {
			continue
		}
		key = append(key, '\n')
		key = binary.AppendUvarint(key, uint64(g.Locations[l].Owner))
		key = binary.AppendUvarint(key, uint64(g.Locations[l].Field))
		key = binary.AppendUvarint(key, uint64(g.Locations[l].Strand))
		key = binary.AppendUvarint(key, uint64(len(g.Coherence[l])))
		for _, id := range g.Coherence[l] {
			key = g.appendName(key, id)
		}
	}
	return key
}

func (g *Graph) appendEvent(key []byte, id int32) []byte {
	e := &g.Events[id]
	key = append(key, '|')
	key = g.appendName(key, id)
	key = append(key, byte(e.Kind), byte(e.Choice))
	if e.Reads() {
		key = g.appendName(key, e.Source)
	}
	return key
}

func (g *Graph) appendName(key []byte, id int32) []byte {
	if id == Init {
		return append(key, '-')
	}
	key = binary.AppendUvarint(key, uint64(g.Tasks[g.Events[id].Task].ID))
	return binary.AppendUvarint(key, uint64(g.Events[id].Index))
}

func compareLocations(a, b *Location) int {
	return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Strand, b.Strand))
}
