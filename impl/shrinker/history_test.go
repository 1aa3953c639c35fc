package shrinker

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"benign/impl/kernel"
	"benign/impl/scenario"
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
