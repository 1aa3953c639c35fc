package docs

import (
	"cmp"
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// functionLinesMax is the longest that a function may be, in lines from its func
// to its closing brace: what a reader can see at once. Tests are exempt, for
// their tables.
const functionLinesMax = 70

// longFunctionsAllowed names the functions that may be longer, as
// "directory.Function". It is empty and should stay so.
var longFunctionsAllowed = []string{}

// topLevel lists the names that may stand beside go.mod. What .gitignore names
// at the top level is passed over.
var topLevel = []string{
	".ci", ".git", ".gitattributes", ".gitignore",
	"CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "go.mod", "go.sum",
	"checkers", "cmd", "corpus", "docs", "fuzz", "impl", "spec",
}

// banned lists the words that no source line may contain: work that was put off,
// and talk of the circumstances in which a line was written. This file, which has
// to spell them, is the only exception.
var banned = []string{"TODO", "FIXME", "XXX", "this session", "in this sandbox"}

const bannedExcept = "docs/tidy_test.go"

// houseRules are the rules that every file of the module is held to.
var houseRules = []struct {
	name string
	rule rule
}{
	{"functions are short", longFunctions},
	{"exported identifiers are documented", undocumented},
	{"packages are introduced", unintroduced},
	{"the top level is fixed", strayTopLevel},
	{"a document has one title", wrongTitles},
	{"links lead somewhere", brokenLinks},
	{"no banned words", bannedWords},
	{"dependencies are explained", unexplainedDependencies},
	{"the guide quotes its example", inventedCode},
}

func TestTidy(t *testing.T) {
	for _, r := range houseRules {
		t.Run(r.name, func(t *testing.T) {
			for _, complaint := range r.rule(thisModule(t)) {
				t.Error(complaint)
			}
		})
	}
}

// longFunctions is the rule that no function, literals included, has more than
// functionLinesMax lines.
func longFunctions(m *module) []string {
	var complaints []string
	check := func(node ast.Node, name string) {
		lines := m.fset.Position(node.End()).Line - m.fset.Position(node.Pos()).Line + 1
		if lines > functionLinesMax && !slices.Contains(longFunctionsAllowed, name) {
			complaints = append(complaints, fmt.Sprintf("%s: %s has %d lines, the limit is %d",
				m.at(node), name, lines, functionLinesMax))
		}
	}
	for _, f := range m.goFiles {
		if f.isTest() {
			continue
		}
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.FuncDecl:
				check(n, f.dir()+"."+n.Name.Name)
			case *ast.FuncLit:
				check(n, f.dir()+".func literal")
			}
			return true
		})
	}
	return complaints
}

// undocumented is the rule that every identifier which users of a package can see
// is explained: by a comment above it, or behind it on its line. A field, a method
// of an interface or a member of a group may instead be named in the comment of
// what encloses it, a field also in the comment of a field above it.
func undocumented(m *module) []string {
	var complaints []string
	for _, f := range m.goFiles {
		if f.isTest() {
			continue
		}
		for _, name := range undocumentedIn(f.syntax) {
			complaints = append(complaints, fmt.Sprintf("%s: exported %s has no doc comment", m.at(name), name.Name))
		}
	}
	return complaints
}

