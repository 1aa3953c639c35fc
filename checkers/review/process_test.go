package review

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"benign/checkers/verdict"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// counter is what the tasks of these scenarios share, and what is patched: how
// one is added.
type counter struct {
	kernel.Object
	lock  kernel.SpinLock
	value kernel.Word[int]
}

// way is a way to add one.
type way func(*kernel.Task, *counter) string

func locked(t *kernel.Task, c *counter) string {
	c.lock.Lock(t)
	defer c.lock.Unlock(t)
	return unlocked(t, c)
}

func unlocked(t *kernel.Task, c *counter) string {
	n := c.value.Load(t, kernel.Once) + 1
	c.value.Store(t, kernel.Once, n)
	return "added"
}

var peeking = kernel.DataRaceSite("peek", "nobody relies on it")

// peek looks without the lock before it adds.
func peek(t *kernel.Task, c *counter) string {
	c.value.LoadRacy(t, kernel.Once, peeking)
	return locked(t, c)
}

// telling returns what it adds to, which the order of tasks decides.
func telling(t *kernel.Task, c *counter) string {
	c.lock.Lock(t)
	defer c.lock.Unlock(t)
	return fmt.Sprint(c.value.Add(t, kernel.Once, 1))
}

// counting is a catalogue with one question: two tasks add one each, and so does a
// third, which is not needed for anything to go wrong.
func counting(baseline, candidate way) []scenario.Race {
	variant := func(name string, role scenario.Role, add way) scenario.Variant {
		return scenario.Variant{Name: name, Role: role, Expect: scenario.Indistinguishable, About: name, Build: func(setup *kernel.Task) *scenario.Instance {
			c := &counter{}
			c.Init(setup, "counter", c)
			c.lock.Init(&c.Object, "lock")
			c.value.Init(&c.Object, "value", 0)
			i := &scenario.Instance{Teardown: c.Free,
				Observe: func(t *kernel.Task) string { return fmt.Sprint(c.value.Load(t, kernel.Plain)) }}
			for _, name := range []string{"one", "two", "three"} {
				i.Tasks = append(i.Tasks, scenario.Task{Name: name, Operations: []scenario.Operation{{Name: "add",
					Run: func(t *kernel.Task) scenario.Result { return scenario.Result{Value: add(t, c)} }}}})
			}
			return i
		}}
	}
	return []scenario.Race{{Name: "counter", Title: "adding", Scenarios: []scenario.Scenario{{Name: "three", Variants: []scenario.Variant{
		variant("base", scenario.Baseline, baseline), variant("racy", scenario.Candidate, candidate)}}}}}
}

// serving starts to serve a catalogue in this process.
func serving(t *testing.T, races []scenario.Race) *Process {
	t.Helper()
	theirs, ours := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := Serve(races, theirs, out, func() error { return nil })
		out.CloseWithError(io.EOF)
		ended <- err
	}()
	p := newProcess(ours, answers, func() string {
		ours.CloseWithError(io.EOF)
		answers.CloseWithError(io.EOF)
		return fmt.Sprint("it has ended: ", <-ended)
	})
	t.Cleanup(p.Close)
	return p
}

// builds are one with a patch and one without.
func builds(t *testing.T, before, after []scenario.Race) *session {
	t.Helper()
	s := &session{old: serving(t, before), new: serving(t, after), report: &Report{Class: scenario.Indistinguishable, Touched: []string{"counter.add"}}}
	s.known = newMemory(s.old, "", "")
	s.new.Before = s.known.observed
	return s
}

func form(variant string) task {
	return task{Form: verdict.Form{Race: "counter", Scenario: "three", Variant: variant, Model: "sc", Arch: 64}, Workers: 1, Limit: time.Minute}
}

