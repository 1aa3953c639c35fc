package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"benign/checkers/explore"
	"benign/checkers/verdict"
)

// maxOutcomes bounds how many new outcomes, and how many lost ones, are
// written out.
const maxOutcomes = 5

// field writes one labelled line of a report; a longer text goes on below it,
// in the same column.
func field(w io.Writer, label, format string, args ...any) {
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		fmt.Fprintf(w, "  %-11s %s\n", label, strings.TrimRight(line, "\n"))
		label = ""
	}
}

// writeQuestion writes every answer to a question with its evidence.
func writeQuestion(w io.Writer, q *verdict.Question, maxExecutions int, allSteps bool) {
	fmt.Fprintf(w, "%s: %s\n", q.Name, q.Title)
	if q.Race.Patch != "" {
		field(w, "patch", "%s", q.Race.Patch)
	}
	field(w, "question", "%s", oneLine(q.Race.Question))
	fmt.Fprintln(w)
	for _, v := range q.Verdicts {
		writeVerdict(w, v)
		writeOthers(w, v, q)
		fmt.Fprintln(w)
		if v.Finding != nil {
			writeFinding(w, v, allSteps)
			writePasteLines(w, v, maxExecutions)
		}
		if v.Scope.Sample != nil {
			writeAgain(w, v)
		}
	}
	writeReached(w, q.Reached, allSteps)
	fmt.Fprintln(w, summary(q))
}

// writeVerdict writes one answer with its scope and evidence.
func writeVerdict(w io.Writer, v *verdict.Verdict) {
	fmt.Fprintf(w, "%s/%s, %s compared with %s under %s: %s\n", v.Race, v.Scenario, v.Variant, v.Baseline, v.Model, answer(v))
	field(w, "because", "%s", oneLine(v.Reason))
	field(w, "tasks", "%s", strings.Join(v.Scope.Tasks, "\n"))
	field(w, "machine", "%s", describeMachine(v.Scope.Arch))
	if v.Scope.Sample != nil {
		field(w, "sampled", "%s", describeSample(v.Scope.Sample))
	}
	if v.Scope.Bound != nil {
		field(w, "bounded", "distinct executions of schedules with at most %s", v.Scope.Bound)
	}
	field(w, "explored", "%s", describeStats(v.Scope.Candidate))
	field(w, "baseline", "%s", describeStats(v.Scope.Baseline))
	field(w, "outcomes", "%d, of the baseline %d; %d new, %d lost", v.Outcomes.Candidate, v.Outcomes.Baseline, len(v.Outcomes.New), len(v.Outcomes.Lost))
	writeOutcomes(w, "new", v.Outcomes.New)
	writeOutcomes(w, "lost", v.Outcomes.Lost)
	field(w, "deferral", "%s", describeDeferral(v.Deferral))
	for _, m := range v.Measures {
		field(w, "bound", "%s", describeMeasure(m))
	}
	if v.Finding != nil {
		field(w, "broken", "%s", describeKinds(v.Finding))
	}
	for i := range v.Evidence {
		field(w, "race", "%s", describeEvidence(&v.Evidence[i]))
	}
}

// writeOthers writes a line for each other form that was tried in the same
// scenario, on the same machine and under the same model.
func writeOthers(w io.Writer, v *verdict.Verdict, q *verdict.Question) {
	for _, other := range within(q.Alternatives, v.Scenario, v.Scope.Arch) {
		if other.Model == v.Model {
			field(w, "alternative", "%s: %s: %s", other.Variant, answer(other), oneLine(other.Reason))
		}
	}
	for _, other := range within(q.Planted, v.Scenario, v.Scope.Arch) {
		if other.Model == v.Model {
			field(w, "planted", "%s", describePlanted(other))
		}
	}
}

// describeMachine says what the bits of the machine's words mean.
func describeMachine(arch int) string {
	if arch == explore.Arch32 {
		return "32-bit: a word of 64 bits is read and written in two halves"
	}
	return "64-bit"
}

// describeStats says how much was explored, and what was not.
func describeStats(s explore.Stats) string {
	extent := "exhaustive"
	if !s.Exhaustive {
		extent = "cut: " + s.CutShort()
	}
	return fmt.Sprintf("%s (%d complete, %d blocked, %d violating), at most %s long, %s; %s", count(s.Executions(), "execution"),
		s.Complete, s.Blocked, s.Violating, count(s.Longest, "event"), extent, count(s.Pruned, "run")+" pruned")
}

