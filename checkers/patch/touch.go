package patch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// Declarations names the top-level declarations of a source that the patch
// touches: those of the text before that lines are removed from, and those of the
// text after that lines are added to. A method is "(T).name" or "(*T).name", as the
// receiver is written, without type parameters. What is no function, such as a
// type or a variable, is "", and imports are nothing: what uses them is touched too.
// A text that cannot be parsed is "", and the compiler will say why.
func (s *Source) Declarations() []string {
	names := append(enclosing(s.Before, s.removed), enclosing(s.After, s.added)...)
	slices.Sort(names)
	return slices.Compact(names)
}

// enclosing names the declarations that the lines are in. Comments and empty lines
// between declarations touch nothing.
func enclosing(text []byte, lines []span) []string {
	if text == nil {
		return nil
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
	if err != nil {
		return []string{""}
	}
	var names []string
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			continue
		}
		first, last := files.Position(d.Pos()).Line, files.Position(d.End()).Line
		if slices.ContainsFunc(lines, func(s span) bool { return s.within(first, last) }) {
			names = append(names, nameOf(d))
		}
	}
	return names
}

// nameOf is the name of a function, or "" for another declaration.
func nameOf(d ast.Decl) string {
	f, ok := d.(*ast.FuncDecl)
	if !ok {
		return ""
	}
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	return "(" + receiver(f.Recv.List[0].Type) + ")." + f.Name.Name
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return "*" + receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.ParenExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// Function is a function of a source.
type Function struct {
	// Name is as Declarations has it.
	Name string
	// First and Last are its lines, from 1.
	First, Last int
}

// Functions lists the functions of a source in order. Declarations that are no
// functions are in it too, under the name "", as they may contain some.
func Functions(text []byte) ([]Function, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var functions []Function
	for _, d := range file.Decls {
		functions = append(functions, Function{nameOf(d), files.Position(d.Pos()).Line, files.Position(d.End()).Line})
	}
	return functions, nil
}

// IsTest reports whether a file is a test, or no Go at all: nothing that runs in
// a scenario.
func IsTest(path string) bool {
	return !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go")
}
