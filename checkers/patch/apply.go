package patch

import (
	"fmt"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// Source is one file before and after a patch.
type Source struct {
	// Path is its name relative to the root.
	Path string
	// Before and After are its text; nil where there is no such file.
	Before, After []byte
	// origin says for each line of After, from 1, which line of the patch added
	// it; 0 for lines that were there.
	origin         []int
	added, removed []span // lines of After and of Before, in order
}

// span is a run of lines, from 1. A gap is the place between two lines, where the
// other text has more.
type span struct {
	first, last int
	gap         bool
}

// spanOf is a run of n lines after the first few; without any it is a gap.
func spanOf(after, n int) span {
	if n == 0 {
		return span{after, after + 1, true}
	}
	return span{after + 1, after + n, false}
}

// within reports whether lines from first to last contain a part of the run, or
// the gap with both its sides.
func (s span) within(first, last int) bool {
	if s.gap {
		return first <= s.first && s.last <= last
	}
	return first <= s.last && s.first <= last
}

// ApplyError says why a patch does not fit the sources.
type ApplyError struct {
	// Patch is its name, and Line that of the hunk's head in it; 0 if it is the
	// whole file that does not fit.
	Patch string
	Line  int
	// File is what it changes, and Hunk the number of the hunk in it, from 1.
	File string
	Hunk int
	// Why says what was expected and what is there.
	Why string
}

// Error implements error.
func (e *ApplyError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: does not apply: %s: %s", e.Patch, e.File, e.Why)
	}
	return fmt.Sprintf("%s:%d:1: hunk %d of %s does not apply: %s", e.Patch, e.Line, e.Hunk, e.File, e.Why)
}

// Apply applies the patch to what read returns for each path; read returns nil
// and no error for a file that is not there. A hunk applies where it says, or at
// the nearest place where all of its context stands. An error is an
// [*ApplyError], or one of read.
func (p *Patch) Apply(read func(path string) ([]byte, error)) ([]Source, error) {
	var sources []Source
	for i := range p.Files {
		f := &p.Files[i]
		before, err := read(f.Path())
		if err != nil {
			return nil, err
		}
		switch {
		case f.Old == "" && before != nil:
			return nil, &ApplyError{Patch: p.Name, File: f.Path(), Why: "the patch makes the file, and it is there"}
		case f.Old != "" && before == nil:
			return nil, &ApplyError{Patch: p.Name, File: f.Path(), Why: "there is no such file"}
		}
		s := Source{Path: f.Path(), Before: before}
		if err := p.apply(f, &s); err != nil {
			return nil, err
		}
		if f.New == "" {
			s.After = nil
		}
		sources = append(sources, s)
	}
	return sources, nil
}

// apply makes the text after the patch.
func (p *Patch) apply(f *File, s *Source) error {
	old := splitLines(string(s.Before))
	var after strings.Builder
	done, shift := 0, 0 // lines of the old text that are dealt with, and how far hunks are from where they say
	emit := func(line string, origin int) {
		after.WriteString(line)
		s.origin = append(s.origin, origin)
	}
	for n, h := range f.hunks {
		at, err := h.place(old, done, shift)
		if err != "" {
			return &ApplyError{Patch: p.Name, Line: h.line, File: f.Path(), Hunk: n + 1, Why: err}
		}
		shift = at - h.start()
		for _, line := range old[done:at] {
			emit(line, 0)
		}
		h.replay(old, at, s, emit)
		done = at + h.oldLines()
	}
	for _, line := range old[done:] {
		emit(line, 0)
	}
	s.After = []byte(after.String())
	return nil
}

// replay emits the hunk's lines, which begin at a line of the old text counted from
// 0, and notes what they add and remove.
func (h *hunk) replay(old []string, at int, s *Source, emit func(string, int)) {
	for i := 0; i < len(h.lines); {
		if h.lines[i].Op == gitdiff.OpContext {
			emit(old[at], 0)
			at++
			i++
			continue
		}
		before, first, added, removed := at, len(s.origin), 0, 0
		for ; i < len(h.lines) && h.lines[i].Op != gitdiff.OpContext; i++ {
			if h.lines[i].Op == gitdiff.OpAdd {
				emit(h.lines[i].Line, h.line+1+i)
				added++
			} else {
				at++
				removed++
			}
		}
		s.added = append(s.added, spanOf(first, added))
		s.removed = append(s.removed, spanOf(before, removed))
	}
}

// start is the index of the old line at which the hunk says it applies.
func (h *hunk) start() int {
	if h.oldLines() == 0 {
		return h.oldStart // a hunk that only adds stands after this line
	}
	return h.oldStart - 1
}

func (h *hunk) oldLines() int {
	n := 0
	for _, line := range h.lines {
		if line.Op != gitdiff.OpAdd {
			n++
		}
	}
	return n
}

// place finds the index of the old line at which the hunk applies: not before
// some line, and as near as can be to where it says, shifted as the hunk before
// was. Otherwise it says why there is none.
func (h *hunk) place(old []string, from, shift int) (at int, why string) {
	want := h.start() + shift
	for distance := 0; distance <= len(old)+1; distance++ {
		for _, at := range []int{want - distance, want + distance} {
			if at >= from && at+h.oldLines() <= len(old) && h.mismatch(old, at) == "" {
				return at, ""
			}
		}
	}
	if want < from || want >= len(old) {
		return 0, fmt.Sprintf("it belongs at line %d, and the file has %d lines; its context is nowhere in the file", want+1, len(old))
	}
	return 0, h.mismatch(old, want) + "; its context is nowhere else in the file"
}

// mismatch says how the old text differs from what the hunk expects at an index.
func (h *hunk) mismatch(old []string, at int) string {
	for _, line := range h.lines {
		if line.Op == gitdiff.OpAdd {
			continue
		}
		switch {
		case at >= len(old):
			return fmt.Sprintf("the file ends before %q", strings.TrimSpace(line.Line))
		case strings.TrimSuffix(old[at], "\n") != strings.TrimSuffix(line.Line, "\n"):
			return fmt.Sprintf("at line %d the patch expects %q, and there is %q", at+1, strings.TrimSpace(line.Line), strings.TrimSpace(old[at]))
		}
		at++
	}
	return ""
}

func splitLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, line)
	}
	return lines
}

// Origin returns the line of the patch that added a line of After, both from 1,
// or 0 if no line did.
func (s *Source) Origin(line int) int {
	if line < 1 || line > len(s.origin) {
		return 0
	}
	return s.origin[line-1]
}
