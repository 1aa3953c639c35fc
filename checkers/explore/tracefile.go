package explore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"benign/checkers/graph"
	"benign/impl/kernel"
)

// TraceHeader says what a trace is an execution of.
type TraceHeader struct {
	// Race, Scenario and Variant are names of the catalogue, Model of a memory
	// model.
	Race, Scenario, Variant, Model string
}

// Trace is a parsed trace: an execution that has yet to be fitted to the code.
type Trace struct{ graph *graph.Graph }

// traceMagic is the first line of every trace; the number is the version.
const traceMagic = "benign trace 1"

// FormatTrace writes an execution as text. An event is named by its task and
// its position in that task, never by a number of the whole execution, so that
// a trace survives edits elsewhere:
//
//	benign trace 1
//	race rb-empty
//	scenario remove
//	variant patched
//	model sc
//	task 1 "shrinker"
//	1.0 lock-read at="root#1.inodes lock" mode=exclusive from=init
//	1.1 lock-write at="root#1.inodes lock" mode=exclusive after=init pair=1.0
//	2.4 write at="inode#2.root" order=once after=init
//	1.2 read at="inode#2.root" order=once from=2.4
//
// A read says from which write its value comes, a write after which other write
// it stands in coherence.
func FormatTrace(h TraceHeader, g *graph.Graph) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nrace %s\nscenario %s\nvariant %s\nmodel %s\n", traceMagic, h.Race, h.Scenario, h.Variant, h.Model)
	for i := range g.Tasks {
		fmt.Fprintf(&b, "task %d %q\n", g.Tasks[i].ID, g.Tasks[i].Name)
	}
	for id := range g.Events {
		b.WriteString(formatEvent(g, int32(id)))
		b.WriteByte('\n')
	}
	return b.String()
}

func formatEvent(g *graph.Graph, id int32) string {
	e := &g.Events[id]
	parts := []string{eventName(g, id), e.Kind.String()}
	add := func(condition bool, key string, value any) {
		if condition {
			parts = append(parts, fmt.Sprintf("%s=%v", key, value))
		}
	}
	if e.Location >= 0 {
		l := &g.Locations[e.Location]
		add(true, "at", strconv.Quote(l.Name))
		add(l.Strand != 0, "strand", l.Strand)
	}
	add(e.Order != 0, "order", e.Order)
	add(e.Barrier != 0, "barrier", strings.Fields(e.Barrier.String())[0])
	add(e.Mode != 0, "mode", e.Mode)
	add(e.Try, "try", "yes")
	add(e.Turn != graph.Either, "turn", e.Turn)
	add(e.Reads() || e.Kind == graph.LockIdle, "from", eventName(g, e.Source))
	if e.Writes() {
		list := g.Coherence[e.Location]
		before := graph.Init
		if at := slices.Index(list, id); at > 0 {
			before = list[at-1]
		}
		add(true, "after", eventName(g, before))
	}
	add(e.Writes() && e.Pair != graph.Init, "pair", eventName(g, e.Pair))
	add(e.End != graph.Init, "end", eventName(g, e.End))
	add(e.Kind == graph.Choice, "choice", e.Choice)
	if e.Kind == graph.Spawn || e.Kind == graph.Join {
		add(true, "child", g.Tasks[e.Child].ID)
	}
	return strings.Join(parts, " ")
}

func eventName(g *graph.Graph, id int32) string {
	if id == graph.Init {
		return "init"
	}
	return fmt.Sprintf("%d.%d", g.Tasks[g.Events[id].Task].ID, g.Events[id].Index)
}

// ParseTrace reads what FormatTrace wrote. Errors are one line, begin with
// name:line:column and say what was expected.
func ParseTrace(name string, text []byte) (TraceHeader, *Trace, error) {
	p := &traceParser{name: name, g: graph.New(), ids: map[string]int32{"init": graph.Init}, tasks: map[string]int32{}, locations: map[string]int32{}}
	p.lines = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	header := p.header()
	for p.err == nil && p.at < len(p.lines) && strings.HasPrefix(p.lines[p.at], "task ") {
		p.task()
	}
	if p.err == nil && len(p.g.Tasks) == 0 {
		p.fail(1, "a line \"task NUMBER NAME\"")
	}
	first := p.at
	for p.err == nil && p.at < len(p.lines) {
		p.event()
	}
	p.at = first
	for p.err == nil && p.at < len(p.lines) {
		p.links()
	}
	if p.err != nil {
		return TraceHeader{}, nil, p.err
	}
	for id := range p.g.Events {
		p.g.Refresh(int32(id))
	}
	return header, &Trace{p.g}, nil
}

