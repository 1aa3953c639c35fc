package explore

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"benign/checkers/graph"
	"benign/checkers/race"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// maxTraceEvents keeps a trace from being larger than any execution can be.
const maxTraceEvents = 10 * DefaultMaxEvents

// ParseTrace reads what FormatTrace wrote, and nothing else. Errors are one
// line, begin with name:line:column and say what was expected there. A trace
// that is read is well-formed: whatever it refers to is there and of the right
// kind, and no event depends on itself. Whether it fits the code, and whether
// the memory model allows it, is for [Replay] to say.
func ParseTrace(name string, text []byte) (TraceHeader, *Trace, error) {
	p := &traceParser{name: name, g: graph.New(), tasks: map[string]int32{}, events: map[string]int32{},
		names: map[string]int32{}, locations: map[strandName]int32{}}
	p.lines = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	header := p.header()
	p.arch = header.Arch
	for p.more() && strings.HasPrefix(p.rest(), "without ") {
		p.without()
	}
	for p.more() && strings.HasPrefix(p.rest(), "task ") {
		p.task()
	}
	for p.more() {
		p.event()
	}
	if p.err == nil {
		p.check()
	}
	if p.err != nil {
		return TraceHeader{}, nil, p.err
	}
	return header, &Trace{Without: p.omitted, graph: p.g, arch: header.Arch}, nil
}

// traceParser reads a trace from left to right and line by line; the first
// error sticks.
type traceParser struct {
	name   string
	lines  []string
	line   int // index of the current line
	column int // index in the current line
	arch   int // of the header
	g      *graph.Graph

	omitted    []scenario.Omitted
	tasks      map[string]int32     // by their numbers as text
	taskLines  []int                // by task
	started    []int                // by task: how many tasks it has started
	events     map[string]int32     // by their names
	eventLines []int                // by event
	names      map[string]int32     // by name of a word or lock: its first location
	locations  map[strandName]int32 // by name and strand
	references []reference
	err        error
}

type strandName struct {
	name   string
	strand int
}

// reference is a link to an event that may stand on a later line.
type reference struct {
	from         int32  // the event that refers
	key          string // in which field
	there        bool   // it is not left out
	name         string // to what
	line, column int
}

// fail says what was expected at the current place.
func (p *traceParser) fail(expected string) { p.failAt(p.line, p.column, expected) }

func (p *traceParser) failAt(line, column int, expected string) {
	if p.err == nil {
		p.err = fmt.Errorf("%s:%d:%d: expected %s", p.name, line+1, column+1, expected)
	}
}

// more reports whether there is another line to read.
func (p *traceParser) more() bool { return p.err == nil && p.line < len(p.lines) }

// rest returns what has not been read of the current line.
func (p *traceParser) rest() string {
	if p.line >= len(p.lines) {
		return ""
	}
	return p.lines[p.line][p.column:]
}

// next ends the current line, which must have been read to its end.
func (p *traceParser) next() {
	if p.rest() != "" {
		p.fail("the end of the line")
	}
	p.line, p.column = p.line+1, 0
}

// word returns the text up to the next space and does not read it yet.
func (p *traceParser) word() string {
	word, _, _ := strings.Cut(p.rest(), " ")
	return word
}

// skip reads n bytes and a space, if there is one before the end of the line.
func (p *traceParser) skip(n int) {
	p.column += n
	if len(p.rest()) > 1 && p.rest()[0] == ' ' {
		p.column++
	}
}

func (p *traceParser) header() TraceHeader {
	if p.rest() != traceMagic {
		p.fail(strconv.Quote(traceMagic))
		return TraceHeader{}
	}
	p.line++
	h := TraceHeader{Race: p.keyword("race"), Scenario: p.keyword("scenario"), Variant: p.keyword("variant"), Model: p.keyword("model")}
	if p.rest() == traceArch32 {
		h.Arch = Arch32
		p.line++
	}
	return h
}

// keyword reads a line of the header.
func (p *traceParser) keyword(word string) string {
	value, ok := strings.CutPrefix(p.rest(), word+" ")
	if !ok || value == "" {
		p.fail("a line \"" + word + " NAME\"")
	}
	p.line++
	return value
}