func undocumentedIn(file *ast.File) []*ast.Ident {
	var found []*ast.Ident
	check := func(names []*ast.Ident, enclosing *ast.CommentGroup, own ...*ast.CommentGroup) {
		for _, name := range names {
			if name.IsExported() && !slices.ContainsFunc(own, says) && !mentions(enclosing, name.Name) {
				found = append(found, name)
			}
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if ast.IsExported(receiver(d)) {
				check([]*ast.Ident{d.Name}, nil, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				checkSpec(d, spec, check)
			}
		}
	}
	return found
}

// checkSpec hands the names that one specification declares to check, together
// with the comment of what encloses them and their own.
func checkSpec(decl *ast.GenDecl, spec ast.Spec, check func(names []*ast.Ident, enclosing *ast.CommentGroup, own ...*ast.CommentGroup)) {
	var alone *ast.CommentGroup // a declaration without parentheses carries its only member's comment
	if !decl.Lparen.IsValid() {
		alone = decl.Doc
	}
	switch s := spec.(type) {
	case *ast.ValueSpec:
		check(s.Names, decl.Doc, alone, s.Doc, s.Comment)
	case *ast.TypeSpec:
		check([]*ast.Ident{s.Name}, decl.Doc, alone, s.Doc, s.Comment)
		if !s.Name.IsExported() {
			return
		}
		enclosing := cmp.Or(alone, s.Doc)
		var above *ast.CommentGroup // the latest field's comment, which may speak of its neighbours too
		ast.Inspect(s.Type, func(node ast.Node) bool {
			if field, ok := node.(*ast.Field); ok {
				above = cmp.Or(field.Doc, above)
				check(field.Names, joined(enclosing, above), field.Doc, field.Comment)
			}
			return true
		})
	}
}

// joined is one comment made of several, of which some may be missing.
func joined(comments ...*ast.CommentGroup) *ast.CommentGroup {
	all := &ast.CommentGroup{}
	for _, c := range comments {
		if c != nil {
			all.List = append(all.List, c.List...)
		}
	}
	return all
}

// says tells a comment from none, and from one that holds only directives.
func says(comment *ast.CommentGroup) bool {
	return comment != nil && strings.TrimSpace(comment.Text()) != ""
}

// mentions tells whether a comment has a name among its words.
func mentions(comment *ast.CommentGroup, name string) bool {
	words := strings.FieldsFunc(comment.Text(), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return slices.Contains(words, name)
}

// receiver is the name of the type that a method belongs to; a function without
// a receiver is as visible as its own name.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	name := ""
	ast.Inspect(d.Recv.List[0].Type, func(node ast.Node) bool {
		if id, ok := node.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

// unintroduced is the rule that every package has a package comment, in a file
// that is not a test.
func unintroduced(m *module) []string {
	introduced := map[string]bool{}
	for _, f := range m.goFiles {
		introduced[f.dir()] = introduced[f.dir()] || !f.isTest() && says(f.syntax.Doc)
	}
	var complaints []string
	for dir, ok := range introduced {
		if !ok {
			complaints = append(complaints, dir+": the package has no package comment")
		}
	}
	slices.Sort(complaints)
	return complaints
}

// strayTopLevel is the rule that only the names in topLevel stand beside go.mod.
func strayTopLevel(m *module) []string {
	entries, err := fs.ReadDir(m.fsys, ".")
	if err != nil {
		return []string{err.Error()}
	}
	var complaints []string
	for _, entry := range entries {
		if name := entry.Name(); !slices.Contains(topLevel, name) && !ignored(m, name) {
			complaints = append(complaints, name+": not a name for the top level")
		}
	}
	return complaints
}

func ignored(m *module, name string) bool {
	return slices.ContainsFunc(m.lines(".gitignore"), func(pattern string) bool {
		ok, err := path.Match(strings.Trim(pattern, "/"), name)
		return err == nil && ok
	})
}

// bannedWords is the rule that no line of what people write and read, which is
// code, documents and scripts but not data, holds a banned word.
func bannedWords(m *module) []string {
	var complaints []string
	for _, name := range m.paths {
		written := slices.Contains([]string{".go", ".md", ".sh"}, path.Ext(name)) ||
			slices.Contains([]string{"Makefile", ".ci/run"}, name)
		if !written || name == bannedExcept {
			continue
		}
		for i, line := range m.lines(name) {
			for _, word := range banned {
				if strings.Contains(line, word) {
					complaints = append(complaints, fmt.Sprintf("%s:%d: %q", name, i+1, word))
				}
			}
		}
	}
	return complaints
}

// functionOf is a file whose only function has the given number of lines.
func functionOf(head string, lines int) string {
	return "package p\n" + head + "{" + strings.Repeat("\n", lines-1) + "}\n"
}

func TestLongFunctionsAreReported(t *testing.T) {
	checkPlanted(t, longFunctions, []plantedCase{
		{"at the limit", map[string]string{"d/a.go": functionOf("func f() ", functionLinesMax)}, nil},
		{"over it", map[string]string{"d/a.go": functionOf("func f() ", functionLinesMax+1)}, []string{"d/a.go:2: d.f has 71 lines"}},
		{"a method", map[string]string{"d/a.go": functionOf("func (t) f() ", 100)}, []string{"d.f has 100 lines"}},
		{"a literal", map[string]string{"a.go": functionOf("var f = func() ", 71)}, []string{"func literal has 71 lines"}},
		{"a test", map[string]string{"a_test.go": functionOf("func f() ", 100)}, nil},
		{"its comment does not count", map[string]string{"a.go": functionOf(strings.Repeat("// why\n", 50)+"func f() ", 60)}, nil},
	})
}

func TestUndocumentedIdentifiersAreReported(t *testing.T) {
	file := func(text string) map[string]string { return map[string]string{"a.go": "package p\n\n" + text} }
	checkPlanted(t, undocumented, []plantedCase{
		{"function", file("func F() {}\n\n// G does.\nfunc G() {}\n\nfunc h() {}"), []string{"a.go:3: exported F "}},
		{"method", file("// T is.\ntype T struct{}\n\nfunc (t *T) M() {}\n\nfunc (T) n() {}"), []string{"exported M "}},
		{"method of a generic type", file("// T is.\ntype T[E any] struct{}\n\nfunc (t *T[E]) M() {}"), []string{"exported M "}},
		{"method that users cannot see", file("type t struct{}\n\nfunc (t) Len() int { return 0 }"), nil},
		{"type", file("type T int"), []string{"exported T "}},
		{"alone in its declaration", file("// C is.\nconst C = 1\n\n// V is.\nvar V int\n"), nil},
		{"a group's comment", file("// These are.\nconst (\n\tA = 1\n\tB = 2 // B is.\n\t// C is.\n\tC = 3\n)"), []string{"exported A "}},
		{"a group's comment that names them", file("// A and B are, unlike BC.\nconst (\n\tA = 1\n\tB = 2\n\tC = 3\n)"), []string{"exported C "}},
		{"a struct's comment that names them", file("// T is [A, B), not AB.\ntype T struct {\n\tA, B int\n\tC func(D int)\n}"), []string{"exported C ", "exported D "}},
		{"variables on one line", file("var A, B int"), []string{"exported A ", "exported B "}},
		{"only a directive", file("//go:noinline\nfunc F() {}"), []string{"exported F "}},
		{"fields", file("// T is.\ntype T struct {\n\tA int\n\tB int // B is.\n\tc int\n}"), []string{"exported A "}},
		{"a neighbour's comment that names them", file("// T is.\ntype T struct {\n\t// A and B are.\n\tA int\n\tB int\n\tC int\n}"), []string{"exported C "}},
		{"fields of a type that users cannot see", file("type t struct{ A int }"), nil},
		{"methods of an interface", file("// T is.\ntype T interface {\n\tM()\n\n\t// N does.\n\tN()\n}"), []string{"exported M "}},
		{"tests", map[string]string{"a_test.go": "package p\n\nfunc TestF() {}"}, nil},
	})
}

func TestUnintroducedPackagesAreReported(t *testing.T) {
	checkPlanted(t, unintroduced, []plantedCase{
		{"one file introduces the package", map[string]string{"d/a.go": "package d", "d/b.go": "// Package d is.\npackage d"}, nil},
		{"none does", map[string]string{"d/a.go": "package d", "e/a.go": "// Loose words.\n\npackage e"}, []string{"d: ", "e: "}},
		{"a test cannot", map[string]string{"d/a.go": "package d", "d/a_test.go": "// Package d is.\npackage d"}, []string{"d: "}},
		{"tests alone are a package too", map[string]string{"d/a_test.go": "package d"}, []string{"d: "}},
	})
}

func TestStrayTopLevelNamesAreReported(t *testing.T) {
	checkPlanted(t, strayTopLevel, []plantedCase{
		{"known names", map[string]string{"go.mod": "", "spec/a.txt": "", ".ci/run": "", "README.md": ""}, nil},
		{"unknown names", map[string]string{"notes.md": "", "pkg/a.txt": "", ".hidden": ""}, []string{".hidden", "notes.md", "pkg"}},
		{"ignored names", map[string]string{".gitignore": "# bin\n/verify\n*.prof\n/bin/\n", "verify": "", "cpu.prof": "", "bin/x": "", "verify2": ""},
			[]string{"verify2"}},
	})
}

func TestBannedWordsAreReported(t *testing.T) {
	checkPlanted(t, bannedWords, []plantedCase{
		{"in code, documents and scripts", map[string]string{
			"a.go": "package p // TODO\n", "b.md": "as seen\nin this sandbox\n", ".ci/run": "# FIXME\n", "Makefile": "# XXX\n", "c.md": "this session",
		}, []string{".ci/run:1", "Makefile:1", "a.go:1", "b.md:2", "c.md:1"}},
		{"not in data", map[string]string{"corpus/a.txt": "TODO", "go.sum": "XXX", "spec/testdata/a.md": "TODO"}, nil},
		{"the list itself", map[string]string{bannedExcept: "package docs // TODO\n", "spec/tidy_test.go": "package p // TODO\n"}, []string{"spec/tidy_test.go:1"}},
	})
}