// traceParser reads a trace line by line; the first error sticks.
type traceParser struct {
	name      string
	lines     []string
	at        int // index of the current line
	g         *graph.Graph
	ids       map[string]int32
	tasks     map[string]int32
	locations map[string]int32
	err       error
}

func (p *traceParser) fail(column int, expected string) {
	if p.err == nil {
		p.err = fmt.Errorf("%s:%d:%d: expected %s", p.name, min(p.at, len(p.lines))+1, column, expected)
	}
}

func (p *traceParser) header() TraceHeader {
	if len(p.lines) == 0 || p.lines[0] != traceMagic {
		p.fail(1, strconv.Quote(traceMagic))
		return TraceHeader{}
	}
	p.at++
	return TraceHeader{Race: p.keyword("race"), Scenario: p.keyword("scenario"), Variant: p.keyword("variant"), Model: p.keyword("model")}
}

func (p *traceParser) keyword(word string) string {
	if p.err != nil || p.at >= len(p.lines) {
		p.fail(1, "a line \""+word+" NAME\"")
		return ""
	}
	value, ok := strings.CutPrefix(p.lines[p.at], word+" ")
	if !ok || value == "" || strings.ContainsRune(value, ' ') {
		p.fail(1, "a line \""+word+" NAME\"")
	}
	p.at++
	return value
}

func (p *traceParser) task() {
	fields := strings.SplitN(p.lines[p.at], " ", 3)
	id, err := strconv.Atoi(fields[1])
	if err != nil || id <= 0 || p.tasks[fields[1]] != 0 {
		p.fail(len("task ")+1, "the number of another task")
		return
	}
	name := ""
	if len(fields) == 3 {
		name, err = strconv.Unquote(fields[2])
	}
	if len(fields) != 3 || err != nil {
		p.fail(len("task ")+len(fields[1])+2, "the task's name in quotes")
		return
	}
	if len(p.g.Tasks) == maxTraceTasks {
		p.fail(1, fmt.Sprintf("at most %d tasks", maxTraceTasks))
		return
	}
	p.tasks[fields[1]] = p.g.AddTask(id, name, graph.Init) + 1
	p.at++
}

// maxTraceTasks keeps a trace from naming more tasks than an execution can have.
const maxTraceTasks = 16

// field is one key=value of an event line.
type field struct {
	value  string
	column int
}

// split cuts an event line into its name, its kind and its fields.
func (p *traceParser) split() (name, kind string, fields map[string]field) {
	line := p.lines[p.at]
	fields = map[string]field{}
	for n, column := 0, 0; column < len(line); n++ {
		end := column
		for quoted := false; end < len(line) && (quoted || line[end] != ' '); end++ {
			quoted = quoted != (line[end] == '"' && line[end-1] != '\\')
		}
		word := line[column:end]
		key, value, ok := strings.Cut(word, "=")
		switch {
		case n == 0:
			name = word
		case n == 1:
			kind = word
		case !ok || fields[key].column != 0 || !slices.Contains(traceKeys, key):
			p.fail(column+1, "another key=value, one of "+strings.Join(traceKeys, ", "))
			return
		default:
			fields[key] = field{value, column + len(key) + 2}
		}
		column = end + 1
	}
	return name, kind, fields
}

var traceKeys = []string{"at", "strand", "order", "barrier", "mode", "try", "turn", "from", "after", "pair", "end", "choice", "child"}

