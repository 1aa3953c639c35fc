package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"benign/checkers/verdict"
	"benign/impl/scenario"
)

// compared states what the answer is: the refinement, or what stands in its way.
func (s *story) compared(d *document) {
	d.heading("What was compared")
	d.say("An outcome is what all operations returned, with the final state after quiescence.")
	byClass := map[scenario.Class][]*verdict.Verdict{}
	for _, v := range s.verdicts {
		byClass[v.Class] = append(byClass[v.Class], v)
	}
	if same := byClass[scenario.Indistinguishable]; len(same) > 0 {
		where := ""
		if len(same) < len(s.verdicts) {
			where = fmt.Sprintf(" in %d of %s", len(same), count(len(s.verdicts), "comparison"))
		}
		d.item("INDISTINGUISHABLE%s: every outcome of %s is an outcome of %s.", where, s.after(same), s.before(same))
	}
	for _, v := range byClass[scenario.Defers] {
		d.item("DEFERS in %s: %s has %s that %s has not. They leave at most %d undone (before: %d), which %s does in at most %s (before: %d).",
			form(v), v.Variant, count(len(v.Outcomes.New), "outcome"), v.Baseline, v.Deferral.LargestDebt, v.Deferral.BaselineDebt,
			barrier(v), count(v.Deferral.MostRounds, "round"), v.Deferral.BaselineRounds)
	}
	for _, class := range []scenario.Class{scenario.Harmful, scenario.Unknown} {
		for i, v := range byClass[class] {
			if i == maxWorst {
				d.item("%s in %d more.", class, len(byClass[class])-i)
				break
			}
			d.item("%s in %s: %s", class, form(v), sentence(v.Reason))
		}
	}
	if s.class == scenario.Unknown && len(byClass[scenario.Unknown]) == 0 {
		d.item("UNKNOWN as a whole: %s", sentence(s.doubt()))
	}
	s.scope(d)
}

// doubt says why the whole is unknown although no answer is.
func (s *story) doubt() string {
	if s.review != nil {
		return s.review.Reason
	}
	return "a planted fault was not noticed, so that nothing can be concluded"
}

// form names what an answer is about.
func form(v *verdict.Verdict) string {
	text := fmt.Sprintf("%s/%s, %s under %s", v.Race, v.Scenario, v.Variant, v.Model)
	if v.Scope.OnBoth {
		text += fmt.Sprintf(" with %d bits", v.Scope.Arch)
	}
	return text
}

func barrier(v *verdict.Verdict) string {
	if v.Deferral.Barrier == "" {
		return "quiescence"
	}
	return v.Deferral.Barrier
}

// after and before name what is compared.
func (s *story) after(answers []*verdict.Verdict) string {
	if s.review != nil {
		return "the code with the patch"
	}
	return joined(answers, func(v *verdict.Verdict) string { return v.Variant })
}

func (s *story) before(answers []*verdict.Verdict) string {
	if s.review != nil {
		return "the code without it"
	}
	return joined(answers, func(v *verdict.Verdict) string { return v.Baseline })
}