// writeOutcomes writes the first few of a list.
func writeOutcomes(w io.Writer, label string, outcomes []string) {
	for i, outcome := range outcomes {
		if i == maxOutcomes {
			field(w, label, "and %d more", len(outcomes)-i)
			return
		}
		field(w, label, "%s", outcome)
		label = ""
	}
}

func describeDeferral(d verdict.Deferral) string {
	if d == (verdict.Deferral{Barrier: d.Barrier}) {
		return "no work is left for later"
	}
	text := fmt.Sprintf("at most %d left when the tasks have ended (baseline %d), then %s of work (baseline %d)",
		d.LargestDebt, d.BaselineDebt, count(d.MostRounds, "round"), d.BaselineRounds)
	if d.Barrier != "" {
		text += ", by " + d.Barrier
	}
	return text
}

// describeKinds says how many executions break what.
func describeKinds(f *verdict.Finding) string {
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(f.Kinds)) {
		kinds = append(kinds, fmt.Sprintf("%s in %s", kind, count(f.Kinds[kind], "execution")))
	}
	return strings.Join(kinds, ", ")
}

func describeEvidence(e *verdict.Evidence) string {
	return fmt.Sprintf("%s: reached in %s, unordered in %d; read first %d, write first %d\nannotated: %s",
		e.Site, count(e.Executions, "execution"), e.Racing, e.ReadFirst, e.WriteFirst, oneLine(e.Reason))
}

// describePlanted says whether a planted fault was caught, and by what.
func describePlanted(v *verdict.Verdict) string {
	outcome := "caught"
	if !v.AsExpected() {
		outcome = "MISSED, " + answer(v)
	}
	if v.Finding != nil {
		return fmt.Sprintf("%s: %s: %s", v.Variant, outcome, broken(v.Finding))
	}
	return fmt.Sprintf("%s: %s: %s", v.Variant, outcome, oneLine(v.Reason))
}

// writeFinding draws the shortest execution that breaks something.
func writeFinding(w io.Writer, v *verdict.Verdict, allSteps bool) {
	writeInterleaving(w, v.Finding, allSteps)
	fmt.Fprintf(w, "\nbroken: %s\n\n", broken(v.Finding))
}

// broken says what is broken.
func broken(f *verdict.Finding) string { return f.Kind + ": " + oneLine(f.Message) }

// writePasteLines writes what to paste to see the execution again.
func writePasteLines(w io.Writer, v *verdict.Verdict, maxExecutions int) {
	file := traceName(v)
	fmt.Fprintf(w, "reproduce it with\n\n  %s --trace %s\n  verify replay %s\n\n", commandLine(v, maxExecutions), file, file)
}

// traceName is a file for the trace of a finding.
func traceName(v *verdict.Verdict) string {
	file := fmt.Sprintf("%s-%s-%s", v.Scenario, v.Variant, v.Model)
	if v.Scope.Arch == explore.Arch32 {
		file += "-32bit"
	}
	return file + ".trace"
}

// commandLine asks for the answer again.
func commandLine(v *verdict.Verdict, maxExecutions int) string {
	line := variantLine(v)
	if v.Scope.Sample != nil {
		return line + sampleFlags(v.Scope.Sample, 0)
	}
	if v.Scope.Bound != nil {
		line += fmt.Sprintf(" --strategy %s --preemptions %d", preemption, v.Scope.Bound.Most)
	}
	if maxExecutions != explore.DefaultMaxExecutions {
		line += fmt.Sprintf(" --max-executions %d", maxExecutions)
	}
	return line
}

// variantLine asks about the variant, in one scenario under one model.
func variantLine(v *verdict.Verdict) string {
	line := fmt.Sprintf("verify race %s/%s --variant %s --model %s", v.Race, v.Scenario, v.Variant, v.Model)
	if v.Scope.Arch == explore.Arch32 || v.Scope.OnBoth {
		line += fmt.Sprintf(" --arch %d", v.Scope.Arch)
	}
	return line
}
