package shrink_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"benign/checkers/shrink"
	"benign/impl/scenario"
)

// tasks makes tasks with so many operations each.
func tasks(operations ...int) []scenario.Task {
	var all []scenario.Task
	for task, n := range operations {
		one := scenario.Task{Name: fmt.Sprint("task ", task)}
		for operation := range n {
			one.Operations = append(one.Operations, scenario.Operation{Name: fmt.Sprintf("%d.%d", task, operation)})
		}
		all = append(all, one)
	}
	return all
}

// names lists what is left out.
func names(out []scenario.Omitted) []string {
	var list []string
	for _, o := range out {
		list = append(list, o.Name)
	}
	return list
}

// TestOperations knows what the fault needs, in various ways.
func TestOperations(t *testing.T) {
	gone := func(out []scenario.Omitted, name string) bool { return slices.Contains(names(out), name) }
	for name, c := range map[string]struct {
		operations []int
		fails      func(out []scenario.Omitted) bool
		want       []string
	}{
		"everything is needed": {[]int{1, 2}, func(out []scenario.Omitted) bool { return len(out) == 0 }, nil},
		"nothing is needed":    {[]int{1, 2}, func([]scenario.Omitted) bool { return true }, []string{"0.0", "1.0", "1.1"}},
		"one operation": {[]int{2, 3}, func(out []scenario.Omitted) bool { return !gone(out, "1.1") },
			[]string{"0.0", "0.1", "1.0", "1.2"}},
		"one of each task": {[]int{2, 0, 2}, func(out []scenario.Omitted) bool { return !gone(out, "0.1") && !gone(out, "2.0") },
			[]string{"0.0", "2.1"}},
		"either of two": {[]int{1, 1}, func(out []scenario.Omitted) bool { return !gone(out, "0.0") || !gone(out, "1.0") },
			[]string{"0.0"}},
		"one as long as the other is there": {[]int{2, 1}, func(out []scenario.Omitted) bool {
			return !gone(out, "1.0") && (!gone(out, "0.0") || gone(out, "0.1"))
		}, []string{"0.0", "0.1"}},
		"a task that can go when an operation has gone": {[]int{1, 2}, func(out []scenario.Omitted) bool {
			return !gone(out, "1.0") && (gone(out, "1.1") || !gone(out, "0.0"))
		}, []string{"0.0", "1.1"}},
	} {
		got, err := shrink.Operations(tasks(c.operations...), func(out []scenario.Omitted) (bool, error) { return c.fails(out), nil })
		if err != nil || !slices.Equal(names(got), c.want) {
			t.Errorf("%s: %q is left out, want %q; %v", name, names(got), c.want, err)
		}
	}
}

// TestOperationsIsMinimal whatever the fault is: it shows in what is left, and
// does not without any one task or operation of it. Nothing is asked twice.
func TestOperationsIsMinimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := tasks(rapid.SliceOfN(rapid.IntRange(0, 3), 1, 4).Draw(t, "operations")...)
		answers := map[string]bool{}
		fails := func(out []scenario.Omitted) bool {
			key := fmt.Sprint(out)
			if _, known := answers[key]; !known {
				answers[key] = len(out) == 0 || rapid.Bool().Draw(t, key)
			}
			return answers[key]
		}
		asked := map[string]bool{}
		out, err := shrink.Operations(all, func(out []scenario.Omitted) (bool, error) {
			if key := fmt.Sprint(out); asked[key] {
				t.Fatalf("asked twice about %s", key)
			} else {
				asked[key] = true
			}
			return fails(out), nil
		})
		if err != nil || !fails(out) {
			t.Fatalf("the fault does not show without %v; %v", out, err)
		}
		for task := range all {
			var whole []scenario.Omitted
			for operation, op := range all[task].Operations {
				one := scenario.Omitted{Task: task, Operation: operation, Name: op.Name}
				whole = append(whole, one)
				if smaller := union(out, one); len(smaller) > len(out) && fails(smaller) {
					t.Fatalf("without %v, %v can go too", out, one)
				}
			}
			if smaller := union(out, whole...); len(smaller) > len(out) && fails(smaller) {
				t.Fatalf("without %v, task %d can go too", out, task)
			}
		}
	})
}

// union adds to what is left out, in the order of tasks and operations.
func union(out []scenario.Omitted, more ...scenario.Omitted) []scenario.Omitted {
	all := slices.Clone(out)
	for _, o := range more {
		if !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b scenario.Omitted) int { return 100*(a.Task-b.Task) + a.Operation - b.Operation })
	return all
}

// TestOperationsStops at the first error, whoever it is about.
func TestOperationsStops(t *testing.T) {
	broken := errors.New("broken")
	for _, good := range []int{0, 1, 2, 3} {
		asked := 0
		_, err := shrink.Operations(tasks(2, 1), func([]scenario.Omitted) (bool, error) {
			asked++
			if asked > good {
				return true, broken
			}
			return false, nil
		})
		if !errors.Is(err, broken) || asked != good+1 {
			t.Errorf("%v after %d questions, %d of them good", err, asked, good)
		}
	}
}
