package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"benign/checkers/explain"
	"benign/checkers/explore"
	"benign/checkers/review"
	"benign/checkers/verdict"
	"benign/impl/scenario"
)

// story is all that is told about a race, or about what a patch brings.
type story struct {
	title, patch string
	class        scenario.Class
	verdicts     []*verdict.Verdict
	races        []explain.Race
	planted      []fault
	finding      bool           // predicted to be harmful, see scenario.Race
	review       *review.Report // of a patch; nil for a race
	related      []string       // races of the catalogue that a patch brings
	benchmark    *rbEmptyBench
	gain         *rbEmptyReport // nil if it was not measured
	exit         int
}

// How much of a list is written out.
const (
	maxPlaces  = 6 // places of accesses
	maxCallers = 3 // functions of a call chain, and chains to one place
	maxChecks  = 5 // ways to go on from a value
	maxWorst   = 6 // answers that are not harmless
	maxChanges = 8 // comparisons that a patch changes something about
)

// harmless reports whether the story may say so.
func (s *story) harmless() bool { return s.exit == exitHarmless }

func (s *story) document() document {
	d := &document{}
	d.say("%s", sentence(s.title))
	if s.review == nil && s.patch != "" {
		d.say("Raised by the patch %q.", s.patch)
	}
	s.answer(d)
	if len(s.races) == 0 {
		d.say("%s", s.without())
	}
	for i := range s.races {
		s.race(d, s.races[i].Brief())
	}
	s.compared(d)
	s.changes(d)
	s.bounds(d)
	s.measured(d)
	s.faults(d)
	s.comments(d)
	return *d
}

// answer says plainly whether it is harmless.
func (s *story) answer(d *document) {
	what := "The race"
	switch {
	case s.review != nil && len(s.races) == 0:
		what = "The patch"
	case len(s.races) > 1:
		what = "Each of the races"
	}
	switch {
	case s.class == scenario.Harmful:
		d.say("%s is not harmless. %s", what, s.harm())
		if s.finding {
			d.say("This is inferred from how the kernel behaves, and not confirmed on a kernel.")
		}
		s.interleaving(d)
	case !s.harmless():
		d.say("It is not known whether %s is harmless: this text is no argument that it is.", lowerFirst(what))
	case s.class == scenario.Defers:
		d.say("%s is harmless within the bounds below: it leaves work for later, and all of it is done.", what)
	default:
		d.say("%s is harmless within the bounds below: nothing that was compared shows it.", what)
	}
}

func (s *story) harm() string {
	v := shortestFinding(s.verdicts)
	if v == nil {
		return sentence(s.review.Reason)
	}
	return sentence(fmt.Sprintf("in %s of %s, something breaks; in the shortest: %s", countOf(v.Finding.Count, v.Scope.Candidate.Executions(), "execution"),
		form(v), broken(v.Finding)))
}

// interleaving draws the shortest execution that breaks something.
func (s *story) interleaving(d *document) {
	v := shortestFinding(s.verdicts)
	if v == nil {
		return
	}
	d.heading("The shortest interleaving that breaks it")
	d.draw(narrow(v.Finding, changelogColumns-len(drawnIndent))...)
	if len(v.Finding.LeftOut) > 0 {
		d.say("Not needed, and left out: %s.", strings.Join(v.Finding.LeftOut, "; "))
	}
	if s.review == nil {
		d.draw(commandLine(v, explore.DefaultMaxExecutions))
	}
}

// without says what there is if no race is annotated.
func (s *story) without() string {
	switch {
	case s.review != nil && len(s.verdicts) == 0:
		return "No scenario runs anything that the patch changes."
	case s.review != nil:
		return "The patch brings no annotated race that a compared scenario reaches, so this compares the code with it and without it."
	}
	return "No scenario reaches an annotated race, so nothing is said about values."
}

// race says all that executions have shown of one race.
func (s *story) race(d *document, r explain.Race) {
	name := ""
	if len(s.races) > 1 {
		name = " of " + r.Site
	}
	d.heading("The annotated access" + name)
	accessItems(d, r.Accesses, true)
	d.heading("What it conflicts with" + name)
	d.say("In %s that reach it, happens-before leaves it unordered with a conflicting access.", countOf(r.Racing, r.Executions, "execution"))
	accessItems(d, r.Conflicts, false)
	d.heading("What it may see, and what comes next" + name)
	d.say("A value may be out of date if a write that came after its own is not ordered after the access by happens-before.")
	var several []string // accesses, those that read first
	for _, stored := range []bool{false, true} {
		for _, v := range r.Values {
			if v.Stored == stored && !slices.Contains(several, v.Of) {
				several = append(several, v.Of)
			}
		}
	}
	if len(several) == 0 {
		d.say("It never raced, so that nothing it saw was out of date.")
	}
	for _, of := range several {
		values(d, of, slices.DeleteFunc(slices.Clone(r.Values), func(v explain.Value) bool { return v.Of != of }), len(several) > 1)
	}
	if slices.ContainsFunc(r.Values, unchecked) {
		d.say("Where no check was seen, a value that is out of date is not caught. What it comes to is part of the outcomes that are compared below.")
	}
}

// values lists those of one access. What is stored is checked by whoever reads it.
func values(d *document, of string, list []explain.Value, named bool) {
	if named {
		d.say("The %s:", of)
	}
	if list[0].Stored {
		var stored []string
		for _, v := range list {
			stored = append(stored, fmt.Sprintf("%s (%s)", v.Text, count(v.Seen, "time")))
		}
		d.item("stores %s", strings.Join(stored, ", "))
		return
	}
	for _, v := range list {
		valueItems(d, v)
	}
}

