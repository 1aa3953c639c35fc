package review

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"benign/checkers/patch"
)

// Tree is a checkout of the project's sources.
type Tree struct {
	// Root is the directory of its go.mod, and Module the module's path.
	Root, Module string
	// Command is the package of the command that serves, relative to Root, such
	// as "./cmd/verify", and Arguments make it do so.
	Command   string
	Arguments []string
}

// ErrNoTree means that a directory is in no checkout of the project.
var ErrNoTree = errors.New("there are no sources of the project here: run this in a checkout")

// FindRoot returns the root of the checkout that a directory is in: the nearest
// directory above with a go.mod that declares the module. Otherwise the error is
// [ErrNoTree].
func FindRoot(directory, module string) (string, error) {
	directory, err := filepath.Abs(directory)
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(directory, "go.mod"))
		if err == nil && declares(text, module) {
			return directory, nil
		}
		above := filepath.Dir(directory)
		if above == directory {
			return "", ErrNoTree
		}
		directory = above
	}
}

func declares(text []byte, module string) bool {
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "module" {
			return fields[1] == module
		}
	}
	return false
}

// Apply applies a patch to the sources in memory. An error is a
// [*patch.ApplyError] if the patch does not fit.
func (t Tree) Apply(p *patch.Patch) ([]patch.Source, error) {
	return p.Apply(func(path string) ([]byte, error) {
		text, err := os.ReadFile(filepath.Join(t.Root, filepath.FromSlash(path)))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return text, err
	})
}

// CompileError says what the compiler said, with the lines of the patch.
type CompileError struct {
	// Patch is its name; empty if it is the unpatched code that does not compile.
	Patch string
	// Output is what the go command printed, a line each.
	Output string
}

// Error implements error; the first line is the whole message in brief.
func (e *CompileError) Error() string {
	if e.Patch == "" {
		return "the code does not compile without the patch: " + e.Output
	}
	return e.Patch + ": the code does not compile with the patch:\n" + e.Output
}

// Build is a way to build the command.
type Build struct {
	// Patch is what is applied, and Sources what it comes to; nil for neither.
	Patch   *patch.Patch
	Sources []patch.Source
	// Coverage counts which functions run.
	Coverage bool
}

// counted are the packages whose functions are counted. The command has to be
// among them: it writes the counters down.
const counted = "./impl/...,"

// Build builds the command in a directory and returns its file. The checkout is
// not touched: what is patched takes the place of its files for the compiler only.
// An error is a [*CompileError] if the code is at fault.
func (t Tree) Build(ctx context.Context, b Build, directory string) (file string, err error) {
	arguments := []string{"build", "-buildvcs=false"}
	if b.Coverage {
		arguments = append(arguments, "-cover", "-covermode=atomic", "-coverpkg="+counted+t.Command)
	}
	places := map[string]*patch.Source{}
	if len(b.Sources) > 0 {
		overlay, err := t.overlay(b.Sources, directory, places)
		if err != nil {
			return "", err
		}
		arguments = append(arguments, "-overlay", overlay)
	}
	file = filepath.Join(directory, "serve")
	command := exec.CommandContext(ctx, "go", append(arguments, "-o", file, t.Command)...)
	command.Dir = t.Root
	output, err := command.CombinedOutput()
	exited := (*exec.ExitError)(nil)
	switch {
	case err == nil:
		return file, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case !errors.As(err, &exited):
		return "", fmt.Errorf("build the code: %w", err)
	}
	e := &CompileError{Output: string(bytes.TrimSpace(output))}
	if b.Patch != nil {
		e.Patch = b.Patch.Name
		e.Output = translate(e.Output, t.Root, b.Patch.Name, places)
	}
	return "", e
}

// overlay writes the patched sources down, and the file that tells the compiler
// about them. It notes which file stands for which source.
func (t Tree) overlay(sources []patch.Source, directory string, places map[string]*patch.Source) (file string, err error) {
	replace := map[string]string{}
	for i := range sources {
		s := &sources[i]
		original := filepath.Join(t.Root, filepath.FromSlash(s.Path))
		if s.After == nil {
			replace[original] = "" // as if it were not there
			continue
		}
		place := filepath.Join(directory, "patched", filepath.FromSlash(s.Path))
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(place, s.After, 0o644); err != nil {
			return "", err
		}
		replace[original] = place
		places[place] = s
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file = filepath.Join(directory, "overlay.json")
	return file, os.WriteFile(file, text, 0o644)
}

var compilerPlace = regexp.MustCompile(`^(\S+\.go):(\d+)(:\d+)?:`)

// translate puts the compiler's words into terms of the patch: the place in the
// sources, and the line of the patch if it added that line.
func translate(output, root, name string, places map[string]*patch.Source) string {
	var lines []string
	for line := range strings.Lines(output) {
		line = strings.TrimSuffix(line, "\n")
		if match := compilerPlace.FindStringSubmatch(line); match != nil {
			file := match[1]
			if !filepath.IsAbs(file) {
				file = filepath.Join(root, file)
			}
			if s := places[file]; s != nil {
				number, _ := strconv.Atoi(match[2])
				place := fmt.Sprintf("%s:%s%s", s.Path, match[2], match[3])
				if origin := s.Origin(number); origin > 0 {
					place = fmt.Sprintf("%s:%d: (%s)", name, origin, place)
				}
				line = place + ":" + strings.TrimPrefix(line, match[0])
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
