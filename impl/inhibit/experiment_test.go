package inhibit

import (
	"fmt"
	"testing"
)

// The order that was reported, and each figure within fifteen percent of it, over five
// seeds.
func TestEviction(t *testing.T) {
	if testing.Short() || underRaceDetector {
		t.Skip("it takes seconds, and minutes under the race detector, which has nothing to find in one task")
	}
	mean := func(run func(seed uint64) Copies) float64 {
		sum := Copies{}
		for seed := range uint64(5) {
			c := run(seed + 1)
			sum.First += c.First
			sum.Again += c.Again
		}
		return sum.Ratio()
	}
	under := func(p Policy) func(uint64) Copies {
		p.Count = CountAtomic
		return func(seed uint64) Copies { return Eviction.Run(p, seed) }
	}
	last := 0.0
	for i, c := range []struct {
		name     string
		run      func(uint64) Copies
		reported float64 // 0 if it was not
	}{
		{"none", under(Policy{Track: TrackNone}), 6.1},
		{"fixed(32)", under(Policy{Track: TrackFixed, Slots: 32}), 3.8},
		{"fifo(8)", func(seed uint64) Copies { return Eviction.RunFIFO(8, seed) }, 0},
		{"clock(8)", under(Clock(8)), 1.6},
		{"xarray", under(Policy{Track: TrackXArray}), 1.4},
	} {
		got := mean(c.run)
		t.Logf("%s: %.2f, reported %v", c.name, got, c.reported)
		if c.reported > 0 && (got < 0.85*c.reported || got > 1.15*c.reported) {
			t.Errorf("%s: %.2f copies again for each first one, reported were %v", c.name, got, c.reported)
		}
		if i > 0 && got >= last {
			t.Errorf("%s: %.2f is not less than %.2f", c.name, got, last)
		}
		last = got
	}
}

func TestEqualSeedsHaveEqualResults(t *testing.T) {
	w := Workload{Height: 3, Fan: 4, Leaves: 16, Visits: 2, Handle: 10, Sweep: 2, Space: 0.5, SpaceTree: 5, Other: 0.5, OthersTree: 9}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	one, two, three := w.Run(Clock(2), 1), w.Run(Clock(2), 1), w.Run(Clock(2), 2)
	if one != two || one == three {
		t.Error(one, two, three)
	}
}

func TestInvalidWorkloads(t *testing.T) {
	for i, change := range []func(*Workload){
		func(w *Workload) { w.Height = 0 }, func(w *Workload) { w.Height = 9 }, func(w *Workload) { w.Fan = 1 }, func(w *Workload) { w.Leaves = 0 },
		func(w *Workload) { w.Sweep = 0 }, func(w *Workload) { w.Leaves = 1_000_000 },
	} {
		w := Eviction
		change(&w)
		if w.Validate() == nil {
			t.Errorf("workload %d is valid", i)
		}
	}
}

// What it costs to keep a block, if it is not there yet, and to let all go at the end.
func BenchmarkKeep(b *testing.B) {
	for _, p := range []Policy{{Track: TrackNone, Count: CountAtomic}, {Track: TrackFixed, Slots: 32, Count: CountAtomic}, Clock(8), Clock(32), {Track: TrackXArray, Count: CountAtomic}} {
		for _, blocks := range []int{4, 1000} {
			b.Run(fmt.Sprintf("%s-%d/%d", p.Track, p.Slots, blocks), func(b *testing.B) {
				bench := newBench(p)
				all := bench.buffers(blocks)
				b.ReportAllocs()
				for b.Loop() {
					s := bench.fs.steps.newSet(bench.fs)
					for _, one := range all {
						s.keep(bench.task, one)
					}
					s.empty(bench.task)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*blocks), "ns/block")
			})
		}
	}
}
