package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"benign/checkers/patch"
	"benign/checkers/review"
	"benign/impl/scenario"
)

// mutantsCommand judges the patches of the corpus.
type mutantsCommand struct {
	Names  []string      `arg:"" optional:"" placeholder:"NAME" help:"Judge these patches only: by file name or label, or all of a prefix that ends in -, such as sh-."`
	Jobs   int           `default:"${processors}" placeholder:"N" help:"Judge N patches at a time (${default})."`
	Every  int           `default:"1" placeholder:"N" help:"Judge every Nth patch only."`
	Limit  time.Duration `default:"5m" placeholder:"TIME" help:"Give up on a form after this time (${default})."`
	Record string        `placeholder:"FILE" help:"Write the table and the kill matrix into FILE, between its two marks, when all are judged."`
	Quiet  bool          `help:"Show no progress, even on a terminal."`
}

// Validate refuses what judges nothing.
func (c *mutantsCommand) Validate() error {
	switch {
	case c.Jobs < 1:
		return fmt.Errorf("--jobs %d: want at least 1", c.Jobs)
	case c.Every < 1:
		return fmt.Errorf("--every %d: want at least 1", c.Every)
	case c.Limit <= 0:
		return fmt.Errorf("--limit %v: want a time", c.Limit)
	case c.Record != "" && (len(c.Names) > 0 || c.Every > 1):
		return fmt.Errorf("--record wants all patches, and you choose some")
	}
	return nil
}

// corpus is the directory of the patches, relative to the root.
const corpus = "corpus/patches"

func (c *mutantsCommand) run(e *environment) (exit int, err error) {
	t, err := tree()
	if err != nil {
		return 0, err
	}
	all, err := review.ReadCorpus(filepath.Join(t.Root, filepath.FromSlash(corpus)))
	if err != nil {
		return 0, usageError{err}
	}
	chosen, err := c.choose(all)
	if err != nil {
		return 0, err
	}
	if c.Record != "" {
		if _, _, err := marked(c.Record); err != nil {
			return 0, usageError{err} // before hours are spent
		}
	}
	names, err := models(nil)
	if err != nil {
		return 0, err
	}
	var line *progress
	if !c.Quiet {
		line = newProgress(e.stderr)
	}
	ctx, stop := interruptible()
	defer stop()
	finished := 0
	o := review.Options{Models: names, Limit: c.Limit, Workers: max(1, runtime.NumCPU()/c.Jobs), Cache: cacheDirectory()}
	judged, err := t.Mutants(ctx, chosen, c.Jobs, o, func(j *review.Judged) {
		finished++
		line.say(fmt.Sprintf("%d of %s: %s", finished, patches(len(chosen)), j.Patch.Name))
	})
	line.clear()
	if err != nil {
		return 0, blame(ctx, err)
	}
	writeMutants(e.stdout, judged)
	if c.Record != "" {
		if err := record(c.Record, judged); err != nil {
			return 0, usageError{err}
		}
	}
	if slices.ContainsFunc(judged, func(j *review.Judged) bool { return j.Wrong != "" }) {
		return exitHarmful, nil
	}
	return exitHarmless, nil
}

// choose picks the patches that are asked for.
func (c *mutantsCommand) choose(all []*patch.Patch) ([]*patch.Patch, error) {
	var chosen []*patch.Patch
	for i, p := range all {
		if i%c.Every == 0 && (len(c.Names) == 0 || slices.ContainsFunc(c.Names, func(name string) bool { return means(name, p) })) {
			chosen = append(chosen, p)
		}
	}
	for _, name := range c.Names {
		if !slices.ContainsFunc(all, func(p *patch.Patch) bool { return means(name, p) }) {
			var names []string
			for _, p := range all {
				names = append(names, p.Name)
			}
			return nil, known("patch", name, names)
		}
	}
	return chosen, nil
}

// means reports whether a name on the command line is that of the patch, one of
// its labels, or the beginning of its name.
func means(name string, p *patch.Patch) bool {
	return name == p.Name || slices.Contains(p.Header.Labels, name) || strings.HasSuffix(name, "-") && strings.HasPrefix(p.Name, name)
}

// writeMutants writes a row for each patch, the kill matrix, and the sum.
func writeMutants(w io.Writer, judged []*review.Judged) {
	rows := [][]string{{"patch", "expected", "got", "found by", "executions", "steps", ""}}
	for _, j := range judged {
		rows = append(rows, mutantRow(j))
	}
	writeTable(w, "", rows)
	fmt.Fprintln(w)
	matrix := [][]string{append([]string{"kill matrix"}, checkerNames()...)}
	for _, j := range judged {
		matrix = append(matrix, append([]string{j.Patch.Name}, killRow(j)...))
	}
	writeTable(w, "", matrix)
	fmt.Fprintf(w, "\n%s\n", sumOfMutants(judged))
}

