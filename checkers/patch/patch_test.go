package patch_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benign/checkers/patch"
	"benign/impl/scenario"
)

const header = `Title: Take the lock
Id: X-1
Also: Y-2, Y-3
Mechanism: queue
Race: push/two, pop
Breaks: a push is lost
Source: planted
Expect: HARMFUL
Violation: data race
Trace: 4
Model: kernel
Arch: 32

One task pushes, and so does another one.

`

const diff = `--- a/impl/queue.go
+++ b/impl/queue.go
@@ -3,5 +3,4 @@

 func push() {
-	lock()
 	count++
 }
`

const queue = `package queue

// push adds one.
func push() {
	lock()
	count++
}

func pop() {
	lock()
	count--
}
`

func parse(t *testing.T, text string) *patch.Patch {
	t.Helper()
	p, err := patch.Parse("test.patch", text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sources reads from a map.
func sources(files map[string]string) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, nil
	}
}

func TestHeader(t *testing.T) {
	p := parse(t, header+diff)
	h := p.Header
	if h.Title != "Take the lock" || h.Mechanism != "queue" || h.Breaks != "a push is lost" || h.Source != patch.Planted ||
		h.Expect != scenario.Harmful || h.Violation != "data race" || h.Trace != 4 || h.Arch != 32 ||
		!slices.Equal(h.Labels, []string{"X-1", "Y-2", "Y-3"}) || !slices.Equal(h.Races, []string{"push/two", "pop"}) ||
		!slices.Equal(h.Models, []string{"kernel"}) {
		t.Errorf("the header is %+v", h)
	}
	if p.Description != "One task pushes, and so does another one." {
		t.Errorf("the description is %q", p.Description)
	}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
}

// What a mail program puts before a diff is no header.
func TestPatchFromAMail(t *testing.T) {
	mail := "From: somebody\nSubject: [PATCH] queue: take the lock\n\nIt is needed.\n---\n queue.go | 1 -\n 1 file changed\n\n" +
		"diff --git a/impl/queue.go b/impl/queue.go\nindex 1234567..89abcde 100644\n" + diff + "-- \n2.39.5\n"
	p := parse(t, mail)
	if p.Header.Title != "" || len(p.Files) != 1 || p.Files[0].Path() != "impl/queue.go" || !strings.Contains(p.Description, "It is needed.") {
		t.Errorf("read as %+v", p)
	}
	if err := p.Check(); err == nil {
		t.Error("a patch without a header passes for one of a corpus")
	}
}

