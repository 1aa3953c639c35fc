package graph

// The strands of a word that the machine reads and writes in two halves: a load
// or store of it is an event at each, the low half first. In which order the
// machine comes by them is not said: package memmodel leaves it open.
const (
	LowHalf  = 1 // of the less significant 32 bits
	HighHalf = 2 // of the others
)

// Halved reports whether the graph knows of a word in two halves.
func (g *Graph) Halved() bool { return g.halved }

// isHalf reports whether the location is half a word.
func (l *Location) isHalf() bool { return !l.Lock && l.Strand != 0 }

// SecondHalf reports whether the event completes a load or store of which the
// event before it in program order is the other half.
func (g *Graph) SecondHalf(id int32) bool {
	e := &g.Events[id]
	if !g.halved || e.Previous == Init || !g.at(id, HighHalf) {
		return false
	}
	first := &g.Events[e.Previous]
	return first.Kind == e.Kind && g.at(e.Previous, LowHalf) && g.SameLock(first.Location, e.Location)
}

// at reports whether the event is an access to that half of a word.
func (g *Graph) at(id int32, half int) bool {
	location := g.Events[id].Location
	return location >= 0 && !g.Locations[location].Lock && g.Locations[location].Strand == half
}

// OneStore reports whether two writes, to the low and to the high half of a word,
// are the same store; Init stands for the initial value.
func (g *Graph) OneStore(low, high int32) bool {
	if low == Init || high == Init {
		return low == high
	}
	return g.SecondHalf(high) && g.Events[high].Previous == low
}