// accessText says what an access is, under which locks, and where.
func accessText(a explain.Access, annotated bool) string {
	marked := kernelName(a.What)
	if annotated && strings.HasPrefix(a.What, "plain ") {
		marked = " (data_race)"
	}
	text := a.What + marked + strings.TrimPrefix(a.Name(), a.What)
	if len(a.Places) > 0 {
		text += ", at " + position(a.Places[0])
	}
	if annotated && a.Racing == 0 {
		text += "; it never raced"
	}
	return text
}

// kernelName says what the kernel calls an access with its marking.
func kernelName(what string) string {
	for prefix, name := range map[string]string{
		"once load": "READ_ONCE", "once store": "WRITE_ONCE", "acquire load": "smp_load_acquire", "release store": "smp_store_release",
	} {
		if strings.HasPrefix(what, prefix+" ") {
			return " (" + name + ")"
		}
	}
	return ""
}

// chain names the functions above the innermost one.
func chain(places []string) string {
	var functions []string
	for _, place := range places[1:min(len(places), 1+maxCallers)] {
		_, function, _ := strings.Cut(position(place), " ")
		functions = append(functions, function)
	}
	return strings.Join(functions, " ← ")
}

// accessItems lists accesses by place, each with the ways that lead there.
func accessItems(d *document, all []explain.Access, annotated bool) {
	chains, places := map[string][]string{}, []string{}
	for _, a := range all {
		text := accessText(a, annotated)
		if !slices.Contains(places, text) {
			places = append(places, text)
		}
		if len(a.Places) > 1 && !slices.Contains(chains[text], chain(a.Places)) {
			chains[text] = append(chains[text], chain(a.Places))
		}
	}
	for _, text := range places[:min(len(places), maxPlaces)] {
		d.item("%s", text)
		ways := chains[text]
		for _, way := range ways[:min(len(ways), maxCallers)] {
			d.subitem("called by %s", way)
		}
		if more := len(ways) - maxCallers; more > 0 {
			d.subitem("and in %s", count(more, "other way"))
		}
	}
	if more := len(places) - maxPlaces; more > 0 {
		d.item("and %d more", more)
	}
}

// valueItems says how often a value was seen, how far it may be out of date, and
// which checks the task meets with it.
func valueItems(d *document, v explain.Value) {
	text := fmt.Sprintf("%s: read %s, ", v.Text, count(v.Seen, "time"))
	switch {
	case v.Stale == 0:
		text += "never out of date"
	case v.Stale == v.Seen:
		text += fmt.Sprintf("and may be out of date each time, by at most %s", count(v.Behind, "write"))
	default:
		text += fmt.Sprintf("%d of them maybe out of date, by at most %s", v.Stale, count(v.Behind, "write"))
	}
	if v.Broken > 0 {
		text += fmt.Sprintf("; in %s something breaks", count(v.Broken, "execution"))
	}
	d.item("%s", text)
	for i, c := range v.Continuations {
		if i == maxChecks {
			d.subitem("and %s with other checks", count(len(v.Continuations)-i, "way"))
			return
		}
		d.subitem("%s", continuationText(c))
	}
}

// continuationText says what a check is, how often it was met, and how the task
// comes by it most often.
func continuationText(c explain.Continuation) string {
	text := fmt.Sprintf("%s (%s", checkText(c.Check), count(c.Seen, "time"))
	if c.Stale > 0 {
		text += fmt.Sprintf(", %d maybe out of date", c.Stale)
	}
	if c.Broken > 0 {
		text += fmt.Sprintf(", %d where something breaks", c.Broken)
	}
	text += "). "
	var steps []string
	for _, s := range c.Steps {
		steps = append(steps, fmt.Sprintf("%s (%s)", s.What, filePlace(s.Place)))
	}
	if c.More {
		steps = append(steps, "and so on")
	}
	text += "Next"
	if c.Ways > 1 {
		text += fmt.Sprintf(", in the most frequent of %d ways", c.Ways)
	}
	if len(steps) == 0 {
		return text + ": nothing that another task could notice, until the operation ends or the next annotated access."
	}
	return text + ": " + strings.Join(steps, "; ") + "."
}

// filePlace is a place without its function.
func filePlace(place string) string {
	file, _, _ := strings.Cut(place, " ")
	return file
}

func checkText(c explain.Check) string {
	switch c.Kind {
	case explain.Reread:
		text := fmt.Sprintf("Check: %s is read again under %s", c.On, c.Lock)
		if c.Changed {
			return text + ", and is another value by then"
		}
		return text + ", and is the same"
	case explain.FailedTry:
		return fmt.Sprintf("Check: trylock of %s fails", c.On)
	case explain.FailedUpdate:
		return fmt.Sprintf("Check: an update of %s finds that it must not be", c.On)
	}
	return "No check was seen"
}

// unchecked reports whether a value that was read may be out of date with no check.
func unchecked(v explain.Value) bool {
	return !v.Stored && slices.ContainsFunc(v.Continuations, func(c explain.Continuation) bool { return c.Stale > 0 && c.Check.Kind == explain.NoCheck })
}

// sentence makes one of a text: the first letter is a capital, and there is a full
// stop.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if !strings.ContainsAny(text[len(text)-1:], ".!?") {
		text += "."
	}
	return text
}

func lowerFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToLower(first)) + text[size:]
}

// countOf says how many of how many.
func countOf(some, all int, noun string) string {
	if some == all {
		return "all " + count(all, noun)
	}
	return fmt.Sprintf("%d of %s", some, count(all, noun))
}
