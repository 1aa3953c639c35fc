package verdict_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/verdict"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// wideRegister is a word of 64 bits that holds one of a few small numbers.
var wideRegister = scenario.Spec{
	Name:    "register",
	Initial: func(string) any { return 0 },
	Step: func(state, input, output any) (bool, any) {
		if input != nil {
			return true, input
		}
		return output == state, state
	},
	Equal:    func(a, b any) bool { return a == b },
	Describe: func(input, output any) string { return fmt.Sprint(input, output) },
}

// TestHistoriesOfHalves: a load in two halves takes from the one to the other,
// whichever came first, and others may happen meanwhile. As long as the numbers
// differ in one half only, every history is one of whole accesses.
func TestHistoriesOfHalves(t *testing.T) {
	build := func(shift int) func(*kernel.Task) *scenario.Instance {
		return func(setup *kernel.Task) *scenario.Instance {
			f := &struct {
				kernel.Object
				size kernel.Word[int64]
			}{}
			f.Init(setup, "file", f)
			f.size.Init(&f.Object, "size", 0)
			set := func(n int) scenario.Operation {
				return scenario.Operation{Name: "set " + strconv.Itoa(n), Run: func(t *kernel.Task) scenario.Result {
					f.size.Store(t, kernel.Once, int64(n)<<shift)
					return scenario.Result{Effects: []scenario.Effect{{Partition: "size", Input: n}}}
				}}
			}
			get := scenario.Operation{Name: "get", Run: func(t *kernel.Task) scenario.Result {
				n := int(f.size.Load(t, kernel.Once) >> shift)
				return scenario.Result{Value: strconv.Itoa(n), Effects: []scenario.Effect{{Partition: "size", Output: n}}}
			}}
			return &scenario.Instance{Spec: &wideRegister, Tasks: []scenario.Task{
				{Name: "writer", Operations: []scenario.Operation{set(1), set(2)}},
				{Name: "reader", Operations: []scenario.Operation{get, get}},
			}}
		}
	}
	for _, shift := range []int{0, 32} {
		s := scenario.Scenario{Name: "halves", Variants: []scenario.Variant{
			{Name: "base", Role: scenario.Baseline, Build: build(shift), Expect: scenario.Indistinguishable},
			{Name: "same", Role: scenario.Candidate, Build: build(shift), Expect: scenario.Indistinguishable},
		}}
		race := &scenario.Race{Name: "halves", Scenarios: []scenario.Scenario{s}}
		v, err := verdict.Judge(race, &s, &s.Variants[1], "sc", verdict.Options{Arch: explore.Arch32})
		if err != nil || v.Class != scenario.Indistinguishable {
			t.Errorf("shifted by %d: %v, %+v", shift, err, v)
		}
		if v.Scope.Arch != explore.Arch32 {
			t.Errorf("the answer is about %d bits", v.Scope.Arch)
		}
	}
}

// TestReplayOnItsMachine: whether a final state is one of the baseline's is asked
// about the machine that the trace is from.
func TestReplayOnItsMachine(t *testing.T) {
	build := func(setup *kernel.Task) *scenario.Instance {
		f := &struct {
			kernel.Object
			size kernel.Word[int64]
		}{}
		f.Init(setup, "file", f)
		f.size.Init(&f.Object, "size", 0)
		set := func(size int64) []scenario.Operation {
			return []scenario.Operation{{Name: "set", Run: func(t *kernel.Task) scenario.Result {
				f.size.Store(t, kernel.Once, size)
				return scenario.Result{}
			}}}
		}
		return &scenario.Instance{
			Tasks:   []scenario.Task{{Name: "one", Operations: set(1<<32 + 1)}, {Name: "two", Operations: set(2<<32 + 2)}},
			Observe: func(t *kernel.Task) string { return fmt.Sprint(f.size.Load(t, kernel.Once)) },
		}
	}
	s := scenario.Scenario{Name: "stores", Variants: []scenario.Variant{
		{Name: "base", Role: scenario.Baseline, Build: build, Expect: scenario.Indistinguishable},
		{Name: "same", Role: scenario.Candidate, Build: build, Expect: scenario.Indistinguishable},
	}}
	race := &scenario.Race{Name: "stores", Scenarios: []scenario.Scenario{s}}
	const torn = "benign trace 1\nrace stores\nscenario stores\nvariant same\nmodel sc\narch 32\ntask 1 \"one\"\ntask 2 \"two\"\n" +
		"1.0 write at=\"file#1.size\" half=low order=once after=init\n1.1 write at=\"file#1.size\" half=high order=once after=2.1\n" +
		"2.0 write at=\"file#1.size\" half=low order=once after=1.0\n2.1 write at=\"file#1.size\" half=high order=once after=init\n"
	_, trace, err := explore.ParseTrace("trace", []byte(torn))
	if err != nil {
		t.Fatal(err)
	}
	finding, e, err := verdict.Replay(race, &s, &s.Variants[1], "sc", trace)
	if err != nil || !finding.Clean() || e.State != fmt.Sprint(1<<32+2) || finding.Trace != torn {
		t.Errorf("%v: %+v, %+v", err, finding, e)
	}
}

