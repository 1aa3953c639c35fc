package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"benign/checkers/explore"
	"benign/checkers/verdict"
)

// row is one line of the overview: the models that give the same answer about
// one scenario.
type row struct {
	scenario, class, scope string
	arch                   int
	models                 []string
	executions             int
}

// writeOverview writes a line for each scenario of a race, and one about all.
func writeOverview(w io.Writer, q *verdict.Question) {
	if q.Race.Finding {
		fmt.Fprintf(w, "finding, predicted to be harmful; inferred from the kernel's behaviour, not confirmed on a kernel:\n")
	}
	fmt.Fprintf(w, "%s: %s\n", q.Name, q.Title)
	table := [][]string{{"scenario", "class", "models", "executions", "scope", "planted faults caught"}}
	named := row{}
	for _, r := range rows(q.Verdicts) {
		planted := ""
		if r.scenario != named.scenario || r.arch != named.arch {
			planted = caught(within(q.Planted, r.scenario, r.arch))
		}
		named = r
		table = append(table, []string{r.scenario, r.class, strings.Join(r.models, ", "), strconv.Itoa(r.executions), r.scope, planted})
	}
	writeTable(w, "  ", table)
	if q.Race.Finding {
		writeBroken(w, q.Verdicts)
	}
	writeReachedLines(w, q.Reached)
	fmt.Fprintf(w, "  %s\n\n", summary(q))
}

// rows puts answers that differ in nothing but the model together.
func rows(answers []*verdict.Verdict) []row {
	var all []row
	for _, v := range answers {
		next := row{scenario: v.Scenario, class: answer(v), scope: scope(v), arch: v.Scope.Arch, models: []string{v.Model}, executions: executions(v)}
		at := slices.IndexFunc(all, func(r row) bool {
			return r.scenario == next.scenario && r.class == next.class && r.scope == next.scope && r.arch == next.arch
		})
		if at < 0 {
			all = append(all, next)
			continue
		}
		all[at].models = append(all[at].models, v.Model)
		all[at].executions += next.executions
	}
	return all
}

// classOf is the class, and whether the race was never seen.
func classOf(v *verdict.Verdict) string {
	if v.Vacuous {
		return v.Class.String() + ", vacuous"
	}
	return v.Class.String()
}

// answer is the class with the predicted one, if that is another.
func answer(v *verdict.Verdict) string {
	text := classOf(v)
	if v.Class != v.Expected {
		text += ", expected " + v.Expected.String()
	}
	return text
}

// scope is what an answer holds for, in short.
func scope(v *verdict.Verdict) string {
	text := fmt.Sprintf("%s, %s, %s", count(len(v.Scope.Tasks), "task"), count(v.Scope.Operations, "operation"), reach(v))
	if v.Scope.Arch == explore.Arch32 {
		text += ", 32-bit machine"
	}
	return text
}

// reach says how far the explorations went.
func reach(v *verdict.Verdict) string {
	if v.Scope.Exhaustive {
		return "exhaustive"
	}
	for _, stats := range []explore.Stats{v.Scope.Candidate, v.Scope.Baseline} {
		if stats.Cut != "" {
			return "cut: " + stats.Cut
		}
	}
	return "not exhaustive"
}

// executions counts those of both variants.
func executions(v *verdict.Verdict) int {
	return v.Scope.Candidate.Executions() + v.Scope.Baseline.Executions()
}

// caught says how many planted faults were caught.
func caught(planted []*verdict.Verdict) string {
	if len(planted) == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", len(planted)-missed(planted), len(planted))
}

// within returns the answers about one scenario on one machine.
func within(answers []*verdict.Verdict, scenario string, arch int) []*verdict.Verdict {
	var here []*verdict.Verdict
	for _, v := range answers {
		if v.Scenario == scenario && v.Scope.Arch == arch {
			here = append(here, v)
		}
	}
	return here
}