// event adds the event of a line, without its links.
func (p *traceParser) event() {
	name, kindName, fields := p.split()
	taskName, indexName, _ := strings.Cut(name, ".")
	task := p.tasks[taskName]
	if p.err == nil && task == 0 {
		p.fail(1, "TASK.POSITION with a task that is listed above")
	}
	if p.err != nil {
		return
	}
	if indexName != strconv.Itoa(int(p.g.Tasks[task-1].Count)) {
		p.fail(len(taskName)+2, fmt.Sprintf("position %d, the next of the task", p.g.Tasks[task-1].Count))
		return
	}
	e := graph.Event{Task: task - 1, Location: -1, Source: graph.Init, Pair: graph.Init, End: graph.Init}
	kind := index(len(name)+2, kindName, graph.KindNames(), p)
	e.Kind = graph.Kind(kind)
	e.Order = kernel.Order(p.word(fields, "order", kernel.OrderNames()))
	e.Barrier = kernel.Barrier(p.word(fields, "barrier", []string{"", "full", "read", "write"}))
	e.Mode = kernel.LockMode(p.word(fields, "mode", []string{"", kernel.Exclusive.String(), kernel.Shared.String()}))
	e.Turn = graph.Turn(p.word(fields, "turn", []string{"", graph.Waits.String(), graph.Follows.String()}))
	e.Try = p.word(fields, "try", []string{"", "yes"}) == 1
	e.Choice = int32(p.number(fields, "choice"))
	p.place(&e, fields)
	if child := fields["child"]; child.column != 0 {
		e.Child = p.tasks[child.value] - 1
		if e.Child < 0 {
			p.fail(child.column, "a task that is listed above")
		}
	} else if e.Kind == graph.Spawn || e.Kind == graph.Join {
		p.fail(len(name)+2, "a child= for this kind of event")
	}
	if p.err == nil {
		p.ids[name] = p.g.Add(e)
		p.at++
	}
}

// place sets the location of an event, by name and strand.
func (p *traceParser) place(e *graph.Event, fields map[string]field) {
	at := fields["at"]
	needed := e.Kind < graph.Barrier
	if (at.column != 0) != needed {
		p.fail(max(1, at.column), map[bool]string{true: "an at= for this kind of event", false: "no at= for this kind of event"}[needed])
	}
	if !needed || p.err != nil {
		return
	}
	name, err := strconv.Unquote(at.value)
	if err != nil {
		p.fail(at.column, "a location in quotes")
		return
	}
	strand := p.number(fields, "strand")
	key := fmt.Sprintf("%s\x00%d", name, strand)
	number, known := p.locations[key]
	if !known {
		field, ok := p.locations[name]
		if !ok {
			field = int32(len(p.locations))
			p.locations[name] = field
		}
		number = p.g.AddLocation(graph.Location{Field: uint32(field), Strand: strand, Lock: e.Kind >= graph.LockRead, Name: name})
		p.locations[key] = number
	}
	e.Location = number
}

// links sets what the events of the current line refer to.
func (p *traceParser) links() {
	name, _, fields := p.split()
	id := p.ids[name]
	e := &p.g.Events[id]
	if e.Reads() || e.Kind == graph.LockIdle {
		e.Source = p.link(fields, "from", id)
	}
	if e.Kind == graph.UpdateWrite || e.Kind == graph.LockWrite {
		e.Pair = p.link(fields, "pair", id)
		if p.err == nil && (e.Pair == graph.Init || p.g.Events[e.Pair].Task != e.Task || p.g.Events[e.Pair].Location != e.Location) {
			p.fail(fields["pair"].column, "the first half of the same operation")
		}
		if p.err == nil {
			p.g.Events[e.Pair].Pair = id
		}
	}
	if fields["end"].column != 0 {
		e.End = p.link(fields, "end", id)
	}
	if e.Kind == graph.Spawn {
		p.g.Tasks[e.Child].Spawn = id
	}
	if e.Writes() {
		after := p.link(fields, "after", id)
		if p.err == nil && after != graph.Init && !slices.Contains(p.g.Coherence[e.Location], after) {
			p.fail(fields["after"].column, "a write to the same location on an earlier line")
		}
		if p.err == nil {
			p.g.Place(id, after)
		}
	}
	p.at++
}

func (p *traceParser) link(fields map[string]field, key string, self int32) int32 {
	f := fields[key]
	id, ok := p.ids[f.value]
	if !ok || f.column == 0 || id == self {
		p.fail(max(1, f.column), key+"= with another event of the trace, or init")
		return graph.Init
	}
	return id
}

func (p *traceParser) number(fields map[string]field, key string) int {
	f := fields[key]
	if f.column == 0 {
		return 0
	}
	n, err := strconv.Atoi(f.value)
	if err != nil || n < 0 || n > 1<<20 {
		p.fail(f.column, "a small number")
	}
	return n
}

// word returns the index of a field's value in a list whose first entry is "".
func (p *traceParser) word(fields map[string]field, key string, list []string) int {
	f := fields[key]
	if f.column == 0 {
		return 0
	}
	return index(f.column, f.value, list, p)
}

func index(column int, word string, list []string, p *traceParser) int {
	at := slices.Index(list, word)
	if at < 1 {
		p.fail(column, "one of "+strings.Join(list[1:], ", "))
		return 0
	}
	return at
}
