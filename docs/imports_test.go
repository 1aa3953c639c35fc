package docs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// modulePath is the path under which our own packages are imported.
const modulePath = "benign"

// Trees name packages in the tables below: a directory stands for itself and
// everything under it, and * stands for any one name.
//
// The tables are a statement of policy. When a test fails because of them, the
// import is wrong until somebody argues, in review, that the policy is.

// layers says which of our packages may import which. A package belongs to the
// tree of the last row that it fits, and one that fits none may not exist. Within
// a tree everything may import everything; every other arrow stands in a row.
var layers = []struct {
	tree    string
	imports []string
}{
	// What must hold depends on nothing that is judged by it.
	{"spec", nil},

	// The accused: mechanisms, which know the machine, the nouns, and what is expected of them.
	{"impl/*", []string{"impl/kernel", "impl/scenario", "spec"}},
	{"impl/kernel", nil},
	{"impl/scenario", []string{"impl/kernel", "spec"}},
	{"impl/fsync", []string{"impl/extentmap", "impl/kernel", "impl/scenario", "spec"}},
	{"impl/evict", []string{"impl/extentmap", "impl/kernel", "impl/scenario", "impl/transaction", "spec"}},
	{"impl/shrinker", []string{"impl/evict", "impl/extentmap", "impl/kernel", "impl/reclaim", "impl/scenario", "spec"}},
	{"impl/catalogue", []string{"impl/*", "spec"}},

	// The judges never import a mechanism, not even in a test. The package at the
	// top is what their users see; below it, each leans on few others.
	{"checkers", []string{"checkers/explore", "checkers/leak", "checkers/verdict", "impl/kernel", "impl/scenario", "spec"}},
	{"checkers/*", []string{"impl/kernel", "impl/scenario", "spec"}},
	{"checkers/memmodel", []string{"checkers/graph", "impl/kernel", "impl/scenario", "spec"}},
	{"checkers/race", []string{"checkers/graph", "impl/kernel", "impl/scenario", "spec"}},
	{"checkers/explore", []string{"checkers/graph", "checkers/leak", "checkers/memmodel", "checkers/race",
		"impl/kernel", "impl/scenario", "spec"}},
	{"checkers/progress", []string{"checkers/explore", "impl/kernel", "impl/scenario", "spec"}},
	{"checkers/verdict", []string{"checkers/checkpoint", "checkers/explore", "checkers/graph", "checkers/linear", "checkers/memmodel",
		"checkers/progress", "checkers/shrink", "impl/kernel", "impl/scenario", "spec"}},
	{"checkers/explain", []string{"checkers/explore", "checkers/graph", "checkers/race", "impl/kernel", "impl/scenario", "spec"}},

	{"checkers/review", []string{"checkers/checkpoint", "checkers/explain", "checkers/explore", "checkers/patch", "checkers/verdict",
		"impl/kernel", "impl/scenario", "spec"}},

	// Invention needs the judges and the accused.
	{"fuzz", []string{"checkers", "impl/*", "spec"}},

	// The command reaches mechanisms by way of the catalogue, but for those whose
	// experiments it measures.
	{"cmd/verify", []string{"fuzz", "checkers", "impl/catalogue", "impl/kernel", "impl/scenario", "impl/inhibit", "impl/shrinker", "spec"}},

	// The documents are held against everything, and nothing depends on them.
	{"docs", []string{"fuzz", "checkers", "impl/*", "spec"}},
}

// upward says what the tests of a tree may import beyond that: a judge is tried on
// whole programs, which a later one runs.
var upward = []struct {
	tree    string
	imports []string
}{
	{"checkers/*", []string{"checkers/explore", "checkers/graph", "checkers/memmodel"}},
}

// everywhere is the tree of all packages.
const everywhere = "*"

