package explore

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// fewest is brute force that counts: for each execution, the fewest changes of
// task of any interleaving that is it. It goes through all interleavings.
type fewest struct {
	*brute
	all   bool // count every change, and not preemptions only
	known map[string]int
	found map[string]int
}

func fewestChanges(codes []code, all bool) map[string]int {
	b := &brute{codes: codes, ids: identities(codes), sharers: map[int][]int{}, reached: map[int][]int{}, seen: map[string]bool{}, found: map[string]bool{}}
	f := &fewest{brute: b, all: all, known: map[string]int{}, found: map[string]int{}}
	f.from(b.start(), -1, 0)
	return f.found
}

func (f *fewest) from(s *bruteState, last, spent int) {
	for task, c := range f.codes { // a join with nobody is no step
		for f.active(s, task) && c[s.at[task]].op == "join" && !s.started[c[s.at[task]].at] {
			s = f.stepped(s, task)
		}
	}
	key := fmt.Sprint(s.g.Key(), s.started, s.at, s.stage, last)
	if before, known := f.known[key]; known && before <= spent {
		return
	}
	f.known[key] = spent
	next := make([][]*bruteState, len(f.codes))
	moved := false
	for task := range f.codes {
		next[task] = f.moves(s, task)
		moved = moved || len(next[task]) > 0
	}
	if !moved {
		f.visit(s) // whoever waits for ever says so
		for key := range f.brute.found {
			if before, known := f.found[key]; !known || spent < before {
				f.found[key] = spent
			}
		}
		clear(f.brute.found)
		clear(f.brute.seen)
		return
	}
	for task, states := range next {
		cost := 0
		if last >= 0 && task != last && (f.all || len(next[last]) > 0) {
			cost = 1
		}
		for _, state := range states {
			f.from(state, task, spent+cost)
		}
	}
}

// TestBoundAgainstBruteForce: within each bound, on random programs, the same
// executions as brute force finds that cost no more. Locks that are shared are
// left out, for taking one is several steps of brute force.
func TestBoundAgainstBruteForce(t *testing.T) {
	checks := flag.Lookup("rapid.checks").Value
	defer checks.Set(checks.String())
	checks.Set(strconv.Itoa(*bruteChecks))
	for _, all := range []bool{false, true} {
		t.Run(fmt.Sprintf("all changes %v", all), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				codes := rapid.Custom(randomProgram).Filter(sharesNothing).Draw(t, "program")
				s, v := program(bruteWords, 1, bruteLocks-1, codeProgram(codes)...)
				want := fewestChanges(codes, all)
				for most := range 4 {
					got := map[string]bool{}
					_, err := ExploreBounded(Config{Scenario: s, Variant: v, Model: "sc", Workers: 1, CheckDefaults: true, Visit: func(e *Execution) {
						got[e.Graph.Key()] = true
					}}, Bound{Most: most, All: all})
					if err != nil {
						t.Fatal(err)
					}
					for key, cost := range want {
						if got[key] != (cost <= most) {
							t.Fatalf("an execution costs %d, and with at most %d it is found: %v\n%v", cost, most, got[key], codes)
						}
						delete(got, key)
					}
					if len(got) > 0 {
						t.Fatalf("%d executions are not those of the program\n%v", len(got), codes)
					}
				}
			})
		})
	}
}

func sharesNothing(codes []code) bool {
	return !slices.ContainsFunc(codes, func(c code) bool {
		return slices.ContainsFunc(c, func(i instruction) bool { return strings.Contains(i.op, "rlock") })
	})
}
