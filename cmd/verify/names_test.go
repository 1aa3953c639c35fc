package main

import (
	"slices"
	"strings"
	"testing"

	"benign/checkers/verdict"
	"benign/impl/scenario"
)

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "abd", 1},
		{"abc", "ac", 1}, {"ac", "abc", 1}, {"rb-emtpy", "rb-empty", 2}, {"kitten", "sitting", 3},
	} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestKnown(t *testing.T) {
	names := []string{"insert", "insert-remove", "evict"}
	for _, c := range []struct{ name, want string }{
		{"insert", ""},
		{"inserts", `there is no scenario "inserts"; did you mean insert?`},
		{"inser", `there is no scenario "inser"; did you mean insert or insert-remove?`},
		{"evcit", `there is no scenario "evcit"; there are: insert, insert-remove, evict`},
		{"evikt", `there is no scenario "evikt"; did you mean evict?`},
		{"", `there is no scenario ""; there are: insert, insert-remove, evict`},
		{"unmount", `there is no scenario "unmount"; there are: insert, insert-remove, evict`},
	} {
		got := ""
		if err := known("scenario", c.name, names); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("known(%q): %s, want %s", c.name, got, c.want)
		}
	}
}

func TestModels(t *testing.T) {
	for _, c := range []struct {
		named, want []string
		complaint   string
	}{
		{nil, verdict.DefaultModels(), ""},
		{[]string{"rc11", "sc", "rc11"}, []string{"rc11", "sc"}, ""},
		{[]string{"sc", "x86"}, nil, `no memory model "x86"; there are: sc, `},
		{[]string{"kernal"}, nil, "did you mean kernel?"},
	} {
		got, err := models(c.named)
		if !slices.Equal(got, c.want) || (err == nil) != (c.complaint == "") {
			t.Errorf("models(%v) = %v, %v; want %v", c.named, got, err, c.want)
		}
		if err != nil && !strings.Contains(err.Error(), c.complaint) {
			t.Errorf("models(%v): %v, want %q", c.named, err, c.complaint)
		}
	}
}

func TestSelectRace(t *testing.T) {
	races := []scenario.Race{
		{Name: "a", Scenarios: []scenario.Scenario{{Name: "one"}, {Name: "two"}}},
		{Name: "bcd", Scenarios: []scenario.Scenario{{Name: "one"}}},
	}
	for _, c := range []struct {
		name      string
		race      string
		scenarios int
		complaint string
	}{
		{"a", "a", 2, ""},
		{"a/two", "a", 1, ""},
		{"bcd/one", "bcd", 1, ""},
		{"bce", "", 0, `no race "bce"; did you mean bcd?`},
		{"x/one", "", 0, `no race "x"; there are: a, bcd`},
		{"a/", "", 0, `no scenario of a ""; there are: one, two`},
		{"bcd/two", "", 0, `no scenario of bcd "two"; there are: one`},
		{"a/one/x", "", 0, `no scenario of a "one/x"; did you mean one?`},
	} {
		race, err := selectRace(races, c.name)
		if c.complaint != "" {
			if err == nil || !strings.Contains(err.Error(), c.complaint) {
				t.Errorf("%s: %v, want %q", c.name, err, c.complaint)
			}
			continue
		}
		if err != nil || race.Name != c.race || len(race.Scenarios) != c.scenarios {
			t.Errorf("%s: %v, %v", c.name, race, err)
		}
	}
	if len(races[0].Scenarios) != 2 {
		t.Error("the catalogue was changed")
	}
}
