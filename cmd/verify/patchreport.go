package main

import (
	"fmt"
	"io"
	"strconv"

	"benign/checkers/explore"
	"benign/checkers/review"
	"benign/checkers/verdict"
	"benign/impl/scenario"
)

// writeReview writes what a patch changes: a row for each form that was compared,
// and the worst answer in full. file is what the patch was called on the command
// line.
func writeReview(w io.Writer, r *review.Report, file string, allSteps bool) {
	fmt.Fprintf(w, "%s\n", r.Title)
	field(w, "patch", "%s", r.Patch.Name)
	if breaks := r.Patch.Header.Breaks; breaks != "" {
		field(w, "breaks", "%s", breaks)
	}
	field(w, "touches", "%s", touchedText(r))
	field(w, "compared", "%s", comparedText(r))
	for _, text := range r.Missing {
		field(w, "differs", "%s", text)
	}
	if len(r.Unjudged) > 0 {
		field(w, "not judged", "%s", listSome(r.Unjudged, touchedSources))
	}
	for i := range r.Races {
		field(w, "new race", "%s", describeEvidence(&r.Races[i]))
	}
	writeComparisons(w, r.Verdicts)
	fmt.Fprintln(w)
	for i := range r.Verdicts {
		if v := r.Verdicts[i]; v == worst(r) && v.Cost != nil {
			writeVerdict(w, v)
			fmt.Fprintln(w)
			if v.Finding != nil {
				writeFinding(w, v, allSteps)
				writePatchLines(w, v, file)
			}
		}
	}
	fmt.Fprintf(w, "%s: %s\n", r.Class, oneLine(r.Reason))
}

func touchedText(r *review.Report) string {
	if len(r.Touched) == 0 {
		return "nothing that a scenario runs"
	}
	return listSome(r.Touched, touchedSources)
}

func comparedText(r *review.Report) string {
	text := count(len(r.Compared), "scenario")
	if r.Untouched > 0 {
		text += fmt.Sprintf("; %d run nothing of it", r.Untouched)
	}
	return text
}

// writeComparisons writes a row for each form that the patch changes anything
// about, and counts the others.
func writeComparisons(w io.Writer, verdicts []*verdict.Verdict) {
	rows, same := [][]string{{"scenario", "form", "model", "class", "outcomes", "new", "lost", "debt", "rounds", "locks", "events"}}, 0
	for _, v := range verdicts {
		if unchanged(v) {
			same++
		} else {
			rows = append(rows, comparison(v))
		}
	}
	if len(rows) > 1 {
		fmt.Fprintln(w)
		writeTable(w, "  ", rows)
	}
	if same > 0 {
		fmt.Fprintf(w, "\n  in %s nothing changes, not even what it takes\n", count(same, "comparison"))
	}
}

// unchanged reports whether the two builds cannot be told apart by anything that
// is counted.
func unchanged(v *verdict.Verdict) bool {
	d := v.Deferral
	return v.Class == scenario.Indistinguishable && v.Cost != nil && v.Cost.Before == v.Cost.After && len(v.Outcomes.Lost) == 0 &&
		d.BaselineDebt == d.LargestDebt && d.BaselineRounds == d.MostRounds
}

// comparison is the row of one answer. Locks and events are means of an
// execution.
func comparison(v *verdict.Verdict) []string {
	where := v.Model
	if v.Scope.Arch == explore.Arch32 {
		where += ", 32-bit"
	}
	row := []string{v.Race + "/" + v.Scenario, v.Variant, where, v.Class.String()}
	if v.Cost == nil { // there is no answer to compare with
		return row
	}
	d, before, after := v.Deferral, v.Cost.Before, v.Cost.After
	return append(row, strconv.Itoa(v.Outcomes.Candidate), strconv.Itoa(len(v.Outcomes.New)), strconv.Itoa(len(v.Outcomes.Lost)),
		fromTo(float64(d.BaselineDebt), float64(d.LargestDebt), 0), fromTo(float64(d.BaselineRounds), float64(d.MostRounds), 0),
		fromTo(before.MeanLocks(), after.MeanLocks(), 1), fromTo(before.MeanEvents(), after.MeanEvents(), 1))
}

// fromTo is a number if it stays, and both if it does not.
func fromTo(before, after float64, digits int) string {
	was, is := strconv.FormatFloat(before, 'f', digits, 64), strconv.FormatFloat(after, 'f', digits, 64)
	if was == is {
		return is
	}
	return was + "→" + is
}

// worst is the answer that decides: the harmful one with the shortest execution,
// or the first of the worst class.
func worst(r *review.Report) *verdict.Verdict {
	if r.Class == scenario.Harmful {
		return shortestFinding(r.Verdicts)
	}
	for _, v := range r.Verdicts {
		if v.Class == r.Class {
			return v
		}
	}
	if len(r.Verdicts) > 0 { // it is vacuous as a whole
		return r.Verdicts[0]
	}
	return nil
}

// writePatchLines writes what to paste to see the execution again.
func writePatchLines(w io.Writer, v *verdict.Verdict, file string) {
	trace := traceName(v)
	flags := ""
	if v.Scope.Arch == explore.Arch32 {
		flags = " --arch 32"
	}
	fmt.Fprintf(w, "reproduce it with\n\n  verify patch %s --race %s/%s --model %s%s --trace %s\n  verify replay %s --patch %s\n\n",
		file, v.Race, v.Scenario, v.Model, flags, trace, trace, file)
}