// outside says who may import each module that is not ours; docs/dependencies.md
// says what each is for. What has no row may not be imported at all.
var outside = []struct {
	module string
	code   []string // trees that may import it
	tests  []string // trees whose tests may import it
}{
	{"github.com/anishathalye/porcupine", []string{"checkers/linear"}, []string{everywhere}},
	{"go.uber.org/goleak", []string{"checkers/leak"}, []string{everywhere}},
	{"pgregory.net/rapid", []string{"fuzz/gen"}, []string{everywhere}},
	{"github.com/alecthomas/kong", []string{"cmd/verify"}, []string{"cmd/verify"}},
	{"github.com/schollz/progressbar/v3", []string{"cmd/verify"}, []string{"cmd/verify"}},
	{"github.com/rogpeppe/go-internal", nil, []string{"cmd/verify"}},
	{"github.com/bluekeyes/go-gitdiff", []string{"checkers/patch"}, []string{"checkers/patch"}},
	{"golang.org/x/tools", []string{"checkers/review"}, []string{"checkers/review"}},
}

func TestImportsFlowOneWay(t *testing.T) {
	for _, complaint := range wrongImports(thisModule(t)) {
		t.Error(complaint)
	}
}

// wrongImports is the rule that the tables are obeyed.
func wrongImports(m *module) []string {
	var complaints []string
	for _, f := range m.goFiles {
		if _, _, ok := layerOf(f.dir()); !ok {
			complaints = append(complaints, fmt.Sprintf("%s: package %s has no row in the table of layers", f.path, f.dir()))
			continue
		}
		for _, spec := range f.syntax.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				complaints = append(complaints, fmt.Sprintf("%s: import path: %v", m.at(spec), err))
				continue
			}
			if why := forbidden(f, imported); why != "" {
				complaints = append(complaints, fmt.Sprintf("%s: import of %s: %s", m.at(spec), imported, why))
			}
		}
	}
	return complaints
}

// forbidden says why a file may not import a path, or nothing if it may.
func forbidden(f goFile, imported string) string {
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case imported == modulePath:
		return "the module root is not a package"
	case first == modulePath:
		return forbiddenOurs(f, strings.TrimPrefix(imported, modulePath+"/"))
	case strings.Contains(first, "."):
		return forbiddenOutside(f, imported)
	}
	return "" // the standard library
}

func forbiddenOurs(f goFile, imported string) string {
	own, allowed, _ := layerOf(f.dir())
	for _, row := range upward {
		if f.isTest() && within(f.dir(), row.tree) {
			allowed = slices.Concat(allowed, row.imports)
		}
	}
	theirs, _, _ := layerOf(imported)
	if own == theirs || withinAny(imported, allowed) {
		return ""
	}
	return fmt.Sprintf("%s may import only itself and %v of ours", own, allowed)
}

func forbiddenOutside(f goFile, imported string) string {
	for _, row := range outside {
		if !within(imported, row.module) {
			continue
		}
		if withinAny(f.dir(), row.code) || f.isTest() && withinAny(f.dir(), row.tests) {
			return ""
		}
		return fmt.Sprintf("only %v may, and the tests of %v", row.code, row.tests)
	}
	return "the module has no row in the table of outside modules"
}

// layerOf finds the row that counts for a package, and returns the tree that the
// package belongs to, with any * filled in, and what that tree may import.
func layerOf(dir string) (own string, imports []string, ok bool) {
	for _, row := range slices.Backward(layers) {
		if within(dir, row.tree) {
			depth := strings.Count(row.tree, "/") + 1
			return strings.Join(strings.Split(dir, "/")[:depth], "/"), row.imports, true
		}
	}
	return "", nil, false
}

// within says whether a path lies in a tree.
func within(p, tree string) bool {
	names, pattern := strings.Split(p, "/"), strings.Split(tree, "/")
	if len(names) < len(pattern) {
		return false
	}
	for i, want := range pattern {
		if want != "*" && want != names[i] {
			return false
		}
	}
	return true
}

func withinAny(p string, trees []string) bool {
	return slices.ContainsFunc(trees, func(tree string) bool { return within(p, tree) })
}

// importing is a file of an unnamed package with the given imports.
func importing(paths ...string) string {
	text := "package p\n"
	for _, p := range paths {
		text += fmt.Sprintf("import _ %q\n", p)
	}
	return text
}

