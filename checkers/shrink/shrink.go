// Package shrink makes a failing scenario smaller: it leaves out whole tasks,
// and then single operations, for as long as the fault stays.
//
// It does not know what a fault is. Whoever asks says whether what is left still
// shows it, and is trusted; package verdict explores it to the end each time. The
// result is minimal in the sense of delta debugging (Zeller, Hildebrandt,
// "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 2002): the fault
// shows, and without any one of the tasks or operations that are left it does
// not. A smaller scenario that lacks several at once may exist.
package shrink

import (
	"cmp"
	"fmt"
	"slices"

	"benign/impl/scenario"
)

// Operations returns what can be left out of the tasks, in the order of the
// tasks, so that fails still reports the fault. It takes the fault for granted as
// long as nothing is left out, and asks about each other set at most once. An
// error of fails ends the search.
func Operations(tasks []scenario.Task, fails func(out []scenario.Omitted) (bool, error)) ([]scenario.Omitted, error) {
	s := &search{tasks: tasks, fails: fails, asked: map[string]bool{}}
	for changed := true; changed; {
		var err error
		if changed, err = s.drop(s.wholeTasks()); err == nil && !changed {
			changed, err = s.drop(s.singles())
		}
		if err != nil {
			return nil, err
		}
	}
	return s.out, nil
}

// search is how far the shrinking has come.
type search struct {
	tasks []scenario.Task
	fails func([]scenario.Omitted) (bool, error)
	asked map[string]bool    // the answers of fails
	out   []scenario.Omitted // left out so far
}

// wholeTasks lists the operations of each task that has any.
func (s *search) wholeTasks() [][]scenario.Omitted {
	var parts [][]scenario.Omitted
	for task := range s.tasks {
		var all []scenario.Omitted
		for operation, op := range s.tasks[task].Operations {
			all = append(all, scenario.Omitted{Task: task, Operation: operation, Name: op.Name})
		}
		if len(all) > 0 {
			parts = append(parts, all)
		}
	}
	return parts
}

// singles lists every operation as a part of its own. The later ones of a task
// come first, since what comes before them may be what they need.
func (s *search) singles() [][]scenario.Omitted {
	var parts [][]scenario.Omitted
	for _, whole := range s.wholeTasks() {
		for _, one := range slices.Backward(whole) {
			parts = append(parts, []scenario.Omitted{one})
		}
	}
	return parts
}

// drop leaves out each part without which the fault shows, and reports whether
// there was any: what it was needed for may go now too.
func (s *search) drop(parts [][]scenario.Omitted) (dropped bool, err error) {
	for _, part := range parts {
		smaller := s.with(part)
		if len(smaller) == len(s.out) {
			continue // it is out already
		}
		failing, err := s.ask(smaller)
		if err != nil {
			return dropped, err
		}
		if failing {
			s.out, dropped = smaller, true
		}
	}
	return dropped, nil
}

// ask is fails, with a memory.
func (s *search) ask(out []scenario.Omitted) (bool, error) {
	key := fmt.Sprint(out)
	if answer, known := s.asked[key]; known {
		return answer, nil
	}
	answer, err := s.fails(out)
	s.asked[key] = answer
	return answer, err
}

// with returns what is left out already and the part, sorted.
func (s *search) with(part []scenario.Omitted) []scenario.Omitted {
	all := slices.Clone(s.out)
	for _, o := range part {
		if !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b scenario.Omitted) int {
		return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.Operation, b.Operation))
	})
	return all
}