// A lost update shows in no violation: only what the unpatched code ends with
// tells that it is one. The operation that is not needed is left out, for which the
// unpatched code has to be asked again.
func TestAFinalStateThatTheUnpatchedCodeNeverHas(t *testing.T) {
	s := builds(t, counting(locked, locked), counting(locked, unlocked))
	for _, variant := range []string{"base", "racy"} {
		if err := s.compare(t.Context(), form(variant)); err != nil {
			t.Fatal(err)
		}
	}
	s.conclude()
	r := s.report
	if r.Class != scenario.Harmful || r.Verdicts[0].Class != scenario.Indistinguishable || r.Verdicts[1].Class != scenario.Harmful {
		t.Fatalf("the answer is %s: %s", r.Class, r.Reason)
	}
	v := r.Verdicts[1]
	if f := v.Finding; f.Kind != verdict.KindState || len(f.LeftOut) != 1 || f.Length() != 4 || f.After < 1 {
		t.Errorf("found %+v", f)
	}
	if v.Cost == nil || v.Cost.Before.MeanLocks() != 3 || v.Cost.After.MeanLocks() != 0 || v.Baseline != "racy without the patch" {
		t.Errorf("costs %+v compared with %s", v.Cost, v.Baseline)
	}
	replayed, err := s.new.Replay("a trace", []byte(v.Finding.Trace))
	if err != nil || replayed.Finding.Kind != verdict.KindState || replayed.Form.Variant != "racy" {
		t.Errorf("replayed as %+v: %v", replayed, err)
	}
	misuse := (*MisuseError)(nil)
	if _, err := s.old.Replay("a trace", []byte(v.Finding.Trace)); !errors.As(err, &misuse) {
		t.Errorf("without the patch the trace gives %v", err)
	}
	if _, err := s.old.Replay("a trace", []byte("nonsense")); !errors.As(err, &misuse) {
		t.Errorf("nonsense gives %v", err)
	}
}

// Fewer outcomes are no harm; more, that nothing explains, are not harmless either.
func TestOutcomesThatComeAndGo(t *testing.T) {
	fewer := builds(t, counting(locked, telling), counting(locked, locked))
	if err := fewer.compare(t.Context(), form("racy")); err != nil {
		t.Fatal(err)
	}
	fewer.conclude()
	if v := fewer.report.Verdicts[0]; fewer.report.Class != scenario.Unknown || len(v.Outcomes.Lost) != 6 || len(v.Outcomes.New) != 1 {
		t.Errorf("the answer is %s, %+v", fewer.report.Class, v.Outcomes)
	}
}

// A race that the patch brings must have been seen both ways round.
func TestARaceThatIsNew(t *testing.T) {
	s := builds(t, counting(locked, locked), counting(locked, peek))
	if err := s.compare(t.Context(), form("racy")); err != nil {
		t.Fatal(err)
	}
	s.conclude()
	if r := s.report; r.Class != scenario.Indistinguishable || len(r.Races) != 1 || !r.Races[0].BothOrders() {
		t.Errorf("the answer is %s: %s, %+v", r.Class, r.Reason, r.Races)
	}
	s.report.Verdicts[0].Evidence[0].WriteFirst = 0
	s.conclude()
	if r := s.report; r.Class != scenario.Unknown || !strings.Contains(r.Reason, "vacuous") {
		t.Errorf("a race that was seen one way round gives %s: %s", r.Class, r.Reason)
	}
}