// without reads a line that leaves an operation out: the task and the position
// in it, in ascending order, and the operation's name.
func (p *traceParser) without() {
	p.column = len("without ")
	start := p.column
	task, position, _ := strings.Cut(p.word(), ".")
	o := scenario.Omitted{}
	number, err := strconv.Atoi(task)
	o.Task = number - 1
	if err == nil {
		o.Operation, err = strconv.Atoi(position)
	}
	if err != nil || fmt.Sprintf("%d.%d", number, o.Operation) != p.word() || !ofScenario(number) || number < 1 || o.Operation < 0 || !p.inOrder(o) {
		p.failAt(p.line, start, "TASK.POSITION of another operation, in ascending order")
		return
	}
	p.skip(len(p.word()))
	o.Name = p.quoted("the operation's name in quotes")
	p.next()
	p.omitted = append(p.omitted, o)
}

// inOrder reports whether the operation comes after those that are left out.
func (p *traceParser) inOrder(o scenario.Omitted) bool {
	if len(p.omitted) == 0 {
		return true
	}
	last := p.omitted[len(p.omitted)-1]
	return o.Task > last.Task || o.Task == last.Task && o.Operation > last.Operation
}

// task reads a line that names a task: first those of the scenario, which are
// numbered from 1, then those that others start.
func (p *traceParser) task() {
	p.column = len("task ")
	number, others := p.word(), len(p.g.Tasks)
	id, err := strconv.Atoi(number)
	_, twice := p.tasks[number]
	switch {
	case err != nil || strconv.Itoa(id) != number || id < 1 || twice:
		p.fail("the number of another task")
	case others == race.MaxTasks:
		p.fail(fmt.Sprintf("at most %d tasks", race.MaxTasks))
	case ofScenario(id) && id != others+1, !ofScenario(id) && others == 0:
		p.fail(fmt.Sprintf("%d, or a task that another one starts", others+1))
	}
	p.skip(len(number))
	name := p.quoted("the task's name in quotes")
	p.next()
	if p.err == nil {
		p.tasks[number] = p.g.AddTask(id, name, graph.Init)
		p.taskLines, p.started = append(p.taskLines, p.line-1), append(p.started, 0)
	}
}

// quoted reads a text in quotes.
func (p *traceParser) quoted(expected string) string {
	quoted, err := strconv.QuotedPrefix(p.rest())
	if err != nil || quoted[0] != '"' {
		p.fail(expected)
		return ""
	}
	text, _ := strconv.Unquote(quoted) // QuotedPrefix has checked it
	p.skip(len(quoted))
	return text
}

// event reads the line of an event. What it refers to is looked up later.
func (p *traceParser) event() {
	name := p.word()
	owner, position, _ := strings.Cut(name, ".")
	task, ok := p.tasks[owner]
	switch {
	case !ok:
		p.fail("TASK.POSITION with a task that is listed above")
		return
	case position != strconv.Itoa(int(p.g.Tasks[task].Count)):
		p.column = len(owner) + 1
		p.fail(fmt.Sprintf("position %d, the next of the task", p.g.Tasks[task].Count))
		return
	case len(p.g.Events) == maxTraceEvents:
		p.fail(fmt.Sprintf("at most %d events", maxTraceEvents))
		return
	}
	p.skip(len(name))
	e := graph.Event{Task: task, Location: -1, Source: graph.Init, Pair: graph.Init, End: graph.Init}
	e.Kind = graph.Kind(p.oneOf(graph.KindNames()))
	e.Awaits = e.Kind == graph.Await
	for _, field := range strings.Fields(traceFields[e.Kind]) {
		p.field(&e, field)
	}
	if p.next(); p.err == nil {
		p.events[name] = p.g.Add(e)
		p.eventLines = append(p.eventLines, p.line-1)
	}
}

// oneOf reads a word of a list, whose first entry is none, and returns its index.
func (p *traceParser) oneOf(list []string) int {
	word := p.word()
	at := slices.Index(list, word)
	if at < 1 {
		p.fail("one of " + strings.Join(list[1:], ", "))
		return 0
	}
	p.skip(len(word))
	return at
}

// field reads key=value, or nothing if it may be left out and is.
func (p *traceParser) field(e *graph.Event, field string) {
	key, optional := strings.CutSuffix(field, "?")
	there := strings.HasPrefix(p.rest(), key+"=")
	if there {
		p.column += len(key) + 1
	} else if !optional {
		p.fail(key + "=")
		return
	}
	switch key {
	case "from", "after", "pair", "end":
		p.refer(key, there)
	case "strand":
		p.strand(e, there)
	default:
		if there {
			p.value(e, key)
		}
	}
}

