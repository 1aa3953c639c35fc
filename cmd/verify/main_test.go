package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the golden files and what the scripts compare with")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"verify": main})
}

// TestScripts runs the command in scripts that read as its manual.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "killed": killed, "interrupted": interrupted},
		Setup:               inCheckout,
		Condition: func(name string) (bool, error) {
			if name == "patient" {
				return !testing.Short() && !underRaceDetector, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
	})
}

// inCheckout lets scripts build the sources around the test: ROOT is the checkout.
// What they keep is their own.
func inCheckout(e *testscript.Env) error {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return err
	}
	e.Setenv("ROOT", root)
	e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, "cache"))
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS", "GOTOOLCHAIN", "GOSUMDB"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			return err
		}
		e.Setenv(name, strings.TrimSpace(string(value)))
	}
	return nil
}

// exits runs a command that must exit with a code: "exits 2 verify race".
func exits(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) < 2 {
		ts.Fatalf("usage: exits code command [argument...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		ended := (*exec.ExitError)(nil)
		if !errors.As(err, &ended) {
			ts.Fatalf("%v", err)
		}
		got = ended.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// golden compares a text with a file of testdata, or rewrites the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run the test with -update to accept it. Got:\n%s\nwant:\n%s", file, got, want)
	}
}
