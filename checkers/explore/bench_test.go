//go:build unix

package explore

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// The programs that other explorers have published times for. What a benchmark
// reports is explained in docs/performance.md.

// meter measures what the process uses from its making on.
type meter struct {
	start  time.Time
	cpu    time.Duration
	memory runtime.MemStats
}

func newMeter() *meter {
	m := &meter{}
	runtime.ReadMemStats(&m.memory)
	m.start, m.cpu = time.Now(), processTime()
	return m
}

// processTime is what all threads of the process have run, in user and in
// kernel mode.
func processTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// report states how many of each unit were done a second of the clock and a
// second of the processor, and how much memory each execution took.
func (m *meter) report(b *testing.B, executions int, units map[string]int) {
	wall, cpu := time.Since(m.start).Seconds(), (processTime() - m.cpu).Seconds()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	for unit, n := range units {
		b.ReportMetric(float64(n)/wall, unit+"/s")
		b.ReportMetric(float64(n)/cpu, unit+"/cpu-s")
	}
	b.ReportMetric(float64(now.TotalAlloc-m.memory.TotalAlloc)/float64(executions), "B/execution")
	b.ReportMetric(float64(now.Mallocs-m.memory.Mallocs)/float64(executions), "allocs/execution")
}

// measured is a program with its number of complete executions under a model.
type measured struct {
	counted
	model string
	want  int
}

// measuredPrograms are picked from those of [TestCounts], which explains them.
func measuredPrograms(b *testing.B) []measured {
	b.Helper()
	var all []measured
	for _, p := range []struct {
		name, model string
		want        int
	}{
		{"readers(13)", "sc", 8192}, {"lastzero(15)", "sc", 147456}, {"ainc(8)", "sc", 40320}, {"casrot(9)", "sc", 8597},
		{"indexer(15)", "sc", 4096}, {"fib_bench(5)", "sc", 218243}, {"fib_bench(5), rc11", "rc11", 525630}, {"lockinc(7)", "sc", 5040},
		{"ticketlock(6)", "sc", 720}, {"treiber-stack 2R3W", "sc", 39276}, {"treiber-stack 2R3W, cut", "sc", 6120}, {"linuxrwlocks(2), cut", "sc", 14},
	} {
		all = append(all, measured{findCounted(b, p.name), p.model, p.want})
	}
	return all
}

func findCounted(b *testing.B, name string) counted {
	b.Helper()
	for _, chapter := range countedPrograms() {
		for _, c := range chapter.programs {
			if c.name == name {
				return c
			}
		}
	}
	b.Fatalf("no program %s is counted", name)
	return counted{}
}

// BenchmarkExplore has one worker. BenchmarkWorkers has two, with the largest of
// the programs.
func BenchmarkExplore(b *testing.B) { benchmarkAll(b, 1, 0) }

func BenchmarkWorkers(b *testing.B) { benchmarkAll(b, 2, 100_000) }

// benchmarkAll explores every program with at least so many executions.
func benchmarkAll(b *testing.B, workers, least int) {
	for _, p := range measuredPrograms(b) {
		if p.want < least {
			continue
		}
		b.Run(p.name+"/"+p.model, func(b *testing.B) {
			from := p.from
			if from == nil {
				from = make([]int, p.words)
			}
			s, v := programFrom(from, p.locks, 0, p.tasks...)
			executions, events := 0, 0
			used := newMeter()
			for b.Loop() {
				stats, err := Explore(Config{Scenario: s, Variant: v, Model: p.model, Workers: workers})
				if err != nil {
					b.Fatal(err)
				}
				if stats.Complete != p.want {
					b.Fatalf("%d complete executions, want %d", stats.Complete, p.want)
				}
				executions, events = executions+stats.Executions(), events+stats.Events
			}
			used.report(b, executions, map[string]int{"executions": executions, "events": events})
		})
	}
}

// BenchmarkSample draws samples of the programs that shuttle was measured with.
func BenchmarkSample(b *testing.B) {
	for _, p := range peerPrograms() {
		if p.name != "fa2x3" && p.name != "fa3x3" && p.name != "mutex3x2" {
			continue
		}
		for _, strategy := range []Strategy{RandomWalk{}, PCT{Constraints: 3}, POS{}} {
			b.Run(fmt.Sprintf("%s/%s", p.name, strategy.Name()), func(b *testing.B) {
				s, v := p.scenario()
				executions, steps := 0, 0
				used := newMeter()
				for b.Loop() {
					drawn, err := Sample(Config{Scenario: s, Variant: v, Model: "sc"}, strategy, 10_000, 1)
					if err != nil {
						b.Fatal(err)
					}
					executions += drawn.Executions()
					steps += drawn.Executions() * drawn.Steps // every sample has as many
				}
				used.report(b, executions, map[string]int{"samples": executions, "steps": steps})
			})
		}
	}
}
