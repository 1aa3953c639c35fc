package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"benign/checkers/verdict"
)

// maxColumn is the width of the widest column, in runes. Two tasks and the
// source positions then fit on a wide screen.
const maxColumn = 46

// noteMark stands before a note, which explains the step above it.
const noteMark = "! "

// writeInterleaving draws an execution as kernel developers write it by hand: a
// column a task, time going down, and the source position at the right end.
func writeInterleaving(w io.Writer, f *verdict.Finding) {
	at := len(f.Tasks) // the column of positions
	lines := [][]string{append(append([]string{}, f.Tasks...), "at")}
	for _, step := range f.Steps {
		line := make([]string, at+1)
		line[step.Task], line[at] = step.What, step.Place
		lines = append(lines, line)
		if step.Note != "" {
			note := make([]string, at+1)
			note[step.Task] = noteMark + step.Note
			lines = append(lines, note)
		}
	}
	widths := fit(lines)
	writeColumns(w, lines[0], widths)
	rule := make([]string, at+1)
	for i, width := range widths {
		rule[i] = strings.Repeat("-", width)
	}
	writeColumns(w, rule, widths)
	for _, line := range lines[1:] {
		writeColumns(w, line, widths)
	}
}

// fit makes every cell one line of bounded width, and returns the width of each
// column.
func fit(lines [][]string) []int {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i := range line {
			line[i] = shorten(oneLine(line[i]), maxColumn)
			widths[i] = max(widths[i], utf8.RuneCountInString(line[i]))
		}
	}
	return widths
}

// writeColumns writes one line without blanks at its end.
func writeColumns(w io.Writer, cells []string, widths []int) {
	var b strings.Builder
	for i, cell := range cells {
		b.WriteString("  " + cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
	}
	fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
}
