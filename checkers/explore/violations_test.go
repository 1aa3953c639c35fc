package explore_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"benign/checkers/memmodel"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// stand has one of every primitive that can be misused.
type stand struct {
	kernel.Object
	x, y          kernel.Word[int]
	owner         kernel.Pointer[thing]
	first, second kernel.Mutex
	third         kernel.Mutex
	spin          kernel.SpinLock
	rw            kernel.RWLock
	index         kernel.Index[thing]
	work, locking kernel.Work
	region        kernel.Region
	runs, seen    int // what the work did, and the x that it saw last
}

// thing is an object with a count of references, which frees itself.
type thing struct {
	kernel.Object
	count kernel.Refcount
	value kernel.Word[int]
}

func newThing(t *kernel.Task, references int) *thing {
	x := &thing{}
	x.Init(t, "thing", x)
	x.count.Init(&x.Object, "count", references)
	x.value.Init(&x.Object, "value", 0)
	return x
}

func (x *thing) put(t *kernel.Task) {
	if x.count.Put(t) {
		x.Free(t)
	}
}

func newStand(t *kernel.Task) *stand {
	s := &stand{}
	s.Init(t, "stand", s)
	s.x.Init(&s.Object, "x", 0)
	s.y.Init(&s.Object, "y", 0)
	s.owner.Init(&s.Object, "owner", nil)
	s.first.Init(&s.Object, "first")
	s.second.Init(&s.Object, "second")
	s.third.Init(&s.Object, "third")
	s.spin.Init(&s.Object, "spin")
	s.rw.Init(&s.Object, "rw")
	s.index.Init(&s.Object, "index")
	s.region.Init(&s.Object, "region")
	s.work.Init(&s.Object, "work", func(t *kernel.Task) {
		s.region.Write(t)
		s.runs++
		s.seen = s.x.Load(t, kernel.Once)
	})
	s.locking.Init(&s.Object, "locking", func(t *kernel.Task) { under(idle, first)(t, s, nil) })
	return s
}

// act is what one task does on the stand, with a thing that all share.
type act func(t *kernel.Task, s *stand, x *thing)

// play is a scenario of acts. The thing has one reference for each of them, and
// they free it if they take it. The functions may change the instance.
func play(takesThing bool, acts []act, change ...func(*scenario.Instance, *stand)) *scenario.Scenario {
	build := func(setup *kernel.Task) *scenario.Instance {
		s := newStand(setup)
		x := newThing(setup, len(acts))
		i := &scenario.Instance{Teardown: func(t *kernel.Task) {
			if made := s.owner.Load(t, kernel.Once); made != nil && made != x {
				made.put(t)
			}
			if !takesThing {
				x.Free(t)
			}
			s.Free(t)
		}}
		for n, run := range acts {
			i.Tasks = append(i.Tasks, scenario.Task{Name: fmt.Sprintf("T%d", n+1), Operations: []scenario.Operation{{
				Name: "act", Run: func(t *kernel.Task) scenario.Result { run(t, s, x); return scenario.Result{} }}}})
		}
		for _, f := range change {
			f(i, s)
		}
		return i
	}
	return &scenario.Scenario{Name: "play", Variants: []scenario.Variant{{Name: "only", Role: scenario.Candidate, Build: build}}}
}

type lockable interface {
	Lock(t *kernel.Task)
	Unlock(t *kernel.Task)
}

// under takes the locks in order, does something, and drops them.
func under(run func(t *kernel.Task, s *stand), locks ...func(s *stand) lockable) act {
	return func(t *kernel.Task, s *stand, _ *thing) {
		for _, l := range locks {
			l(s).Lock(t)
		}
		run(t, s)
		for i := range locks {
			locks[len(locks)-1-i](s).Unlock(t)
		}
	}
}

func idle(*kernel.Task, *stand)   {}
func first(s *stand) lockable     { return &s.first }
func second(s *stand) lockable    { return &s.second }
func third(s *stand) lockable     { return &s.third }
func spinning(s *stand) lockable  { return &s.spin }
func exclusive(s *stand) lockable { return &s.rw }

func put(t *kernel.Task, _ *stand, x *thing) { x.put(t) }

