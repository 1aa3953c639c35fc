package review

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"benign/checkers/patch"

	"golang.org/x/tools/cover"
)

// ran is which functions something runs.
type ran struct {
	functions map[function]bool
	packages  map[string]bool // directories with such a function, relative to the root
}

// function is a top-level declaration of a file: a function or method by its
// name, as package patch names it.
type function struct{ path, name string }

func newRan() *ran { return &ran{map[function]bool{}, map[string]bool{}} }

// touches lists the functions of a patch that are run. A change outside of
// functions counts as run with anything of its package.
func (c *ran) touches(sources []patch.Source) []string {
	var run []string
	for i := range sources {
		s := &sources[i]
		for _, name := range s.Declarations() {
			switch directory := path.Dir(s.Path); {
			case name == "" && c.packages[directory]:
				run = append(run, "declarations of "+s.Path)
			case name != "" && c.functions[function{s.Path, name}]:
				run = append(run, path.Base(directory)+"."+name)
			}
		}
	}
	return run
}

// list returns the functions as plain data, each with its file.
func (c *ran) list() [][2]string {
	var list [][2]string
	for f := range c.functions {
		list = append(list, [2]string{f.path, f.name})
	}
	return list
}

// add adds functions from a list.
func (c *ran) add(list [][2]string) {
	for _, f := range list {
		c.functions[function{f[0], f[1]}] = true
		c.packages[path.Dir(f[0])] = true
	}
}

// read adds what the counters in a directory have counted.
func (c *ran) read(ctx context.Context, directory string, t Tree) error {
	profile := filepath.Join(directory, "profile")
	command := exec.CommandContext(ctx, "go", "tool", "covdata", "textfmt", "-i="+directory, "-o="+profile)
	command.Dir = t.Root
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("read which functions were run: %w: %s", err, bytes.TrimSpace(output))
	}
	files, err := cover.ParseProfiles(profile)
	if err != nil {
		return fmt.Errorf("read which functions were run: %w", err)
	}
	for _, f := range files {
		name, ours := strings.CutPrefix(f.FileName, t.Module+"/")
		if !ours {
			continue
		}
		text, err := os.ReadFile(filepath.Join(t.Root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		functions, err := patch.Functions(text)
		if err != nil {
			return err
		}
		c.count(name, f.Blocks, functions)
	}
	return nil
}

// count adds the functions of a file of which a block was run.
func (c *ran) count(name string, blocks []cover.ProfileBlock, functions []patch.Function) {
	for _, block := range blocks {
		if block.Count == 0 {
			continue
		}
		for _, f := range functions {
			if f.First <= block.StartLine && block.StartLine <= f.Last {
				c.add([][2]string{{name, f.Name}})
			}
		}
	}
}
