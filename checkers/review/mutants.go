package review

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"benign/checkers/patch"
	"benign/checkers/verdict"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// Judged is what came of a patch that says in its header what must.
type Judged struct {
	// Patch is the patch, and Class the worst answer that it got. It is the zero
	// class if there is no answer.
	Patch *patch.Patch
	Class scenario.Class
	// Deciding is the answer that decides, or nil.
	Deciding *verdict.Verdict
	// Checkers are those that noticed it in any execution, and By the one that
	// found the execution that is shown; "" if the patch is not harmful.
	Checkers []string
	By       string
	// Executions were explored until the first one broke something; 0 if none did.
	Executions int
	// Steps is the length of the shortest execution that shows it.
	Steps int
	// Wrong says what is not as the header says, or "".
	Wrong string
	// Took is the time for building and exploring.
	Took time.Duration
}

// Equivalent reports whether nothing can tell the patch from what it changes, by
// its header.
func (j *Judged) Equivalent() bool { return j.Patch.Header.Equivalent != "" }

// What notices a fault, in the order in which a kill matrix has them.
const (
	byMemory    = "memory"
	byRace      = "race"
	byLocks     = "locks"
	byAssertion = "assertion"
	byProgress  = "progress"
	byHistory   = "history"
	byState     = "state"
	byLeak      = "leak"
	byOutcome   = "outcomes"
	byCost      = "cost"
)

// Checkers lists what can notice a fault, with what each looks at.
func Checkers() [][2]string {
	return [][2]string{
		{byMemory, "use after free, double free, reference underflow, crash"},
		{byRace, "data races"},
		{byLocks, "locks: order, sleeping under a spinning one, missing, held at exit"},
		{byAssertion, "what the code and the scenario state"},
		{byProgress, "deadlock, lost wake-up, livelock, lost work"},
		{byHistory, "the sequential specification"},
		{byState, "final states that the unpatched code never ends with"},
		{byLeak, "objects that outlive their scenario"},
		{byOutcome, "new outcomes, and work that is left for later"},
		{byCost, "what an execution takes"},
	}
}

// Checker returns what notices findings of a kind.
func Checker(kind string) string {
	for checker, kinds := range map[string][]kernel.ViolationKind{
		byMemory:   {kernel.UseAfterFree, kernel.DoubleFree, kernel.ReferenceUnderflow, kernel.Crash},
		byRace:     {kernel.DataRace},
		byLocks:    {kernel.UnlockByStranger, kernel.RecursiveLock, kernel.SleepWhileSpinning, kernel.LockOrderCycle, kernel.MissingLock, kernel.HeldAtExit},
		byProgress: {kernel.Deadlock, kernel.LostWakeup, kernel.Livelock},
		byLeak:     {kernel.Leak},
	} {
		if slices.ContainsFunc(kinds, func(k kernel.ViolationKind) bool { return k.String() == kind }) {
			return checker
		}
	}
	switch kind {
	case verdict.KindHistory:
		return byHistory
	case verdict.KindLost:
		return byProgress
	case verdict.KindState:
		return byState
	}
	return byAssertion
}

