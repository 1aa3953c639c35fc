package verdict

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"sync"

	"benign/checkers/explore"
	"benign/checkers/graph"
	"benign/checkers/linear"
	"benign/checkers/memmodel"
)

// history is what the operations of an execution returned and when, as a
// specification judges it.
type history struct {
	calls []linear.Call
	timed bool   // the execution is an interleaving; of another only the order within each task is known
	key   []byte // two histories have the same exactly if they are equal
	known bool   // there is a key

	interleaver memmodel.Interleaver
	position    []int64 // by event, in the order of tasks: where it stands in the interleaving
	first       []int32 // by task: its first event in position
}

// histories is memory for them.
var histories = sync.Pool{New: func() any { return new(history) }}

// noTime is the time of a call of which only the order within its task is known.
const noTime = math.MinInt64

// read makes it the history of an execution, for which the scenario has a
// specification. It shares the effects, and is good as long as the execution.
func (h *history) read(e *explore.Execution) {
	h.calls, h.key, h.known = h.calls[:0], h.key[:0], false
	if !e.Ended || e.Spec == nil {
		return
	}
	var order []int32
	order, h.timed = h.interleaver.Interleave(e.Graph)
	for _, op := range e.Operations {
		h.calls = append(h.calls, linear.Call{Task: op.Task, Name: op.Name, Call: noTime, Return: noTime, Effects: op.Result.Effects})
	}
	if h.timed {
		h.locate(e.Graph, order)
		h.setTimes(e)
	}
	h.name()
}

// locate notes where each event stands in the interleaving.
func (h *history) locate(g *graph.Graph, order []int32) {
	h.first = h.first[:0]
	n := int32(0)
	for i := range g.Tasks {
		h.first = append(h.first, n)
		n += g.Tasks[i].Count
	}
	h.position = slices.Grow(h.position[:0], int(n))[:n]
	for at, id := range order {
		e := &g.Events[id]
		h.position[h.first[e.Task]+e.Index] = int64(at)
	}
}

// setTimes gives each call the time from its first event to its last in one
// interleaving. One without events takes no time; it stands right after what
// its task did before. Between two events there is a tick for each such call.
func (h *history) setTimes(e *explore.Execution) {
	calls, ticks := h.calls, int64(len(h.calls)+2)
	for i, op := range e.Operations {
		switch {
		case op.First < op.End:
			at := h.position[h.first[op.Task]+op.First : h.first[op.Task]+op.End]
			calls[i].Call, calls[i].Return = ticks*slices.Min(at), ticks*slices.Max(at)+1 // the halves of an access come in either order
		case i > 0 && e.Operations[i-1].Task == op.Task:
			calls[i].Call = calls[i-1].Return + 1
			calls[i].Return = calls[i].Call
		default:
			calls[i].Call, calls[i].Return = -ticks, -ticks
		}
	}
}

// name writes down what tells the history from others: who called what, with which
// effects, and which calls had returned before.
func (h *history) name() {
	h.known = true
	for i := range h.calls {
		c := &h.calls[i]
		h.key = binary.AppendUvarint(h.key, uint64(c.Task))
		h.key = appendText(h.key, c.Name)
		h.key = binary.AppendUvarint(h.key, uint64(len(c.Effects)))
		for j := range c.Effects {
			e := &c.Effects[j]
			h.key = appendText(h.key, e.Partition)
			for _, value := range [...]any{e.Input, e.Output} {
				ok := false
				h.key, ok = appendDynamic(h.key, reflect.ValueOf(value), deepest)
				h.known = h.known && ok
			}
		}
		for j := range h.calls {
			if h.timed && h.calls[j].Return < c.Call {
				h.key = binary.AppendUvarint(h.key, uint64(j)+1)
			}
		}
		h.key = append(h.key, 0)
	}
	if h.timed {
		h.key = append(h.key, 1)
	}
}

// keep returns a copy of the calls that shares nothing that changes.
func (h *history) keep() []linear.Call { return slices.Clone(h.calls) }

func appendText(key []byte, text string) []byte {
	return append(binary.AppendUvarint(key, uint64(len(text))), text...)
}

// deepest is how many values inside each other are written down.
const deepest = 32

// appendValue writes a value down such that different values differ, with their
// types where those can. It reports whether that was possible: not of functions,
// and not of what is too deep.
func appendValue(key []byte, v reflect.Value, depth int) ([]byte, bool) {
	if depth == 0 {
		return key, false
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(key, 1), true
		}
		return append(key, 0), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(key, v.Int()), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return binary.AppendUvarint(key, v.Uint()), true
	case reflect.Float32, reflect.Float64:
		return binary.AppendUvarint(key, math.Float64bits(v.Float())), true
	case reflect.String:
		return appendText(key, v.String()), true
	case reflect.Interface:
		if v.IsNil() {
			return append(key, 0), true
		}
		return appendDynamic(key, v.Elem(), depth)
	case reflect.Pointer:
		if v.IsNil() {
			return append(key, 0), true
		}
		return appendValue(append(key, 1), v.Elem(), depth-1)
	case reflect.Struct:
		return appendEach(key, v.NumField(), v.Field, depth)
	case reflect.Array:
		return appendEach(key, v.Len(), v.Index, depth)
	case reflect.Slice:
		if v.IsNil() {
			return append(key, 0), true
		}
		return appendEach(binary.AppendUvarint(key, uint64(v.Len())+1), v.Len(), v.Index, depth)
	}
	return key, false
}

// appendDynamic is appendValue for a value of which only the value tells the type.
func appendDynamic(key []byte, v reflect.Value, depth int) ([]byte, bool) {
	if !v.IsValid() {
		return append(key, 0), true
	}
	t := uint64(reflect.ValueOf(v.Type()).Pointer())
	return appendValue(binary.AppendUvarint(key, t), v, depth-1)
}

func appendEach(key []byte, n int, part func(int) reflect.Value, depth int) (_ []byte, ok bool) {
	for i := range n {
		if key, ok = appendValue(key, part(i), depth-1); !ok {
			return key, false
		}
	}
	return key, true
}
