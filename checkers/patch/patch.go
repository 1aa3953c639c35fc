// Package patch reads unified diffs, applies them to sources in memory, and says
// what they touch.
//
// A patch may begin with a header that says what it is, as those of the corpus
// do:
//
//	Title: Merge into an entry that somebody else is reading
//	Mechanism: extentmap
//	Race: map-readers/merge
//	Breaks: a reader combines the start from after the merge with the length from before it
//	Source: 20200131140607.26923-1-fdmanana@kernel.org
//	Expect: HARMFUL
//	Violation: data race
//	Trace: 12
//
//	The story, in paragraphs.
//
//	--- a/impl/extentmap/merge.go
//	+++ b/impl/extentmap/merge.go
//	@@ -12,7 +12,7 @@
//	...
//
// Any other text before the first file is taken as it is, so that what git
// format-patch or a mail program writes can be read too.
package patch

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// Patch is a patch as it was read.
type Patch struct {
	// Name is the file that it came from, as messages call it.
	Name string
	// Header says what it is; fields that are not there are empty.
	Header Header
	// Description is the text between the header and the first file.
	Description string
	// Files are the files that it changes.
	Files []File
}

// File is what the patch does to one file.
type File struct {
	// Old and New are its names before and after, relative to the root of the
	// project, with forward slashes. One of them is empty if the file appears or
	// goes.
	Old, New string
	hunks    []hunk
}

// hunk is one change with its context.
type hunk struct {
	oldStart int // the line at which it is expected to apply, from 1; 0 in a new file
	line     int // of its head in the patch, from 1
	lines    []gitdiff.Line
}

// Error says what is wrong with the text of a patch, and where.
type Error struct {
	// File is the patch, Line and Column a place in it, from 1; both are 0 if
	// the error is of the whole.
	File         string
	Line, Column int
	// Message says what is wrong, and what was expected.
	Message string
}

// Error implements error, in the form file:line:column: message.
func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Parse reads a patch; name is what messages call it. It needs at least one file
// with a change to its text. An error is an [*Error].
func Parse(name, text string) (*Patch, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	files, preamble, err := gitdiff.Parse(strings.NewReader(text))
	if err != nil {
		return nil, syntax(name, err)
	}
	p := &Patch{Name: name}
	if p.Header, p.Description, err = parseHeader(name, preamble); err != nil {
		return nil, err
	}
	heads := hunkHeads(text, strings.Count(preamble, "\n"))
	for _, f := range files {
		converted, err := p.convert(f, &heads)
		if err != nil {
			return nil, err
		}
		if len(converted.hunks) > 0 {
			p.Files = append(p.Files, converted)
		}
	}
	if len(p.Files) == 0 {
		return nil, &Error{File: name, Message: "no change to the text of a file; want a unified diff, as from git diff"}
	}
	return p, nil
}

// syntax turns an error of the diff parser, which may know the line.
func syntax(name string, err error) error {
	e := &Error{File: name, Message: strings.TrimPrefix(err.Error(), "gitdiff: ")}
	if match := knownLine.FindStringSubmatch(e.Message); match != nil {
		fmt.Sscan(match[1], &e.Line)
		e.Column = 1
		e.Message = strings.TrimPrefix(e.Message, match[0])
	}
	return e
}

var knownLine = regexp.MustCompile(`^line (\d+): `)

// hunkHeads lists the lines, from 1, that begin a hunk, after some lines of
// other text. Lines of a hunk have a mark before them and cannot look like one.
func hunkHeads(text string, after int) []int {
	var heads []int
	n := 0
	for line := range strings.Lines(text) {
		n++
		if n > after && strings.HasPrefix(line, "@@ -") {
			heads = append(heads, n)
		}
	}
	return heads
}

// convert takes over a file, and its hunk heads off the list.
func (p *Patch) convert(f *gitdiff.File, heads *[]int) (File, error) {
	old, updated := strings.TrimPrefix(f.OldName, "a/"), strings.TrimPrefix(f.NewName, "b/")
	name := updated
	if f.IsDelete {
		name = old
	}
	switch {
	case f.IsBinary:
		return File{}, &Error{File: p.Name, Message: fmt.Sprintf("%s is changed in binary form; want text", name)}
	case f.IsRename || f.IsCopy:
		return File{}, &Error{File: p.Name, Message: fmt.Sprintf("%s is a renamed or copied %s; want a diff without renames (git diff --no-renames)", updated, old)}
	}
	converted := File{}
	if !f.IsNew {
		converted.Old = old
	}
	if !f.IsDelete {
		converted.New = updated
	}
	for _, side := range []string{converted.Old, converted.New} {
		if side != "" && (path.IsAbs(side) || path.Clean(side) != side || strings.HasPrefix(side, "../")) {
			return File{}, &Error{File: p.Name, Message: fmt.Sprintf("%q: want a path within the project, from its root", side)}
		}
	}
	for _, fragment := range f.TextFragments {
		h := hunk{oldStart: int(fragment.OldPosition), line: (*heads)[0], lines: fragment.Lines}
		*heads = (*heads)[1:]
		if fragment.LinesAdded+fragment.LinesDeleted > 0 {
			converted.hunks = append(converted.hunks, h)
		}
	}
	return converted, nil
}

// Path is the file's name: after the patch, or before it if the file goes.
func (f *File) Path() string {
	if f.New != "" {
		return f.New
	}
	return f.Old
}
