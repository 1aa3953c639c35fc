package catalogue

import (
	"fmt"
	"testing"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// each calls check with every scenario of the catalogue and its full name.
func each(t *testing.T, check func(t *testing.T, r scenario.Race, s scenario.Scenario)) {
	for _, r := range All() {
		for _, s := range r.Scenarios {
			t.Run(r.Name+"/"+s.Name, func(t *testing.T) { check(t, r, s) })
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := make(map[string]bool)
	claim := func(format string, args ...any) {
		name := fmt.Sprintf(format, args...)
		if seen[name] {
			t.Errorf("there are two of %s", name)
		}
		seen[name] = true
	}
	for _, r := range All() {
		claim("race %s", r.Name)
		for _, s := range r.Scenarios {
			claim("scenario %s/%s", r.Name, s.Name)
			for _, v := range s.Variants {
				claim("variant %s/%s/%s", r.Name, s.Name, v.Name)
			}
		}
	}
}

func TestRacesAreComplete(t *testing.T) {
	for _, r := range All() {
		if r.Name == "" || r.Title == "" || r.Question == "" || len(r.Scenarios) == 0 {
			t.Errorf("race %q lacks a name, a title, a question or a scenario", r.Name)
		}
		racing := false
		for _, s := range r.Scenarios {
			racing = racing || s.Racing
		}
		if racing != (len(r.Sites) > 0) {
			t.Errorf("race %s: %d sites, but racing is %v", r.Name, len(r.Sites), racing)
		}
		for _, site := range r.Sites {
			if site.Name == "" || site.Reason == "" {
				t.Errorf("race %s: site %q lacks a name or a reason", r.Name, site.Name)
			}
		}
	}
}

func TestScenariosAreComplete(t *testing.T) {
	each(t, func(t *testing.T, r scenario.Race, s scenario.Scenario) {
		roles := make(map[scenario.Role]int)
		for _, v := range s.Variants {
			roles[v.Role]++
			if v.Name == "" || v.About == "" || v.Expect == 0 || v.Build == nil || v.Role == 0 {
				t.Errorf("variant %q is incomplete", v.Name)
			}
			if v.Role == scenario.Planted && v.Expect != scenario.Harmful {
				t.Errorf("planted variant %s is expected to be %v", v.Name, v.Expect)
			}
			if v.ExpectOn32 != 0 && !s.On32 {
				t.Errorf("a prediction for a machine that variant %s is not asked about", v.Name)
			}
			if v.Role == scenario.Planted && v.ExpectOn32 != 0 {
				t.Errorf("planted variant %s is not expected to be caught on every machine", v.Name)
			}
			if v.Role == scenario.Candidate && (v.Expect == scenario.Harmful) != r.Finding {
				t.Errorf("the candidate is expected to be %v", v.Expect)
			}
		}
		if s.Name == "" || s.About == "" {
			t.Error("no name, or nothing about it")
		}
		if roles[scenario.Baseline] != 1 || roles[scenario.Candidate] != 1 {
			t.Errorf("%d baselines and %d candidates, want one of each",
				roles[scenario.Baseline], roles[scenario.Candidate])
		}
	})
}

// Every variant can be set up, says the same each time, and can be torn down.
func TestVariantsCanBeSetUp(t *testing.T) {
	each(t, func(t *testing.T, _ scenario.Race, s scenario.Scenario) {
		for _, v := range s.Variants {
			first, second := describe(t, &s, &v), describe(t, &s, &v)
			if first != second {
				t.Errorf("variant %s is set up in two ways:\n%s\n%s", v.Name, first, second)
			}
		}
	})
}

// describe sets a variant up, names its tasks and operations, and tears it
// down without running them.
func describe(t *testing.T, s *scenario.Scenario, v *scenario.Variant) string {
	w := kernel.NewWorld(s.Options())
	setup := w.NewTask("set-up")
	instance := v.Build(setup)
	text := ""
	for _, task := range instance.Tasks {
		text += task.Name + ":"
		for _, op := range task.Operations {
			text += " " + op.Name
		}
		text += "\n"
	}
	if instance.Observe != nil {
		text += instance.Observe(setup)
	}
	if len(instance.Tasks) < 2 || instance.Check == nil || instance.Teardown == nil {
		t.Errorf("variant %s has fewer than two tasks, no check or no teardown", v.Name)
	}
	return text
}

func TestNamed(t *testing.T) {
	for _, want := range All() {
		if got, found := Named(want.Name); !found || got.Title != want.Title {
			t.Errorf("Named(%q) = %q, %v", want.Name, got.Title, found)
		}
	}
	if _, found := Named("no such race"); found {
		t.Error("a race was found that there is not")
	}
}
