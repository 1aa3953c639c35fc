// Package race decides which accesses of one execution happen before which,
// and reports the pairs of conflicting accesses that are not ordered.
//
// Happens-before is built from what the code says, not from what a memory
// model happens to forbid: program order, start and join of tasks, an unlock
// and the acquisitions that follow it, a release that an acquire reads from,
// directly, along a chain of updates, or through barriers (in the sense of
// C11, 5.1.2.4 and 7.17.4); a Full update that wrote has full barriers around
// it. It is the same under every model, so that a race on plain memory is a race
// even where one machine would forgive it. A plain access that is annotated as a
// deliberate race (data_race() in the kernel) is not reported; what comes of it is
// for the explorer to show.
package race

import (
	"fmt"

	"benign/checkers/graph"
	"benign/impl/kernel"
)

// MaxTasks bounds the tasks of one execution, spawned ones included.
const MaxTasks = 16

// clock counts, for every task, how many of its events happen before a point.
type clock [MaxTasks]int32

// join takes over what the other clock knows of the first n tasks, which are all.
func (c *clock) join(d *clock, n int) {
	for i, known := range d[:n] {
		c[i] = max(c[i], known)
	}
}

// Detector follows one execution in the order in which it is run, which must
// extend program order, reads-from and lock order. Reset it before each.
type Detector struct {
	now      [MaxTasks]clock // by task: its clock after its latest event
	fence    [MaxTasks]clock // what a later relaxed write publishes
	unfenced [MaxTasks]clock // what a later acquire barrier learns
	done     [MaxTasks]int32 // events so far
	tasks    int             // that there are by now
	at       []clock         // by event: the clock of the event
	releases []clock         // by event: what a read from it learns
	regions  []region
	words    [][]int32 // by location: the accesses so far
}

// region remembers the accesses to one region of plain memory.
type region struct {
	writer    int32 // task of the last write, or -1
	written   int32 // events the writer had done
	reader    [MaxTasks]int32
	everyRead bool // some task has read
}

// Conflict is a pair of accesses that happens-before does not order.
type Conflict struct {
	// Other is the task of the earlier access, and OtherWrote says whether
	// that was a write.
	Other      int32
	OtherWrote bool
	// OtherEvent is the event of the earlier access, graph.Init for regions.
	OtherEvent int32
}

// Reset forgets the execution.
func (d *Detector) Reset() {
	for i := range d.words {
		d.words[i] = d.words[i][:0]
	}
	*d = Detector{at: d.at[:0], releases: d.releases[:0], regions: d.regions[:0], words: d.words}
}

// Start gives a spawned task the clock of the event that spawned it.
func (d *Detector) Start(task int32, spawn int32) {
	if spawn != graph.Init {
		d.now[task] = d.at[spawn]
	}
}

// Finish notes the end of a task, so that a join is ordered after what the
// task did after its last event too.
func (d *Detector) Finish(task int32) { d.now[task][task] = d.done[task] + 1 }

// Event notes that the event is run now.
func (d *Detector) Event(g *graph.Graph, id int32) {
	for int(id) >= len(d.at) {
		d.at = append(d.at, clock{})
		d.releases = append(d.releases, clock{})
	}
	d.tasks = len(g.Tasks)
	e := &g.Events[id]
	now := &d.now[e.Task]
	d.done[e.Task]++
	now[e.Task] = d.done[e.Task]
	d.releases[id] = clock{}
	switch e.Kind {
	case graph.Read:
		d.learn(e, e.Order.Acquires())
	case graph.UpdateRead:
		d.learn(e, e.Order == kernel.Sequential) // otherwise a failed update orders nothing
	case graph.UpdateWrite:
		d.learnFrom(e, g.Events[e.Pair].Source, e.Order.Acquires())
		if e.Order == kernel.Full {
			d.barrier(e.Task, kernel.FullBarrier)
		}
		d.publish(g, id)
	case graph.Write:
		d.publish(g, id)
	case graph.LockRead:
		if e.Source != graph.Init {
			now.join(&d.at[g.Events[e.Source].End], d.tasks)
		}
	case graph.Barrier:
		d.barrier(e.Task, e.Barrier)
	case graph.Join:
		now.join(&d.now[e.Child], d.tasks)
	}
	d.at[id] = *now
}

