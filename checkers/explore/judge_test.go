package explore

import (
	"flag"
	"fmt"
	"testing"

	"benign/impl/kernel"

	"pgregory.net/rapid"
)

var bruteEvents = flag.Int("brute.events", 7, "instructions in a random program of the second judge")

// randomCode draws one task: unmatched instructions are words, matched ones
// lock sections of at most one instruction.
func randomCode(t *rapid.T, budget int) (code, int) {
	orders := []kernel.Order{kernel.Once, kernel.Acquire, kernel.Release}
	word := func(name string) instruction {
		op := rapid.SampledFrom([]string{"load", "store", "add", "cas", "load", "store", "barrier"}).Draw(t, name)
		ins := instruction{op: op, at: rapid.IntRange(0, bruteWords-1).Draw(t, "word"), value: rapid.IntRange(1, 2).Draw(t, "value")}
		switch op {
		case "load":
			ins.order = rapid.SampledFrom(orders[:2]).Draw(t, "order")
		case "store":
			ins.order = rapid.SampledFrom([]kernel.Order{kernel.Once, kernel.Release}).Draw(t, "order")
		case "barrier":
			ins = instruction{op: op, barrier: kernel.Barrier(rapid.IntRange(1, 3).Draw(t, "barrier"))}
		default:
			ins.order = rapid.SampledFrom([]kernel.Order{kernel.Once, kernel.Acquire, kernel.Release, kernel.AcquireRelease, kernel.Full}).Draw(t, "order")
		}
		return ins
	}
	var c code
	for n := rapid.IntRange(1, 3).Draw(t, "length"); n > 0 && budget > 0; n-- {
		if budget >= 2 && rapid.Bool().Draw(t, "section") {
			op := rapid.SampledFrom([]string{"lock", "trylock", "rlock", "tryrlock"}).Draw(t, "lock kind")
			at := rapid.IntRange(0, 1).Draw(t, "lock")
			c = append(c, instruction{op: op, at: at})
			budget -= 2
			if budget > 0 && rapid.Bool().Draw(t, "body") {
				if at == 0 && budget > 2 && rapid.IntRange(0, 3).Draw(t, "nested") == 0 {
					c = append(c, instruction{op: rapid.SampledFrom([]string{"lock", "trylock", "rlock", "tryrlock"}).Draw(t, "inner kind"), at: 1}, instruction{op: "unlock", at: 1})
					budget -= 2
				} else {
					c = append(c, word("inside"))
					budget--
				}
			}
			c = append(c, instruction{op: "unlock", at: at})
			continue
		}
		c = append(c, word("outside"))
		budget--
	}
	return c, budget
}

func codeProgram(codes []code) []body {
	bodies := make([]body, len(codes))
	for i, c := range codes {
		bodies[i] = c.run
	}
	return bodies
}

// compare explores a program and checks it against brute force: the same
// executions, none twice.
func compare(t interface {
	Errorf(string, ...any)
	Fatalf(string, ...any)
}, codes []code, model string) {
	want := bruteForce(codes, model)
	for _, scripted := range []bool{false, true} {
		compareWith(t, codes, model, scripted, want)
	}
}

// compareWith is compare with the code run in every execution, or scripted.
func compareWith(t interface {
	Errorf(string, ...any)
	Fatalf(string, ...any)
}, codes []code, model string, scripted bool, want map[string]bool) {
	s, v := program(bruteWords, 0, 2, codeProgram(codes)...)
	s.WordsOnly = scripted
	got := map[string]int{}
	stats, err := Explore(Config{Scenario: s, Variant: v, Model: model, Workers: 1, CheckDefaults: true, Visit: func(e *Execution) {
		got[e.Graph.Key()]++
		if e.Violation != nil && e.Violation.Kind != kernel.Deadlock {
			t.Errorf("unexpected violation: %v", e.Violation)
		}
	}})
	if err != nil {
		t.Fatalf("%v: %v", err, codes)
	}
	missing, extra, twice := 0, 0, 0
	for key := range want {
		if got[key] == 0 {
			missing++
		}
	}
	for key, n := range got {
		if !want[key] {
			extra++
		}
		twice += n - 1
	}
	if missing+extra+twice > 0 {
		text := ""
		for i, c := range codes {
			text += fmt.Sprintf("\n  T%d: %v", i+1, c)
		}
		t.Fatalf("%s: brute force has %d executions, explored %+v: %d missing, %d extra, %d met twice%s", model, len(want), stats, missing, extra, twice, text)
	}
}

func TestSecondJudge(t *testing.T) {
	for _, model := range []string{"sc", "rc11", "kernel"} {
		t.Run(model, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				budget := *bruteEvents
				codes := make([]code, rapid.IntRange(2, 3).Draw(t, "tasks"))
				for i := range codes {
					codes[i], budget = randomCode(t, budget)
				}
				compare(t, codes, model)
			})
		})
	}
}

func TestLockThenTries(t *testing.T) {
	try := code{{op: "trylock"}, {op: "unlock"}}
	lock := code{{op: "lock"}, {op: "unlock"}}
	compare(t, []code{lock, try}, "sc")
	compare(t, []code{lock, try, try}, "sc")
	compare(t, []code{lock, lock, try}, "sc")
	compare(t, []code{lock, try, try, try}, "sc")
}
