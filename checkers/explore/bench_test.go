package explore

import (
	"testing"
	"time"

	"benign/impl/kernel"
)

// The programs that other explorers have published times for.

// BenchmarkExplore reports, for each program, executions and events a second of
// one worker. BenchmarkWorkers has the largest of them with two.
func BenchmarkExplore(b *testing.B) { benchmarkAll(b, 1, 0) }

func BenchmarkWorkers(b *testing.B) { benchmarkAll(b, 2, 100_000) }

// benchmarkAll explores every program with at least so many executions.
func benchmarkAll(b *testing.B, workers, least int) {
	readers := append([]body{st(0, once, 42)}, repeat(13, ld(0, once))...)
	for _, c := range []struct {
		name, model string
		words       []int
		locks       int
		tasks       []body
		executions  int
	}{
		{"readers(13)", "sc", make([]int, 1), 0, readers, 8192},
		{"lastzero(15)", "sc", make([]int, 16), 0, append([]body{lastZeroReader(15)}, forEach(15, func(i int) body { return copyUp(i) })...), 147456},
		{"ainc(8)", "sc", make([]int, 1), 0, repeat(8, inc(0)), 40320},
		{"casrot(9)", "sc", make([]int, 1), 0, forEach(9, func(i int) body { return cas(0, i, i+1) }), 8597},
		{"fib_bench(5)", "sc", []int{1, 1}, 0, fibonacci(5), 218243},
		{"fib_bench(5)", "rc11", []int{1, 1}, 0, fibonacci(5), 525630},
		{"lockinc(7)", "sc", make([]int, 1), 1, repeat(7, locked(func(t *kernel.Task, m *machine) {
			m.words[0].Store(t, once, m.words[0].Load(t, once)+1)
		})), 5040},
	} {
		if c.executions < least {
			continue
		}
		b.Run(c.name+"/"+c.model, func(b *testing.B) {
			s, v := programFrom(c.words, c.locks, 0, c.tasks...)
			b.ReportAllocs()
			var stats Stats
			start := time.Now()
			for b.Loop() {
				var err error
				if stats, err = Explore(Config{Scenario: s, Variant: v, Model: c.model, Workers: workers}); err != nil {
					b.Fatal(err)
				}
				if stats.Complete != c.executions {
					b.Fatalf("%d complete executions, want %d", stats.Complete, c.executions)
				}
			}
			perSecond := float64(b.N) / time.Since(start).Seconds()
			b.ReportMetric(perSecond*float64(stats.Executions()), "executions/s")
			b.ReportMetric(perSecond*float64(stats.Events), "events/s")
		})
	}
}
