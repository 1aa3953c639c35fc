package explore_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"benign/checkers/explore"
)

var edits = flag.Int("edits", 4000, "traces that are edited at random")

// TestEditedTraces edits traces the way a careless hand would, keeps the
// numbering right so that most of them are read, and replays them in scenarios
// that they fit or not. Bytes changed at random, as by FuzzParseTrace, rarely
// get that far. Nothing may panic or wait for ever.
func TestEditedTraces(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var configs []explore.Config
	var texts [][]string
	var known []map[string]bool // by scenario: its executions, and what they break
	for _, p := range samples() {
		s := scene(p.steps)
		configs = append(configs, configure(s, "kernel"))
		var of []string
		keys := map[string]bool{}
		for _, e := range exhausted(t, s, "kernel") {
			of = append(of, explore.FormatTrace(header, e.Graph))
			keys[e.Graph.Key()] = true
			if e.Violation != nil {
				keys[e.Violation.Kind.String()] = true
			}
		}
		texts, known = append(texts, of), append(known, keys)
	}
	read, fits := 0, 0
	for range *edits {
		n := random.IntN(len(texts))
		text := edited(random, texts[n][random.IntN(len(texts[n]))])
		_, trace, err := explore.ParseTrace("t", []byte(text))
		if err != nil {
			continue
		}
		read++
		for _, at := range []int{n, random.IntN(len(configs))} {
			e, _, err := explore.Replay(configs[at], trace)
			if err != nil {
				continue
			}
			fits++
			if e.Ended && !known[at][e.Graph.Key()] || e.Violation != nil && !known[at][e.Violation.Kind.String()] {
				t.Errorf("the exploration of %s has no such execution:\n%s\n%s", samples()[at].name, text, shown(e))
			}
		}
	}
	if read < *edits/20 || fits < *edits/100 {
		t.Errorf("of %d edited traces %d were read, and %d fitted: too few to tell", *edits, read, fits)
	}
	t.Logf("of %d edited traces %d were read, and %d fitted", *edits, read, fits)
}

// edited changes one to three things and numbers the events again.
func edited(random *rand.Rand, text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	first := slices.IndexFunc(lines, func(l string) bool { return l[0] >= '0' && l[0] <= '9' })
	if first < 0 {
		return text
	}
	events := slices.Clone(lines[first:])
	for range 1 + random.IntN(3) {
		events = edit(random, events)
		if len(events) == 0 {
			break
		}
	}
	return strings.Join(append(lines[:first:first], renumber(events)...), "\n") + "\n"
}

// edit drops, repeats, moves or changes an event.
func edit(random *rand.Rand, events []string) []string {
	at := random.IntN(len(events))
	other := events[random.IntN(len(events))]
	switch random.IntN(6) {
	case 0:
		return slices.Delete(events, at, at+1)
	case 1:
		return slices.Insert(events, random.IntN(len(events)), events[at])
	case 2:
		line := events[at]
		events = slices.Delete(events, at, at+1)
		return slices.Insert(events, random.IntN(len(events)+1), line)
	case 3: // another link
		words := strings.Fields(events[at])
		for i, w := range words {
			if key, _, ok := strings.Cut(w, "="); ok && slices.Contains([]string{"from", "after", "pair", "end"}, key) && random.IntN(2) == 0 {
				words[i] = key + "=" + slices.Concat(strings.Fields(other)[:1], []string{"init"})[random.IntN(2)]
			}
		}
		events[at] = strings.Join(words, " ")
	case 4: // the same field as another event
		words := strings.Fields(events[at])
		for i, w := range words {
			key, _, _ := strings.Cut(w, "=")
			for _, v := range strings.Fields(other) {
				if strings.HasPrefix(v, key+"=") && random.IntN(2) == 0 {
					words[i] = v
				}
			}
		}
		events[at] = strings.Join(words, " ")
	case 5: // another task
		_, rest, _ := strings.Cut(events[at], ".")
		task, _, _ := strings.Cut(other, ".")
		events[at] = task + "." + rest
	}
	return events
}

// renumber gives the events of each task their positions and lets the links
// follow.
func renumber(events []string) []string {
	next, renamed := map[string]int{}, map[string]string{"init": "init"}
	out := make([]string, len(events))
	for i, line := range events {
		old, rest, _ := strings.Cut(line, " ")
		task, _, _ := strings.Cut(old, ".")
		name := fmt.Sprintf("%s.%d", task, next[task])
		next[task]++
		if _, twice := renamed[old]; !twice {
			renamed[old] = name
		}
		out[i] = name + " " + rest
	}
	for i, line := range out {
		words := strings.Split(line, " ")
		for j, w := range words {
			if key, value, ok := strings.Cut(w, "="); ok && renamed[value] != "" && slices.Contains([]string{"from", "after", "pair", "end"}, key) {
				words[j] = key + "=" + renamed[value]
			}
		}
		out[i] = strings.Join(words, " ")
	}
	return out
}