// Mutants judges patches by their headers, several at a time, and tells done of
// each when it is judged. The result is in the order of the patches. An error
// means that the unpatched code could not be asked.
func (t Tree) Mutants(ctx context.Context, patches []*patch.Patch, jobs int, o Options, done func(*Judged)) ([]*Judged, error) {
	directory, err := os.MkdirTemp("", "benign-mutants-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(directory)
	s := &session{tree: t, options: o, directory: directory}
	defer s.close()
	if s.old, err = s.start(ctx, Build{Coverage: true}, "unpatched"); err != nil {
		return nil, err
	}
	s.known = newMemory(s.old, filepath.Join(directory, "unpatched", "serve"), o.Cache)
	defer s.known.save()
	catalogue, err := s.old.Catalogue()
	if err != nil {
		return nil, err
	}
	results := make([]*Judged, len(patches))
	next := make(chan int)
	var workers sync.WaitGroup
	var mutex sync.Mutex
	for range max(1, jobs) {
		workers.Go(func() {
			for i := range next {
				began := time.Now()
				results[i] = s.mutant(ctx, patches[i], strconv.Itoa(i), catalogue)
				results[i].Took = time.Since(began)
				mutex.Lock()
				done(results[i])
				mutex.Unlock()
			}
		})
	}
	for i := range patches {
		next <- i
	}
	close(next)
	workers.Wait()
	return results, ctx.Err()
}

// mutant judges one patch, with files in a directory of the name.
func (s *session) mutant(ctx context.Context, p *patch.Patch, name string, catalogue []Race) *Judged {
	j := &Judged{Patch: p}
	if err := s.judge(ctx, j, name, catalogue); err != nil {
		j.Wrong = err.Error()
	}
	return j
}

func (s *session) judge(ctx context.Context, j *Judged, name string, catalogue []Race) error {
	p := j.Patch
	if err := p.Check(); err != nil {
		return err
	}
	if err := Check(p); err != nil {
		return err
	}
	sources, err := s.tree.Apply(p)
	if err != nil {
		return err
	}
	work, err := s.named(p, catalogue)
	if err != nil {
		return err
	}
	own := &session{tree: s.tree, options: s.options, directory: s.directory, known: s.known, report: &Report{Class: scenario.Indistinguishable}}
	own.options.Progress = nil
	defer own.close()
	if own.program, err = own.build(ctx, Build{Patch: p, Sources: sources}, name); err != nil {
		return err
	}
	if err := own.restart(ctx); err != nil {
		return err
	}
	shown := false
	for _, t := range work {
		t.NoShrink = shown // the others are only counted
		if err := own.compare(ctx, t); err != nil {
			return err
		}
		v := own.report.Verdicts[len(own.report.Verdicts)-1]
		shown = shown || v.Finding != nil && v.Finding.Kind == p.Header.Violation
	}
	j.conclude(own.report)
	return j.replay(own.new)
}

// replay runs the execution that is shown again, from its trace: it must break the
// same.
func (j *Judged) replay(p *Process) error {
	if j.Deciding == nil || j.Deciding.Finding == nil {
		return nil
	}
	again, err := p.Replay("the trace", []byte(j.Deciding.Finding.Trace))
	if err != nil {
		return fmt.Errorf("the execution that is shown does not replay: %w", err)
	}
	if again.Finding.Kind != j.Deciding.Finding.Kind {
		return fmt.Errorf("the execution that is shown breaks %q when it is replayed, not %q", again.Finding.Kind, j.Deciding.Finding.Kind)
	}
	return nil
}

// named lists the forms of the scenarios that the header names.
func (s *session) named(p *patch.Patch, catalogue []Race) ([]task, error) {
	o := s.options
	if len(p.Header.Models) > 0 {
		o.Models = p.Header.Models
	}
	if p.Header.Arch != 0 {
		o.Arch = p.Header.Arch
	}
	var work []task
	for _, name := range p.Header.Races {
		found := false
		for _, race := range catalogue {
			for _, sc := range race.Scenarios {
				if !Asked([]string{name}, race.Name, sc.Name) {
					continue
				}
				found = true
				work = append(work, o.tasks(race.Name, &sc)...)
			}
		}
		if !found {
			return nil, fmt.Errorf("%s: there is no question or scenario named %s", p.Name, name)
		}
	}
	return work, nil
}

// conclude holds what was found against what the header says.
func (j *Judged) conclude(r *Report) {
	h := &j.Patch.Header
	j.Class = r.Class
	explored, noticed := 0, map[string]bool{}
	for _, v := range r.Verdicts {
		j.decide(v, explored)
		explored += v.Scope.Candidate.Executions()
		if v.Finding != nil {
			for kind := range v.Finding.Kinds {
				noticed[Checker(kind)] = true
			}
		}
		if v.Class == scenario.Defers {
			noticed[byOutcome] = true
		}
	}
	costs := risen(r.Verdicts)
	if len(h.Cost) > 0 && len(costs) > 0 {
		noticed[byCost] = true
	}
	for _, c := range Checkers() {
		if noticed[c[0]] {
			j.Checkers = append(j.Checkers, c[0])
		}
	}
	j.Wrong = j.compare(r, costs)
}

// decide takes the answer for the deciding one if it is: the first with the kind
// of finding that is expected or, as long as there is none, the first of the worst
// class. Before it, some executions were explored.
func (j *Judged) decide(v *verdict.Verdict, explored int) {
	d := j.Deciding
	expected := func(v *verdict.Verdict) bool { return v.Finding != nil && v.Finding.Kind == j.Patch.Header.Violation }
	if d != nil && (expected(d) || !expected(v) && d.Class.Worse(v.Class) == d.Class) {
		return
	}
	j.Deciding, j.By, j.Executions, j.Steps = v, "", 0, 0
	if f := v.Finding; f != nil {
		j.By, j.Executions, j.Steps = Checker(f.Kind), explored+f.After, f.Length()
	}
}

// compare says what is not as the header says.
func (j *Judged) compare(r *Report, costs []string) string {
	h := &j.Patch.Header
	switch {
	case j.Class != h.Expect:
		return fmt.Sprintf("got %s, expected %s: %s", j.Class, h.Expect, j.Deciding.Reason)
	case h.Violation != "" && j.Deciding.Finding.Kind != h.Violation:
		return fmt.Sprintf("found %q, expected %q", j.Deciding.Finding.Kind, h.Violation)
	case h.Trace > 0 && j.Steps > h.Trace:
		return fmt.Sprintf("the shortest execution has %d steps, expected at most %d", j.Steps, h.Trace)
	}
	for _, cost := range h.Cost {
		if !slices.Contains(costs, cost) {
			return fmt.Sprintf("an execution takes no more %s", cost)
		}
	}
	if h.Equivalent != "" {
		for _, v := range r.Verdicts {
			if len(v.Outcomes.Lost) > 0 {
				return fmt.Sprintf("said to be equivalent, but %s/%s, %s under %s loses outcomes", v.Race, v.Scenario, v.Variant, v.Model)
			}
		}
	}
	return ""
}

// risen lists what executions take more of with the patch, on average over all
// that were compared.
func risen(verdicts []*verdict.Verdict) []string {
	var before, after verdict.Cost
	for _, v := range verdicts {
		if v.Cost != nil {
			before.Merge(v.Cost.Before)
			after.Merge(v.Cost.After)
		}
	}
	var list []string
	if after.MeanEvents() > before.MeanEvents() {
		list = append(list, "events")
	}
	if after.MeanLocks() > before.MeanLocks() {
		list = append(list, "locks")
	}
	return list
}

// ReadCorpus reads the patches in a directory, in the order of their names. What
// cannot be read is an error that says all that is wrong.
func ReadCorpus(directory string) ([]*patch.Patch, error) {
	files, err := filepath.Glob(filepath.Join(directory, "*.patch"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no patch in %s", directory)
	}
	var patches []*patch.Patch
	var wrong []error
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			var p *patch.Patch
			if p, err = patch.Parse(strings.TrimSuffix(filepath.Base(file), ".patch"), string(text)); err == nil {
				patches = append(patches, p)
				err = p.Check()
			}
		}
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	return patches, errors.Join(wrong...)
}
