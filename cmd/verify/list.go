package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"benign/checkers/memmodel"
	"benign/impl/scenario"
)

// listCommand shows what there is to ask.
type listCommand struct{}

func (*listCommand) run(e *environment) (exit int, err error) {
	for i := range e.races {
		if i > 0 {
			fmt.Fprintln(e.stdout)
		}
		writeRace(e.stdout, &e.races[i])
	}
	writeModels(e.stdout)
	return exitHarmless, nil
}

// writeModels lists the memory models that a question can be asked under.
func writeModels(w io.Writer) {
	fmt.Fprint(w, "\nmemory models\n\n")
	var table [][]string
	for _, name := range memmodel.Names() {
		table = append(table, []string{name, memmodel.About(name)})
	}
	writeTable(w, "  ", table)
}

func writeRace(w io.Writer, race *scenario.Race) {
	fmt.Fprintf(w, "%s: %s\n", race.Name, race.Title)
	if race.Finding {
		fmt.Fprintln(w, "  a finding: predicted to be harmful; inferred from the kernel's behaviour, not confirmed on a kernel")
	}
	if race.Patch != "" {
		fmt.Fprintf(w, "  patch: %s\n", race.Patch)
	}
	fmt.Fprintf(w, "  question: %s\n", oneLine(race.Question))
	for i := range race.Scenarios {
		s := &race.Scenarios[i]
		fmt.Fprintf(w, "\n  %s/%s: %s\n", race.Name, s.Name, s.About)
		var table [][]string
		for j := range s.Variants {
			v := &s.Variants[j]
			table = append(table, []string{v.Name, v.Role.String(), predicted(v), oneLine(v.About)})
		}
		writeTable(w, "    ", table)
	}
	for i := range race.Reachable {
		r := &race.Reachable[i]
		fmt.Fprintf(w, "\n  %s: %s In %s: %s\n", r.Name, oneLine(r.Question), r.Scenario, r.Expect)
	}
}

// predicted is the class that the catalogue predicts, with the models and the
// machine for which it predicts another one.
func predicted(v *scenario.Variant) string {
	var others []string
	for _, model := range slices.Sorted(maps.Keys(v.ExpectByModel)) {
		others = append(others, fmt.Sprintf("%s under %s", v.ExpectByModel[model], model))
	}
	if v.ExpectOn32 != 0 {
		others = append(others, fmt.Sprintf("%s on a 32-bit machine", v.ExpectOn32))
	}
	if len(others) == 0 {
		return v.Expect.String()
	}
	return fmt.Sprintf("%s (%s)", v.Expect, strings.Join(others, ", "))
}
