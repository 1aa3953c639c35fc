package explore

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"benign/checkers/graph"
	"benign/impl/kernel"
)

// A strict exploration runs each schedule twice, on a fresh world each time, and
// compares what the code did. Answers are the same, so whatever differs comes from
// something that the explorer does not control.

// transcript is what the code of all tasks did in one run.
type transcript struct {
	order   []int32 // the events, as they were run
	tasks   [][]deed
	running atomic.Pointer[kernel.Task] // the one whose turn it is

	mutex  sync.Mutex // guards owners, which strays ask for
	owners map[*kernel.Task]uint64
	looks  int // how often it is still made sure who asks
}

// deed is an operation that a task announced, or a region that it touched.
type deed struct {
	op     kernel.Op
	region *kernel.Region // if it is no operation
	write  bool
}

// strayLooks is how many operations of a worker are checked for a goroutine that
// pretends to be the task whose turn it is. To find that out takes as long as a
// hundred operations. Beyond that it would crash the process.
const strayLooks = 2000

// newTranscript begins one. The looks that the worker has left go with it.
func (w *worker) newTranscript() *transcript {
	if w.current != nil && w.current.transcript != nil {
		return &transcript{owners: map[*kernel.Task]uint64{}, looks: w.current.transcript.looks}
	}
	return &transcript{owners: map[*kernel.Task]uint64{}, looks: strayLooks}
}

// own notes that the task runs on the calling goroutine.
func (t *transcript) own(task *kernel.Task) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.looks > 0 {
		t.owners[task] = goroutine()
	}
}

