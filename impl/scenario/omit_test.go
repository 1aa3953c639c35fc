package scenario_test

import (
	"strings"
	"testing"

	"benign/impl/scenario"
)

func instance() *scenario.Instance {
	return &scenario.Instance{Tasks: []scenario.Task{
		{Name: "reader", Operations: []scenario.Operation{{Name: "look"}, {Name: "touch"}, {Name: "look"}}},
		{Name: "writer", Operations: []scenario.Operation{{Name: "put"}}},
	}}
}

func listed(i *scenario.Instance) string {
	var tasks []string
	for _, task := range i.Tasks {
		text := task.Name + ":"
		for _, op := range task.Operations {
			text += " " + op.Name
		}
		tasks = append(tasks, text)
	}
	return strings.Join(tasks, "; ")
}

// TestOmit leaves operations out, and tasks in their places.
func TestOmit(t *testing.T) {
	for _, c := range []struct {
		out  []scenario.Omitted
		want string
	}{
		{nil, "reader: look touch look; writer: put"},
		{[]scenario.Omitted{{Task: 0, Operation: 1, Name: "touch"}}, "reader: look look; writer: put"},
		{[]scenario.Omitted{{Task: 0, Operation: 0, Name: "look"}, {Task: 0, Operation: 2, Name: "look"}}, "reader: touch; writer: put"},
		{[]scenario.Omitted{{Task: 1, Operation: 0, Name: "put"}}, "reader: look touch look; writer:"},
	} {
		i := instance()
		shared := i.Tasks
		if err := i.Omit(c.out); err != nil || listed(i) != c.want {
			t.Errorf("without %v: %s, want %s; %v", c.out, listed(i), c.want, err)
		}
		if whole := listed(&scenario.Instance{Tasks: shared}); whole != listed(instance()) {
			t.Errorf("without %v: the tasks that were there have become %s", c.out, whole)
		}
	}
}

// TestOmitRefuses what is not there, and says where it is missing.
func TestOmitRefuses(t *testing.T) {
	for _, c := range []struct {
		out  scenario.Omitted
		want string
	}{
		{scenario.Omitted{Task: 2, Operation: 0, Name: "look"}, `"look" is left out of task 3, and there are 2 tasks`},
		{scenario.Omitted{Task: -1, Operation: 0, Name: "look"}, `"look" is left out of task 0, and there are 2 tasks`},
		{scenario.Omitted{Task: 1, Operation: 1, Name: "get"}, `"get" is left out of task writer at position 1, and it has 1 operations`},
		{scenario.Omitted{Task: 1, Operation: -1, Name: "get"}, `"get" is left out of task writer at position -1, and it has 1 operations`},
		{scenario.Omitted{Task: 0, Operation: 1, Name: "look"}, `"look" is left out of task reader at position 1, where "touch" is`},
	} {
		i := instance()
		if err := i.Omit([]scenario.Omitted{c.out}); err == nil || err.Error() != c.want || listed(i) != listed(instance()) {
			t.Errorf("got %v, want %s; left %s", err, c.want, listed(i))
		}
	}
}