func TestWrongImportsOfOursAreReported(t *testing.T) {
	checkPlanted(t, wrongImports, []plantedCase{
		{"every arrow in its right direction", map[string]string{
			"spec/extentmap/model.go":    importing("fmt", "benign/spec"),
			"impl/kernel/world.go":       importing("iter"),
			"impl/scenario/scenario.go":  importing("benign/impl/kernel", "benign/spec"),
			"impl/extentmap/tree.go":     importing("benign/impl/kernel", "benign/impl/scenario", "benign/spec/extentmap"),
			"impl/evict/inode.go":        importing("benign/impl/extentmap", "benign/impl/kernel"),
			"impl/shrinker/scan.go":      importing("benign/impl/evict", "benign/impl/extentmap", "benign/impl/kernel/list"),
			"impl/catalogue/races.go":    importing("benign/impl/extentmap", "benign/impl/shrinker"),
			"checkers/checkers.go":       importing("benign/checkers/explore", "benign/checkers/verdict", "benign/impl/scenario"),
			"checkers/race/detector.go":  importing("benign/checkers/graph", "benign/impl/kernel"),
			"checkers/verdict/judge.go":  importing("benign/checkers/explore", "benign/checkers/linear", "benign/impl/scenario"),
			"checkers/linear/linear.go":  importing("benign/impl/scenario", "benign/spec/extentmap"),
			"checkers/race/x_test.go":    importing("benign/checkers/explore", "benign/checkers/memmodel"),
			"fuzz/gen/gen.go":            importing("benign/checkers", "benign/impl/catalogue", "benign/impl/evict"),
			"cmd/verify/main.go":         importing("benign/fuzz", "benign/checkers/explore", "benign/impl/catalogue"),
			"cmd/verify/bench.go":        importing("benign/impl/shrinker"),
			"impl/extentmap/x_test.go":   importing("benign/impl/extentmap", "testing"),
			"docs/documents_test.go":     importing("benign/checkers/verdict", "benign/impl/catalogue"),
			"checkers/testdata/wrong.go": importing("benign/impl/extentmap"),
		}, nil},
		{"a spec looks at an implementation", map[string]string{
			"spec/model.go": importing("benign/impl/kernel"),
		}, []string{"spec/model.go:2: import of benign/impl/kernel"}},
		{"the machine looks up", map[string]string{
			"impl/kernel/world.go": importing("benign/impl/scenario", "benign/spec"),
		}, []string{"benign/impl/scenario", "benign/spec"}},
		{"a mechanism calls its judge, even in a test", map[string]string{
			"impl/evict/evict.go":      importing("benign/checkers/verdict"),
			"impl/evict/evict_test.go": importing("benign/checkers"),
		}, []string{"evict.go:2", "evict_test.go:2"}},
		{"a mechanism leans on another", map[string]string{
			"impl/extentmap/tree.go": importing("benign/impl/evict", "benign/impl/shrinker"),
			"impl/evict/evict.go":    importing("benign/impl/shrinker"),
			"impl/dio/write.go":      importing("benign/impl/extentmap"),
			"impl/shrinker/scan.go":  importing("benign/impl/dio"),
		}, []string{
			"impl/dio may import only itself", "impl/evict may import only itself",
			"tree.go:2: import of benign/impl/evict", "tree.go:3: import of benign/impl/shrinker",
			"impl/shrinker may import only itself",
		}},
		{"a mechanism reads the catalogue", map[string]string{
			"impl/evict/evict.go": importing("benign/impl/catalogue"),
		}, []string{"benign/impl/catalogue"}},
		{"a judge knows the accused", map[string]string{
			"checkers/progress/debt.go":     importing("benign/impl/shrinker"),
			"checkers/checkers.go":          importing("benign/impl/catalogue"),
			"checkers/leak/objects_test.go": importing("benign/impl/extentmap"),
			"checkers/verdict/ask_test.go":  importing("benign/impl/catalogue"),
		}, []string{
			"checkers.go:2: import of benign/impl/catalogue", "benign/impl/extentmap", "benign/impl/shrinker",
			"ask_test.go:2: import of benign/impl/catalogue",
		}},
		{"a judge leans on a later one", map[string]string{
			"checkers/graph/graph.go":       importing("benign/checkers/explore"),
			"checkers/race/detector.go":     importing("benign/checkers/memmodel"),
			"checkers/linear/linear.go":     importing("benign/checkers/verdict"),
			"checkers/memmodel/relation.go": importing("benign/checkers/explore"),
			"checkers/explore/explore.go":   importing("benign/checkers/progress"),
			"checkers/verdict/x_test.go":    importing("benign/checkers"),
			"checkers/linear/x_test.go":     importing("benign/checkers/verdict"),
			"checkers/progress/updates.go":  importing("benign/checkers/leak"),
		}, []string{
			"explore.go:2: import of benign/checkers/progress", "graph.go:2: import of benign/checkers/explore",
			"linear.go:2: import of benign/checkers/verdict", "linear/x_test.go:2: import of benign/checkers/verdict",
			"relation.go:2: import of benign/checkers/explore", "updates.go:2: import of benign/checkers/leak",
			"detector.go:2: import of benign/checkers/memmodel", "x_test.go:2: import of benign/checkers",
		}},
		{"the judges' front looks behind them", map[string]string{
			"checkers/checkers.go": importing("benign/checkers/graph"),
		}, []string{"benign/checkers/graph"}},
		{"a judge asks for inventions", map[string]string{
			"checkers/explore/random.go": importing("benign/fuzz/gen"),
		}, []string{"benign/fuzz/gen"}},
		{"fuzzing looks at the command", map[string]string{
			"fuzz/campaign.go": importing("benign/cmd/verify"),
		}, []string{"benign/cmd/verify"}},
		{"the command goes past the catalogue", map[string]string{
			"cmd/verify/main.go":  importing("benign/impl/extentmap"),
			"cmd/verify/bench.go": importing("benign/impl/evict"),
		}, []string{"benign/impl/evict", "benign/impl/extentmap"}},
		{"something depends on the documents", map[string]string{
			"cmd/verify/help.go": importing("benign/docs"),
		}, []string{"benign/docs"}},
		{"packages that the layout does not know", map[string]string{
			"main.go":           importing(),
			"cmd/other/main.go": importing("fmt"),
			"impl/loose.go":     importing(),
			"spec/model.go":     importing("benign"),
		}, []string{
			"package cmd/other has no row", "package impl has no row",
			"package . has no row", "the module root is not a package",
		}},
		{"a name that only begins like a tree", map[string]string{
			"spec/model.go":       importing("benign/specimen"),
			"checkers2/verify.go": importing(),
		}, []string{"package checkers2 has no row", "benign/specimen"}},
	})
}