// stray reports whether the calling goroutine is not the task's.
func (t *transcript) stray(task *kernel.Task) bool {
	if t.running.Load() != task {
		return true
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.looks == 0 {
		return false
	}
	t.looks--
	return t.owners[task] != goroutine()
}

// record takes down what a task does. It does not return to a goroutine that is not
// the task's.
func (r *run) record(task *kernel.Task, d deed) {
	t := r.transcript
	if t.stray(task) {
		r.worker.fail(&DivergenceError{Detail: fmt.Sprintf("a goroutine that is not task %s does this in its name: %s", task.Name(), d)}, nil)
		runtime.Goexit()
	}
	if r.abandoned || d.region != nil && d.region.Lifetime() && !d.write {
		return // it is being unwound, or what it uses the object for comes next
	}
	for task.Slot >= len(t.tasks) {
		t.tasks = append(t.tasks, nil)
	}
	t.tasks[task.Slot] = append(t.tasks[task.Slot], d)
}

// goroutine returns the number of the calling goroutine, which only the trace of
// its stack tells.
func goroutine() uint64 {
	var buffer [64]byte
	text := bytes.TrimPrefix(buffer[:runtime.Stack(buffer[:], false)], []byte("goroutine "))
	number, _, _ := bytes.Cut(text, []byte(" "))
	n, _ := strconv.ParseUint(string(number), 10, 64)
	return n
}

// String names what was done, in words.
func (d deed) String() string {
	switch {
	case d.region != nil && d.region.Lifetime() && d.write:
		return "make or free " + d.region.Owner()
	case d.region != nil && d.region.Lifetime():
		return "use " + d.region.Owner()
	case d.region != nil && d.write:
		return "write of " + d.region.Name()
	case d.region != nil:
		return "read of " + d.region.Name()
	case d.op.Kind == kernel.OpStore:
		return announced(&d.op) + " = " + d.op.Location.Show(d.op.Value)
	}
	return announced(&d.op)
}

// same compares what two runs did, which have their own objects.
func (d deed) same(other deed) bool {
	a, b := &d.op, &other.op
	switch {
	case d.region != nil || other.region != nil:
		return d.region != nil && other.region != nil && d.write == other.write && d.region.Name() == other.region.Name()
	case a.Location != nil && b.Location != nil:
		owner, field := a.Location.ID()
		otherOwner, otherField := b.Location.ID()
		if owner != otherOwner || field != otherField {
			return false
		}
	}
	return a.Kind == b.Kind && a.Order == b.Order && a.Barrier == b.Barrier && a.Mode == b.Mode && a.Try == b.Try &&
		(a.Value == b.Value || a.Kind == kernel.OpUpdate) && a.Choices == b.Choices && a.Label == b.Label && a.Passes == b.Passes && (a.Until == nil) == (b.Until == nil) && (a.Location == nil) == (b.Location == nil) &&
		(a.Child == nil || b.Child == nil || a.Child.ID() == b.Child.ID())
}

// again runs the schedule of a run that was concluded once more.
func (w *worker) again(first *run, e *Execution) error {
	second := w.start(first.g.Clone(), nil)
	w.current = second
	second.setUp()
	if !second.stopped() {
		second.replay(first.schedule())
	}
	if !second.stopped() {
		second.wake()
	}
	f, err := second.conclude()
	if difference := first.differs(second); difference != "" {
		return &DivergenceError{Detail: difference}
	}
	if err != nil {
		return err
	}
	if difference := differs(e, f); difference != "" {
		return &DivergenceError{Detail: difference}
	}
	return nil
}

// schedule returns the events in the order in which they were run, and those that
// still wait.
func (r *run) schedule() []int32 {
	order := slices.Clone(r.transcript.order)
	for id := range int32(len(r.g.Events)) {
		if !r.done.Has(id) {
			order = append(order, id)
		}
	}
	return order
}

// differs names the first two operations of a task that differ, or nothing.
func (r *run) differs(again *run) string {
	for task := range max(len(r.transcript.tasks), len(again.transcript.tasks)) {
		one, two := r.transcript.of(task), again.transcript.of(task)
		for i := range max(len(one), len(two)) {
			was, is := "end", "end"
			if i < len(one) {
				was = one[i].String()
			}
			if i < len(two) {
				is = two[i].String()
			}
			if i >= len(one) || i >= len(two) || !one[i].same(two[i]) {
				return fmt.Sprintf("step %d of task %s was: %s; and in the same schedule again: %s", i+1, r.g.Tasks[task].Name, was, is)
			}
		}
	}
	for id := range r.g.Events {
		was, is := &r.g.Events[id], &again.g.Events[id]
		if was.Kind == graph.UpdateWrite && was.Value != is.Value {
			l := r.words[was.Location]
			return fmt.Sprintf("an update of %s by task %s was to %s, and in the same schedule again to %s", l.Name(), r.g.Tasks[was.Task].Name,
				l.Show(was.Value), l.Show(is.Value))
		}
	}
	return ""
}

func (t *transcript) of(task int) []deed {
	if task < len(t.tasks) {
		return t.tasks[task]
	}
	return nil
}

// differs says what two executions of one schedule show differently, or nothing.
func differs(one, two *Execution) string {
	if two == nil {
		return "the same schedule cannot be run again"
	}
	for i := range min(len(one.Operations), len(two.Operations)) {
		was, is := &one.Operations[i], &two.Operations[i]
		if was.Name != is.Name || resultText(was) != resultText(is) {
			return fmt.Sprintf("%s of task %s returned %s, and in the same schedule again %s returned %s", was.Name, was.TaskName,
				resultText(was), is.Name, resultText(is))
		}
	}
	if was, is := violationText(one), violationText(two); was != is {
		return fmt.Sprintf("the execution broke %s, and in the same schedule again %s", was, is)
	}
	if one.State != two.State || one.Settled != two.Settled || !slices.Equal(one.Debt, two.Debt) {
		return fmt.Sprintf("the execution ended with %s (debt %v), and in the same schedule again with %s (debt %v)", one.State, one.Debt, two.State, two.Debt)
	}
	return ""
}

func resultText(o *Operation) string {
	if len(o.Result.Effects) == 0 {
		return strconv.Quote(o.Result.Value)
	}
	return fmt.Sprintf("%q with %v", o.Result.Value, o.Result.Effects)
}

func violationText(e *Execution) string {
	if e.Violation == nil {
		return "nothing"
	}
	return e.Violation.Error()
}
