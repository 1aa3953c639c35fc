package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// module is what the rules look at: every file of a Go module, the Go ones parsed.
type module struct {
	fsys    fs.FS
	fset    *token.FileSet
	paths   []string // every file, slash-separated and relative to the module root, sorted
	goFiles []goFile // in the order of paths
}

// goFile is one parsed Go file.
type goFile struct {
	path   string
	syntax *ast.File
}

// dir is the directory of the file, which is its package's path below the module path.
func (f goFile) dir() string { return path.Dir(f.path) }

// isTest says whether the file is compiled only into tests.
func (f goFile) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// loadModule reads and parses all of a module. Like the go command it passes over
// testdata and hidden directories; .ci is read because the rules apply to it too.
func loadModule(fsys fs.FS) (*module, error) {
	m := &module{fsys: fsys, fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && passedOver(name):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		m.paths = append(m.paths, name)
		if path.Ext(name) != ".go" {
			return nil
		}
		return m.parse(name)
	})
	return m, err
}

func passedOver(dir string) bool {
	base := path.Base(dir)
	hidden := strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")
	return base == "testdata" || hidden && dir != "." && dir != ".ci"
}

func (m *module) parse(name string) error {
	source, err := fs.ReadFile(m.fsys, name)
	if err != nil {
		return err
	}
	syntax, err := parser.ParseFile(m.fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	m.goFiles = append(m.goFiles, goFile{path: name, syntax: syntax})
	return nil
}

// at renders where a node stands, as file:line.
func (m *module) at(node ast.Node) string {
	p := m.fset.Position(node.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// lines returns the lines of a file, nil for one that cannot be read.
func (m *module) lines(name string) []string {
	text, err := fs.ReadFile(m.fsys, name)
	if err != nil {
		return nil
	}
	return strings.Split(string(text), "\n")
}

var loadOnce = sync.OnceValues(func() (*module, error) { return loadModule(os.DirFS("..")) })

// thisModule is the module that this package belongs to.
func thisModule(t *testing.T) *module {
	t.Helper()
	m, err := loadOnce()
	if err != nil {
		t.Fatalf("read the module: %v", err)
	}
	if len(m.goFiles) == 0 || m.lines("go.mod") == nil {
		t.Fatal("read the module: the parent directory holds no Go module")
	}
	return m
}

// planted is a made-up module with the given files.
func planted(t *testing.T, files map[string]string) *module {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	m, err := loadModule(fsys)
	if err != nil {
		t.Fatalf("read the planted module: %v", err)
	}
	return m
}

// rule is one thing that holds for every module of ours: it returns a line for
// each place where it does not.
type rule func(m *module) []string

// plantedCase is a made-up module and what a rule must say about it.
type plantedCase struct {
	name  string
	files map[string]string
	want  []string // one substring for each complaint, in order; empty for a module that is right
}

// checkPlanted runs a rule on made-up modules and compares its complaints.
func checkPlanted(t *testing.T, r rule, cases []plantedCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := r(planted(t, c.files))
			if len(got) != len(c.want) {
				t.Fatalf("got %d complaints %q, want %d like %q", len(got), got, len(c.want), c.want)
			}
			for i := range got {
				if !strings.Contains(got[i], c.want[i]) {
					t.Errorf("complaint %d is %q, want it to contain %q", i, got[i], c.want[i])
				}
			}
		})
	}
}
