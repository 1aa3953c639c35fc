package explain

import (
	"benign/checkers/graph"
	"benign/checkers/race"
)

// timeline lists the events of each task in program order.
func timeline(g *graph.Graph) [][]int32 {
	line := make([][]int32, len(g.Tasks))
	for i := range g.Tasks {
		line[i] = make([]int32, g.Tasks[i].Count)
	}
	for id := range g.Events {
		e := &g.Events[id]
		line[e.Task][e.Index] = int32(id)
	}
	return line
}

// follow shows the detector a whole execution, each task as far as it can go in
// turn. What still waits at the end is left out: nothing comes after it.
func follow(d *race.Detector, g *graph.Graph, line [][]int32) {
	d.Reset()
	done, next := g.NewSet(), make([]int, len(line))
	started, finished := make([]bool, len(line)), make([]bool, len(line))
	ready := func(id int32) bool {
		e := &g.Events[id]
		switch {
		case e.Kind == graph.Join:
			return finished[e.Child]
		case e.Kind == graph.LockRead && e.Source != graph.Init:
			end := g.Events[e.Source].End
			return end != graph.Init && done.Has(end)
		}
		return !e.Reads() || e.Source == graph.Init || done.Has(e.Source)
	}
	for progress := true; progress; {
		progress = false
		for task := range line {
			spawn := g.Tasks[task].Spawn
			if !started[task] && (spawn == graph.Init || done.Has(spawn)) {
				d.Start(int32(task), spawn)
				started[task], progress = true, true
			}
			for started[task] && next[task] < len(line[task]) && ready(line[task][next[task]]) {
				id := line[task][next[task]]
				d.Event(g, id)
				done.Add(id)
				next[task]++
				progress = true
			}
			if started[task] && !finished[task] && next[task] == len(line[task]) {
				d.Finish(int32(task))
				finished[task], progress = true, true
			}
		}
	}
}
