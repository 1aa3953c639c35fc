// Package linear judges histories against a sequential specification: is there
// an order of the operations, one at a time, in which each could have returned
// what it did? The decision is porcupine's; this package is its one owner.
//
// Histories are judged a partition at a time (Herlihy and Wing, "Linearizability:
// A Correctness Condition for Concurrent Objects", TOPLAS 1990: the property is
// local). An operation that touches several partitions counts in each, with the
// interval of the whole operation.
package linear

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"benign/impl/scenario"
)

// Call is one operation of a history. Times only matter by their order; a call
// at the time of a return is concurrent with it.
type Call struct {
	// Task is who called, and Name what.
	Task int
	Name string
	// Call and Return are times.
	Call   int64
	Return int64
	// Effects are what the call did, see scenario.Result.
	Effects []scenario.Effect
}

// Limit bounds the time for one partition of one history.
const Limit = 10 * time.Second

// Result is the closed list of answers; the zero value is none of them.
type Result uint8

const (
	// Linearizable means that an order was found.
	Linearizable Result = iota + 1
	// NotLinearizable means that there is none.
	NotLinearizable
	// Undecided means that the limit was hit.
	Undecided
)

// Check looks for an order that respects the times: of two calls of which one
// returned before the other began, the former comes first.
func Check(spec *scenario.Spec, history []Call) (Result, error) { return check(spec, history, false) }

// CheckProgramOrder looks for an order that respects each task's own order
// only: sequential consistency of the partition. It is what can be asked of an
// execution on a weak memory model, which has no common clock.
func CheckProgramOrder(spec *scenario.Spec, history []Call) (Result, error) {
	return check(spec, history, true)
}

func check(spec *scenario.Spec, history []Call, programOrder bool) (Result, error) {
	result := Linearizable
	for _, partition := range partitions(history) {
		operations := project(history, partition, programOrder)
		model := modelOf(spec, partition)
		switch porcupine.CheckOperationsTimeout(model, operations, Limit) {
		case porcupine.Ok:
		case porcupine.Illegal:
			return NotLinearizable, &Error{Spec: spec.Name, Partition: partition, History: render(model, operations)}
		default:
			result = Undecided
		}
	}
	return result, nil
}

// Error says which Partition has no order under which Spec, and shows the
// History of the partition, an operation a line.
type Error struct {
	Spec, Partition string
	History         []string
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("no order of the operations on %s satisfies %s: %s", e.Partition, e.Spec, strings.Join(e.History, "; "))
}

func partitions(history []Call) []string {
	var names []string
	for _, c := range history {
		for _, e := range c.Effects {
			if !slices.Contains(names, e.Partition) {
				names = append(names, e.Partition)
			}
		}
	}
	slices.Sort(names)
	return names
}

// effect is what porcupine passes to the model: the effect and its place in the
// program order of its task.
type effect struct {
	scenario.Effect
	task, number int
}

// project lists the effects on one partition. With programOrder all intervals
// overlap and the model keeps the order of each task.
func project(history []Call, partition string, programOrder bool) []porcupine.Operation {
	var operations []porcupine.Operation
	next := map[int]int{}
	for _, c := range history {
		for _, e := range c.Effects {
			if e.Partition != partition {
				continue
			}
			number := -1
			begin, end := c.Call, c.Return
			if programOrder {
				number = next[c.Task]
				next[c.Task]++
				begin, end = 0, math.MaxInt64
			}
			operations = append(operations, porcupine.Operation{ClientId: c.Task, Input: effect{e, c.Task, number}, Output: e.Output, Call: begin, Return: end})
		}
	}
	return operations
}

// state is a state of the specification and, with programOrder, how many
// effects of each task have been placed.
type state struct {
	spec   any
	placed string
}

func modelOf(spec *scenario.Spec, partition string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return state{spec: spec.Initial(partition)} },
		Step: func(s, input, output any) (bool, any) {
			now, in := s.(state), input.(effect)
			placed, ok := place(now.placed, in)
			if !ok {
				return false, s
			}
			allowed, next := spec.Step(now.spec, in.Input, output)
			return allowed, state{next, placed}
		},
		Equal: func(a, b any) bool {
			x, y := a.(state), b.(state)
			return x.placed == y.placed && spec.Equal(x.spec, y.spec)
		},
		DescribeOperation: func(input, output any) string {
			return spec.Describe(input.(effect).Input, output)
		},
	}
}

// place counts an effect as placed if it is the next one of its task. Counts
// are kept as the runes of a string, so that states compare.
func place(placed string, e effect) (string, bool) {
	if e.number < 0 {
		return placed, true
	}
	counts := []rune(placed)
	for len(counts) <= e.task {
		counts = append(counts, 0)
	}
	if int(counts[e.task]) != e.number {
		return placed, false
	}
	counts[e.task]++
	return string(counts), true
}

func render(model porcupine.Model, operations []porcupine.Operation) []string {
	lines := make([]string, len(operations))
	for i, o := range operations {
		lines[i] = fmt.Sprintf("task %d: %s", o.ClientId+1, model.DescribeOperation(o.Input, o.Output))
	}
	return lines
}
