package docs

import (
	"fmt"
	"path"
	"strings"
	"testing"
)

// guide is the document for people who test their own code, and example is where
// its code runs.
const (
	guide   = "docs/write-a-scenario.md"
	example = "checkers/example_queue_test.go"
)

// inventedCode is the rule that whatever the guide shows in a fence marked go or
// text stands in the example, line for line: as code, or as what it prints.
func inventedCode(m *module) []string {
	source := quotable(m.lines(example))
	var complaints []string
	var block []string
	language, start := "", 0
	for i, line := range m.lines(guide) {
		mark, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && start == 0:
			language, start, block = mark, i+1, nil
		case fence:
			quoted := language == "go" || language == "text"
			if quoted && !strings.Contains(source, quotable(block)) {
				complaints = append(complaints, fmt.Sprintf("%s:%d: the block is not in %s", guide, start, path.Base(example)))
			}
			start = 0
		default:
			block = append(block, line)
		}
	}
	return complaints
}

// quotable joins lines so that each begins and ends with a line break. The output
// that an example promises is a comment in its body, and is quoted without that.
func quotable(lines []string) string {
	var b strings.Builder
	b.WriteByte('\n')
	for _, line := range lines {
		b.WriteString(strings.TrimPrefix(line, "\t// "))
		b.WriteByte('\n')
	}
	return b.String()
}

func TestInventedCodeIsReported(t *testing.T) {
	const source = "package x\n\nfunc ExampleX() {\n\tf()\n\t// Output:\n\t// one\n\t//   two\n}\n"
	block := func(language, text string) string { return "# Guide\n\n```" + language + "\n" + text + "```\n" }
	checkPlanted(t, inventedCode, []plantedCase{
		{"code", map[string]string{example: source, guide: block("go", "func ExampleX() {\n\tf()\n")}, nil},
		{"output", map[string]string{example: source, guide: block("text", "one\n  two\n")}, nil},
		{"a command", map[string]string{example: source, guide: block("sh", "go test\n")}, nil},
		{"other code", map[string]string{example: source, guide: block("go", "\tg()\n")}, []string{"write-a-scenario.md:3: the block is not in example_queue_test.go"}},
		{"other output", map[string]string{example: source, guide: block("text", "one\ntwo\n")}, []string{"md:3"}},
		{"part of a line", map[string]string{example: source, guide: block("go", "\tf(\n")}, []string{"md:3"}},
		{"two blocks", map[string]string{example: source, guide: block("go", "\tf()\n") + block("go", "f()\n")}, []string{"md:8"}},
		{"no example", map[string]string{guide: block("go", "\tf()\n")}, []string{"md:3"}},
	})
}
