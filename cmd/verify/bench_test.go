package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"benign/impl/shrinker"
)

// madeUpReport is what somebody may have measured who has a slow machine.
func madeUpReport() *rbEmptyReport {
	walks := func(milliseconds ...int) []time.Duration {
		var durations []time.Duration
		for _, ms := range milliseconds {
			durations = append(durations, time.Duration(ms)*time.Millisecond)
		}
		return durations
	}
	idle := shrinker.Comparison{
		Base: shrinker.Measured{Walks: walks(300, 200, 400),
			Locks: shrinker.LockUse{Taken: 3_003_000, Held: 90 * time.Millisecond}},
		Patched: shrinker.Measured{Walks: walks(150, 160, 180),
			Locks: shrinker.LockUse{Taken: 3000, Held: 1234567 * time.Nanosecond}},
	}
	busy := idle
	busy.Base.Locks.Busy = 4
	busy.Patched.Walks = walks(300, 240, 400)
	const inodes, withMaps = 1_000_000, 1000
	return &rbEmptyReport{
		Name: "rb-empty", Title: "a walk peeks at roots", Patch: "peek: before locking",
		Inodes: inodes, WithMaps: withMaps, Rounds: 3, Seed: 1,
		Go: "go1.99", Platform: "plan9/mips", Processors: 3,
		Loads:  []rbEmptyLoad{summarise(0, inodes+withMaps, idle), summarise(3, inodes+withMaps, busy)},
		Kernel: rbEmptyInKernel,
	}
}

func TestBenchGolden(t *testing.T) {
	golden(t, "bench", rendered(func(b *bytes.Buffer) { writeRbEmpty(b, madeUpReport()) }))
}

// Whoever has a processor for everybody is not told that there are too few.
func TestBenchWithEnoughProcessors(t *testing.T) {
	r := madeUpReport()
	r.Processors = 4
	if text := rendered(func(b *bytes.Buffer) { writeRbEmpty(b, r) }); strings.Contains(text, "for its turn") {
		t.Errorf("4 processors for 3 readers and the worker are too few:\n%s", text)
	}
}

// What is read back says what was written, also that there is no ratio.
func TestBenchJSONCanBeRead(t *testing.T) {
	want := rendered(func(b *bytes.Buffer) {
		if err := writeJSON(b, madeUpReport()); err != nil {
			t.Fatal(err)
		}
	})
	var r rbEmptyReport
	decoder := json.NewDecoder(strings.NewReader(want))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		t.Fatal(err)
	}
	if busy := r.Loads[0].Busy; busy.Ratio != nil {
		t.Errorf("the ratio of %v to nothing is %v", busy.Patched, *busy.Ratio)
	}
	if taken := r.Kernel.Taken; taken.Ratio == nil || *taken.Ratio != 228_000.0/628_016 {
		t.Errorf("the kernel's locks: %+v", taken)
	}
	got := rendered(func(b *bytes.Buffer) {
		if err := writeJSON(b, &r); err != nil {
			t.Fatal(err)
		}
	})
	if got != want {
		t.Errorf("written, read and written again it is another text:\n%s", got)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3}, {[]float64{4, 1}, 2.5}, {[]float64{9, 1, 2}, 2}, {[]float64{8, 1, 4, 2}, 3},
	} {
		if got := median(c.values); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for _, c := range []struct {
		value float64
		want  string
	}{
		{0, "0"}, {999, "999"}, {999.5, "1,000"}, {12345, "12,345"}, {123456, "123,456"}, {1234567.4, "1,234,567"},
	} {
		if got := grouped(c.value); got != c.want {
			t.Errorf("grouped(%v) = %s, want %s", c.value, got, c.want)
		}
	}
}
