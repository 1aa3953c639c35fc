package race_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/memmodel"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

const (
	once = kernel.Once
	acq  = kernel.Acquire
	rel  = kernel.Release
	full = kernel.Full
)

// shared is what the programs below work on: a region of plain memory, flags,
// and locks of every kind.
type shared struct {
	kernel.Object
	data    kernel.Region
	x, y, z kernel.Word[int]
	s, u    kernel.SpinLock
	mutex   kernel.Mutex
	rw      kernel.RWLock
	sem     kernel.RWSem
}

func newShared(t *kernel.Task) *shared {
	m := &shared{}
	m.Init(t, "machine", m)
	m.data.Init(&m.Object, "data")
	m.x.Init(&m.Object, "x", 0)
	m.y.Init(&m.Object, "y", 0)
	m.z.Init(&m.Object, "z", 0)
	m.s.Init(&m.Object, "s")
	m.u.Init(&m.Object, "u")
	m.mutex.Init(&m.Object, "mutex")
	m.rw.Init(&m.Object, "rw")
	m.sem.Init(&m.Object, "sem")
	return m
}

type body func(t *kernel.Task, m *shared)

func program(tasks ...body) *scenario.Scenario {
	build := func(setup *kernel.Task) *scenario.Instance {
		m := newShared(setup)
		i := &scenario.Instance{}
		for n, run := range tasks {
			i.Tasks = append(i.Tasks, scenario.Task{Name: fmt.Sprintf("T%d", n+1), Operations: []scenario.Operation{{
				Name: "run", Run: func(t *kernel.Task) scenario.Result { run(t, m); return scenario.Result{} }}}})
		}
		return i
	}
	return &scenario.Scenario{Name: "program", Variants: []scenario.Variant{{Name: "only", Role: scenario.Candidate, Build: build}}}
}

