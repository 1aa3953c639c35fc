package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"benign/checkers/explore"
	"benign/checkers/patch"
	"benign/checkers/review"
	"benign/checkers/verdict"
)

// maxPatchBytes bounds a patch file.
const maxPatchBytes = 4 << 20

// patchCommand compares the code with and without a patch.
type patchCommand struct {
	comparing
	File  string   `arg:"" placeholder:"FILE" help:"A unified diff against the reference implementations, as from git diff; - stands for the standard input."`
	Race  []string `placeholder:"NAME" help:"Ask this race, or one of its scenarios as race/scenario, and no other. Repeat it for several."`
	All   bool     `help:"Compare the scenarios too that run nothing of what the patch changes."`
	JSON  bool     `name:"json" help:"Print the answer as JSON."`
	Trace string   `placeholder:"FILE" help:"Write the shortest harmful execution to FILE, for verify replay --patch."`

	AllSteps bool `help:"Draw every step of an execution, also those on memory that no other task touches."`
}

// comparing is the part of the command line that says how two builds are
// compared.
type comparing struct {
	Model         []string      `placeholder:"NAME" help:"Memory model: ${models}. Repeat it for several. Without it: ${defaults}."`
	Arch          *int          `placeholder:"BITS" help:"The machine's words have 32 or 64 bits. Without it: 64, and 32 too where a scenario shares words of 64 bits."`
	MaxExecutions int           `default:"${executions}" placeholder:"N" help:"Give up on a form after N executions; the answer is UNKNOWN then, unless harm was found (${default})."`
	Limit         time.Duration `default:"10m" placeholder:"TIME" help:"Give up on a form after this time (${default}); a process that gives no answer for much longer is ended."`
	Quiet         bool          `help:"Show no progress, even on a terminal."`
}

// Validate refuses bounds that allow nothing.
func (c *comparing) Validate() error {
	switch {
	case c.Arch != nil && *c.Arch != explore.Arch32 && *c.Arch != explore.Arch64:
		return fmt.Errorf("--arch %d: want %d or %d", *c.Arch, explore.Arch32, explore.Arch64)
	case c.MaxExecutions < 1:
		return fmt.Errorf("--max-executions %d: want at least 1", c.MaxExecutions)
	case c.Limit <= 0:
		return fmt.Errorf("--limit %v: want a time", c.Limit)
	}
	return nil
}

// module is the path of the project's module, and served the command that other
// builds are asked with.
const module = "benign"

// tree is the checkout around the working directory.
func tree() (review.Tree, error) {
	root, err := review.FindRoot(".", module)
	if err != nil {
		return review.Tree{}, usageError{err}
	}
	return review.Tree{Root: root, Module: module, Command: "./cmd/verify", Arguments: []string{"serve"}}, nil
}

// options turns the command line into what the review takes.
func (c *comparing) options() (review.Options, error) {
	names, err := models(c.Model)
	o := review.Options{Models: names, Limit: c.Limit, MaxExecutions: c.MaxExecutions}
	if c.Arch != nil {
		o.Arch = *c.Arch
	}
	return o, err
}

// interruptible returns a context that ends with Ctrl-C, so that no process and no
// directory is left behind.
func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

func (c *patchCommand) run(e *environment) (exit int, err error) {
	if err := checkTarget(c.Trace); err != nil {
		return 0, err
	}
	p, err := readPatch(e, c.File)
	if err != nil {
		return 0, err
	}
	t, err := tree()
	if err != nil {
		return 0, err
	}
	o, err := c.options()
	if err != nil {
		return 0, err
	}
	o.Races, o.All, o.Cache = c.Race, c.All, cacheDirectory()
	var line *progress
	if !c.Quiet && !c.JSON {
		line = newProgress(e.stderr)
	}
	o.Progress = line.stages()
	ctx, stop := interruptible()
	defer stop()
	report, err := t.Review(ctx, p, o)
	line.clear()
	if err != nil {
		return 0, blame(ctx, err)
	}
	if c.JSON {
		err = writeJSON(e.stdout, report)
	} else {
		writeReview(e.stdout, report, c.File, c.AllSteps)
	}
	if err == nil {
		err = e.flush()
	}
	if err == nil && c.Trace != "" {
		err = saveTrace(e.stderr, c.Trace, report.Verdicts)
	}
	return exitOfClass(report.Class), err
}

// readPatch reads a patch from a file or from the standard input.
func readPatch(e *environment, file string) (*patch.Patch, error) {
	name, text, err := readInput(e, file, maxPatchBytes, "a patch")
	if err != nil {
		return nil, usageError{err}
	}
	p, err := patch.Parse(name, string(text))
	if err != nil {
		return nil, usageError{err}
	}
	return p, nil
}

// cacheDirectory is where answers about unpatched code are kept, or "".
func cacheDirectory() string {
	directory, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(directory, module)
}

// blame tells errors of whoever asks from others.
func blame(ctx context.Context, err error) error {
	unfit, broken, misused := (*patch.ApplyError)(nil), (*review.CompileError)(nil), (*review.MisuseError)(nil)
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case errors.As(err, &unfit), errors.As(err, &broken), errors.As(err, &misused):
		return usageError{err}
	}
	return err
}

// readInput reads a file, or the standard input if it is named -, up to a size,
// and returns the name that errors know it by.
func readInput(e *environment, file string, most int64, what string) (name string, text []byte, err error) {
	name, r := "standard input", e.stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", nil, err
		}
		defer f.Close()
		name, r = file, f
	}
	text, err = io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s: larger than %s can be (%d bytes)", name, what, most)
	}
	return name, text, err
}

// stages returns what a review calls with news, or nil.
func (p *progress) stages() func(string, verdict.Progress) {
	if p == nil {
		return nil
	}
	news := p.callback()
	return func(stage string, n verdict.Progress) {
		if n.Race != "" {
			news(n)
			return
		}
		p.say(stage)
	}
}

// serveCommand answers the questions of another build of verify.
type serveCommand struct{}

func (*serveCommand) run(e *environment) (exit int, err error) {
	return exitHarmless, review.Serve(e.races, e.stdin, e.stdout, e.flush)
}

// touchedSources is how many functions a report names before it counts.
const touchedSources = 8

// listSome joins the first few of a list.
func listSome(list []string, most int) string {
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}