// misuses have each a twin that is free of violations in every execution.
var misuses = []struct {
	name          string
	kind          kernel.ViolationKind
	takesThing    bool // the acts free the thing
	wrong, proper []act
}{
	{"unlock of another task's lock", kernel.UnlockByStranger, false,
		[]act{func(t *kernel.Task, s *stand, _ *thing) {
			s.first.Lock(t)
			t.Join(t.Go("child", func(t *kernel.Task) { s.first.Unlock(t) }))
		}},
		[]act{under(idle, first), under(idle, first)}},
	{"unlock after a try that failed", kernel.UnlockByStranger, false,
		[]act{under(idle, first), func(t *kernel.Task, s *stand, _ *thing) { s.first.TryLock(t); s.first.Unlock(t) }},
		[]act{under(idle, first), func(t *kernel.Task, s *stand, _ *thing) {
			if s.first.TryLock(t) {
				s.first.Unlock(t)
			}
		}}},
	{"unlock of a lock that nobody holds", kernel.UnlockByStranger, false,
		[]act{under(idle, first), func(t *kernel.Task, s *stand, _ *thing) { s.first.Unlock(t) }}, []act{under(idle, first), under(idle, first)}},
	{"free of what a lock that is held belongs to", kernel.UseAfterFree, false,
		[]act{func(t *kernel.Task, s *stand, _ *thing) { freeGuarded(t, false) }, under(idle, first)},
		[]act{func(t *kernel.Task, s *stand, _ *thing) { freeGuarded(t, true) }, under(idle, first)}},
	{"recursion", kernel.RecursiveLock, false,
		[]act{under(idle, first, first), under(idle, first)}, []act{under(idle, first, second), under(idle, first)}},
	{"sleep while spinning", kernel.SleepWhileSpinning, false,
		[]act{under(idle, spinning, first)}, []act{under(idle, first, spinning)}},
	{"sleep under a lock that only a try took", kernel.SleepWhileSpinning, false,
		[]act{func(t *kernel.Task, s *stand, _ *thing) {
			if s.spin.TryLock(t) {
				under(idle, first)(t, s, nil)
				s.spin.Unlock(t)
			}
		}, under(idle, spinning)},
		[]act{func(t *kernel.Task, s *stand, _ *thing) {
			if s.spin.TryLock(t) {
				s.spin.Unlock(t)
				under(idle, first)(t, s, nil)
			}
		}, under(idle, spinning)}},
	{"two locks in both orders", kernel.LockOrderCycle, false,
		[]act{under(idle, first, second), under(idle, second, first)}, []act{under(idle, first, second), under(idle, first, second)}},
	{"two locks in both orders, never at once", kernel.LockOrderCycle, false,
		[]act{func(t *kernel.Task, s *stand, _ *thing) {
			t.Join(t.Go("child", func(t *kernel.Task) { under(idle, first, second)(t, s, nil) }))
			under(idle, second, first)(t, s, nil)
		}},
		[]act{func(t *kernel.Task, s *stand, _ *thing) {
			t.Join(t.Go("child", func(t *kernel.Task) { under(idle, first, second)(t, s, nil) }))
			under(idle, second)(t, s, nil)
			under(idle, first)(t, s, nil)
		}}},
	{"three locks in a ring", kernel.LockOrderCycle, false,
		[]act{under(idle, first, second), under(idle, second, third), under(idle, third, first)},
		[]act{under(idle, first, second), under(idle, second, third), under(idle, first, third)}},
	{"reader and writer in both orders", kernel.LockOrderCycle, false,
		[]act{under(idle, spinning, exclusive), func(t *kernel.Task, s *stand, _ *thing) {
			s.rw.RLock(t)
			under(idle, spinning)(t, s, nil)
			s.rw.RUnlock(t)
		}},
		[]act{under(idle, spinning, exclusive), func(t *kernel.Task, s *stand, _ *thing) {
			s.rw.RLock(t)
			if s.spin.TryLock(t) { // a try closes no ring
				s.spin.Unlock(t)
			}
			s.rw.RUnlock(t)
		}}},
	{"one put too many", kernel.ReferenceUnderflow, true,
		[]act{put, func(t *kernel.Task, _ *stand, x *thing) {
			x.count.Put(t)
			x.count.Put(t)
		}},
		[]act{put, func(t *kernel.Task, _ *stand, x *thing) { x.count.Get(t); x.put(t); x.put(t) }}},
	{"resurrection", kernel.ReferenceUnderflow, false,
		[]act{func(t *kernel.Task, _ *stand, x *thing) { x.count.Put(t); x.count.Put(t) }, func(t *kernel.Task, _ *stand, x *thing) { x.count.Get(t) }},
		[]act{func(t *kernel.Task, _ *stand, x *thing) { x.count.Put(t); x.count.Put(t) }, func(t *kernel.Task, _ *stand, x *thing) {
			if x.count.GetUnlessZero(t) {
				x.count.Put(t)
			}
		}}},
	{"use after the own put", kernel.UseAfterFree, true,
		[]act{put, func(t *kernel.Task, _ *stand, x *thing) { x.put(t); x.value.Store(t, kernel.Once, 1) }},
		[]act{put, func(t *kernel.Task, _ *stand, x *thing) { x.value.Store(t, kernel.Once, 1); x.put(t) }}},
	{"free beside a use", kernel.UseAfterFree, true,
		[]act{func(t *kernel.Task, _ *stand, x *thing) { x.Free(t) }, func(t *kernel.Task, _ *stand, x *thing) { x.value.Load(t, kernel.Once) }},
		[]act{under(idle, first), func(t *kernel.Task, _ *stand, x *thing) { x.value.Load(t, kernel.Once); x.Free(t) }}},
	{"put without order", kernel.UseAfterFree, true,
		[]act{unorderedPut, unorderedPut}, []act{put, put}},
	{"double free", kernel.DoubleFree, true,
		[]act{func(t *kernel.Task, _ *stand, x *thing) { x.Free(t) }, func(t *kernel.Task, _ *stand, x *thing) { x.Free(t) }},
		[]act{func(t *kernel.Task, s *stand, x *thing) { freeOnce(t, s, x) }, func(t *kernel.Task, s *stand, x *thing) { freeOnce(t, s, x) }}},
	{"publication without release", kernel.DataRace, false,
		[]act{publish(kernel.Once), useAcquired}, []act{publish(kernel.Release), useAcquired}},
	{"published and used without acquire", kernel.DataRace, false,
		[]act{publish(kernel.Release), func(t *kernel.Task, s *stand, _ *thing) { useLoaded(t, s, kernel.Once) }}, []act{publish(kernel.Release), useAcquired}},
	{"free of what was published", kernel.UseAfterFree, true,
		[]act{func(t *kernel.Task, s *stand, x *thing) {
			s.owner.Store(t, kernel.Release, x)
			s.owner.Store(t, kernel.Release, nil)
			x.Free(t)
		}, useAcquired},
		[]act{func(t *kernel.Task, s *stand, x *thing) {
			s.owner.Store(t, kernel.Release, nil)
			x.Free(t)
		}, useAcquired}},
	{"leak in one interleaving", kernel.Leak, false,
		[]act{install(false), install(false)}, []act{install(true), install(true)}},
	{"index without its lock", kernel.MissingLock, false,
		[]act{func(t *kernel.Task, s *stand, x *thing) { s.index.Load(t, 1) }, func(t *kernel.Task, s *stand, x *thing) { store(t, s, x) }},
		[]act{store, store}},
	{"held at exit", kernel.HeldAtExit, false,
		[]act{under(idle, first), func(t *kernel.Task, s *stand, _ *thing) { s.first.TryLock(t) }},
		[]act{under(idle, first), func(t *kernel.Task, s *stand, _ *thing) {
			if s.first.TryLock(t) {
				s.first.Unlock(t)
			}
		}}},
	{"race on a region", kernel.DataRace, false,
		[]act{under(writeRegion, first), under(writeRegion, second)}, []act{under(writeRegion, first), under(writeRegion, first)}},
	{"race on a word", kernel.DataRace, false,
		[]act{func(t *kernel.Task, s *stand, _ *thing) { s.x.Load(t, kernel.Plain) }, func(t *kernel.Task, s *stand, _ *thing) { s.x.Store(t, kernel.Once, 1) }},
		[]act{func(t *kernel.Task, s *stand, _ *thing) { s.x.Load(t, kernel.Once) }, func(t *kernel.Task, s *stand, _ *thing) { s.x.Store(t, kernel.Once, 1) }}},
	{"race under different locks", kernel.DataRace, false,
		[]act{under(writeRegion, first), func(t *kernel.Task, s *stand, x *thing) { s.index.Lock(t); writeRegion(t, s); s.index.Unlock(t) }},
		[]act{func(t *kernel.Task, s *stand, x *thing) { s.index.Lock(t); writeRegion(t, s); s.index.Unlock(t) },
			func(t *kernel.Task, s *stand, x *thing) { s.index.Lock(t); writeRegion(t, s); s.index.Unlock(t) }}},
	{"crash", kernel.Crash, false,
		[]act{func(t *kernel.Task, s *stand, x *thing) { s.owner.Store(t, kernel.Release, x) },
			func(t *kernel.Task, s *stand, _ *thing) { s.owner.Load(t, kernel.Acquire).value.Load(t, kernel.Once) }},
		[]act{func(t *kernel.Task, s *stand, x *thing) { s.owner.Store(t, kernel.Release, x) },
			func(t *kernel.Task, s *stand, _ *thing) {
				if x := s.owner.Load(t, kernel.Acquire); x != nil {
					x.value.Load(t, kernel.Once)
				}
			}}},
	{"assertion", kernel.Assertion, false,
		[]act{addInTwoSteps, addInTwoSteps}, []act{addInOneStep, addInOneStep}},
	{"join with who waits for the own lock", kernel.Deadlock, false,
		[]act{func(t *kernel.Task, s *stand, _ *thing) {
			s.first.Lock(t)
			t.Join(t.Go("child", func(t *kernel.Task) { under(idle, first)(t, s, nil) }))
			s.first.Unlock(t)
		}},
		[]act{func(t *kernel.Task, s *stand, _ *thing) {
			s.first.Lock(t)
			child := t.Go("child", func(t *kernel.Task) { under(idle, first)(t, s, nil) })
			s.first.Unlock(t)
			t.Join(child)
		}}},
	{"flush of work that waits for the own lock", kernel.Deadlock, false,
		[]act{func(t *kernel.Task, s *stand, _ *thing) {
			s.locking.Queue(t)
			s.first.Lock(t)
			s.locking.Flush(t)
			s.first.Unlock(t)
		}},
		[]act{func(t *kernel.Task, s *stand, _ *thing) {
			s.locking.Queue(t)
			under(idle, first)(t, s, nil)
			s.locking.Flush(t)
		}}},
}