func mutantRow(j *review.Judged) []string {
	executions, steps := "", ""
	if j.Executions > 0 {
		executions, steps = strconv.Itoa(j.Executions), strconv.Itoa(j.Steps)
	}
	by := j.By
	if by == "" {
		by = strings.Join(j.Checkers, ", ")
	}
	got := j.Class.String()
	if j.Class == 0 {
		got = "no answer"
	}
	return []string{j.Patch.Name, expectation(j.Patch), got, by, executions, steps, remark(j)}
}

// expectation is what the header says, in short.
func expectation(p *patch.Patch) string {
	h := p.Header
	switch {
	case h.Violation != "":
		return h.Violation
	case h.Equivalent != "":
		return "equivalent"
	case len(h.Cost) > 0:
		return "more " + strings.Join(h.Cost, ", ")
	}
	return h.Expect.String()
}

func remark(j *review.Judged) string {
	if j.Wrong != "" {
		return "WRONG: " + oneLine(j.Wrong)
	}
	if d := j.Deciding; d.Class == scenario.Harmful {
		return fmt.Sprintf("%s/%s, %s under %s", d.Race, d.Scenario, d.Variant, d.Model)
	}
	return ""
}

func checkerNames() []string {
	var names []string
	for _, c := range review.Checkers() {
		names = append(names, c[0])
	}
	return names
}

// killRow is the row of a patch in the kill matrix: X for what found the execution
// that is shown, x for what found others.
func killRow(j *review.Judged) []string {
	var cells []string
	for _, c := range review.Checkers() {
		switch {
		case c[0] == j.By:
			cells = append(cells, "X")
		case slices.Contains(j.Checkers, c[0]):
			cells = append(cells, "x")
		default:
			cells = append(cells, ".")
		}
	}
	return cells
}

func sumOfMutants(judged []*review.Judged) string {
	killed, equivalent, wrong, others := 0, 0, 0, 0
	for _, j := range judged {
		switch {
		case j.Wrong != "":
			wrong++
		case j.Equivalent():
			equivalent++
		case len(j.Checkers) > 0:
			killed++
		default:
			others++
		}
	}
	text := fmt.Sprintf("%s: %d of %d killed", patches(len(judged)), killed, killed+wrong)
	if equivalent > 0 {
		text += fmt.Sprintf(", %d equivalent", equivalent)
	}
	if others > 0 {
		text += fmt.Sprintf(", %d harmless as expected", others)
	}
	if wrong > 0 {
		text += fmt.Sprintf(", %d WRONG", wrong)
	}
	return text
}

// The marks between which a document has what was recorded.
const (
	recordBegin = "<!-- verify mutants: begin -->\n"
	recordEnd   = "<!-- verify mutants: end -->\n"
)

// record puts the tables into a document.
func record(file string, judged []*review.Judged) error {
	before, after, err := marked(file)
	if err != nil {
		return err
	}
	return replaceFile(file, before+recordBegin+"\n"+markdown(judged)+"\n"+recordEnd+after)
}

// marked reads what stands before and after the marks of a document.
func marked(file string) (before, after string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", "", err
	}
	before, rest, found := strings.Cut(string(text), recordBegin)
	_, after, closed := strings.Cut(rest, recordEnd)
	if !found || !closed {
		return "", "", fmt.Errorf("%s: want the marks %q and %q", file, strings.TrimSpace(recordBegin), strings.TrimSpace(recordEnd))
	}
	return before, after, nil
}

// markdown is the table and the matrix in one.
func markdown(judged []*review.Judged) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\n", sumOfMutants(judged))
	header := append([]string{"patch", "labels", "expected", "executions", "steps"}, checkerNames()...)
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat(" --- |", len(header)))
	for _, j := range judged {
		row := mutantRow(j)
		cells := []string{fmt.Sprintf("[%s](../%s/%s.patch)", j.Patch.Name, corpus, j.Patch.Name), strings.Join(j.Patch.Header.Labels, ", "), row[1], row[4], row[5]}
		for _, cell := range killRow(j) {
			cells = append(cells, strings.ReplaceAll(cell, ".", " "))
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	return b.String()
}

func patches(n int) string {
	if n == 1 {
		return "1 patch"
	}
	return fmt.Sprintf("%d patches", n)
}
