package checkers_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"benign/checkers"
	"benign/checkers/verdict"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// countBuilds has the scenario count how often it is set up.
func countBuilds(s *scenario.Scenario) *atomic.Int64 {
	var builds atomic.Int64
	for i := range s.Variants {
		build := s.Variants[i].Build
		s.Variants[i].Build = func(setup *kernel.Task) *scenario.Instance {
			builds.Add(1)
			return build(setup)
		}
	}
	return &builds
}

// TestVerifyWithCheckpoint goes on where a run out of budget has stopped, gives
// the answers of one that was not, and removes the file.
func TestVerifyWithCheckpoint(t *testing.T) {
	s := shopRace(peeking, scenario.Indistinguishable, fault("does not look again", rash))
	builds := countBuilds(s)
	want := answers(checkers.Verify(t, s))
	whole := builds.Swap(0)

	file := filepath.Join(t.TempDir(), "shop.checkpoint")
	c, err := verdict.OpenCheckpoint(file, `scenario "shop" under ["sc" "kernel"]`)
	if err != nil {
		t.Fatal(err)
	}
	race := &scenario.Race{Name: s.Name, Scenarios: []scenario.Scenario{*s}}
	for _, model := range verdict.DefaultModels() {
		if _, err := verdict.Ask(race, verdict.Options{Models: []string{model}, Planted: true, Checkpoint: c, MaxExecutions: 3}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Save(); err != nil || c.Done() {
		t.Fatalf("done %v, %v", c.Done(), err)
	}
	builds.Store(0)
	if got := answers(checkers.VerifyWithCheckpoint(t, file, s)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := builds.Load(); n >= whole {
		t.Errorf("set up %d times, and %d times without a checkpoint", n, whole)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	checkers.VerifyWithCheckpoint(t, file, s, "rc11")
}

// TestVerifyWithForeignCheckpoint refuses what it cannot go on with.
func TestVerifyWithForeignCheckpoint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notes")
	if err := os.WriteFile(file, []byte("to buy: milk\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := &fakeT{}
	if all := checkers.VerifyWithCheckpoint(f, file, shopRace(peeking, scenario.Indistinguishable)); all != nil {
		t.Errorf("answers %q", answers(all))
	}
	if len(f.errors) != 1 || !strings.Contains(f.errors[0], "the file is no checkpoint") {
		t.Errorf("errors %q", f.errors)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "to buy: milk\n" {
		t.Errorf("the file is now %q, %v", text, err)
	}
}
