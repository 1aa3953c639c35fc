package checkers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"benign/checkers"
	"benign/checkers/explore"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// sizeScenario sets a size past 4 GiB while somebody looks at it.
func sizeScenario() *scenario.Scenario {
	site := kernel.DataRaceSite("size", "an old size is as good as a new one")
	type sized struct {
		kernel.Object
		size kernel.Word[uint64]
	}
	instance := func(setup *kernel.Task, f *sized, begin func(*kernel.Object, string, uint64)) *scenario.Instance {
		f.Init(setup, "file", f)
		begin(&f.Object, "size", 1<<32-1)
		return &scenario.Instance{Tasks: []scenario.Task{
			{Name: "writer", Operations: []scenario.Operation{{Name: "grow", Run: func(t *kernel.Task) scenario.Result {
				f.size.Store(t, kernel.Once, 1<<32)
				return scenario.Result{}
			}}}},
			{Name: "reader", Operations: []scenario.Operation{{Name: "look", Run: func(t *kernel.Task) scenario.Result {
				size := f.size.LoadRacy(t, kernel.Once, site)
				t.Assert(size>>32 == 0 == (size != 1<<32), "size %d", size)
				return scenario.Result{Value: fmt.Sprint(size)}
			}}}},
		}}
	}
	whole := func(setup *kernel.Task) *scenario.Instance {
		f := &sized{}
		return instance(setup, f, f.size.InitAtomic)
	}
	split := func(setup *kernel.Task) *scenario.Instance { f := &sized{}; return instance(setup, f, f.size.Init) }
	return &scenario.Scenario{Name: "size", About: "a file grows", Racing: true, Variants: []scenario.Variant{
		{Name: "atomic", Role: scenario.Baseline, Expect: scenario.Indistinguishable, Build: whole},
		{Name: "marked", Role: scenario.Candidate, Expect: scenario.Indistinguishable, Build: split},
	}}
}

// TestVerifyOn asks about both machines, and replays what only one shows.
func TestVerifyOn(t *testing.T) {
	checkers.Verify(t, sizeScenario())
	f := &fakeT{}
	verdicts := checkers.VerifyOn(f, explore.Arch32, sizeScenario(), "sc")
	if got := answers(verdicts); !slices.Equal(got, []string{"marked under sc: HARMFUL"}) || verdicts[0].Scope.Arch != explore.Arch32 {
		t.Fatalf("%v, %+v", got, verdicts[0].Scope)
	}
	if len(f.errors) != 1 || !strings.Contains(f.errors[0], "size 8589934591") || !strings.Contains(f.errors[0], "torn: low of 4294967295, high of 4294967296") {
		t.Errorf("errors %q", f.errors)
	}
	again := &fakeT{}
	if finding := checkers.Replay(again, sizeScenario(), verdicts[0].Finding.Trace); finding == nil || finding.Message != verdicts[0].Finding.Message || len(again.errors) != 1 {
		t.Errorf("replayed: %+v, errors %q", finding, again.errors)
	}
	if verdicts := checkers.VerifyOn(again, 8, sizeScenario(), "sc"); len(verdicts) != 0 || !strings.Contains(again.errors[len(again.errors)-1], "a machine of 8 bits") {
		t.Errorf("%v, errors %q", verdicts, again.errors)
	}
}
