package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// document is a text that has its form only when it is written.
type document []block

// block is a part of a document.
type block struct {
	kind  blockKind
	level int      // of an item, from 0
	lines []string // of a drawing; the others have one, which may be long
}

type blockKind int

const (
	heading blockKind = iota
	paragraph
	item
	drawn // lines that stay as they are
)

func (d *document) heading(text string)                { *d = append(*d, block{kind: heading, lines: []string{text}}) }
func (d *document) say(format string, args ...any)     { d.add(paragraph, 0, format, args...) }
func (d *document) item(format string, args ...any)    { d.add(item, 0, format, args...) }
func (d *document) subitem(format string, args ...any) { d.add(item, 1, format, args...) }

func (d *document) add(kind blockKind, level int, format string, args ...any) {
	*d = append(*d, block{kind: kind, level: level, lines: []string{oneLine(fmt.Sprintf(format, args...))}})
}

func (d *document) draw(lines ...string) { *d = append(*d, block{kind: drawn, lines: lines}) }

// changelogColumns is how wide a line of a kernel commit message is.
const changelogColumns = 72

// writeChangelog writes the document as the body of a commit message.
func (d document) writeChangelog(w io.Writer) {
	for n, b := range d {
		if n > 0 && !(b.kind == item && d[n-1].kind == item) {
			fmt.Fprintln(w)
		}
		switch b.kind {
		case heading:
			writeLines(w, wrap(b.lines[0]+":", changelogColumns, "", ""))
		case paragraph:
			writeLines(w, wrap(b.lines[0], changelogColumns, "", ""))
		case item:
			indent := strings.Repeat("  ", b.level)
			writeLines(w, wrap(b.lines[0], changelogColumns, indent+"- ", indent+"  "))
		case drawn:
			for _, line := range b.lines {
				writeLines(w, wrapDrawn(line))
			}
		}
	}
}

// drawnIndent sets drawings apart.
const drawnIndent = "  "

// wrapDrawn keeps a line of a drawing as it is, unless it is too long: one that a
// shell reads goes on after a backslash.
func wrapDrawn(line string) []string {
	if utf8.RuneCountInString(drawnIndent+line) <= changelogColumns {
		return []string{strings.TrimRight(drawnIndent+line, " ")}
	}
	lines := wrap(line, changelogColumns-2, drawnIndent, drawnIndent+"  ")
	for i := range lines[:len(lines)-1] {
		lines[i] += ` \`
	}
	return lines
}

// writeMarkdown writes the document as Markdown.
func (d document) writeMarkdown(w io.Writer) {
	for n, b := range d {
		if n > 0 && !(b.kind == item && d[n-1].kind == item) {
			fmt.Fprintln(w)
		}
		switch b.kind {
		case heading:
			fmt.Fprintln(w, "## "+b.lines[0])
		case paragraph:
			fmt.Fprintln(w, b.lines[0])
		case item:
			fmt.Fprintln(w, strings.Repeat("  ", b.level)+"- "+b.lines[0])
		case drawn:
			fmt.Fprintln(w, "```")
			for _, line := range b.lines {
				fmt.Fprintln(w, strings.TrimRight(line, " "))
			}
			fmt.Fprintln(w, "```")
		}
	}
}

func writeLines(w io.Writer, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
}

// wrap breaks a text into lines of so many runes at most, the first after one
// indent and the others after another. A word that is too long is broken too.
func wrap(text string, width int, first, others string) []string {
	var lines []string
	line, empty := first, true
	for _, word := range strings.Fields(text) {
		for {
			room := width - utf8.RuneCountInString(line)
			if !empty {
				room-- // for the blank
			}
			length := utf8.RuneCountInString(word)
			if length > room && !empty {
				lines = append(lines, line)
				line, empty = others, true
				continue
			}
			if length > room {
				letters := []rune(word)
				lines = append(lines, line+string(letters[:room]))
				line, word = others, string(letters[room:])
				continue
			}
			if !empty {
				line += " "
			}
			line, empty = line+word, false
			break
		}
	}
	return append(lines, line)
}
