package explore

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"benign/checkers/memmodel"
)

// countsDocument is where readers find the table of counts.
const countsDocument = "../../docs/counts.md"

const countsPreface = `# Counts

How many executions a program has under a memory model is a number that others have published, and an explorer that misses
executions, or meets some twice, gets it wrong. These are the programs whose numbers the explorer is held to, under every
model for which the number is known, with the tasks listed in both orders (the giants in one);
[the test](../checkers/explore/counts_test.go) has each program in a line or two. This page is written by that package's
tests with their flag ` + "`-update`" + `, and they fail if it is stale.

The numbers are complete executions, with coherence told apart: those of GenMC 0.11, of lock and join programs those of the
optimal mode of Nidhugg, and closed forms where there are any. A dash stands where nobody has counted. The models are not
everywhere those of the tools:

- ` + "`ra`" + ` takes every access for a release or an acquire, while the model of that name in GenMC leaves relaxed accesses
  relaxed. Of programs with relaxed accesses it has the numbers that follow from the one outcome in question.
- ` + "`tso`" + ` drains the store buffer after a sequential store, as compilers for x86 do. GenMC lets an acquire load overtake
  it, which makes SB+3sc+acq 4.
- ` + "`kernel`" + ` has been counted by nobody. Its numbers are those that every model agrees about, or that follow from one outcome.
- ` + "`rc11`" + ` has release sequences of updates only, as C++20 and GenMC have: MP+rels+acq is 4.
- Executions that end with a task that waits for ever come after a plus sign, where their number is known and is the same under
  every model. Elsewhere it depends on how a tool treats waiting: of peterson GenMC counts 4, here there are 6 or 8; of spin-cas2 86 and 67.
- A loop that only looks again is an await: a round without success is no event. Where a loop also tries, and a try that fails
  is counted or not, "raw" is the number with such tries; "raw" is also the number of a barrier that is made of a word, whose
  arrivals are ordered. Raw numbers are those of closed forms, which the test has.
- Of loops that try again there are two numbers: as they are, and *cut*, which ends a task whose round has changed nothing as one
  that waits for ever. GenMC and Nidhugg cut unless told otherwise. A number of *rounds* is a bound of the loop, after which the
  task ends: GenMC unrolls loops so.
- Data under rc11 is plain memory that is checked for races, except in programs with more than a thousand executions, where it
  is marked, so that they can be explored without running their code.

Some tools take executions for the same that differ in coherence only. [A test](../checkers/explore/counts_readsfrom_test.go) counts
in how many ways our executions read: rmw_test(2,2,2) has 600 executions and 300 ways, as Nidhugg counts with its option -rf.
`

const peersPreface = `
## Beside loom and shuttle

The small programs that loom 0.7.2 (exhaustive) and shuttle 0.9.3 (depth first) were measured with by others, here under ` + "`rc11`" + `.
An execution is counted once here, whatever the order of unrelated events; that is the least that an exhaustive explorer can run. Loom runs
more, also because it takes its own Arc for something that tasks communicate through. Outcomes are how many results can be told apart, all
of which C11 allows, and whether the two have the same ones. [The test](../checkers/explore/peers_test.go) has the programs.

`

// leftOut are programs with published numbers that are not in the table, and
// why.
var leftOut = []struct{ programs, reason string }{
	{"SB+assert", "SB+4sc with a final assertion; under release/acquire its answer is the violation, not a number"},
	{"LB+data, LB+addr, LB+ctrl and their kin", "what tells them from LB are dependencies, which the explorer cannot see"},
	{"spin-cas4 to 8, spin-fai, help-cas and others of ipr/* and saver/*", "only their numbers are at hand, or (spin-fai1) they never end"},
	{"ttaslock(2), raw", "nobody has counted it, and a swap that fails writes, so that there is no simple closed form"},
	{"qspinlock, await_muddier", "a description leaves too much open"},
	{"barrier1 to barrier4, barrier-lock with barriers that commute", "there is no such barrier in the machine: arrivals at one that is made of a word are ordered, and their raw numbers are here"},
	{"await_vs_indep_inc with additions that commute", "3 in Nidhugg; every addition is ordered here, and the raw number is that of the orders in which some sum is 7"},
	{"sr/*: ainc with equal tasks, conf-loop", "counted with the symmetry of equal tasks taken out, which is not done here"},
	{"buf_ring, dq-opt, qu, qu-opt, stc, stc-opt, fcombiner-async, the treiber-stack and ms-queue that allocate", "data structures: known by their sources, of which a description leaves too much open"},
	{"hw-queue", "the stored numbers (50 under sc, 18 under rc11) come from settings that are not known, and a later run of the same tool completes none; as described, two tasks that enqueue and dequeue have 10 executions under sc and 12 under the others"},
	{"szymanski", "the description leaves open how the section is fenced; as it reads there are 29 executions and under rc11 violations, not 6 and none"},
	{"dekker_f, dekker2-fixed under ra", "the one violates its assertion there; the other has relaxed accesses: 20, 34 and 84 here, 52, 166 and 660 in GenMC"},
	{"exponential_bug, parker, sigma", "their numbers are tied to the tool's library, or only their numbers are at hand"},
	{"wrw, psc-*, wb*, WWmerge*, MP2, MPU*, relseq, detour and other litmus programs", "only their numbers are at hand, not what they do"},
}

func countsPage() string {
	var page strings.Builder
	page.WriteString(countsPreface)
	for _, chapter := range countedPrograms() {
		fmt.Fprintf(&page, "\n## %s\n\n| program | %s |\n| --- |%s\n", chapter.title, strings.Join(memmodel.Names(), " | "), strings.Repeat(" ---: |", len(memmodel.Names())))
		for _, c := range chapter.programs {
			cells := []string{c.name}
			for _, n := range c.want {
				cell := "–"
				if n != unknown {
					cell = strconv.Itoa(n)
				}
				if n != unknown && c.blocked > 0 {
					cell += fmt.Sprintf(" + %d", c.blocked)
				}
				cells = append(cells, cell)
			}
			fmt.Fprintf(&page, "| %s |\n", strings.Join(cells, " | "))
		}
	}
	page.WriteString(peersPreface + peerTable())
	page.WriteString("\n## Left out\n\n| programs | reason |\n| --- | --- |\n")
	for _, l := range leftOut {
		fmt.Fprintf(&page, "| %s | %s |\n", strings.ReplaceAll(l.programs, "*", "\\*"), l.reason)
	}
	return page.String()
}

// TestCountsDocument: the page of counts says what is tested.
func TestCountsDocument(t *testing.T) {
	want := countsPage()
	if updating := flag.Lookup("update"); updating != nil && updating.Value.String() == "true" { // tracefile_test.go has the flag
		if err := os.WriteFile(countsDocument, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(countsDocument)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is stale: write it with go test ./checkers/explore -run CountsDocument -update", countsDocument)
	}
}

// TestCountedPrograms: every program has a name of its own, a number for some
// model, and no more executions under sc than under another model.
func TestCountedPrograms(t *testing.T) {
	names := map[string]bool{}
	for _, chapter := range countedPrograms() {
		for _, c := range chapter.programs {
			if names[c.name] {
				t.Errorf("%s is there twice", c.name)
			}
			names[c.name] = true
			if !slices.ContainsFunc(c.want[:], func(n int) bool { return n != unknown }) {
				t.Errorf("%s: no number", c.name)
			}
			for i, n := range c.want {
				if n != unknown && n < c.want[0] {
					t.Errorf("%s: %d under %s, and %d under sc", c.name, n, memmodel.Names()[i], c.want[0])
				}
			}
		}
	}
}
