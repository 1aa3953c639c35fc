package main

import (
	"testing"
	"time"

	"benign/checkers/explore"
	"benign/checkers/verdict"
)

func TestPace(t *testing.T) {
	start := time.Now()
	var p pace
	for _, c := range []struct {
		seconds int
		variant string
		share   float64
		want    string
	}{
		{0, "locked", 0, ""},
		{10, "locked", 0.2, ", about 20% explored"}, // perhaps by an earlier run
		{10, "locked", 0.2, ", about 20% explored"},
		{20, "locked", 0.4, ", about 40% explored, about 30s left"},
		{30, "locked", 0.999, ", about 99% explored, about 0s left"},
		{31, "unlocked", 0.5, ", about 50% explored"},
		{131, "unlocked", 0.6, ", about 60% explored, about 6m40s left"},
		{132, "unlocked", 0.1, ", about 10% explored"}, // it has begun anew
		{133, "unlocked", 0.1 + 1e-9, ", about 10% explored, more than a year left"},
	} {
		news := verdict.Progress{Race: "counter", Scenario: "twice", Variant: c.variant, Model: "sc", Stats: explore.Stats{Complete: c.seconds, Share: c.share}}
		if got := p.describe(news, start.Add(time.Duration(c.seconds)*time.Second)); got != c.want {
			t.Errorf("after %d s, with %v of %s: %q, want %q", c.seconds, c.share, c.variant, got, c.want)
		}
	}
}