// TestOn32 asks about two machines, predicts another class for one of them, and
// keeps the explorations of the two apart in a checkpoint.
func TestOn32(t *testing.T) {
	build := func(order kernel.Order) func(*kernel.Task) *scenario.Instance {
		return func(setup *kernel.Task) *scenario.Instance {
			f := &struct {
				kernel.Object
				lock kernel.SpinLock
				size kernel.Word[int64]
			}{}
			f.Init(setup, "file", f)
			f.lock.Init(&f.Object, "lock")
			f.size.Init(&f.Object, "size", 0)
			return &scenario.Instance{Teardown: f.Free, Tasks: []scenario.Task{
				task("writer", run("grow", func(t *kernel.Task) string { f.size.Store(t, kernel.Once, 1<<32|1); return "" })),
				task("reader", run("look", func(t *kernel.Task) string {
					size := int64(0)
					if order == kernel.Once {
						size = f.size.Load(t, kernel.Once)
					}
					t.Assert(size == 0 || size == 1<<32|1, "torn")
					return ""
				})),
			}}
		}
	}
	marked := scenario.Variant{Name: "marked", Role: candidate, Expect: indistinguishable, ExpectOn32: harmful, Build: build(kernel.Once),
		ExpectByModel: map[string]scenario.Class{"sc": indistinguishable, "kernel": indistinguishable}}
	fault := marked
	fault.Name, fault.Role, fault.Expect, fault.ExpectByModel = "other", scenario.Alternative, indistinguishable, nil
	race := &scenario.Race{Name: "size", Scenarios: []scenario.Scenario{{Name: "grow", On32: true, Variants: []scenario.Variant{
		{Name: "blind", Role: base, Expect: indistinguishable, Build: build(kernel.Plain)}, marked, fault,
	}}}}
	describe := func(q *verdict.Question) string {
		text := ""
		for _, v := range slices.Concat(q.Verdicts, q.Alternatives) {
			text += fmt.Sprintf("%s %s %d %s;", v.Variant, v.Model, v.Scope.Arch, v.Class)
		}
		return text + fmt.Sprint(len(q.Surprises))
	}
	const want = "marked sc 64 INDISTINGUISHABLE;marked sc 32 HARMFUL;marked kernel 64 INDISTINGUISHABLE;marked kernel 32 HARMFUL;" +
		"other sc 64 INDISTINGUISHABLE;other sc 32 HARMFUL;0"
	file := filepath.Join(t.TempDir(), "both")
	for _, kept := range []bool{false, true, true} { // the last of them finds everything in the checkpoint
		o := verdict.Options{Planted: true}
		if kept {
			c, err := verdict.OpenCheckpoint(file, "size")
			if err != nil {
				t.Fatal(err)
			}
			o.Checkpoint = c
		}
		q, err := verdict.Ask(race, o)
		if err != nil || describe(q) != want {
			t.Errorf("kept %v: got %s, want %s; %v", kept, describe(q), want, err)
		}
		if kept {
			if err := o.Checkpoint.Save(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for arch, want := range map[int]string{
		explore.Arch64: "marked sc 64 INDISTINGUISHABLE;marked kernel 64 INDISTINGUISHABLE;0",
		explore.Arch32: "marked sc 32 HARMFUL;marked kernel 32 HARMFUL;0",
	} {
		q, err := verdict.Ask(race, verdict.Options{Arch: arch})
		if err != nil || describe(q) != want {
			t.Errorf("on %d: got %s, want %s; %v", arch, describe(q), want, err)
		}
	}
	race.Scenarios[0].Variants[1].ExpectOn32 = 0
	if q, err := verdict.Ask(race, verdict.Options{}); err != nil || len(q.Surprises) != 2 || q.Surprises[0].Scope.Arch != explore.Arch32 {
		t.Errorf("surprises %s, %v", names(q.Surprises), err)
	}
}
