package explore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"benign/checkers/graph"
	"benign/checkers/race"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// TraceHeader says what a trace is an execution of.
type TraceHeader struct {
	// Race, Scenario and Variant are names of the catalogue, Model of a memory
	// model. None is empty or has a line break.
	Race, Scenario, Variant, Model string
	// Arch is the machine, see [Config]; 0 is the default one.
	Arch int
}

// Trace is a parsed trace: a well-formed execution that has yet to be fitted to
// the code.
type Trace struct {
	// Without lists the operations of the variant that are left out of it.
	Without []scenario.Omitted

	graph *graph.Graph
	arch  int // of the header
}

// Arch is the machine that the trace is from, see [Config].
func (t *Trace) Arch() int { return t.arch }

// traceMagic is the first line of every trace; the number is the version.
const traceMagic = "benign trace 1"

// traceArch32 is the line of a trace from a 32-bit machine.
const traceArch32 = "arch 32"

// traceFields lists, by kind, the fields that follow an event's name and kind,
// in this order. Those with a question mark are left out where the event has
// nothing to say there.
var traceFields = [...]string{
	graph.Read:        "at half? order awaits? from",
	graph.Write:       "at half? order after",
	graph.UpdateRead:  "at order awaits? from",
	graph.UpdateWrite: "at order after pair",
	graph.LockRead:    "at strand? mode try? turn? from",
	graph.LockWrite:   "at strand? mode try? after pair end?",
	graph.Unlock:      "at strand? mode",
	graph.LockFail:    "at strand? mode try from",
	graph.LockBusy:    "at strand? mode from",
	graph.LockIdle:    "at strand? mode from",
	graph.Await:       "at order from",
	graph.Barrier:     "barrier",
	graph.Choice:      "mode? choice",
	graph.Spawn:       "child",
	graph.Join:        "child",
}

// Names of field values, by number; the first stands for a field that is left out.
var (
	traceBarriers = []string{"", barrierName(kernel.FullBarrier), barrierName(kernel.ReadBarrier), barrierName(kernel.WriteBarrier)}
	traceModes    = []string{"", kernel.Exclusive.String(), kernel.Shared.String()}
	traceTurns    = []string{"", graph.Waits.String(), graph.Follows.String()}
	traceYes      = []string{"", "yes"}
	traceHalves   = []string{"", "low", "high"}
)

// barrierName is the first word of a barrier's name: "full", "read", "write".
func barrierName(b kernel.Barrier) string { return strings.Fields(b.String())[0] }

// FormatTrace writes an execution as text. An event is named by its task and
// its position in that task, never by a number of the whole execution, so that
// a trace survives edits elsewhere:
//
//	benign trace 1
//	race rb-empty
//	scenario remove
//	variant patched
//	model sc
//	without 2.1 "lookup(0,4096)"
//	task 1 "shrinker"
//	1.0 lock-read at="root#1.inodes lock" mode=exclusive from=init
//	1.1 lock-write at="root#1.inodes lock" mode=exclusive after=init pair=1.0
//	2.4 write at="inode#2.root" order=once after=init
//	1.2 read at="inode#2.root" order=once from=2.4
//
// The operations that are left out, named by their tasks and positions, come
// before the tasks. A read says from which write its value comes, a write after which other write
// it stands in coherence. Tasks of the scenario are numbered from 1; the number
// of a task that another starts tells who starts it. No two words or locks of
// one object may have the same name. On a 32-bit machine "arch 32" follows the
// model, and an access to one half of a word says which.
func FormatTrace(h TraceHeader, g *graph.Graph, without ...scenario.Omitted) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nrace %s\nscenario %s\nvariant %s\nmodel %s\n", traceMagic, h.Race, h.Scenario, h.Variant, h.Model)
	if h.Arch == Arch32 {
		b.WriteString(traceArch32 + "\n")
	}
	for _, o := range without {
		fmt.Fprintf(&b, "without %d.%d %q\n", o.Task+1, o.Operation, o.Name)
	}
	for i := range g.Tasks {
		if t := &g.Tasks[i]; ofScenario(t.ID) || t.Spawn != graph.Init {
			fmt.Fprintf(&b, "task %d %q\n", t.ID, t.Name)
		}
	}
	for id := range g.Events {
		b.WriteString(formatEvent(g, int32(id)))
		b.WriteByte('\n')
	}
	return b.String()
}

// ofScenario reports whether the identity is that of a task that the scenario
// lists, and not of one that another task starts, see childID.
func ofScenario(id int) bool { return id <= race.MaxTasks }

func formatEvent(g *graph.Graph, id int32) string {
	kind := g.Events[id].Kind
	parts := []string{eventName(g, id), kind.String()}
	for _, field := range strings.Fields(traceFields[kind]) {
		key, optional := strings.CutSuffix(field, "?")
		if value := fieldValue(g, id, key); value != "" || !optional {
			parts = append(parts, key+"="+value)
		}
	}
	return strings.Join(parts, " ")
}

// fieldValue renders one field of an event; it is empty if the event has
// nothing to say there.
func fieldValue(g *graph.Graph, id int32, key string) string {
	e := &g.Events[id]
	switch key {
	case "at":
		return strconv.Quote(g.Locations[e.Location].Name)
	case "strand":
		return unlessZero(g.Locations[e.Location].Strand)
	case "half":
		return traceHalves[g.Locations[e.Location].Strand]
	case "order":
		return e.Order.String()
	case "barrier":
		return barrierName(e.Barrier)
	case "mode":
		return traceModes[e.Mode]
	case "try":
		return map[bool]string{true: "yes"}[e.Try]
	case "awaits":
		return map[bool]string{true: "yes"}[e.Awaits]
	case "turn":
		return traceTurns[e.Turn]
	case "from":
		return eventName(g, e.Source)
	case "after":
		return eventName(g, writeBefore(g, id))
	case "pair":
		return eventName(g, e.Pair)
	case "end":
		if e.End == graph.Init {
			return ""
		}
		return eventName(g, e.End)
	case "choice":
		return strconv.Itoa(int(e.Choice))
	default: // child
		return strconv.Itoa(g.Tasks[e.Child].ID)
	}
}

func unlessZero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// writeBefore returns the write directly before another in coherence.
func writeBefore(g *graph.Graph, id int32) int32 {
	list := g.Coherence[g.Events[id].Location]
	if at := slices.Index(list, id); at > 0 {
		return list[at-1]
	}
	return graph.Init
}

func eventName(g *graph.Graph, id int32) string {
	if id == graph.Init {
		return "init"
	}
	return fmt.Sprintf("%d.%d", g.Tasks[g.Events[id].Task].ID, g.Events[id].Index)
}