// value reads the value of a field that refers to no other event.
func (p *traceParser) value(e *graph.Event, key string) {
	switch key {
	case "at":
		p.at(e)
	case "half":
		p.half(e)
	case "order":
		e.Order = kernel.Order(p.oneOf(kernel.OrderNames()))
	case "barrier":
		e.Barrier = kernel.Barrier(p.oneOf(traceBarriers))
	case "mode":
		e.Mode = kernel.LockMode(p.oneOf(traceModes))
	case "try":
		e.Try = p.oneOf(traceYes) == 1
	case "awaits":
		e.Awaits = p.oneOf(traceYes) == 1
	case "turn":
		e.Turn = graph.Turn(p.oneOf(traceTurns))
	case "choice":
		e.Choice = int32(p.number(0, math.MaxInt32))
	case "child":
		p.child(e)
	}
}

// refer notes a link to another event.
func (p *traceParser) refer(key string, there bool) {
	r := reference{from: int32(len(p.g.Events)), key: key, there: there, line: p.line, column: p.column}
	if there {
		r.name = p.word()
		p.skip(len(r.name))
	}
	p.references = append(p.references, r)
}

// at reads the name of a word or lock. No name is that of both.
func (p *traceParser) at(e *graph.Event) {
	start := p.column
	name := p.quoted("a name in quotes")
	lock := e.Kind >= graph.LockRead && e.Kind <= graph.LockIdle
	first, known := p.names[name]
	if p.err == nil && known && p.g.Locations[first].Lock != lock {
		p.failAt(p.line, start, map[bool]string{true: "the name of a lock", false: "the name of a word"}[lock])
	}
	if p.err != nil {
		return
	}
	e.Location = p.locate(strandName{name, 0}, lock)
}

// strand moves the event from the first strand of its lock to another one.
func (p *traceParser) strand(e *graph.Event, there bool) {
	if !there {
		return
	}
	if number := p.number(1, math.MaxInt); p.err == nil {
		e.Location = p.locate(strandName{p.g.Locations[e.Location].Name, number}, true)
	}
}

// half moves the event from the whole word to a half of it, which only a 32-bit
// machine has.
func (p *traceParser) half(e *graph.Event) {
	if p.arch != Arch32 {
		p.fail("no half, for the trace has no line " + strconv.Quote(traceArch32))
	}
	if half := p.oneOf(traceHalves); p.err == nil {
		e.Location = p.locate(strandName{p.g.Locations[e.Location].Name, half}, false)
	}
}

// locate returns the number of a location. It knows the name of its owner and
// field only; their identity is found when the trace is replayed.
func (p *traceParser) locate(s strandName, lock bool) int32 {
	if at, known := p.locations[s]; known {
		return at
	}
	field := uint32(len(p.names))
	if first, known := p.names[s.name]; known {
		field = p.g.Locations[first].Field
	}
	at := p.g.AddLocation(graph.Location{Field: field, Strand: s.strand, Lock: lock, Name: s.name})
	p.locations[s] = at
	if s.strand == 0 {
		p.names[s.name] = at
	}
	return at
}

// number reads a number within bounds.
func (p *traceParser) number(least, most int) int {
	word := p.word()
	n, err := strconv.Atoi(word)
	if err != nil || n < least || n > most || strconv.Itoa(n) != word {
		p.fail(fmt.Sprintf("a number from %d to %d", least, most))
		return 0
	}
	p.skip(len(word))
	return n
}

// child reads the task that is started or joined. A task numbers those that it
// starts one after the other.
func (p *traceParser) child(e *graph.Event) {
	word := p.word()
	child, ok := p.tasks[word]
	if !ok || child == e.Task {
		p.fail("another task that is listed above")
		return
	}
	if e.Kind == graph.Spawn {
		next := childID(p.g.Tasks[e.Task].ID, p.started[e.Task])
		if p.g.Tasks[child].ID != next {
			p.fail(fmt.Sprintf("%d, the next task that it starts", next))
			return
		}
		p.started[e.Task]++
		p.g.Tasks[child].Spawn = int32(len(p.g.Events))
	}
	e.Child = child
	p.skip(len(word))
}
