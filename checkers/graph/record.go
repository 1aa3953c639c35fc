package graph

// Record is a graph as plain data, to be written down and read by the same
// build of the code.
type Record struct {
	// Events, Tasks, Locations, Coherence and Focus are those of the graph.
	Events    []Event
	Tasks     []Task
	Locations []Location
	Coherence [][]int32
	Focus     int32
	// Words and Prefixes say what must have run before each event. They are
	// kept as they are: while an acquisition waits, its own is older than the
	// links that it would be worked out from.
	Words    int
	Prefixes []uint64
}

// Record returns the graph as plain data, which shares its memory.
func (g *Graph) Record() Record {
	return Record{Events: g.Events, Tasks: g.Tasks, Locations: g.Locations, Coherence: g.Coherence,
		Focus: g.Focus, Words: g.words, Prefixes: g.prefixes}
}

// Graph returns the graph that was recorded, which shares the record's memory.
// A RaceSite that was written down and read is another one than the code's; it
// is replaced when the event is run again.
func (r Record) Graph() *Graph {
	g := &Graph{Events: r.Events, Tasks: r.Tasks, Locations: r.Locations, Coherence: r.Coherence,
		Focus: r.Focus, words: r.Words, prefixes: r.Prefixes}
	for i := range g.Locations {
		g.halved = g.halved || g.Locations[i].isHalf()
	}
	g.stampAll()
	return g
}