// unorderedPut counts references in a word without order: the last one out does
// not know what the others did before.
func unorderedPut(t *kernel.Task, s *stand, x *thing) {
	x.value.Load(t, kernel.Once)
	if s.x.Add(t, kernel.Once, 1) == 2 {
		x.Free(t)
	}
}

func freeOnce(t *kernel.Task, s *stand, x *thing) {
	if s.x.Swap(t, kernel.Full, 1) == 0 {
		x.Free(t)
	}
}

// publish makes a thing and shows it to the others.
func publish(o kernel.Order) act {
	return func(t *kernel.Task, s *stand, _ *thing) { s.owner.Store(t, o, newThing(t, 1)) }
}

func useAcquired(t *kernel.Task, s *stand, _ *thing) { useLoaded(t, s, kernel.Acquire) }

func useLoaded(t *kernel.Task, s *stand, o kernel.Order) {
	if shown := s.owner.Load(t, o); shown != nil {
		shown.value.Load(t, kernel.Once)
	}
}

// freeGuarded frees a stand under, or after, its own lock.
func freeGuarded(t *kernel.Task, after bool) {
	s := newStand(t)
	s.first.Lock(t)
	if after {
		s.first.Unlock(t)
	}
	s.Free(t)
	if !after {
		s.first.Unlock(t)
	}
}

