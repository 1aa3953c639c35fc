//go:build unix

package main

import (
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"

	"benign/checkers/explore"
	"benign/impl/catalogue"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// BenchmarkScenarios explores the candidate of three scenarios of rb-empty, whose
// code must run in every execution: the one with the fewest executions, the
// smallest one that races, and the one with the most. It is here because nothing
// under checkers may import a mechanism.
func BenchmarkScenarios(b *testing.B) {
	race, found := catalogue.Named("rb-empty")
	if !found {
		b.Fatal("rb-empty is gone")
	}
	for _, model := range []string{"sc", "kernel"} {
		for _, name := range []string{"idle", "remove", "crowd"} {
			at := slices.IndexFunc(race.Scenarios, func(s scenario.Scenario) bool { return s.Name == name })
			if at < 0 {
				b.Fatalf("the scenario %s is gone", name)
			}
			b.Run(name+"/"+model, func(b *testing.B) { benchmarkScenario(b, &race.Scenarios[at], model) })
		}
	}
}

// BenchmarkSteady is BenchmarkScenarios for the smallest one without the price of
// beginning: an execution of it is one of very many that differ only in what the
// environment picks for a task that does nothing else.
func BenchmarkSteady(b *testing.B) {
	race, found := catalogue.Named("rb-empty")
	if !found {
		b.Fatal("rb-empty is gone")
	}
	s := race.Scenarios[slices.IndexFunc(race.Scenarios, func(s scenario.Scenario) bool { return s.Name == "idle" })]
	v := *s.Variant(scenario.Candidate)
	build := v.Build
	v.Build = func(setup *kernel.Task) *scenario.Instance {
		i := build(setup)
		pick := scenario.Operation{Name: "pick", Run: func(t *kernel.Task) scenario.Result {
			t.Choose("nothing", repetitions)
			return scenario.Result{}
		}}
		i.Tasks = append([]scenario.Task{{Name: "environment", Operations: []scenario.Operation{pick}}}, i.Tasks...)
		return i
	}
	s.Variants = []scenario.Variant{v}
	benchmarkScenario(b, &s, "sc")
}

// repetitions is how often one exploration of BenchmarkSteady runs the same.
const repetitions = 1000

func benchmarkScenario(b *testing.B, s *scenario.Scenario, model string) {
	defer debug.SetGCPercent(debug.SetGCPercent(collectAt)) // as the command does
	executions, events := 0, 0
	b.ReportAllocs()
	start, used := time.Now(), processTime()
	for b.Loop() {
		stats := exploreCandidate(b, s, model)
		executions, events = executions+stats.Executions(), events+stats.Events
	}
	wall, cpu := time.Since(start).Seconds(), (processTime() - used).Seconds()
	b.ReportMetric(float64(executions)/wall, "executions/s")
	b.ReportMetric(float64(executions)/cpu, "executions/cpu-s")
	b.ReportMetric(float64(events)/cpu, "events/cpu-s")
	b.ReportMetric(float64(executions)/float64(b.N), "executions/op")
}

func exploreCandidate(b *testing.B, s *scenario.Scenario, model string) explore.Stats {
	b.Helper()
	stats, err := explore.Explore(explore.Config{Scenario: s, Variant: s.Variant(scenario.Candidate), Model: model})
	if err != nil || !stats.Exhaustive {
		b.Fatalf("%s: %+v, %v", s.Name, stats, err)
	}
	return stats
}

// processTime is what all threads of the process have run.
func processTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
