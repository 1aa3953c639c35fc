package explore_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/memmodel"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

func isOne(v int) bool { return v == 1 }

// TestWaitingForEver: what no fair schedule satisfies is reported, with what is
// waited for, under every model; its twin that somebody satisfies is not.
func TestWaitingForEver(t *testing.T) {
	awaitX := func(t *kernel.Task, r *rig) string { r.x.Await(t, kernel.Acquire, isOne); return "" }
	setX := func(t *kernel.Task, r *rig) string { r.x.Store(t, kernel.Release, 1); return "" }
	resetX := func(t *kernel.Task, r *rig) string {
		r.x.Store(t, kernel.Release, 1)
		r.x.Store(t, kernel.Release, 0)
		return ""
	}
	underSpin := func(s step) step {
		return func(t *kernel.Task, r *rig) string { r.spin.Lock(t); defer r.spin.Unlock(t); return s(t, r) }
	}
	const inVain = "awaits another value of rig#1.x, which stays 0: no fair schedule satisfies it"
	for _, c := range []struct {
		name    string
		steps   []step
		ended   int // executions that end, under sc
		kind    kernel.ViolationKind
		message string
	}{
		{"somebody sets it", []step{awaitX, setX}, 1, 0, ""},
		{"nobody sets it", []step{awaitX, storeThenLoadY}, 0, kernel.Livelock, "A " + inVain},
		{"it is there for a moment", []step{awaitX, resetX}, 1, kernel.Livelock, "A " + inVain},
		{"two look for the moment", []step{awaitX, awaitX, resetX}, 1, kernel.Livelock, inVain},
		{"who sets it waits for the lock", []step{underSpin(awaitX), underSpin(setX)}, 1, kernel.Deadlock, "A " + inVain + "; B waits for rig#1.spin"},
		{"who sets it has another lock", []step{underSpin(awaitX), setX}, 1, 0, ""},
		{"each waits for the other", []step{
			func(t *kernel.Task, r *rig) string { awaitX(t, r); r.y.Store(t, kernel.Release, 1); return "" },
			func(t *kernel.Task, r *rig) string { r.y.Await(t, kernel.Acquire, isOne); return setX(t, r) },
		}, 0, kernel.Livelock, "A " + inVain + "; B awaits another value of rig#1.y"},
	} {
		for _, model := range memmodel.Names() {
			t.Run(c.name+" under "+model, func(t *testing.T) {
				ended := 0
				var found []string
				for _, e := range exhausted(t, scene(c.steps), model) {
					if e.Ended {
						ended++
					}
					if v := e.Violation; v != nil {
						found = append(found, v.Error())
						if v.Kind != c.kind || !strings.Contains(v.Message, c.message) {
							t.Errorf("got %v, want a %v: %s", v, c.kind, c.message)
						}
					}
				}
				if ended != c.ended || (len(found) > 0) != (c.kind != 0) {
					t.Errorf("%d executions end, want %d; %q", ended, c.ended, found)
				}
			})
		}
	}
}

func storeThenLoadY(t *kernel.Task, r *rig) string {
	r.y.Store(t, kernel.Once, 1)
	return ""
}

// TestAwaitOfFreedWord: who brings the value may not free the word at once.
func TestAwaitOfFreedWord(t *testing.T) {
	for _, reference := range []bool{false, true} {
		steps := []step{
			func(t *kernel.Task, r *rig) string {
				r.x.Await(t, kernel.Acquire, isOne)
				if reference {
					r.y.Store(t, kernel.Release, 1)
				}
				return ""
			},
			func(t *kernel.Task, r *rig) string {
				r.x.Store(t, kernel.Release, 1)
				if reference {
					r.y.Await(t, kernel.Acquire, isOne)
				}
				r.Free(t)
				return ""
			},
		}
		s := scene(steps, func(i *scenario.Instance, r *rig) { i.Observe, i.Teardown = nil, nil })
		broken := slices.ContainsFunc(exhausted(t, s, "sc"), func(e *explore.Execution) bool {
			return e.Violation != nil && e.Violation.Kind == kernel.UseAfterFree
		})
		if broken == reference {
			t.Errorf("with a reference %v: use after free %v", reference, broken)
		}
	}
}

// TestAwaitTracesDiverge: a trace says that an await waits, or does not, and the
// code that it is replayed on says otherwise.
func TestAwaitTracesDiverge(t *testing.T) {
	code := func(want int) step {
		return func(t *kernel.Task, r *rig) string {
			r.x.Await(t, kernel.Once, func(x int) bool { return x == want })
			return ""
		}
	}
	load := func(t *kernel.Task, r *rig) string { r.x.Load(t, kernel.Once); return "" }
	for _, c := range []struct {
		name           string
		before, after  step
		wants          string
		waits, differs bool
	}{
		{"still in vain", code(5), code(6), "", true, false},
		{"in vain before", code(5), code(0), "the value ends its wait", true, true},
		{"in vain now", code(0), code(5), "waits for another value of rig#1.x", false, true},
		{"no await now", code(5), load, "task A", true, true},
		{"no await before", load, code(0), "the task is at: once await of rig#1.x", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := exhausted(t, scene([]step{c.before}), "sc")
			if len(all) != 1 || all[0].Ended == c.waits {
				t.Fatalf("%d executions", len(all))
			}
			_, _, err := explore.Replay(configure(scene([]step{c.after}), "sc"), parsed(t, all[0]))
			var diverged *explore.DivergenceError
			if errors.As(err, &diverged) != c.differs || c.differs && !strings.Contains(diverged.Detail, c.wants) {
				t.Errorf("got %v, want %q", err, c.wants)
			}
		})
	}
}

// TestPanicOfACondition: a condition is the code's own, and so is its panic.
func TestPanicOfACondition(t *testing.T) {
	fussy := func(t *kernel.Task, r *rig) string {
		r.x.Await(t, kernel.Once, func(x int) bool {
			if x == 1 {
				panic("what is a 1")
			}
			return x == 2
		})
		return ""
	}
	crashed, all := 0, exhausted(t, scene([]step{fussy, addToX, addToX}), "sc")
	for _, e := range all {
		if e.Violation != nil && e.Violation.Kind == kernel.Crash && strings.Contains(e.Violation.Message, "what is a 1") {
			crashed++
		}
	}
	if crashed == 0 || crashed == len(all) {
		t.Errorf("%d of %d executions crash", crashed, len(all))
	}
}

// TestAwaitAlone: before and after the tasks nobody else brings the value.
func TestAwaitAlone(t *testing.T) {
	for _, left := range []int{0, 1} {
		s := scene([]step{func(t *kernel.Task, r *rig) string { r.x.Store(t, kernel.Once, left); return "" }},
			func(i *scenario.Instance, r *rig) {
				i.Observe = func(t *kernel.Task) string { r.x.Await(t, kernel.Once, isOne); return "done" }
			})
		e := exhausted(t, s, "sc")[0]
		if alone := e.Violation != nil && e.Violation.Kind == kernel.Livelock; alone == (left == 1) {
			t.Errorf("x is %d: %v", left, e.Violation)
		}
	}
}
