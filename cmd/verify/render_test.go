package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"benign/checkers/explore"
	"benign/checkers/verdict"
	"benign/impl/scenario"
)

// rendered is what a function writes.
func rendered(write func(b *bytes.Buffer)) string {
	var b bytes.Buffer
	write(&b)
	return b.String()
}

func TestGolden(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(b *bytes.Buffer)
	}{
		{"question", func(b *bytes.Buffer) { writeQuestion(b, cacheQuestion(), explore.DefaultMaxExecutions, false) }},
		{"interleaving", func(b *bytes.Buffer) { writeInterleaving(b, evictionFinding(), true) }},
		{"overview", func(b *bytes.Buffer) {
			asked := []*verdict.Question{predictedQuestion(), cacheQuestion(), findingQuestion()}
			for _, q := range asked {
				writeOverview(b, q)
			}
			writeSurprises(b, asked, 10)
		}},
		{"predicted", func(b *bytes.Buffer) {
			writeOverview(b, predictedQuestion())
			writeSurprises(b, []*verdict.Question{predictedQuestion()}, explore.DefaultMaxExecutions)
		}},
		{"json", func(b *bytes.Buffer) {
			if err := writeJSON(b, cacheQuestion()); err != nil {
				t.Error(err)
			}
		}},
		{"list", func(b *bytes.Buffer) {
			race := counterRace(scenario.Indistinguishable)
			race.Patch, race.Finding = "counter: add without the lock", true
			race.Scenarios[0].Variants[1].ExpectByModel = map[string]scenario.Class{"sc": scenario.Defers, "kernel": scenario.Harmful}
			race.Scenarios[0].Variants[1].ExpectOn32 = scenario.Unknown
			race.Reachable = []scenario.Reachable{{Name: "two", Question: "Can it be two?", Scenario: race.Scenarios[0].Name, Expect: scenario.CanHappen}}
			writeRace(b, &race)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := rendered(c.write)
			golden(t, c.name, text)
			for n, line := range strings.Split(text, "\n") {
				if strings.TrimRight(line, " ") != line {
					t.Errorf("line %d ends in blanks: %q", n+1, line)
				}
			}
		})
	}
}

// Equal answers are equal bytes, and another program can read them.
func TestJSONCanBeRead(t *testing.T) {
	text := rendered(func(b *bytes.Buffer) {
		if err := writeJSON(b, cacheQuestion()); err != nil {
			t.Fatal(err)
		}
	})
	var q verdict.Question
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&q); err != nil {
		t.Fatal(err)
	}
	again := rendered(func(b *bytes.Buffer) {
		if err := writeJSON(b, &q); err != nil {
			t.Fatal(err)
		}
	})
	if again != text {
		t.Errorf("written, read and written again it is another text:\n%s", again)
	}
}

func TestColumnsAreBounded(t *testing.T) {
	f := evictionFinding()
	f.Tasks[0] = strings.Repeat("long ", 30)
	text := rendered(func(b *bytes.Buffer) { writeInterleaving(b, f, true) })
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(line); n > 3*(maxColumn+2)+1 {
			t.Errorf("%d runes wide: %q", n, line)
		}
	}
	if !strings.Contains(text, "…") {
		t.Error("nothing was cut")
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {"abcd", "abcd"}, {"abcde", "abc…"}, {"äöüß", "äöüß"}, {"äöüßx", "äöü…"},
	} {
		if got := shorten(c.text, 4); got != c.want {
			t.Errorf("shorten(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		class     scenario.Class
		planted   scenario.Class
		vacuous   bool
		want, all int
	}{
		{scenario.Indistinguishable, scenario.Harmful, false, exitHarmless, exitHarmless},
		{scenario.Defers, scenario.Harmful, false, exitHarmless, exitHarmful},
		{scenario.Harmful, scenario.Harmful, false, exitHarmful, exitHarmful},
		{scenario.Unknown, scenario.Harmful, false, exitUnknown, exitUnknown},
		{scenario.Unknown, scenario.Harmful, true, exitUnknown, exitUnknown},
		{scenario.Indistinguishable, scenario.Defers, false, exitUnknown, exitHarmful},
		{scenario.Indistinguishable, scenario.Unknown, false, exitUnknown, exitUnknown},
		{scenario.Harmful, scenario.Unknown, false, exitHarmful, exitHarmful},
		{0, scenario.Harmful, false, exitUnknown, exitHarmful},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			v := harmlessAnswer()
			v.Class, v.Vacuous = c.class, c.vacuous
			q := predictedQuestion()
			q.Class, q.Verdicts = c.class, []*verdict.Verdict{v}
			q.Planted = []*verdict.Verdict{plantedAnswer(v, "no-recheck", c.planted)}
			for _, v := range append(q.Verdicts, q.Planted...) {
				if !v.AsExpected() {
					q.Surprises = append(q.Surprises, v)
				}
			}
			if got := exitOf(q); got != c.want {
				t.Errorf("verify race exits with %d, want %d", got, c.want)
			}
			if got := exitOfAll([]*verdict.Question{predictedQuestion(), q}); got != c.all {
				t.Errorf("verify exits with %d, want %d", got, c.all)
			}
		})
	}
}
