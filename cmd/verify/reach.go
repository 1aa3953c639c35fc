package main

import (
	"fmt"
	"io"
	"strings"

	"benign/checkers/verdict"
	"benign/impl/scenario"
)

// exitOfReached tells what the answers to whether something can happen say: what the
// catalogue predicts is no harm, whichever it is.
func exitOfReached(answers []*verdict.Reached) int {
	exit := exitHarmless
	for _, r := range answers {
		switch {
		case r.Answer == scenario.MayHappen && exit == exitHarmless:
			exit = exitUnknown
		case r.Answer != scenario.MayHappen && !r.AsExpected():
			exit = exitHarmful
		}
	}
	return exit
}

// worse returns what a process exits with that has two things to say.
func worse(a, b int) int {
	for _, exit := range []int{exitHarmful, exitUnknown} {
		if a == exit || b == exit {
			return exit
		}
	}
	return exitHarmless
}

// unpredicted counts the answers that the catalogue does not predict.
func unpredicted(answers []*verdict.Reached) int {
	n := 0
	for _, r := range answers {
		if !r.AsExpected() {
			n++
		}
	}
	return n
}

// reachedAnswer is the answer with the predicted one, if that is another.
func reachedAnswer(r *verdict.Reached) string {
	if r.AsExpected() {
		return r.Answer.String()
	}
	return fmt.Sprintf("%s, expected %s", r.Answer, r.Expected)
}

// writeReached writes the answers with the execution that shows what was asked about,
// or with what it is that none of them does.
func writeReached(w io.Writer, answers []*verdict.Reached, allSteps bool) {
	for _, r := range answers {
		fmt.Fprintf(w, "%s/%s, in %s, %s under %s: %s\n", r.Race, r.Name, r.Scenario, r.Variant, r.Model, reachedAnswer(r))
		field(w, "question", "%s", oneLine(r.Question))
		field(w, "tasks", "%s", strings.Join(r.Tasks, "\n"))
		field(w, "explored", "%s", describeStats(r.Explored))
		if r.Witness == nil {
			field(w, "because", "it happens in none of these")
			fmt.Fprintln(w)
			continue
		}
		field(w, "because", "it happens in %s: %s", count(r.Witness.Count, "execution"), oneLine(r.Witness.Message))
		fmt.Fprintln(w)
		writeInterleaving(w, r.Witness, allSteps)
		fmt.Fprintln(w)
	}
}

// writeReachedLines writes a line for each of the answers.
func writeReachedLines(w io.Writer, answers []*verdict.Reached) {
	for _, r := range answers {
		fmt.Fprintf(w, "  %s %s, in %s under %s: %s, %s\n", r.Name, oneLine(r.Question), r.Scenario, r.Model, reachedAnswer(r), count(r.Explored.Executions(), "execution"))
	}
}

// describeMeasure says whether a bound is kept.
func describeMeasure(m verdict.Measure) string {
	if m.Largest > m.Most {
		return fmt.Sprintf("%s: up to %d, and there may be %d", m.Name, m.Largest, m.Most)
	}
	return fmt.Sprintf("%s: at most %d, and there may be %d", m.Name, m.Largest, m.Most)
}