// joined lists what the answers have, each once, in their order.
func joined(answers []*verdict.Verdict, name func(*verdict.Verdict) string) string {
	var list []string
	for _, v := range answers {
		if n := name(v); !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return strings.Join(list, ", ")
}

// scope says what the answers hold for.
func (s *story) scope(d *document) {
	if len(s.verdicts) == 0 {
		return
	}
	var tasks, operations, longest, candidate, baseline int
	archs := map[int]bool{}
	exhaustive := true
	for _, v := range s.verdicts {
		tasks, operations = max(tasks, len(v.Scope.Tasks)), max(operations, v.Scope.Operations)
		longest = max(longest, v.Scope.Candidate.Longest, v.Scope.Baseline.Longest)
		candidate += v.Scope.Candidate.Executions()
		baseline += v.Scope.Baseline.Executions()
		archs[v.Scope.Arch] = true
		exhaustive = exhaustive && v.Scope.Exhaustive
	}
	var machines []string
	for _, arch := range slices.Sorted(maps.Keys(archs)) {
		if arch > 0 { // one that gave no answer has none
			machines = append(machines, fmt.Sprintf("%d bits", arch))
		}
	}
	extent := "exhaustively"
	if !exhaustive {
		extent = "NOT exhaustively"
	}
	d.say("This holds for the scenarios %s; with at most %s and %s; under the memory %s; on a machine of %s. %s of %s and %d of %s were run, %s; the longest has %s.",
		joined(s.verdicts, func(v *verdict.Verdict) string { return v.Race + "/" + v.Scenario }),
		count(tasks, "task"), count(operations, "operation"), modelsText(s.verdicts), strings.Join(machines, " or "),
		count(candidate, "execution"), s.after(s.verdicts), baseline, s.before(s.verdicts), extent, count(longest, "event"))
	d.say("Nothing is said about larger scenarios, other models, or the kernel's own text: what ran is a reference implementation.")
}

func modelsText(answers []*verdict.Verdict) string {
	names := joined(answers, func(v *verdict.Verdict) string { return v.Model })
	if strings.Contains(names, ", ") {
		return "models " + names
	}
	return "model " + names
}

// changes says what a patch changes, in outcomes and in what executions take.
func (s *story) changes(d *document) {
	if s.review == nil {
		return
	}
	d.heading("What the patch changes")
	d.item("it touches %s", touchedText(s.review))
	d.item("compared: %s", comparedText(s.review))
	for _, text := range s.review.Missing {
		d.item("%s", text)
	}
	if len(s.review.Unjudged) > 0 {
		d.item("not judged: %s", listSome(s.review.Unjudged, touchedSources))
	}
	same, without, changed := 0, 0, []*verdict.Verdict{}
	for _, v := range s.verdicts {
		switch {
		case v.Cost == nil:
			without++
		case unchanged(v):
			same++
		default:
			changed = append(changed, v)
		}
	}
	slices.SortStableFunc(changed, func(a, b *verdict.Verdict) int { return visiblyChanged(b) - visiblyChanged(a) })
	for _, v := range changed[:min(len(changed), maxChanges)] {
		d.item("%s: %s", form(v), changeText(v))
	}
	if more := len(changed) - maxChanges; more > 0 {
		d.item("and something in %s, which verify patch lists", count(more, "other comparison"))
	}
	if same > 0 {
		d.item("in %s nothing changes, not even what it takes", count(same, "comparison"))
	}
	if without > 0 {
		d.item("%s gave no answer", count(without, "comparison"))
	}
}

// visiblyChanged is 1 if there is more to a change than what executions take.
func visiblyChanged(v *verdict.Verdict) int {
	if len(v.Outcomes.New) > 0 || len(v.Outcomes.Lost) > 0 || v.Deferral.LargestDebt != v.Deferral.BaselineDebt || v.Deferral.MostRounds != v.Deferral.BaselineRounds {
		return 1
	}
	return 0
}

// changeText is what comparison has in columns.
func changeText(v *verdict.Verdict) string {
	deferral, before, after := v.Deferral, v.Cost.Before, v.Cost.After
	return fmt.Sprintf("outcomes %d (%d new, %d lost), debt %s, rounds %s, locks taken %s and events %s in an execution on average",
		v.Outcomes.Candidate, len(v.Outcomes.New), len(v.Outcomes.Lost),
		fromTo(float64(deferral.BaselineDebt), float64(deferral.LargestDebt), 0), fromTo(float64(deferral.BaselineRounds), float64(deferral.MostRounds), 0),
		fromTo(before.MeanLocks(), after.MeanLocks(), 1), fromTo(before.MeanEvents(), after.MeanEvents(), 1))
}

// bounds says how old a value can be, and how late work is done.
func (s *story) bounds(d *document) {
	if len(s.verdicts) == 0 {
		return
	}
	d.heading("How late it can be")
	for i := range s.races {
		if behind := s.races[i].Behind; behind > 0 {
			d.item("a value of %s is out of date by at most %s", s.races[i].Site, count(behind, "write"))
		} else {
			d.item("no value of %s is ever out of date", s.races[i].Site)
		}
	}
	most := verdict.Deferral{}
	for _, v := range s.verdicts {
		most.LargestDebt, most.BaselineDebt = max(most.LargestDebt, v.Deferral.LargestDebt), max(most.BaselineDebt, v.Deferral.BaselineDebt)
		most.MostRounds, most.BaselineRounds = max(most.MostRounds, v.Deferral.MostRounds), max(most.BaselineRounds, v.Deferral.BaselineRounds)
		if v.Deferral.Barrier != "" {
			most.Barrier = v.Deferral.Barrier
		}
	}
	d.item("%s", describeDeferral(most))
}

// measured says what is gained, if that was measured, or how to measure it.
func (s *story) measured(d *document) {
	d.heading("What it gains")
	switch {
	case s.gain != nil:
		r := s.gain
		d.say("Measured in %s over %s open files without extent maps and %s with one each, in this implementation and not in a kernel (%s, %s, %s):",
			count(r.Rounds, "round"), grouped(float64(r.Inodes)), grouped(float64(r.WithMaps)), r.Go, r.Platform, count(r.Processors, "processor"))
		for _, l := range r.Loads {
			d.item("%s: ns per inode, median %s → %s; tree write locks taken %s → %s", loadName(l.Readers),
				tenths(l.Median.Base), tenths(l.Median.Patched), grouped(l.Taken.Base), grouped(l.Taken.Patched))
		}
		d.say("For more rounds, with readers: verify bench %s.", r.Name)
	case s.benchmark != nil:
		d.say("Not measured here. This measures it:")
		d.draw("verify bench rb-empty")
	default:
		d.say("Not measured: there is no benchmark for it.")
	}
}

// faults says which planted faults show that the checkers would have noticed.
func (s *story) faults(d *document) {
	d.heading("Would it have been noticed")
	if s.review != nil {
		d.say("Faults are planted beside questions of the catalogue, and are not part of a patch. These plant them, and judge known bugs with the same checkers:")
		lines := []string{}
		for _, race := range s.related {
			lines = append(lines, "verify race "+race)
		}
		d.draw(append(lines, "verify mutants")...)
		return
	}
	if len(s.planted) == 0 {
		d.say("No fault is planted in these scenarios, so nothing shows that the checkers would have noticed one.")
		return
	}
	d.say("Beside the form on trial these faults were planted:")
	for _, f := range s.planted {
		noticed := "noticed as " + strings.Join(f.noticed, ", ")
		if f.missed > 0 {
			noticed = fmt.Sprintf("NOT NOTICED in %s", count(f.missed, "answer"))
		}
		d.item("%s (in %s): %s: %s", f.name, strings.Join(f.scenarios, ", "), strings.TrimSuffix(f.about, "."), noticed)
	}
}

// comments suggests what to write above each annotated access that is harmless.
func (s *story) comments(d *document) {
	if len(s.races) == 0 {
		return
	}
	if !s.harmless() {
		d.say("No comment is suggested: nothing here says that the race is harmless.")
		return
	}
	d.heading("Suggested comment, above the data_race()")
	for i := range s.races {
		d.draw(comment(s.races[i].Reason)...)
	}
}

// commentColumns leaves room for a tab before a comment, of the 80 columns of a
// line.
const commentColumns = changelogColumns - len(drawnIndent)

// comment is a text as a comment in C.
func comment(text string) []string {
	text = sentence(strings.ReplaceAll(oneLine(text), "*/", "* /"))
	if lines := wrap("/* "+text+" */", commentColumns, "", ""); len(lines) == 1 {
		return lines
	}
	return append(append([]string{"/*"}, wrap(text, commentColumns, " * ", " * ")...), " */")
}

// narrow draws an execution in so many columns, a task beside the other if there
// are few enough, and otherwise a step a line.
func narrow(f *verdict.Finding, width int) []string {
	var tasks []int
	for _, s := range f.Steps {
		if !s.Private && !slices.Contains(tasks, s.Task) {
			tasks = append(tasks, s.Task)
		}
	}
	slices.Sort(tasks)
	const gap, most = 2, 3
	if len(tasks) > most {
		var lines []string
		for _, s := range f.Steps {
			if !s.Private {
				lines = append(lines, wrap(f.Tasks[s.Task]+": "+stepText(s), width, "", "  ")...)
			}
		}
		return lines
	}
	column := (width - gap*(len(tasks)-1)) / max(1, len(tasks))
	row := func(at int, text string) string {
		return strings.Repeat(" ", at*(column+gap)) + text
	}
	head, rule := "", ""
	for i, task := range tasks {
		head = fmt.Sprintf("%-*s%s", i*(column+gap), head, shorten(f.Tasks[task], column))
		rule = fmt.Sprintf("%-*s%s", i*(column+gap), rule, strings.Repeat("-", column))
	}
	lines := []string{head, rule}
	for _, s := range f.Steps {
		if s.Private {
			continue
		}
		for _, line := range wrap(stepText(s), column, "", "  ") {
			lines = append(lines, row(slices.Index(tasks, s.Task), line))
		}
	}
	return lines
}

// stepText is a step with its place and what is to be noted about it.
func stepText(s verdict.Step) string {
	text := oneLine(s.What)
	if s.Place != "" {
		text += " (" + filePlace(s.Place) + ")"
	}
	if s.Note != "" {
		text += " " + noteMark + oneLine(s.Note)
	}
	return text
}
