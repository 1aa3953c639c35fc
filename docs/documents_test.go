package docs

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// documents are the Markdown files of a module.
func (m *module) documents() []string {
	var names []string
	for _, name := range m.paths {
		if path.Ext(name) == ".md" {
			names = append(names, name)
		}
	}
	return names
}

var inlineCode = regexp.MustCompile("`[^`]*`")

// prose returns the lines of a document with everything that is code left out,
// so that a line keeps its number.
func prose(m *module, name string) []string {
	lines := m.lines(name)
	fenced := false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			fenced = !fenced
		}
		if fence || fenced {
			lines[i] = ""
			continue
		}
		lines[i] = inlineCode.ReplaceAllStringFunc(line, func(code string) string { return strings.Trim(code, "`") })
	}
	return lines
}

// wrongTitles is the rule that each of the documents under docs has exactly one
// title, a heading of the first level.
func wrongTitles(m *module) []string {
	var complaints []string
	for _, name := range m.documents() {
		if path.Dir(name) != "docs" {
			continue
		}
		titles := 0
		for _, line := range prose(m, name) {
			if strings.HasPrefix(line, "# ") {
				titles++
			}
		}
		if titles != 1 {
			complaints = append(complaints, fmt.Sprintf("%s: %d titles, want one", name, titles))
		}
	}
	return complaints
}

// link matches the target of an inline link, and of a link definition on its own line.
var link = regexp.MustCompile(`\]\(\s*<?([^)\s>]+)|^\s*\[[^\]]+\]:\s*<?([^\s>]+)`)

// scheme matches targets that leave the module.
var scheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)

// brokenLinks is the rule that every link from a document to another file of the
// module, or to a heading in one, has something to lead to.
func brokenLinks(m *module) []string {
	var complaints []string
	for _, name := range m.documents() {
		for i, line := range prose(m, name) {
			for _, match := range link.FindAllStringSubmatch(line, -1) {
				target := match[1] + match[2]
				if why := broken(m, name, target); why != "" {
					complaints = append(complaints, fmt.Sprintf("%s:%d: link to %s: %s", name, i+1, target, why))
				}
			}
		}
	}
	return complaints
}

// broken says why a link in a document leads nowhere, or nothing if it does not.
func broken(m *module, document, target string) string {
	if scheme.MatchString(target) {
		return ""
	}
	file, heading, _ := strings.Cut(target, "#")
	switch {
	case file == "":
		file = document
	case strings.HasPrefix(file, "/"):
		file = path.Clean(strings.TrimPrefix(file, "/"))
	default:
		file = path.Join(path.Dir(document), file)
	}
	if _, err := fs.Stat(m.fsys, file); err != nil {
		return "no such file"
	}
	if heading != "" && path.Ext(file) == ".md" && !slices.Contains(anchors(m, file), heading) {
		return "no such heading"
	}
	return ""
}

// anchors are the names under which the headings of a document can be linked to:
// lower case, a hyphen for each space, and no punctuation.
func anchors(m *module, name string) []string {
	var names []string
	for _, line := range prose(m, name) {
		title := strings.TrimLeft(line, "#")
		if title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		names = append(names, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(title)))
	}
	return names
}

var requirement = regexp.MustCompile(`^(?:require)?\s+(\S+) v\S+$`)

// unexplainedDependencies is the rule that docs/dependencies.md names every module
// that go.mod requires for our own code, as opposed to for another module's.
func unexplainedDependencies(m *module) []string {
	explained := strings.Join(m.lines("docs/dependencies.md"), "\n")
	var complaints []string
	for i, line := range m.lines("go.mod") {
		match := requirement.FindStringSubmatch(line)
		if match != nil && !strings.Contains(explained, "`"+match[1]+"`") {
			complaints = append(complaints, fmt.Sprintf("go.mod:%d: docs/dependencies.md does not explain %s", i+1, match[1]))
		}
	}
	return complaints
}

func TestWrongTitlesAreReported(t *testing.T) {
	checkPlanted(t, wrongTitles, []plantedCase{
		{"one title", map[string]string{"docs/a.md": "# A\n\n## B\n\n```sh\n# a comment\n```\n"}, nil},
		{"none", map[string]string{"docs/a.md": "## A\n#tag\n"}, []string{"docs/a.md: 0 titles"}},
		{"two", map[string]string{"docs/a.md": "# A\n# B\n"}, []string{"docs/a.md: 2 titles"}},
		{"not a document of ours", map[string]string{"corpus/a.md": "A\n"}, nil},
	})
}

func TestBrokenLinksAreReported(t *testing.T) {
	checkPlanted(t, brokenLinks, []plantedCase{
		{"links that lead somewhere", map[string]string{
			"README.md": "[a](docs/a.md) [b](docs/a.md#what-ci-does) [c](#read-me) [d](/docs) [w](https://x.example/y)\n\n# Read me!\n\n[r]: docs/a.md\n",
			"docs/a.md": "[up](../README.md \"title\")\n## What `CI` does\n```\n[x](nowhere.md)\n```\n",
		}, nil},
		{"no such file", map[string]string{"docs/a.md": "see\n[b](b.md), [c](../c)"}, []string{"docs/a.md:2: link to b.md", "link to ../c"}},
		{"no such heading", map[string]string{"a.md": "[b](#b) [c](b.md#c)", "b.md": "# B\n```\n# C\n```\n"}, []string{"#b: no such heading", "b.md#c"}},
		{"definition", map[string]string{"a.md": "[b]: b.md"}, []string{"link to b.md"}},
		{"out of the module", map[string]string{"a.md": "[b](../b.md)"}, []string{"link to ../b.md"}},
	})
}

func TestUnexplainedDependenciesAreReported(t *testing.T) {
	const dependencies = "docs/dependencies.md"
	goMod := "module m\n\ngo 1.26\n\nrequire a.example/x v1.0.0\n\nrequire (\n\tb.example v0.1.0\n\tc.example/y/v2 v2.0.0 // indirect\n)\n"
	checkPlanted(t, unexplainedDependencies, []plantedCase{
		{"all explained", map[string]string{"go.mod": goMod, dependencies: "`a.example/x` `b.example`"}, nil},
		{"one not", map[string]string{"go.mod": goMod, dependencies: "`a.example/x2` `b.example`"}, []string{"go.mod:5: docs/dependencies.md does not explain a.example/x"}},
		{"none", map[string]string{"go.mod": goMod}, []string{"a.example/x", "b.example"}},
	})
}
