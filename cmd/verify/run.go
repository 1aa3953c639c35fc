package main

import (
	"bufio"
	_ "embed" // for the text of the help
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"benign/checkers/explore"
	"benign/checkers/memmodel"
	"benign/checkers/verdict"
	"benign/impl/catalogue"
	"benign/impl/scenario"
)

// What the process exits with. The package comment explains them to users.
const (
	exitHarmless = 0
	exitHarmful  = 1
	exitUsage    = 2
	exitUnknown  = 3
)

// grammar is the command line: a subcommand each.
type grammar struct {
	All     allCommand     `cmd:"" default:"withargs" help:"Answer every question of the catalogue. Without a command, this is what is done, and its flags are taken."`
	List    listCommand    `cmd:"" help:"List the races, their scenarios and the variants of each."`
	Race    raceCommand    `cmd:"" help:"Answer one question, with all evidence."`
	Replay  replayCommand  `cmd:"" help:"Run the execution in a trace file again."`
	Explain explainCommand `cmd:"" help:"Write what a maintainer asks about a race, or about the races that a patch brings: accesses, values, checks, bounds."`
	Patch   patchCommand   `cmd:"" help:"Compare the code with and without a patch, in every scenario that the patch touches."`
	Mutants mutantsCommand `cmd:"" help:"Judge the patches of the corpus: known bugs and planted faults, each with the answer that it must get."`
	Bench   benchCommand   `cmd:"" help:"Measure natively what a patch saves."`
	Serve   serveCommand   `cmd:"" hidden:"" help:"Answer the questions of another build."`
}

// subcommand is what each of them has to do: to write its answer and to return
// what the process exits with. An error means that there is no answer.
type subcommand interface {
	run(e *environment) (exit int, err error)
}

// environment is all that a subcommand sees of the world.
type environment struct {
	races  []scenario.Race
	stdin  io.Reader
	stdout *bufio.Writer
	stderr io.Writer
}

// flush writes out what was printed so far.
func (e *environment) flush() error {
	if err := e.stdout.Flush(); err != nil {
		return misuse("write the answer: %w", err)
	}
	return nil
}

// usageError is an error that another command line, input or output would
// avoid.
type usageError struct{ error }

// Unwrap lets errors.As see the reason.
func (e usageError) Unwrap() error { return e.error }

func misuse(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run is the whole command; it returns what the process exits with.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return runOn(catalogue.All(), args, stdin, stdout, stderr)
}

// runOn is run with another catalogue.
func runOn(races []scenario.Race, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	e := &environment{races: races, stdin: stdin, stdout: bufio.NewWriter(stdout), stderr: stderr}
	exit, err := dispatch(e, args)
	if flushed := e.flush(); err == nil {
		err = flushed
	}
	if err == nil {
		return exit
	}
	fmt.Fprintf(stderr, "verify: %s\n", oneLine(err.Error()))
	if usage := (usageError{}); errors.As(err, &usage) {
		return exitUsage
	}
	return exitUnknown
}

// dispatch parses the command line and runs the subcommand that it names.
func dispatch(e *environment, args []string) (exit int, err error) {
	helped := false
	parser, err := kong.New(&grammar{},
		kong.Name("verify"),
		kong.Description(manual()),
		kong.ConfigureHelp(kong.HelpOptions{NoAppDescFormat: true, Compact: true, FlagsLast: true}),
		kong.Writers(e.stdout, e.stderr),
		kong.Exit(func(int) { helped = true }),
		kong.Vars{
			"models":      strings.Join(memmodel.Names(), ", "),
			"defaults":    strings.Join(verdict.DefaultModels(), ", "),
			"executions":  strconv.Itoa(explore.DefaultMaxExecutions),
			"strategies":  strings.Join(explore.StrategyNames(), ", "),
			"preemptions": strconv.Itoa(explore.DefaultPreemptions),
			"samples":     strconv.Itoa(explore.DefaultSamples),
			"depth":       strconv.Itoa(defaultDepth),
			"seed":        strconv.Itoa(defaultSeed),
			"processors":  strconv.Itoa(runtime.NumCPU()),
		})
	if err != nil {
		return 0, err
	}
	if err := checkCommand(parser, args); err != nil {
		return 0, err
	}
	parsed, err := parser.Parse(args)
	if helped {
		return exitHarmless, nil
	}
	if err != nil {
		return 0, misuse("%w (verify --help explains the command)", err)
	}
	return parsed.Selected().Target.Addr().Interface().(subcommand).run(e)
}

// checkCommand explains a first word that is no command, which would otherwise
// be taken for an argument of the default one.
func checkCommand(parser *kong.Kong, args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return nil
	}
	var names []string
	for _, command := range parser.Model.Children {
		if command.Hidden && command.Name != args[0] {
			continue // it is for processes
		}
		names = append(names, command.Name)
	}
	return known("command", args[0], names)
}

//go:embed doc.go
var source string

// manual is the package comment as plain text.
func manual() string {
	comment, _, _ := strings.Cut(source, "\npackage main")
	var lines []string
	for line := range strings.Lines(comment) {
		line = strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "//")
		line = strings.TrimPrefix(strings.TrimPrefix(line, " "), "# ")
		lines = append(lines, strings.ReplaceAll(line, "\t", "    "))
	}
	return strings.Join(lines, "\n")
}