// install makes a thing and puts it up if nobody was faster.
func install(tidy bool) act {
	return func(t *kernel.Task, s *stand, _ *thing) {
		made := newThing(t, 1)
		if !s.owner.CompareAndSwap(t, kernel.Full, nil, made) && tidy {
			made.put(t)
		}
	}
}

func store(t *kernel.Task, s *stand, x *thing) {
	s.index.Lock(t)
	s.index.Store(t, 1, x)
	s.index.Unlock(t)
}

func writeRegion(t *kernel.Task, s *stand) { s.region.Write(t) }

func addInTwoSteps(t *kernel.Task, s *stand, _ *thing) {
	s.x.Store(t, kernel.Once, s.x.Load(t, kernel.Once)+1)
	countDone(t, s)
}

func addInOneStep(t *kernel.Task, s *stand, _ *thing) {
	s.x.Add(t, kernel.Full, 1)
	countDone(t, s)
}

// countDone asserts, in the task that comes last, that both additions are there.
func countDone(t *kernel.Task, s *stand) {
	if s.y.Add(t, kernel.Full, 1) == 2 {
		t.Assert(s.x.Load(t, kernel.Once) == 2, "an addition is lost")
	}
}

// TestMisuses explores every misuse and its twin under every model: the misuse
// is found, and nothing is found in the twin.
func TestMisuses(t *testing.T) {
	for _, c := range misuses {
		t.Run(c.name, func(t *testing.T) {
			for _, model := range memmodel.Names() {
				found := 0
				for _, e := range exhausted(t, play(c.takesThing, c.wrong), model) {
					if e.Violation != nil && e.Violation.Kind == c.kind {
						found++
					}
				}
				if found == 0 {
					t.Errorf("%s: no execution shows a %v", model, c.kind)
				}
				for _, e := range exhausted(t, play(c.takesThing, c.proper), model) {
					if e.Violation != nil || !e.Ended {
						t.Errorf("%s: done right: %v", model, e.Violation)
					}
				}
			}
		})
	}
}

