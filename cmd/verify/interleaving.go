package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"benign/checkers/verdict"
)

// maxColumn is the width of the widest column, in runes. Two tasks and the
// source positions then fit on a wide screen.
const maxColumn = 46

// noteMark stands before a note, which explains the step above it.
const noteMark = "! "

// writeInterleaving draws an execution as kernel developers write it by hand: a
// column a task, time going down, and the source position at the right end.
// Steps on memory that no other task touches are left out unless all are wanted.
func writeInterleaving(w io.Writer, f *verdict.Finding, all bool) {
	at := len(f.Tasks) // the column of positions
	lines := [][]string{append(append([]string{}, f.Tasks...), "at")}
	hidden := 0
	for _, step := range f.Steps {
		if step.Private && !all {
			hidden++
			continue
		}
		line := make([]string, at+1)
		line[step.Task], line[at] = step.What, position(step.Place)
		lines = append(lines, line)
		if step.Note != "" {
			note := make([]string, at+1)
			note[step.Task] = noteMark + step.Note
			lines = append(lines, note)
		}
	}
	for _, line := range lines {
		for i, cell := range line {
			line[i] = shorten(oneLine(cell), maxColumn)
		}
	}
	rule := make([]string, at+1)
	for i, width := range widths(lines) {
		rule[i] = strings.Repeat("-", width)
	}
	writeTable(w, "  ", slices.Insert(lines, 1, rule))
	if len(f.LeftOut) > 0 {
		fmt.Fprintf(w, "\n  not needed, and left out: %s\n", strings.Join(f.LeftOut, "; "))
	}
	if hidden > 0 {
		fmt.Fprintf(w, "\n  left out: %s on memory that no other task touches (--all-steps)\n", count(hidden, "step"))
	}
}

// position shortens a place, "cache/evict.go:30 cache.(*Bucket).evict", to what
// a reader needs: "cache/evict.go:30 Bucket.evict".
func position(place string) string {
	file, function, ok := strings.Cut(place, " ")
	if !ok {
		return place
	}
	_, name, _ := strings.Cut(function, ".")
	return file + " " + strings.NewReplacer("(*", "", ")", "").Replace(name)
}
