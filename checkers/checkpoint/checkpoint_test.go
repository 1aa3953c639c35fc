package checkpoint

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var ours = Header{Build: "b1", Question: "race one"}

// written is a checkpoint file, and its name.
func written(t *testing.T) (file string, text []byte) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "run.checkpoint")
	if err := Write(file, ours, []byte("how far it has come")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return file, text
}

func TestWrittenIsRead(t *testing.T) {
	file, _ := written(t)
	if err := Write(file, ours, []byte("further")); err != nil {
		t.Fatal(err)
	}
	payload, found, err := Read(file, ours)
	if err != nil || !found || string(payload) != "further" {
		t.Errorf("read %q, found %v, %v", payload, found, err)
	}
	if names := filesIn(t, file); len(names) != 1 {
		t.Errorf("there are %v, want only the checkpoint", names)
	}
}

// filesIn lists the directory of the file.
func filesIn(t *testing.T, file string) []os.DirEntry {
	t.Helper()
	names, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestRemove leaves nothing, not even what a run that was killed has left.
func TestRemove(t *testing.T) {
	file, text := written(t)
	if err := os.WriteFile(temporary(file), text[:10], 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Remove(file); err != nil {
			t.Error(err)
		}
		if names := filesIn(t, file); len(names) > 0 {
			t.Errorf("left behind: %v", names)
		}
	}
}

func TestNoFileIsNoError(t *testing.T) {
	payload, found, err := Read(filepath.Join(t.TempDir(), "none"), ours)
	if payload != nil || found || err != nil {
		t.Errorf("read %q, found %v, %v", payload, found, err)
	}
}

// TestRefused has every file that is not what was asked for.
func TestRefused(t *testing.T) {
	_, whole := written(t)
	flip := func(at int) []byte {
		text := bytes.Clone(whole)
		text[at] ^= 1
		return text
	}
	header := strings.Index(string(whole), "\n") + 1
	for _, c := range []struct {
		name string
		text []byte
		want Header
		err  error
	}{
		{"empty", nil, ours, ErrForeign},
		{"another file", []byte("#!/bin/sh\nexit 0\n"), ours, ErrForeign},
		{"a later format", bytes.Replace(whole, []byte("checkpoint 1"), []byte("checkpoint 2"), 1), ours, ErrForeign},
		{"first line only", whole[:header], ours, ErrDamaged},
		{"half of the checksum", whole[:header+16], ours, ErrDamaged},
		{"checksum only", whole[:header+32], ours, ErrDamaged},
		{"all but a byte", whole[:len(whole)-1], ours, ErrDamaged},
		{"a byte too many", append(bytes.Clone(whole), 0), ours, ErrDamaged},
		{"a bit of the checksum", flip(header), ours, ErrDamaged},
		{"a bit of the content", flip(len(whole) - 1), ours, ErrDamaged},
		{"another build", whole, Header{"b2", "race one"}, ErrBuild},
		{"another question", whole, Header{"b1", "race two"}, ErrQuestion},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x")
			if err := os.WriteFile(file, c.text, 0o644); err != nil {
				t.Fatal(err)
			}
			payload, found, err := Read(file, c.want)
			fault := (*FileError)(nil)
			if payload != nil || !found || !errors.Is(err, c.err) || !errors.As(err, &fault) || fault.File != file {
				t.Errorf("read %q, found %v, %v", payload, found, err)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a line: %v", err)
			}
		})
	}
}

// TestEveryPrefixIsRefused: wherever a file is cut off, it is noticed.
func TestEveryPrefixIsRefused(t *testing.T) {
	_, whole := written(t)
	for n := range whole {
		if payload, err := parse(whole[:n], ours); err == nil {
			t.Fatalf("the first %d bytes give %q", n, payload)
		}
	}
}

func TestWriteFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nowhere", "x")
	fault := (*FileError)(nil)
	if err := Write(file, ours, nil); !errors.As(err, &fault) {
		t.Errorf("got %v", err)
	}
	directory := filepath.Join(t.TempDir(), "directory")
	if err := os.Mkdir(directory, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(directory, ours, nil); !errors.As(err, &fault) {
		t.Errorf("got %v", err)
	}
	if names := filesIn(t, directory); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

func TestBuild(t *testing.T) {
	first, err := Build()
	if again, _ := Build(); err != nil || len(first) != 64 || again != first {
		t.Errorf("%q, then %q, %v", first, again, err)
	}
}