// TestViolationBesideTry: a violation counts whatever the other tasks are at,
// also if that is a try for a lock that they have not made yet.
func TestViolationBesideTry(t *testing.T) {
	for _, acts := range [][]act{
		{func(t *kernel.Task, s *stand, _ *thing) { t.Assert(false, "wrong") }, tryFirst},
		{tryFirst, func(t *kernel.Task, s *stand, _ *thing) { t.Assert(false, "wrong") }},
		{tryFirst, func(t *kernel.Task, s *stand, _ *thing) { s.x.Load(t, kernel.Once); t.Assert(false, "wrong") }, tryFirst},
	} {
		found := 0
		for _, e := range exhausted(t, play(false, acts), "sc") {
			if e.Violation != nil && e.Violation.Kind == kernel.Assertion {
				found++
			}
		}
		if found == 0 {
			t.Errorf("%d tasks: the violation is lost", len(acts))
		}
	}
}

func tryFirst(t *kernel.Task, s *stand, _ *thing) {
	if s.first.TryLock(t) {
		s.first.Unlock(t)
	}
}

// shows explores acts under every model and returns the texts that Observe
// gives; violations are errors.
func shows(t *testing.T, acts []act, observe func(*stand) string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, model := range memmodel.Names() {
		states := map[string]bool{}
		all := exhausted(t, play(false, acts, func(i *scenario.Instance, s *stand) {
			i.Observe = func(*kernel.Task) string { return observe(s) }
		}), model)
		for _, e := range all {
			if e.Violation != nil {
				t.Errorf("%s: %v", model, e.Violation)
			}
			states[e.State] = true
		}
		found[model] = slices.Sorted(maps.Keys(states))
	}
	return found
}

// TestWorkNeverMeetsItself queues one item from two tasks. Its runs touch a
// region, which would tell if they met; after the last queueing one begins, which
// sees what both tasks did before they queued it.
func TestWorkNeverMeetsItself(t *testing.T) {
	queue := func(t *kernel.Task, s *stand, _ *thing) { s.x.Add(t, kernel.Once, 1); s.work.Queue(t) }
	found := shows(t, []act{queue, queue}, func(s *stand) string { return fmt.Sprintf("runs %d, sees %d", s.runs, s.seen) })
	for model, states := range found {
		if want := []string{"runs 1, sees 2", "runs 2, sees 2"}; !slices.Equal(states, want) {
			t.Errorf("%s: %v, want %v", model, states, want)
		}
	}
}

// TestWorkIsWaitedFor: after Flush or Cancel the caller may touch what the item
// touches, and knows whether it ran.
func TestWorkIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		run  act
		want []string
	}{
		"flush": {func(t *kernel.Task, s *stand, _ *thing) {
			s.work.Queue(t)
			s.work.Flush(t)
			s.region.Write(t)
			t.Assert(s.runs == 1 && s.work.Idle(t), "the work ran %d times", s.runs)
		}, []string{"1"}},
		"cancel": {func(t *kernel.Task, s *stand, _ *thing) {
			s.work.Queue(t)
			ran := 1
			if s.work.Cancel(t) {
				ran = 0
			}
			s.region.Write(t)
			t.Assert(s.runs == ran && s.work.Idle(t), "the work ran %d times", s.runs)
		}, []string{"0", "1"}},
		"neither": {func(t *kernel.Task, s *stand, _ *thing) { s.work.Queue(t) }, []string{"1"}},
	} {
		found := shows(t, []act{c.run}, func(s *stand) string { return fmt.Sprint(s.runs) })
		for model, states := range found {
			if !slices.Equal(states, c.want) {
				t.Errorf("%s under %s: the work ran %v times, want %v", name, model, states, c.want)
			}
		}
	}
}

// TestExplorationGoesOnBesideAViolation: the store could still come before the
// load that breaks the one assertion, and then another is broken.
func TestExplorationGoesOnBesideAViolation(t *testing.T) {
	acts := []act{func(t *kernel.Task, s *stand, _ *thing) {
		if s.x.Load(t, kernel.Once) == 0 {
			t.Violate(kernel.Assertion, "zero")
		}
		t.Violate(kernel.Crash, "one")
	}, func(t *kernel.Task, s *stand, _ *thing) { s.x.Store(t, kernel.Once, 1) }}
	for range 2 {
		if found := len(exhausted(t, play(false, acts), "sc")); found != 2 {
			t.Skipf("a violation ends what other tasks could still do: %d executions instead of 2, and the order of tasks decides", found)
		}
		slices.Reverse(acts)
	}
}