func TestBrokenPatches(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":          {"", "no change to the text of a file"},
		"text only":        {"hello\n", "no change to the text of a file"},
		"unknown field":    {"Title: x\nColour: red\n\n" + diff, `test.patch:2:1: "Colour: red" is no field of a header`},
		"field twice":      {"Title: x\nTitle: y\n\n" + diff, "test.patch:2:1: Title is there twice"},
		"empty field":      {"Title:\n\n" + diff, "Title is empty"},
		"class":            {"Title: x\nExpect: BAD\n\n" + diff, `test.patch:2:9: class "BAD" is none of`},
		"trace":            {"Title: x\nTrace: many\n\n" + diff, `Trace is "many"; want a number of steps`},
		"machine":          {"Title: x\nArch: 16\n\n" + diff, `Arch is "16"; want 32 or 64`},
		"cost":             {"Title: x\nCost: time up\n\n" + diff, `cost "time up"; want events up or locks up`},
		"cut off":          {strings.TrimSuffix(diff, " \tcount++\n }\n"), "test.patch:"},
		"outside":          {strings.ReplaceAll(diff, "impl/queue.go", "../queue.go"), "want a path within the project"},
		"absolute":         {strings.ReplaceAll(strings.ReplaceAll(diff, "a/impl/queue.go", "/etc/queue.go"), "b/impl/queue.go", "/etc/queue.go"), "want a path within the project"},
		"renamed":          {"diff --git a/impl/a.go b/impl/b.go\nsimilarity index 100%\nrename from impl/a.go\nrename to impl/b.go\n", "want a diff without renames"},
		"a change of mode": {"diff --git a/impl/a.go b/impl/a.go\nold mode 100644\nnew mode 100755\n", "no change to the text of a file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := patch.Parse("test.patch", c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
}

// What a patch of a corpus has to say, and must not say.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct{ old, updated, want string }{
		"no title":            {"Title: Take the lock\n", "", "has no Title"},
		"no race":             {"Race: push/two, pop\n", "", "has no Race"},
		"no source":           {"Source: planted\n", "", "has no Source"},
		"no violation":        {"Violation: data race\n", "", "has no Violation"},
		"no length":           {"Trace: 4\n", "", "has no Trace"},
		"a harmless finding":  {"HARMFUL", "DEFERS", "belong to Expect: HARMFUL"},
		"harmful equivalent":  {"Trace: 4\n", "Trace: 4\nEquivalent: why not\n", "Equivalent belongs to"},
		"harmless and silent": {"Expect: HARMFUL\nViolation: data race\nTrace: 4\n", "Expect: INDISTINGUISHABLE\n", "needs Equivalent or Cost"},
		"no story":            {"One task pushes, and so does another one.\n", "", "no description"},
	} {
		t.Run(name, func(t *testing.T) {
			err := parse(t, strings.Replace(header, c.old, c.updated, 1)+diff).Check()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
}

func TestApply(t *testing.T) {
	p := parse(t, header+diff)
	for name, c := range map[string]struct{ before, want string }{
		"where it says": {queue, strings.Replace(queue, "func push() {\n\tlock()\n", "func push() {\n", 1)},
		"further down":  {"// one\n// two\n" + queue, "// one\n// two\n" + strings.Replace(queue, "func push() {\n\tlock()\n", "func push() {\n", 1)},
		"no last newline": {strings.TrimSuffix(strings.Split(queue, "func pop")[0], "\n\n"),
			strings.TrimSuffix(strings.Replace(strings.Split(queue, "func pop")[0], "\tlock()\n", "", 1), "\n\n")},
	} {
		t.Run(name, func(t *testing.T) {
			c.before = strings.Replace(c.before, "// push adds one.\n", "\n", 1)
			c.want = strings.Replace(c.want, "// push adds one.\n", "\n", 1)
			got, err := p.Apply(sources(map[string]string{"impl/queue.go": c.before}))
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 1 || string(got[0].After) != c.want {
				t.Errorf("got\n%s\nwant\n%s", got[0].After, c.want)
			}
		})
	}
}

// A hunk that fits nowhere is named, with what is there in its place.
func TestApplyError(t *testing.T) {
	p := parse(t, header+diff)
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no file":   {nil, "test.patch: does not apply: impl/queue.go: there is no such file"},
		"different": {map[string]string{"impl/queue.go": queue}, `test.patch:18:1: hunk 1 of impl/queue.go does not apply: at line 3 the patch expects "", and there is "// push adds one."`},
		"too short": {map[string]string{"impl/queue.go": "package queue\n"}, "the file has 1 lines"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := p.Apply(sources(c.files))
			unfit := (*patch.ApplyError)(nil)
			if !errors.As(err, &unfit) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
	failing := errors.New("no disk")
	if _, err := p.Apply(func(string) ([]byte, error) { return nil, failing }); !errors.Is(err, failing) {
		t.Errorf("the error is %v, want that of reading", err)
	}
}

// Two hunks of which the first one has moved, a new file, and one that goes.
const several = `--- a/impl/queue.go
+++ b/impl/queue.go
@@ -2,4 +2,6 @@
 // push adds one.
 func push() {
 	lock()
+	check()
+	check()
 	count++
@@ -9,4 +11,3 @@
 func pop() {
-	lock()
 	count--
 }
--- /dev/null
+++ b/impl/check.go
@@ -0,0 +1,3 @@
+package queue
+
+func check() {}
--- a/impl/old.go
+++ /dev/null
@@ -1,3 +0,0 @@
-package queue
-
-func old() {}
`

func TestApplySeveral(t *testing.T) {
	files := map[string]string{"impl/queue.go": queue, "impl/old.go": "package queue\n\nfunc old() {}\n"}
	got, err := parse(t, several).Apply(sources(files))
	if err != nil {
		t.Fatal(err)
	}
	want := "package queue\n\n// push adds one.\nfunc push() {\n\tlock()\n\tcheck()\n\tcheck()\n\tcount++\n}\n\nfunc pop() {\n\tcount--\n}\n"
	if string(got[0].After) != want {
		t.Errorf("got\n%s\nwant\n%s", got[0].After, want)
	}
	if string(got[1].After) != "package queue\n\nfunc check() {}\n" || got[1].Before != nil {
		t.Errorf("the new file is %q, and was %q", got[1].After, got[1].Before)
	}
	if got[2].After != nil || got[2].Before == nil {
		t.Errorf("the file that goes is %q", got[2].After)
	}
	for line, origin := range map[int]int{1: 0, 5: 0, 6: 7, 7: 8, 8: 0, 99: 0, 0: 0} {
		if got := got[0].Origin(line); got != origin {
			t.Errorf("line %d comes from line %d of the patch, want %d", line, got, origin)
		}
	}
	for i, want := range [][]string{{"pop", "push"}, {"check"}, {"old"}} {
		if names := got[i].Declarations(); !slices.Equal(names, want) {
			t.Errorf("file %d: touches %q, want %q", i, names, want)
		}
	}
	if _, err := parse(t, several).Apply(sources(map[string]string{"impl/queue.go": queue, "impl/check.go": "", "impl/old.go": files["impl/old.go"]})); err == nil ||
		!strings.Contains(err.Error(), "the patch makes the file, and it is there") {
		t.Errorf("a file that is there is made: %v", err)
	}
}

func TestDeclarations(t *testing.T) {
	const before = `package p

import "fmt"

type list[T any] struct{ n int }

func (l *list[T]) add() {
	l.n++
}

// between

var limit = 3

func (l list[T]) show() { fmt.Println(l.n) }
`
	for name, c := range map[string]struct {
		old, updated string
		want         []string
	}{
		"a method":                    {"\tl.n++\n", "\tl.n += 2\n", []string{"(*list).add"}},
		"a line less":                 {"\tl.n++\n", "", []string{"(*list).add"}},
		"a line more":                 {"\tl.n++\n", "\tl.n++\n\tl.n++\n", []string{"(*list).add"}},
		"a receiver without pointer":  {"fmt.Println(l.n)", "fmt.Println()", []string{"(list).show"}},
		"a variable":                  {"limit = 3", "limit = 4", []string{""}},
		"an import is nothing":        {"import \"fmt\"", "import \"fmt\" // for show", nil},
		"between functions":           {"// between\n", "// nothing\n", nil},
		"a new function":              {"// between\n", "// between\n\nfunc fresh() {}\n", []string{"fresh"}},
		"what cannot be parsed is ''": {"\tl.n++\n}\n", "\tl.n++\n", []string{"", "(*list).add"}},
	} {
		t.Run(name, func(t *testing.T) {
			after := strings.Replace(before, c.old, c.updated, 1)
			got, err := parse(t, unified(t, before, after)).Apply(sources(map[string]string{"impl/p.go": before}))
			if err != nil {
				t.Fatal(err)
			}
			if string(got[0].After) != after {
				t.Fatalf("the patch makes\n%s\nwant\n%s", got[0].After, after)
			}
			if names := got[0].Declarations(); !slices.Equal(names, c.want) {
				t.Errorf("touches %q, want %q", names, c.want)
			}
		})
	}
}

// unified makes a diff with one hunk and a line of context.
func unified(t *testing.T, before, after string) string {
	t.Helper()
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	a, b = a[:len(a)-1], b[:len(b)-1]
	first := 0
	for a[first] == b[first] {
		first++
	}
	last := 0
	for last < len(a)-first && last < len(b)-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	from, context := max(0, first-1), min(1, last)
	var text strings.Builder
	lines := func(mark string, list []string) {
		for _, line := range list {
			text.WriteString(mark + line)
		}
	}
	lines(" ", a[from:first])
	lines("-", a[first:len(a)-last])
	lines("+", b[first:len(b)-last])
	lines(" ", a[len(a)-last:len(a)-last+context])
	head := func(n int) int { return n - last + context - from }
	return "--- a/impl/p.go\n+++ b/impl/p.go\n@@ -" + span(from+1, head(len(a))) + " +" + span(from+1, head(len(b))) + " @@\n" + text.String()
}

func span(first, n int) string {
	return strings.Join([]string{itoa(first), itoa(n)}, ",")
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

// Every patch of the corpus fits the sources as they are, and says what it must.
func TestCorpusApplies(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := filepath.Glob(filepath.Join(root, "corpus", "patches", "*.patch"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no corpus: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := patch.Parse(file, string(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Check(); err != nil {
				t.Error(err)
			}
			if _, err := p.Apply(func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(root, path)) }); err != nil {
				t.Error(err)
			}
		})
	}
}

// Whatever is given, nothing breaks, and what is accepted can be applied to
// something or refused in a line.
func FuzzParse(f *testing.F) {
	f.Add(header + diff)
	f.Add(several)
	f.Add("Title: x\n\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+x\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := patch.Parse("fuzz.patch", text)
		if err != nil {
			return
		}
		applied, err := p.Apply(sources(map[string]string{"impl/queue.go": queue}))
		for i := range applied {
			applied[i].Declarations()
		}
		if unfit := (*patch.ApplyError)(nil); err != nil && !errors.As(err, &unfit) {
			t.Errorf("the error is %v", err)
		}
	})
}