func (d *Detector) learn(e *graph.Event, acquires bool) { d.learnFrom(e, e.Source, acquires) }

// learnFrom has the event's task learn what the source publishes.
func (d *Detector) learnFrom(e *graph.Event, source int32, acquires bool) {
	if source == graph.Init || e.Order == kernel.Plain {
		return
	}
	d.unfenced[e.Task].join(&d.releases[source], d.tasks)
	if acquires {
		d.now[e.Task].join(&d.releases[source], d.tasks)
	}
}

func (d *Detector) publish(g *graph.Graph, id int32) {
	e := &g.Events[id]
	released := &d.releases[id]
	if e.Order != kernel.Plain {
		*released = d.fence[e.Task]
	}
	if e.Order.Releases() {
		*released = d.now[e.Task]
	}
	if e.Kind == graph.UpdateWrite {
		if source := g.Events[e.Pair].Source; source != graph.Init {
			released.join(&d.releases[source], d.tasks)
		}
	}
}

func (d *Detector) barrier(task int32, b kernel.Barrier) {
	if b != kernel.WriteBarrier {
		d.now[task].join(&d.unfenced[task], d.tasks)
	}
	if b != kernel.ReadBarrier {
		d.fence[task] = d.now[task]
	}
}

// Ordered reports whether event a happens before event b.
func (d *Detector) Ordered(g *graph.Graph, a, b int32) bool {
	return d.at[b][g.Events[a].Task] > g.Events[a].Index
}

// Word checks the event, which was just run, against the earlier accesses to
// its word: a conflict is a pair with a write, not ordered, and with an access
// that is plain and not annotated. An annotation excuses its own access only.
func (d *Detector) Word(g *graph.Graph, id int32) *Conflict {
	e := &g.Events[id]
	for int(e.Location) >= len(d.words) {
		d.words = append(d.words, nil)
	}
	earlier := d.words[e.Location]
	d.words[e.Location] = append(earlier, id)
	for _, other := range earlier {
		f := &g.Events[other]
		if f.Task == e.Task || !(f.Writes() || e.Writes()) {
			continue
		}
		if (careless(f) || careless(e)) && !d.Ordered(g, other, id) {
			return &Conflict{Other: f.Task, OtherWrote: f.Writes(), OtherEvent: other}
		}
	}
	return nil
}

// careless reports whether nothing says that the access may race: it is neither
// marked nor annotated.
func careless(e *graph.Event) bool { return e.Order == kernel.Plain && e.Site == nil }

// Region notes an access to a region of plain memory after the task's latest
// event, and returns a conflict with an earlier access, if there is one. Slot
// is the caller's handle of the region, zero at first.
func (d *Detector) Region(task int32, slot *int, write bool) *Conflict {
	if *slot == 0 {
		d.regions = append(d.regions, region{writer: -1})
		*slot = len(d.regions)
	}
	r := &d.regions[*slot-1]
	now := &d.now[task]
	if r.writer >= 0 && r.writer != task && now[r.writer] <= r.written {
		return &Conflict{Other: r.writer, OtherWrote: true, OtherEvent: graph.Init}
	}
	if !write {
		r.everyRead = true
		r.reader[task] = d.done[task] + 1
		return nil
	}
	if r.everyRead {
		for other, read := range r.reader {
			if read > 0 && int32(other) != task && now[other] < read {
				return &Conflict{Other: int32(other), OtherEvent: graph.Init}
			}
		}
	}
	r.writer, r.written = task, d.done[task]
	return nil
}

// Describe renders a conflict for a violation.
func (c *Conflict) Describe(g *graph.Graph, what string, write bool) string {
	return fmt.Sprintf("%s of %s is not ordered with a %s by task %s", access(write), what, access(c.OtherWrote), g.Tasks[c.Other].Name)
}

func access(write bool) string {
	if write {
		return "write"
	}
	return "read"
}