func TestWrongImportsOfOutsideModulesAreReported(t *testing.T) {
	checkPlanted(t, wrongImports, []plantedCase{
		{"owners", map[string]string{
			"checkers/linear/linear.go": importing("github.com/anishathalye/porcupine"),
			"checkers/leak/leak.go":     importing("go.uber.org/goleak"),
			"fuzz/gen/gen.go":           importing("pgregory.net/rapid"),
			"cmd/verify/main.go":        importing("github.com/alecthomas/kong", "github.com/schollz/progressbar/v3"),
		}, nil},
		{"tests", map[string]string{
			"spec/model_test.go":         importing("pgregory.net/rapid", "github.com/anishathalye/porcupine"),
			"impl/kernel/main_test.go":   importing("go.uber.org/goleak"),
			"cmd/verify/scripts_test.go": importing("github.com/rogpeppe/go-internal/testscript"),
		}, nil},
		{"a second owner of each", map[string]string{
			"checkers/explore/a.go": importing("github.com/anishathalye/porcupine"),
			"checkers/explore/b.go": importing("go.uber.org/goleak"),
			"fuzz/campaign.go":      importing("pgregory.net/rapid"),
			"fuzz/flags.go":         importing("github.com/alecthomas/kong"),
			"fuzz/progress_test.go": importing("github.com/schollz/progressbar/v3"),
		}, []string{"porcupine", "goleak", "rapid", "kong", "progressbar"}},
		{"scripts outside the tests of the command", map[string]string{
			"cmd/verify/script.go":   importing("github.com/rogpeppe/go-internal/testscript"),
			"corpus_test/x_test.go":  importing(),
			"fuzz/gen/files_test.go": importing("github.com/rogpeppe/go-internal/txtar"),
		}, []string{"go-internal/testscript", "no row in the table of layers", "go-internal/txtar"}},
		{"a module that nobody has agreed to", map[string]string{
			"spec/model_test.go": importing("github.com/stretchr/testify/require"),
		}, []string{"no row in the table of outside modules"}},
	})
}
