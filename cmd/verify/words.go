package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// count says how many there are of something that has an ordinary plural.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// oneLine joins the lines of a text.
func oneLine(text string) string {
	return strings.Join(strings.Split(strings.TrimSpace(text), "\n"), "; ")
}

// shorten cuts a text to a width in runes and marks the cut.
func shorten(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}