// The races that a patch brings, and no others, are explained by the build that has
// them.
func TestANewRaceIsExplained(t *testing.T) {
	s := builds(t, counting(locked, locked), counting(locked, peek))
	for range 2 {
		if err := s.explain(form("racy"), []string{peeking.Name}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.explain(form("racy"), []string{"another one"}); err != nil {
		t.Fatal(err)
	}
	if r := s.report.Explained; len(r) != 1 || r[0].Site != peeking.Name || r[0].Racing == 0 || len(r[0].Conflicts) != 1 ||
		!slices.Equal(r[0].Conflicts[0].Locks, []string{"counter.lock"}) || r[0].Executions%2 != 0 {
		t.Errorf("explained as %+v", r)
	}
	misuse := (*MisuseError)(nil)
	if err := s.explain(form("of another kind"), nil); !errors.As(err, &misuse) {
		t.Errorf("a form that is not there gives %v", err)
	}
}

// A form that one of the builds does not have cannot be compared.
func TestFormsThatAreNotThere(t *testing.T) {
	s := builds(t, counting(locked, locked), counting(locked, locked))
	misuse := (*MisuseError)(nil)
	if err := s.compare(t.Context(), form("fast")); !errors.As(err, &misuse) || !strings.Contains(err.Error(), "no variant fast of scenario counter/three") {
		t.Errorf("the error is %v", err)
	}
	if s.new.Before = nil; s.compare(t.Context(), form("racy")) == nil {
		t.Error("compared with what nobody knows")
	}
	s.new.Before = func(verdict.Form) (verdict.Observed, error) { return nil, errors.New("no such thing") }
	if err := s.compare(t.Context(), form("racy")); err == nil || !strings.Contains(err.Error(), "no such thing") {
		t.Errorf("the error is %v", err)
	}
}

// Code that breaks the process leaves the question open, and says so. The next
// question gets another process.
func TestAProcessThatEnds(t *testing.T) {
	tree := little(t)
	write(t, tree.Root+"/impl/n/old.go", "package n\n")
	file, err := tree.Build(t.Context(), Build{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &session{tree: tree, program: file, report: &Report{Class: scenario.Indistinguishable, Touched: []string{"x"}}}
	s.known = newMemory(nil, "", "")
	if err := s.restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for range 2 {
		before := s.new
		if err := s.compare(t.Context(), form("racy")); err != nil {
			t.Fatal(err)
		}
		if s.new == before {
			t.Error("what has ended is asked again")
		}
	}
	s.conclude()
	if s.report.Class != scenario.Unknown || len(s.report.Verdicts) != 2 || !strings.Contains(s.report.Reason, "the process has ended: ") {
		t.Errorf("the answer is %s: %s", s.report.Class, s.report.Reason)
	}
}

// A process that never answers is ended.
func TestAProcessThatHangs(t *testing.T) {
	theirs, ours := io.Pipe()
	answers, out := io.Pipe()
	go io.Copy(io.Discard, theirs)
	p := newProcess(ours, answers, func() string {
		out.CloseWithError(io.EOF)
		ours.CloseWithError(io.EOF)
		return "it was ended"
	})
	defer p.Close()
	p.grace = time.Millisecond
	_, err := p.compare(task{Limit: time.Millisecond})
	broken := (*BrokenError)(nil)
	if !errors.As(err, &broken) || !strings.Contains(err.Error(), "no answer within 3ms") {
		t.Errorf("the error is %v", err)
	}
}

// What was explored once is not explored again, in this process or a later one of
// the same build.
func TestMemory(t *testing.T) {
	program := t.TempDir() + "/program"
	write(t, program, "the program")
	cache := t.TempDir() + "/deeper"
	p := serving(t, counting(locked, unlocked))
	m := newMemory(p, program, cache)
	first, err := m.observed(form("racy").Form)
	if err != nil {
		t.Fatal(err)
	}
	m.save()
	p.Close()
	if again, err := m.observed(form("racy").Form); err != nil || string(again) != string(first) {
		t.Errorf("it is forgotten at once: %v", err)
	}
	if later, err := newMemory(p, program, cache).observed(form("racy").Form); err != nil || string(later) != string(first) {
		t.Errorf("it is forgotten later: %v", err)
	}
	if _, err := newMemory(p, program, cache).observed(form("base").Form); err == nil {
		t.Error("what was never explored is known")
	}
	write(t, program, "another program")
	if _, err := newMemory(p, program, cache).observed(form("racy").Form); err == nil {
		t.Error("what another program has shown is believed")
	}
	write(t, cache+"/unpatched", "rubbish")
	write(t, program, "the program")
	if _, err := newMemory(p, program, cache).observed(form("racy").Form); err == nil {
		t.Error("rubbish is believed")
	}
}
