package scenario

import (
	"fmt"
	"slices"
)

// Omitted is an operation that is left out of an instance, to see whether a
// fault shows without it.
type Omitted struct {
	// Task and Operation are its position, both counted from 0, in the instance
	// as it is built, and Name is the operation's.
	Task, Operation int
	Name            string
}

// Omit leaves operations out. Every task keeps its number, also one that has no
// operation left, so that what the others make and touch keeps its names. An
// error says which operation is not there.
func (i *Instance) Omit(out []Omitted) error {
	gone := map[[2]int]bool{}
	for _, o := range out {
		switch {
		case o.Task < 0 || o.Task >= len(i.Tasks):
			return fmt.Errorf("%q is left out of task %d, and there are %d tasks", o.Name, o.Task+1, len(i.Tasks))
		case o.Operation < 0 || o.Operation >= len(i.Tasks[o.Task].Operations):
			return fmt.Errorf("%q is left out of task %s at position %d, and it has %d operations",
				o.Name, i.Tasks[o.Task].Name, o.Operation, len(i.Tasks[o.Task].Operations))
		case i.Tasks[o.Task].Operations[o.Operation].Name != o.Name:
			return fmt.Errorf("%q is left out of task %s at position %d, where %q is",
				o.Name, i.Tasks[o.Task].Name, o.Operation, i.Tasks[o.Task].Operations[o.Operation].Name)
		}
		gone[[2]int{o.Task, o.Operation}] = true
	}
	i.Tasks = slices.Clone(i.Tasks) // Build may return the same ones each time
	for task := range i.Tasks {
		var kept []Operation
		for operation, op := range i.Tasks[task].Operations {
			if !gone[[2]int{task, operation}] {
				kept = append(kept, op)
			}
		}
		i.Tasks[task].Operations = kept
	}
	return nil
}
