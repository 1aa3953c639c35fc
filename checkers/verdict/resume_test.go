package verdict_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"benign/checkers/checkpoint"
	"benign/checkers/explore"
	"benign/checkers/verdict"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// lastOf has two tasks that store a number each, so that the box ends with the
// one or the other; the first execution ends with that of the first task.
func lastOf(numbers ...int) filling {
	return func(_ *kernel.Task, b *box, i *scenario.Instance) {
		for _, n := range numbers {
			i.Tasks = append(i.Tasks, task("store", run("store", func(t *kernel.Task) string {
				b.items.Store(t, kernel.Once, n)
				return ""
			})))
		}
	}
}

// longRace has something of every class and kind in its scenarios.
func longRace() *scenario.Race {
	pair := func(name string, locked, racy filling, class scenario.Class, more ...scenario.Variant) scenario.Scenario {
		return scenario.Scenario{Name: name, Variants: append([]scenario.Variant{
			variant("locked", base, indistinguishable, locked), variant("racy", candidate, class, racy)}, more...)}
	}
	return &scenario.Race{Name: "box", Title: "the box", Sites: racySites, Barrier: "the next round", Scenarios: []scenario.Scenario{
		pair("takers", takers(false, true), takers(true, true), indistinguishable, variant("careless", planted, harmful, takers(true, false))),
		pair("work", worker(false), worker(true), defers),
		pair("count", counting(true), counting(false), harmful),
		pair("history", copies(true), copies(false), harmful),
		pair("last", lastOf(1, 2), lastOf(2, 1), indistinguishable),
		pair("message", message(kernel.Release), message(kernel.Once), indistinguishable),
	}}
}

// text is all that a reader or a program can see of the answers.
func text(t *testing.T, q *verdict.Question) string {
	t.Helper()
	encoded, err := json.MarshalIndent(q, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range slices.Concat(q.Verdicts, q.Alternatives, q.Planted) {
		if v.Finding != nil {
			encoded = append(encoded, v.Finding.Trace...)
		}
	}
	return string(encoded)
}

// open opens the checkpoint of a question in a file.
func open(t *testing.T, file string) *verdict.Checkpoint {
	t.Helper()
	c, err := verdict.OpenCheckpoint(file, "the box")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestGoingOnWithMore gives a question a larger and larger budget, and another
// number of workers each time. The answers are those of a run that had enough.
func TestGoingOnWithMore(t *testing.T) {
	for name, models := range map[string][]string{"one model": {"sc"}, "two models": {"kernel", "sc"}} {
		t.Run(name, func(t *testing.T) {
			o := verdict.Options{Models: models, Planted: true, Workers: 1}
			whole, err := verdict.Ask(longRace(), o)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "run.checkpoint")
			for budget := 1; ; budget++ {
				o.Checkpoint, o.MaxExecutions, o.Workers = open(t, file), budget, 1+budget%3
				before := o.Checkpoint.Executions()
				q, err := verdict.Ask(longRace(), o)
				if err != nil {
					t.Fatal(err)
				}
				if err := o.Checkpoint.Save(); err != nil {
					t.Fatal(err)
				}
				if o.Checkpoint.Executions() < before || budget > 1 && before == 0 {
					t.Errorf("budget %d: %d executions in the checkpoint, then %d", budget, before, o.Checkpoint.Executions())
				}
				if !o.Checkpoint.Done() {
					continue
				}
				if text(t, q) != text(t, whole) {
					t.Errorf("in %d runs\n%s\nat a time\n%s", budget, text(t, q), text(t, whole))
				}
				if budget < 4 {
					t.Errorf("a budget of %d was enough", budget)
				}
				return
			}
		})
	}
}

// TestFinishedIsNotRunAgain: what a checkpoint has whole is taken from it, with
// no code run but to show what is broken.
func TestFinishedIsNotRunAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.checkpoint")
	c := open(t, file)
	race := longRace()
	whole, err := verdict.Ask(race, verdict.Options{Checkpoint: c})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Save(); err != nil || !c.Done() {
		t.Fatalf("done %v, %v", c.Done(), err)
	}
	builds := 0
	for i := range race.Scenarios {
		for j := range race.Scenarios[i].Variants {
			v := &race.Scenarios[i].Variants[j]
			build := v.Build
			v.Build = func(setup *kernel.Task) *scenario.Instance {
				builds++
				return build(setup)
			}
		}
	}
	again, err := verdict.Ask(race, verdict.Options{Checkpoint: open(t, file)})
	if err != nil {
		t.Fatal(err)
	}
	if text(t, again) != text(t, whole) {
		t.Error("the answers are not the same")
	}
	if n := open(t, file).Executions(); n < 50 || builds > n/4 {
		t.Errorf("%d times set up, of %d executions", builds, n)
	}
	if err := c.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

// TestInterrupted ends with an error wherever it is interrupted, keeps what it
// has, and goes on.
func TestInterrupted(t *testing.T) {
	o := verdict.Options{Planted: true, Workers: 2}
	whole, err := verdict.Ask(longRace(), o)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "run.checkpoint")
	for interruptions := 0; ; interruptions++ {
		interrupt, explorations := make(chan struct{}), 0
		o.Checkpoint, o.Interrupt = open(t, file), interrupt
		o.Progress = func(verdict.Progress) {
			if explorations++; explorations == 2*interruptions+3 {
				close(interrupt)
			}
		}
		q, err := verdict.Ask(longRace(), o)
		if saved := o.Checkpoint.Save(); saved != nil {
			t.Fatal(saved)
		}
		if errors.Is(err, explore.ErrInterrupted) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if text(t, q) != text(t, whole) {
			t.Errorf("after %d interruptions\n%s\nat a time\n%s", interruptions, text(t, q), text(t, whole))
		}
		if interruptions < 5 {
			t.Errorf("interrupted %d times only", interruptions)
		}
		return
	}
}

// TestSamplesAreKept: all of a variant, or none.
func TestSamplesAreKept(t *testing.T) {
	o := verdict.Options{Strategy: explore.POS{}, Samples: 100, Planted: true}
	whole, err := verdict.Ask(longRace(), o)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "run.checkpoint")
	o.Checkpoint, o.Deadline = open(t, file), time.Now().Add(-time.Hour)
	if _, err := verdict.Ask(longRace(), o); err != nil || o.Checkpoint.Executions() > 0 {
		t.Errorf("%d executions are kept of samples that were not all drawn, %v", o.Checkpoint.Executions(), err)
	}
	o.Deadline = time.Time{}
	for range 2 {
		q, err := verdict.Ask(longRace(), o)
		if err != nil {
			t.Fatal(err)
		}
		if text(t, q) != text(t, whole) {
			t.Errorf("got\n%s\nwant\n%s", text(t, q), text(t, whole))
		}
		if err := o.Checkpoint.Save(); err != nil {
			t.Fatal(err)
		}
		o.Checkpoint = open(t, file)
		if o.Checkpoint.Executions() == 0 {
			t.Error("no samples are kept")
		}
	}
}

// TestCheckpointCannotBeWritten: that is an error, for the user relies on it.
func TestCheckpointCannotBeWritten(t *testing.T) {
	c := open(t, filepath.Join(t.TempDir(), "nowhere", "run.checkpoint"))
	fault := (*checkpoint.FileError)(nil)
	if _, err := verdict.Ask(longRace(), verdict.Options{Checkpoint: c}); !errors.As(err, &fault) {
		t.Errorf("got %v", err)
	}
}