// writeBroken says what is broken in each scenario of a finding.
func writeBroken(w io.Writer, answers []*verdict.Verdict) {
	var table [][]string
	for _, v := range answers {
		if v.Finding != nil {
			table = append(table, []string{"broken in " + v.Scenario, v.Model, broken(v.Finding)})
		}
	}
	writeTable(w, "  ", table)
}

// summary is one line about a race.
func summary(q *verdict.Question) string {
	total, names := 0, []string{}
	for _, v := range q.Verdicts {
		total += executions(v)
		if !slices.Contains(names, v.Scenario) {
			names = append(names, v.Scenario)
		}
	}
	text := fmt.Sprintf("= %s: %s in %s, %s", q.Class, count(len(q.Verdicts), "answer"), count(len(names), "scenario"), count(total, "execution"))
	if n := len(q.Planted); n > 0 {
		text += fmt.Sprintf(", %d/%d planted faults caught", n-missed(q.Planted), n)
	}
	if n := len(q.Reached); n > 0 {
		text += fmt.Sprintf(", %s whether something can happen", count(n, "answer"))
	}
	if n := len(q.Surprises) + unpredicted(q.Reached); n > 0 {
		text += fmt.Sprintf(", %s not as expected", count(n, "answer"))
	}
	return text
}

// maxDrawings bounds how many unexpected answers are drawn; the others are a
// line each. One change to a mechanism can break a hundred answers.
const maxDrawings = 3

// writeSurprises writes every answer that the catalogue does not predict, the
// ones with the shortest executions drawn, and says so if there is none.
func writeSurprises(w io.Writer, asked []*verdict.Question, maxExecutions int) {
	answers, unexpected, surprises := 0, 0, []*verdict.Verdict{}
	for _, q := range asked {
		answers += len(q.Verdicts) + len(q.Alternatives) + len(q.Planted) + len(q.Reached)
		for _, r := range q.Reached {
			if !r.AsExpected() {
				unexpected++
				fmt.Fprintf(w, "UNEXPECTED: %s/%s, in %s, %s under %s: %s\n", r.Race, r.Name, r.Scenario, r.Variant, r.Model, reachedAnswer(r))
			}
		}
		surprises = append(surprises, q.Surprises...)
	}
	for _, v := range surprises {
		fmt.Fprintf(w, "UNEXPECTED: %s/%s, variant %s under %s: expected %s, got %s: %s\n  %s\n",
			v.Race, v.Scenario, v.Variant, v.Model, v.Expected, classOf(v), oneLine(v.Reason), commandLine(v, maxExecutions))
	}
	for _, v := range shortestDrawings(surprises) {
		fmt.Fprintf(w, "\n%s/%s, variant %s under %s\n\n", v.Race, v.Scenario, v.Variant, v.Model)
		writeFinding(w, v, false)
	}
	unexpected += len(surprises)
	if unexpected == 0 {
		fmt.Fprintf(w, "%s, all as expected\n", count(answers, "answer"))
		return
	}
	fmt.Fprintf(w, "%s not as expected\n", count(unexpected, "answer"))
}

// shortestDrawings picks the answers that are drawn: those whose executions have
// the fewest steps that other tasks can see, the candidate's before others'.
func shortestDrawings(surprises []*verdict.Verdict) []*verdict.Verdict {
	var broken []*verdict.Verdict
	for _, v := range surprises {
		if v.Finding != nil {
			broken = append(broken, v)
		}
	}
	slices.SortStableFunc(broken, func(a, b *verdict.Verdict) int {
		return cmp.Or(cmp.Compare(ownSteps(a), ownSteps(b)), cmp.Compare(len(a.Finding.Steps), len(b.Finding.Steps)))
	})
	return broken[:min(len(broken), maxDrawings)]
}

// ownSteps counts the steps that are drawn; the baseline's come last.
func ownSteps(v *verdict.Verdict) int {
	steps := 0
	if v.Variant == v.Baseline {
		steps = 1 << 20
	}
	for _, step := range v.Finding.Steps {
		if !step.Private {
			steps++
		}
	}
	return steps
}