// violations explores a program and returns the violations it shows by kind,
// with one message each.
func violations(t *testing.T, model string, tasks ...body) map[kernel.ViolationKind]string {
	t.Helper()
	var mutex sync.Mutex
	found := map[kernel.ViolationKind]string{}
	s := program(tasks...)
	stats, err := explore.Explore(explore.Config{Scenario: s, Variant: &s.Variants[0], Model: model, Visit: func(e *explore.Execution) {
		mutex.Lock()
		defer mutex.Unlock()
		if e.Violation != nil {
			found[e.Violation.Kind] = e.Violation.Message
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !stats.Exhaustive && stats.Violating == 0 {
		t.Fatalf("not exhaustive: %s", stats.Cut)
	}
	return found
}

func write(t *kernel.Task, m *shared) { m.data.Write(t) }
func read(t *kernel.Task, m *shared)  { m.data.Read(t) }

func inLock(run body) body {
	return func(t *kernel.Task, m *shared) { m.s.Lock(t); run(t, m); m.s.Unlock(t) }
}

func inOtherLock(run body) body {
	return func(t *kernel.Task, m *shared) { m.u.Lock(t); run(t, m); m.u.Unlock(t) }
}

func inMutex(run body) body {
	return func(t *kernel.Task, m *shared) { m.mutex.Lock(t); run(t, m); m.mutex.Unlock(t) }
}

func inTry(run body) body {
	return func(t *kernel.Task, m *shared) {
		if m.s.TryLock(t) {
			run(t, m)
			m.s.Unlock(t)
		}
	}
}

// despiteTry goes on whether the try took the lock or not.
func despiteTry(run body) body {
	return func(t *kernel.Task, m *shared) {
		ok := m.s.TryLock(t)
		run(t, m)
		if ok {
			m.s.Unlock(t)
		}
	}
}

func inWrite(run body) body {
	return func(t *kernel.Task, m *shared) { m.rw.Lock(t); run(t, m); m.rw.Unlock(t) }
}

func inRead(run body) body {
	return func(t *kernel.Task, m *shared) { m.rw.RLock(t); run(t, m); m.rw.RUnlock(t) }
}

func inTryRead(run body) body {
	return func(t *kernel.Task, m *shared) {
		if m.rw.TryRLock(t) {
			run(t, m)
			m.rw.RUnlock(t)
		}
	}
}

func inTryWrite(run body) body {
	return func(t *kernel.Task, m *shared) {
		if m.rw.TryLock(t) {
			run(t, m)
			m.rw.Unlock(t)
		}
	}
}

func inSem(run body) body {
	return func(t *kernel.Task, m *shared) { m.sem.Lock(t); run(t, m); m.sem.Unlock(t) }
}

func inSemRead(run body) body {
	return func(t *kernel.Task, m *shared) { m.sem.RLock(t); run(t, m); m.sem.RUnlock(t) }
}

// publish writes the region, does what comes between, and raises the flag.
func publish(order kernel.Order, between ...kernel.Barrier) body {
	return func(t *kernel.Task, m *shared) {
		m.data.Write(t)
		for _, b := range between {
			t.Barrier(b)
		}
		m.y.Store(t, order, 1)
	}
}

// consume reads the region if the flag has the value.
func consume(value int, order kernel.Order, between ...kernel.Barrier) body {
	return func(t *kernel.Task, m *shared) {
		if m.y.Load(t, order) != value {
			return
		}
		for _, b := range between {
			t.Barrier(b)
		}
		m.data.Read(t)
	}
}

func step(order kernel.Order, from, to int) body {
	return func(t *kernel.Task, m *shared) { m.y.CompareAndSwap(t, order, from, to) }
}

const mb, rmb, wmb = kernel.FullBarrier, kernel.ReadBarrier, kernel.WriteBarrier

var edges = []struct {
	name  string
	tasks []body
	races bool
}{
	{"reads alone never conflict", []body{read, read, read}, false},
	{"write against read", []body{write, read}, true},
	{"write against write", []body{write, write}, true},
	{"a task against itself", []body{func(t *kernel.Task, m *shared) { write(t, m); read(t, m); write(t, m) }}, false},

	{"unlock before lock", []body{inLock(write), inLock(write), inLock(read)}, false},
	{"one side without the lock", []body{inLock(write), write}, true},
	{"different locks", []body{inLock(write), inOtherLock(read)}, true},
	{"mutex", []body{inMutex(write), inMutex(read)}, false},
	{"access after the unlock", []body{func(t *kernel.Task, m *shared) { inLock(write)(t, m); m.data.Write(t) }, inLock(read)}, true},
	{"access before the lock is after the section before", []body{inLock(write), func(t *kernel.Task, m *shared) { m.data.Read(t); inLock(write)(t, m) }}, true},
	{"try that takes the lock", []body{inLock(write), inTry(write)}, false},
	{"tries alone", []body{inTry(write), inTry(write), inTry(read)}, false},
	{"try that fails", []body{inLock(write), despiteTry(read)}, true},

	{"writer before reader", []body{inWrite(write), inRead(read), inRead(read)}, false},
	{"reader before writer", []body{inRead(read), inWrite(write), inTryRead(read)}, false},
	{"writer before writer", []body{inWrite(write), inWrite(write)}, false},
	{"trying writer", []body{inTryWrite(write), inRead(read), inWrite(write)}, false},
	{"readers do not exclude each other", []body{inRead(write), inRead(read)}, true},
	{"readers do not exclude each other, trying", []body{inRead(write), inTryRead(read)}, true},
	{"reader that writes is seen by the writer", []body{inRead(write), inWrite(read)}, false},
	{"sleeping reader and writer", []body{inSem(write), inSemRead(read), inSem(write)}, false},
	{"sleeping readers", []body{inSemRead(write), inSemRead(read)}, true},

	{"release before acquire", []body{publish(rel), consume(1, acq)}, false},
	{"release read without acquire", []body{publish(rel), consume(1, once)}, true},
	{"acquire of no release", []body{publish(once), consume(1, acq)}, true},
	{"acquire that read something else", []body{publish(rel), consume(0, acq)}, true},
	{"store of another task is no release sequence", []body{publish(rel), func(t *kernel.Task, m *shared) { m.y.Store(t, once, 2) }, consume(2, acq)}, true},
	{"later store of the same task is no release sequence", []body{
		func(t *kernel.Task, m *shared) { publish(rel)(t, m); m.y.Store(t, once, 2) }, consume(2, acq)}, true},
	{"access after the release", []body{func(t *kernel.Task, m *shared) { m.y.Store(t, rel, 1); m.data.Write(t) }, consume(1, acq)}, true},

	{"write barrier and read barrier", []body{publish(once, wmb), consume(1, once, rmb)}, false},
	{"full barriers", []body{publish(once, mb), consume(1, once, mb)}, false},
	{"write barrier and acquire", []body{publish(once, wmb), consume(1, acq)}, false},
	{"release and read barrier", []body{publish(rel), consume(1, once, rmb)}, false},
	{"write barrier alone", []body{publish(once, wmb), consume(1, once)}, true},
	{"read barrier alone", []body{publish(once), consume(1, once, rmb)}, true},
	{"read barrier where a write barrier should be", []body{publish(once, rmb), consume(1, once, rmb)}, true},
	{"write barrier where a read barrier should be", []body{publish(once, wmb), consume(1, once, wmb)}, true},
	{"barrier too late", []body{func(t *kernel.Task, m *shared) { publish(once)(t, m); t.Barrier(mb) }, consume(1, acq)}, true},
	{"barrier too early", []body{publish(rel), func(t *kernel.Task, m *shared) { t.Barrier(mb); consume(1, once)(t, m) }}, true},

	{"chain of updates", []body{publish(rel), step(once, 1, 2), step(once, 2, 3), consume(3, acq)}, false},
	{"chain of updates read without acquire", []body{publish(rel), step(once, 1, 2), consume(2, once)}, true},
	{"chain that no release begins", []body{publish(once), step(once, 1, 2), consume(2, acq)}, true},
	{"chain through a barrier", []body{publish(once, wmb), step(once, 1, 2), consume(2, once, rmb)}, false},
	{"update releases and acquires", []body{
		func(t *kernel.Task, m *shared) { m.data.Write(t); m.y.Add(t, rel, 1) },
		func(t *kernel.Task, m *shared) {
			if m.y.Add(t, acq, 1) == 2 {
				m.data.Read(t)
			}
		}}, false},
	{"update without order", []body{
		func(t *kernel.Task, m *shared) { m.data.Write(t); m.y.Add(t, once, 1) },
		func(t *kernel.Task, m *shared) {
			if m.y.Add(t, once, 1) == 2 {
				m.data.Read(t)
			}
		}}, true},
	{"failed update acquires nothing", []body{publish(rel), func(t *kernel.Task, m *shared) {
		if !m.y.CompareAndSwap(t, full, 0, 5) {
			m.data.Read(t)
		}
	}}, true},
	{"failed update, then a barrier", []body{publish(rel), func(t *kernel.Task, m *shared) {
		if !m.y.CompareAndSwap(t, once, 0, 5) {
			t.Barrier(rmb)
			m.data.Read(t)
		}
	}}, false},
	{"full updates of other words are barriers", []body{
		func(t *kernel.Task, m *shared) { m.data.Write(t); m.x.Swap(t, full, 1); m.y.Store(t, once, 1) },
		func(t *kernel.Task, m *shared) {
			if m.y.Load(t, once) == 1 {
				m.z.Swap(t, full, 1)
				m.data.Read(t)
			}
		}}, false},
	{"failed full updates are none", []body{
		func(t *kernel.Task, m *shared) {
			m.data.Write(t)
			m.x.CompareAndSwap(t, full, 7, 8)
			m.y.Store(t, once, 1)
		}, consume(1, acq)}, true},

	{"start", []body{func(t *kernel.Task, m *shared) {
		m.data.Write(t)
		t.Go("child", func(t *kernel.Task) { m.data.Read(t) })
	}}, false},
	{"access after the start", []body{func(t *kernel.Task, m *shared) {
		t.Go("child", func(t *kernel.Task) { m.data.Read(t) })
		m.data.Write(t)
	}}, true},
	{"join", []body{func(t *kernel.Task, m *shared) {
		child := t.Go("child", func(t *kernel.Task) { m.data.Write(t) })
		t.Join(child)
		m.data.Write(t)
	}}, false},
	{"join through two tasks", []body{func(t *kernel.Task, m *shared) {
		t.Join(t.Go("child", func(t *kernel.Task) { t.Join(t.Go("grandchild", func(t *kernel.Task) { m.data.Write(t) })) }))
		m.data.Write(t)
	}}, false},
	{"no join", []body{func(t *kernel.Task, m *shared) {
		t.Go("child", func(t *kernel.Task) { m.data.Write(t) })
		m.data.Write(t)
	}}, true},
	{"brothers", []body{func(t *kernel.Task, m *shared) {
		first := t.Go("first", func(t *kernel.Task) { m.data.Write(t) })
		second := t.Go("second", func(t *kernel.Task) { m.data.Read(t) })
		t.Join(first)
		t.Join(second)
	}}, true},
	{"brothers one after the other", []body{func(t *kernel.Task, m *shared) {
		t.Join(t.Go("first", func(t *kernel.Task) { m.data.Write(t) }))
		t.Join(t.Go("second", func(t *kernel.Task) { m.data.Read(t) }))
	}}, false},

	{"write after readers needs all of them", []body{inLock(read), inOtherLock(read), func(t *kernel.Task, m *shared) {
		inLock(write)(t, m)
	}}, true},
	{"write after readers has all of them", []body{inLock(read), inOtherLock(read), func(t *kernel.Task, m *shared) {
		m.s.Lock(t)
		inOtherLock(write)(t, m)
		m.s.Unlock(t)
	}}, false},
}

// TestEdges takes every way to order two accesses, and each with the order
// missing. The answer is the same under every model.
func TestEdges(t *testing.T) {
	for _, c := range edges {
		t.Run(c.name, func(t *testing.T) {
			for _, model := range memmodel.Names() {
				found := violations(t, model, c.tasks...)
				message, raced := found[kernel.DataRace]
				if raced != c.races {
					t.Errorf("%s: a race is found: %v, want %v (%s)", model, raced, c.races, message)
				}
				if delete(found, kernel.DataRace); len(found) > 0 {
					t.Errorf("%s: unexpected violations %v", model, found)
				}
			}
		})
	}
}

func load(order kernel.Order) body {
	return func(t *kernel.Task, m *shared) { m.x.Load(t, order) }
}

func store(order kernel.Order) body {
	return func(t *kernel.Task, m *shared) { m.x.Store(t, order, 1) }
}

func racyLoad(order kernel.Order) body {
	return func(t *kernel.Task, m *shared) { m.x.LoadRacy(t, order, meant) }
}

func racyStore(order kernel.Order) body {
	return func(t *kernel.Task, m *shared) { m.x.StoreRacy(t, order, 1, meant) }
}

func add(order kernel.Order) body {
	return func(t *kernel.Task, m *shared) { m.x.Add(t, order, 1) }
}

// TestWords: a race on a word needs a write and a plain access.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		name  string
		tasks []body
		races bool
	}{
		{"plain loads", []body{load(kernel.Plain), load(kernel.Plain)}, false},
		{"plain load, marked store", []body{load(kernel.Plain), store(once)}, true},
		{"marked load, plain store", []body{load(once), store(kernel.Plain)}, true},
		{"acquire does not help the load itself", []body{load(acq), store(kernel.Plain)}, true},
		{"plain stores", []body{store(kernel.Plain), store(kernel.Plain)}, true},
		{"marked accesses", []body{load(once), store(once), add(once), load(acq), store(rel)}, false},
		{"annotated plain load, marked store", []body{racyLoad(kernel.Plain), store(once)}, false},
		{"annotated plain load, plain store", []body{racyLoad(kernel.Plain), store(kernel.Plain)}, true},
		{"annotated marked load, plain store", []body{racyLoad(once), store(kernel.Plain)}, true},
		{"annotated plain accesses", []body{racyLoad(kernel.Plain), racyStore(kernel.Plain), racyStore(kernel.Plain)}, false},
		{"plain load, update", []body{load(kernel.Plain), add(full)}, true},
		{"plain accesses in sections", []body{inLock(load(kernel.Plain)), inLock(store(kernel.Plain))}, false},
		{"marked load beside plain stores in sections", []body{load(once), inLock(store(kernel.Plain))}, true},
		{"update that does not write, plain load", []body{load(kernel.Plain), func(t *kernel.Task, m *shared) { m.x.CompareAndSwap(t, once, 7, 8) }}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, model := range memmodel.Names() {
				_, raced := violations(t, model, c.tasks...)[kernel.DataRace]
				if raced != c.races {
					t.Errorf("%s: a race is found: %v, want %v", model, raced, c.races)
				}
			}
		})
	}
}

// TestLifetime: freeing an object that another task may still use is a use after
// free, whichever comes first.
func TestLifetime(t *testing.T) {
	type victim struct{ kernel.Object }
	// The object is the first task's; the second learns of it by plain memory
	// that the two tasks may touch because the tests order it.
	run := func(model string, share func(t *kernel.Task, m *shared, v *victim), use func(t *kernel.Task, m *shared) bool) map[kernel.ViolationKind]string {
		var v *victim
		return violations(t, model, func(t *kernel.Task, m *shared) {
			v = &victim{}
			v.Init(t, "victim", v)
			share(t, m, v)
		}, func(t *kernel.Task, m *shared) {
			if use(t, m) {
				v.Use(t)
				m.z.Store(t, rel, 1)
			}
		})
	}
	for _, model := range memmodel.Names() {
		early := run(model, func(t *kernel.Task, m *shared, v *victim) { m.y.Store(t, rel, 1); v.Free(t) },
			func(t *kernel.Task, m *shared) bool { return m.y.Load(t, acq) == 1 })
		if _, found := early[kernel.UseAfterFree]; !found {
			t.Errorf("%s: a free beside a use is not found: %v", model, early)
		}
		late := run(model, func(t *kernel.Task, m *shared, v *victim) {
			m.y.Store(t, rel, 1)
			if m.z.Load(t, acq) == 1 {
				v.Free(t)
			}
		}, func(t *kernel.Task, m *shared) bool { return m.y.Load(t, acq) == 1 })
		if len(late) > 0 {
			t.Errorf("%s: a free after the last use is refused: %v", model, late)
		}
	}
}

// TestMessage says what a report looks like.
func TestMessage(t *testing.T) {
	got := violations(t, "sc", inLock(write), func(t *kernel.Task, m *shared) {
		m.y.Load(t, once)
		m.data.Read(t)
	})[kernel.DataRace]
	for _, part := range []string{"machine#1.data", "not ordered", "write", "read", "task T"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q does not say %q", got, part)
		}
	}
}
