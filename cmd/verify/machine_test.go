package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// sizeRace looks at the size of a file while it grows past 4 GiB. That a marked
// access is enough holds on some machines.
func sizeRace() scenario.Race {
	const before, after = 1<<32 - 1, 1 << 32
	site := kernel.DataRaceSite("size-peek", "the old size is as good as the new one")
	build := func(locked bool) func(*kernel.Task) *scenario.Instance {
		return func(setup *kernel.Task) *scenario.Instance {
			f := &struct {
				kernel.Object
				lock kernel.SpinLock
				size kernel.Word[int64]
			}{}
			f.Init(setup, "file", f)
			f.lock.Init(&f.Object, "lock")
			f.size.Init(&f.Object, "size", before)
			inLock := func(t *kernel.Task, run func()) {
				if locked {
					f.lock.Lock(t)
					defer f.lock.Unlock(t)
				}
				run()
			}
			grow := scenario.Operation{Name: "grow", Run: func(t *kernel.Task) scenario.Result {
				inLock(t, func() { f.size.Store(t, kernel.Once, after) })
				return scenario.Result{}
			}}
			peek := scenario.Operation{Name: "peek", Run: func(t *kernel.Task) scenario.Result {
				size := int64(0)
				inLock(t, func() { size = f.size.LoadRacy(t, kernel.Once, site) })
				t.Assert(size == before || size == after, "the size was never %d", size)
				return scenario.Result{Value: fmt.Sprint(size)}
			}}
			return &scenario.Instance{Tasks: []scenario.Task{
				{Name: "writer", Operations: []scenario.Operation{grow}},
				{Name: "reader", Operations: []scenario.Operation{peek}},
			}}
		}
	}
	return scenario.Race{Name: "size", Title: "a size is read without the lock", Question: "Is it enough to mark the accesses?",
		Sites: []*kernel.RaceSite{site},
		Scenarios: []scenario.Scenario{{Name: "grow", About: "a file grows past 4 GiB", Racing: true, Variants: []scenario.Variant{
			{Name: "locked", Role: scenario.Baseline, Expect: scenario.Indistinguishable, Build: build(true)},
			{Name: "marked", Role: scenario.Candidate, Expect: scenario.Indistinguishable, Build: build(false)},
		}}},
	}
}

// TestMachine asks the same question about two machines: the answer says which
// one it is about, and so do the trace and the lines to paste.
func TestMachine(t *testing.T) {
	races := []scenario.Race{sizeRace()}
	if r := runRaces(races, "", "race", "size"); r.exit != exitHarmless {
		t.Errorf("exit %d:\n%s", r.exit, r.stdout)
	} else {
		mustHave(t, r.stdout, "  machine     64-bit\n")
	}
	file := filepath.Join(t.TempDir(), "torn.trace")
	r := runRaces(races, "", "race", "size", "--arch", "32", "--model", "sc", "--trace", file)
	if r.exit != exitHarmful {
		t.Errorf("exit %d:\n%s", r.exit, r.stdout)
	}
	mustHave(t, r.stdout,
		"size/grow, marked compared with locked under sc: HARMFUL, expected INDISTINGUISHABLE",
		"  machine     32-bit: a word of 64 bits is read and written in two halves\n",
		"once load of file#1.size = ",
		"! torn: low of ",
		"broken: assertion: the size was never ",
		"  verify race size/grow --variant marked --model sc --arch 32 --trace grow-marked-sc-32bit.trace\n  verify replay grow-marked-sc-32bit.trace\n")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	mustHave(t, string(text), "model sc\narch 32\ntask 1", `read at="file#1.size" half=low order=once from=`, `write at="file#1.size" half=`)
	r = runRaces(races, "", "replay", file)
	if r.exit != exitHarmful {
		t.Errorf("exit %d:\n%s", r.exit, r.stdout)
	}
	mustHave(t, r.stdout, "size/grow, variant marked under sc on a 32-bit machine\n", "! torn: low of ", "broken: assertion: the size was never ")
	r = runRaces(races, "", "all", "--arch", "32")
	if r.exit != exitHarmful {
		t.Errorf("exit %d:\n%s", r.exit, r.stdout)
	}
	mustHave(t, r.stdout, "2 tasks, 2 operations, cut: executions end at a violation, 32-bit machine", "--model kernel --arch 32\n")
}

// TestSampledMachine samples the halves too, and says how to do it again.
func TestSampledMachine(t *testing.T) {
	r := runRaces([]scenario.Race{sizeRace()}, "", "race", "size", "--arch", "32", "--strategy", "random", "--samples", "200")
	if r.exit != exitHarmful {
		t.Errorf("exit %d:\n%s", r.exit, r.stdout)
	}
	mustHave(t, r.stdout, "--model sc --arch 32 --strategy random --samples 200 --seed 1\n")
}

// TestBothMachines: a scenario may be asked about two machines, and a question
// may name one of them.
func TestBothMachines(t *testing.T) {
	race := sizeRace()
	s := &race.Scenarios[0]
	s.On32, s.Variants[1].ExpectOn32 = true, scenario.Harmful
	races := []scenario.Race{race}
	r := runRaces(races, "", "all")
	if r.exit != exitHarmless {
		t.Errorf("exit %d:\n%s", r.exit, r.stdout)
	}
	mustHave(t, r.stdout, "  grow      INDISTINGUISHABLE  sc, kernel  ", "  grow      HARMFUL            sc, kernel  ", ", 32-bit machine", "4 answers, all as expected\n")
	for _, c := range []struct {
		args   []string
		exit   int
		bits   string
		absent string
	}{
		{[]string{"--arch", "64"}, exitHarmless, "  machine     64-bit\n", "32-bit"},
		{[]string{"--arch", "32"}, exitHarmful, "  machine     32-bit: ", "64-bit\n"},
		{[]string{"--variant", "marked", "--arch", "64"}, exitHarmless, "  machine     64-bit\n", "32-bit"},
		{[]string{"--variant", "marked"}, exitHarmful, "  machine     32-bit: ", "expected"},
	} {
		r := runRaces(races, "", append([]string{"race", "size"}, c.args...)...)
		if r.exit != c.exit || strings.Contains(r.stdout, c.absent) {
			t.Errorf("%q: exit %d:\n%s", c.args, r.exit, r.stdout)
		}
		mustHave(t, r.stdout, c.bits)
	}
	s.Variants[1].Expect = scenario.Harmful // what is pasted is about one machine
	r = runRaces(races, "", "all")
	if r.exit != exitHarmful {
		t.Errorf("exit %d:\n%s", r.exit, r.stdout)
	}
	mustHave(t, r.stdout, "--variant marked --model sc --arch 64\n")
}
