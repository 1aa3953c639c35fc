package main

import (
	"slices"
	"strings"

	"benign/checkers/memmodel"
	"benign/checkers/verdict"
	"benign/impl/scenario"
)

// models returns the named memory models, each once, or the default ones.
func models(named []string) ([]string, error) {
	if len(named) == 0 {
		return verdict.DefaultModels(), nil
	}
	var chosen []string
	for _, name := range named {
		if err := known("memory model", name, memmodel.Names()); err != nil {
			return nil, err
		}
		if !slices.Contains(chosen, name) {
			chosen = append(chosen, name)
		}
	}
	return chosen, nil
}

// selectRace finds what "race" or "race/scenario" names: a race with all its
// scenarios, or with the one.
func selectRace(races []scenario.Race, name string) (*scenario.Race, error) {
	raceName, scenarioName, one := strings.Cut(name, "/")
	if err := known("race", raceName, raceNames(races)); err != nil {
		return nil, err
	}
	race := races[slices.IndexFunc(races, func(r scenario.Race) bool { return r.Name == raceName })]
	if !one {
		return &race, nil
	}
	var names []string
	for _, s := range race.Scenarios {
		names = append(names, s.Name)
	}
	if err := known("scenario of "+race.Name, scenarioName, names); err != nil {
		return nil, err
	}
	at := slices.Index(names, scenarioName)
	race.Scenarios = race.Scenarios[at : at+1]
	return &race, nil
}

func raceNames(races []scenario.Race) []string {
	var names []string
	for _, r := range races {
		names = append(names, r.Name)
	}
	return names
}

// variantNames returns the names of the variants of all scenarios, each once.
func variantNames(scenarios []scenario.Scenario) []string {
	var names []string
	for _, s := range scenarios {
		for _, v := range s.Variants {
			if !slices.Contains(names, v.Name) {
				names = append(names, v.Name)
			}
		}
	}
	return names
}

// known returns an error unless the name is one of names. The error says which
// name was meant, if one is near, or which there are.
func known(kind, name string, names []string) error {
	if slices.Contains(names, name) {
		return nil
	}
	if near := nearest(name, names); len(near) > 0 {
		return misuse("there is no %s %q; did you mean %s?", kind, name, strings.Join(near, " or "))
	}
	return misuse("there is no %s %q; there are: %s", kind, name, strings.Join(names, ", "))
}

// nearest returns the names that are easily mistyped as name: up to a third of
// its letters is wrong, or one is the beginning of the other.
func nearest(name string, names []string) []string {
	var near []string
	for _, candidate := range names {
		begins := name != "" && (strings.HasPrefix(candidate, name) || strings.HasPrefix(name, candidate))
		if begins || editDistance(name, candidate) <= len(name)/3 {
			near = append(near, candidate)
		}
	}
	return near
}

// editDistance is the Levenshtein distance of two names in bytes: how many
// letters have to be put in, left out or changed.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // distances of the part of a seen so far from every beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
