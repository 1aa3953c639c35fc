package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// writeTable writes rows whose cells stand in columns, two blanks apart, after
// an indent. No line ends in blanks.
func writeTable(w io.Writer, indent string, rows [][]string) {
	columns := widths(rows)
	for _, row := range rows {
		line := indent
		for i, cell := range row {
			line += cell + strings.Repeat(" ", columns[i]-utf8.RuneCountInString(cell)+2)
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// widths returns the width of each column in runes.
func widths(rows [][]string) []int {
	var columns []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(columns) {
				columns = append(columns, 0)
			}
			columns[i] = max(columns[i], utf8.RuneCountInString(cell))
		}
	}
	return columns
}
