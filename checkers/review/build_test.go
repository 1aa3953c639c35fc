package review

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benign/checkers/patch"

	"golang.org/x/tools/cover"
)

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func parse(t *testing.T, text string) *patch.Patch {
	t.Helper()
	p, err := patch.Parse("test.patch", text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFindRoot(t *testing.T) {
	top := t.TempDir()
	write(t, top+"/go.mod", "// a comment\nmodule other\n")
	write(t, top+"/ours/go.mod", "module benign // ours\n\ngo 1.26\n")
	write(t, top+"/ours/impl/x/x.go", "package x\n")
	write(t, top+"/ours/impl/x/go.mod", "module nested\n")
	for directory, want := range map[string]string{"ours": "ours", "ours/impl/x": "ours", "ours/nowhere": "ours"} {
		if root, err := FindRoot(filepath.Join(top, directory), "benign"); err != nil || root != filepath.Join(top, want) {
			t.Errorf("the root above %s is %s: %v", directory, root, err)
		}
	}
	if root, err := FindRoot(top, "benign"); !errors.Is(err, ErrNoTree) {
		t.Errorf("the root is %s: %v", root, err)
	}
}

// little is a project of one command, whose answer is the exit status.
func little(t *testing.T) Tree {
	root := t.TempDir()
	write(t, root+"/go.mod", "module little\n\ngo 1.26\n")
	write(t, root+"/cmd/main.go", "package main\n\nimport \"little/impl/n\"\n\nfunc main() { println(n.N()) }\n")
	write(t, root+"/impl/n/n.go", "package n\n\n// N is a number.\nfunc N() int {\n\treturn 1\n}\n")
	write(t, root+"/impl/n/old.go", "package n\n\nfunc init() { panic(1) }\n")
	return Tree{Root: root, Module: "little", Command: "./cmd"}
}

const mending = `--- a/impl/n/n.go
+++ b/impl/n/n.go
@@ -3,4 +3,4 @@
 // N is a number.
 func N() int {
-	return 1
+	return two()
 }
--- /dev/null
+++ b/impl/n/two.go
@@ -0,0 +1,3 @@
+package n
+
+func two() int { return 2 }
--- a/impl/n/old.go
+++ /dev/null
@@ -1,3 +0,0 @@
-package n
-
-func init() { panic(1) }
`

// The patched sources are built, and the checkout stays as it is.
func TestBuild(t *testing.T) {
	tree := little(t)
	p := parse(t, mending)
	sources, err := tree.Apply(p)
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	file, err := tree.Build(t.Context(), Build{Patch: p, Sources: sources}, directory)
	if err != nil {
		t.Fatal(err)
	}
	process, err := tree.Start(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := process.Catalogue(); err == nil || !strings.Contains(err.Error(), ": 2") {
		t.Errorf("a program that prints 2 and knows no question gives %v", err)
	}
	process.Close()
	if text, err := os.ReadFile(tree.Root + "/impl/n/n.go"); err != nil || !strings.Contains(string(text), "return 1") {
		t.Errorf("the checkout has changed to %s: %v", text, err)
	}
	if _, err := tree.Start(t.Context(), directory+"/nothing"); err == nil {
		t.Error("what is not there has started")
	}
}

func TestBuildThatFails(t *testing.T) {
	tree := little(t)
	for name, c := range map[string]struct{ old, updated, want string }{
		"an added line":    {"return two()", "return three()", "test.patch:7: (impl/n/n.go:5:9): undefined: three"},
		"a line as it was": {"-	return 1\n+	return two()\n", "-	return 1\n+	x := 1\n", "test.patch:7: (impl/n/n.go:5:2): declared and not used: x"},
		"elsewhere":        {"+func two() int { return 2 }", "+func two() int { return N(] }", "test.patch:14: (impl/n/two.go:3:"},
	} {
		t.Run(name, func(t *testing.T) {
			p := parse(t, strings.Replace(mending, c.old, c.updated, 1))
			sources, err := tree.Apply(p)
			if err != nil {
				t.Fatal(err)
			}
			_, err = tree.Build(t.Context(), Build{Patch: p, Sources: sources}, t.TempDir())
			wrong := (*CompileError)(nil)
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
	write(t, tree.Root+"/impl/n/n.go", "package n\n\nfunc N() int {}\n")
	_, err := tree.Build(t.Context(), Build{}, t.TempDir())
	if wrong := (*CompileError)(nil); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "does not compile without the patch") {
		t.Errorf("the error is %v", err)
	}
}

func TestWhatAPatchTouches(t *testing.T) {
	tree := little(t)
	sources, err := tree.Apply(parse(t, mending))
	if err != nil {
		t.Fatal(err)
	}
	functions, err := patch.Functions(sources[0].Before)
	if err != nil {
		t.Fatal(err)
	}
	never := newRan()
	never.count("impl/n/n.go", []cover.ProfileBlock{{StartLine: 5, EndLine: 5}}, functions)
	if run := never.touches(sources); len(run) > 0 {
		t.Errorf("what was never run is touched: %q", run)
	}
	once := newRan()
	once.count("impl/n/n.go", []cover.ProfileBlock{{StartLine: 5, EndLine: 5, Count: 1}}, functions)
	if run := once.touches(sources); !slices.Equal(run, []string{"n.N"}) {
		t.Errorf("touches %q", run)
	}
	variable := []patch.Source{{Path: "impl/n/n.go", Before: []byte("package n\n")}}
	if run := once.touches(variable); len(run) > 0 {
		t.Errorf("no change touches %q", run)
	}
	constant := "--- a/impl/n/old.go\n+++ b/impl/n/old.go\n@@ -1,3 +1,5 @@\n package n\n \n+const limit = 1\n+\n func init() { panic(1) }\n"
	if sources, err = tree.Apply(parse(t, constant)); err != nil {
		t.Fatal(err)
	}
	if run := once.touches(sources); !slices.Equal(run, []string{"declarations of impl/n/old.go"}) {
		t.Errorf("a constant touches %q", run)
	}
}

func TestCheck(t *testing.T) {
	for file, ok := range map[string]bool{"impl/x/x.go": true, "impl/x/x_test.go": true, "docs/x.md": true, "checkers/x_test.go": true,
		"checkers/x.go": false, "spec/x/x.go": false, "cmd/verify/x.go": false} {
		p := parse(t, "--- a/"+file+"\n+++ b/"+file+"\n@@ -1 +1 @@\n-x\n+y\n")
		if err := Check(p); (err == nil) != ok {
			t.Errorf("a change of %s gives %v", file, err)
		}
	}
}
