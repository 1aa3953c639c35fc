package shrinker

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"benign/impl/extentmap"
	"benign/impl/kernel"
	"benign/impl/scenario"
	mapspec "benign/spec/extentmap"
	shrinkspec "benign/spec/shrinker"
)

// recorder takes down what operations that run natively did, and when.
type recorder struct {
	clock   atomic.Int64
	mutex   sync.Mutex
	history map[string][]porcupine.Operation // by partition
}

func newRecorder() *recorder { return &recorder{history: make(map[string][]porcupine.Operation)} }

// run runs an operation and takes it down.
func (r *recorder) run(t *kernel.Task, client int, op scenario.Operation) {
	call := r.clock.Add(1)
	result := op.Run(t)
	end := r.clock.Add(1)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, e := range result.Effects {
		r.history[e.Partition] = append(r.history[e.Partition], porcupine.Operation{
			ClientId: client, Input: e.Input, Output: e.Output, Call: call, Return: end,
		})
	}
}

// judge holds every partition against the specification.
func (r *recorder) judge(t *testing.T, spec *scenario.Spec) {
	t.Helper()
	for partition, history := range r.history {
		if result := linearizable(spec, partition, history); result != porcupine.Ok {
			t.Errorf("%s: the history of %d operations is judged %v", partition, len(history), result)
		}
	}
}

func linearizable(spec *scenario.Spec, partition string, history []porcupine.Operation) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(porcupine.Model{
		Init:              func() any { return spec.Initial(partition) },
		Step:              func(state, input, output any) (bool, any) { return spec.Step(state, input, output) },
		Equal:             spec.Equal,
		DescribeOperation: spec.Describe,
	}, history, 20*time.Second)
}

// perform runs an instance natively, a goroutine a task, and takes it through
// the protocol that follows.
func perform(t *testing.T, w *kernel.World, setup *kernel.Task, i *scenario.Instance) {
	t.Helper()
	r := newRecorder()
	var tasks sync.WaitGroup
	for client, task := range i.Tasks {
		tasks.Go(func() {
			self := w.NewTask(task.Name)
			for _, op := range task.Operations {
				r.run(self, client, op)
			}
			self.CheckExit()
		})
	}
	tasks.Wait()
	r.judge(t, i.Spec)
	settle(t, setup, i)
	i.Teardown(setup)
	if live := w.LiveObjects(); live != 0 {
		t.Errorf("%d objects have outlived the scenario", live)
	}
}

// settle checks an instance, brings it to rest and checks it again.
func settle(t *testing.T, task *kernel.Task, i *scenario.Instance) {
	t.Helper()
	if err := i.Check(task); err != nil {
		t.Errorf("when the tasks had ended: %v", err)
	}
	rounds := 0
	for i.Quiesce(task) {
		if rounds++; rounds > 3 {
			t.Fatal("the scenario does not come to rest")
		}
	}
	if debt := i.Debt(task); debt != 0 {
		t.Errorf("a debt of %d stays", debt)
	}
	if err := i.Check(task); err != nil {
		t.Errorf("after quiescence: %v", err)
	}
	if i.Observe(task) == "" {
		t.Error("there is nothing to observe")
	}
}

// Memory for the two pieces may have been short, and nobody sees whether it was:
// the pieces may be there or not afterwards, but what was cut out is not.
func TestStepWithUnknownInput(t *testing.T) {
	const size = extentmap.BlockSize
	setup := kernel.NewWorld(kernel.Options{}).NewTask("set-up")
	f := newFixture(setup, patched)
	long := block(0)
	long.Len, long.DiskNumBytes, long.RAMBytes = 3*size, 3*size, 3*size
	inode := f.inode(setup, firstInode, long)
	spec := f.instance().Spec
	_, state := stepThrough(spec, spec.Initial(partition(firstInode)), cut(inode, size, 2*size).Run(setup))
	if got := len(state.([]shrinkspec.Inode)); got != 3 {
		t.Fatalf("the inode may be in %d states, want 3: both pieces, the left one, none", got)
	}
	nothing := mapspec.Output{Status: mapspec.NotFound}
	for _, c := range []struct {
		start  uint64
		output mapspec.Output
		want   bool
	}{
		{0, mapspec.Output{Status: mapspec.Done, Entry: specEntry(inode.Maps.Snapshot(setup)[0]), InTree: true}, true},
		{0, nothing, true},
		{size, nothing, true},
		{size, mapspec.Output{Status: mapspec.Done, Entry: specEntry(long), InTree: true}, false},
		{2 * size, mapspec.Output{Status: mapspec.Done, Entry: specEntry(inode.Maps.Snapshot(setup)[1]), InTree: true}, true},
		{2 * size, nothing, true},
	} {
		in := mapspec.Input{Op: mapspec.OpLookup, Start: c.start, Len: size}
		result := scenario.Result{Effects: []scenario.Effect{mapEffect(setup, inode, in, c.output)}}
		if ok, _ := stepThrough(spec, state, result); ok != c.want {
			t.Errorf("a lookup at %#x that finds %v is allowed: %v", c.start, c.output.Entry, ok)
		}
	}
	f.teardown(setup)
}

// stepThrough takes a specification through the effects of an operation.
func stepThrough(spec *scenario.Spec, state any, result scenario.Result) (ok bool, next any) {
	ok = true
	for _, e := range result.Effects {
		if ok {
			ok, state = spec.Step(state, e.Input, e.Output)
		}
	}
	return ok, state
}

// A judge that accepts everything is none.
func TestHistoriesAreJudged(t *testing.T) {
	setup := kernel.NewWorld(kernel.Options{}).NewTask("set-up")
	f := newFixture(setup, patched)
	inode := f.inode(setup, firstInode, inFlight(0))
	r := newRecorder()
	r.run(setup, 0, lookup(inode, 0, 1))
	spec := f.instance().Spec
	r.judge(t, spec)
	report := Report{Visits: []Visit{{Inode: firstInode, Scanned: 1, Dropped: inode.Maps.Snapshot(setup)}}}
	for _, e := range lookEffects(report, 1) {
		history := append(r.history[e.Partition], porcupine.Operation{Input: e.Input, Output: e.Output, Call: 10, Return: 11})
		if got := linearizable(spec, e.Partition, history); got != porcupine.Illegal {
			t.Errorf("a scan that dropped a pinned map is judged %v", got)
		}
		if spec.Describe(e.Input, e.Output) == "" {
			t.Error("the effect has no description")
		}
	}
	f.teardown(setup)
}
