package verdict

import (
	"reflect"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/graph"
	"benign/impl/scenario"
)

// effects are such as a specification might have.
type (
	count  int
	range_ struct{ start, end uint64 }
	output struct {
		found   *range_
		removed []range_
		status  any
	}
)

// TestValuesAreToldApart: values are written down alike exactly if they are equal.
func TestValuesAreToldApart(t *testing.T) {
	values := []any{
		nil, 0, 1, -1, count(1), uint64(1), int64(1), true, false, 1.0, 0.5, "", "1", [2]int{1, 2}, []int{1, 2}, []int{1}, []int{}, []int(nil),
		[]int{1, 2, 0}, [][]int{{1}, {2}}, [][]int{{1, 2}}, [][]int{{}, {1, 2}}, []string{"a", "b"}, []string{"ab"}, []string{"a", "b", ""},
		range_{1, 2}, range_{2, 1}, &range_{1, 2}, (*range_)(nil), output{}, output{found: &range_{}}, output{removed: []range_{}},
		output{removed: []range_{{1, 2}}}, output{status: 1}, output{status: count(1)}, output{status: "1"},
	}
	for i, a := range values {
		for j, b := range values {
			one, known := appendDynamic(nil, reflect.ValueOf(a), deepest)
			two, alsoKnown := appendDynamic(nil, reflect.ValueOf(b), deepest)
			if !known || !alsoKnown || (string(one) == string(two)) != reflect.DeepEqual(a, b) {
				t.Errorf("%d and %d: %#v is %x, and %#v is %x", i, j, a, one, b, two)
			}
		}
	}
}

// TestStrangeValues: what cannot be written down is not taken for known.
func TestStrangeValues(t *testing.T) {
	type ring struct{ next *ring }
	round := &ring{}
	round.next = round
	for _, value := range []any{func() {}, map[int]int{}, make(chan int), round, []any{func() {}}} {
		if key, known := appendDynamic(nil, reflect.ValueOf(value), deepest); known {
			t.Errorf("%T is written down as %x", value, key)
		}
	}
}

// twoCalls is an execution in which two tasks read a word once each, the second
// before or after what the first has written.
func twoCalls(first, second string, overlap bool) *explore.Execution {
	g := graph.New()
	g.AddLocation(graph.Location{Owner: 1})
	g.AddTask(1, "A", graph.Init)
	g.AddTask(2, "B", graph.Init)
	read := func(task int32) graph.Event {
		return graph.Event{Kind: graph.Read, Task: task, Source: graph.Init, Pair: graph.Init, End: graph.Init}
	}
	write := func(task int32) int32 {
		return g.Add(graph.Event{Kind: graph.Write, Task: task, Source: graph.Init, Pair: graph.Init, End: graph.Init})
	}
	w := write(0)
	g.Place(w, graph.Init)
	r := read(1)
	if !overlap {
		r.Source = w
	}
	g.Add(r)
	g.Place(write(1), w)
	result := func(value string) scenario.Result {
		return scenario.Result{Value: value, Effects: []scenario.Effect{{Partition: "word", Input: "call", Output: value}}}
	}
	return &explore.Execution{Graph: g, Ended: true, Spec: &scenario.Spec{}, Operations: []explore.Operation{
		{Task: 0, TaskName: "A", Name: "call", Result: result(first), First: 0, End: 1},
		{Task: 1, TaskName: "B", Name: "call", Result: result(second), First: 0, End: 2},
	}}
}

// TestHistoriesAreToldApart by what was returned, and by which calls had returned
// before which began, and by nothing else.
func TestHistoriesAreToldApart(t *testing.T) {
	executions := []*explore.Execution{twoCalls("1", "2", false), twoCalls("1", "2", true), twoCalls("1", "1", false), twoCalls("11", "2", false)}
	var h, again history
	for i, one := range executions {
		for j, two := range executions {
			h.read(one)
			again.read(two)
			if !h.known || !h.timed || (string(h.key) == string(again.key)) != (i == j) {
				t.Errorf("%d and %d: %x and %x", i, j, h.key, again.key)
			}
		}
	}
	other := twoCalls("1", "2", false)
	other.Operations[1].Result.Effects[0].Output = func() {}
	if h.read(other); h.known {
		t.Error("an effect with a function is taken for known")
	}
}

// TestUnknownHistoryIsJudged every time.
func TestUnknownHistoryIsJudged(t *testing.T) {
	judged := 0
	spec := &scenario.Spec{Initial: func(string) any { return 0 }, Equal: func(a, b any) bool { return a == b },
		Step: func(state, _, _ any) (bool, any) { judged++; return true, state }, Describe: func(_, _ any) string { return "" }}
	for _, c := range []struct {
		output any
		again  bool
	}{{1, false}, {func() {}, true}} {
		o := newObservation(explore.Config{}, nil, nil)
		e := twoCalls("1", "2", false)
		e.Spec = spec
		e.Operations[1].Result.Effects[0].Output = c.output
		judged = 0
		o.visit(e)
		once := judged
		o.visit(e)
		if once == 0 || (judged > once) != c.again {
			t.Errorf("%T: %d steps of the specification, and %d when it came again", c.output, once, judged-once)
		}
	}
}
