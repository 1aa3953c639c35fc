package explore_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/graph"
	"benign/impl/kernel"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestSamplesHaveEverything makes sure that the tests of traces see every kind
// of event that an execution can have.
func TestSamplesHaveEverything(t *testing.T) {
	missing := graph.KindNames()[1:]
	for _, p := range samples() {
		for _, e := range exhausted(t, scene(p.steps), "kernel") {
			for _, event := range e.Graph.Events {
				missing = slices.DeleteFunc(missing, func(name string) bool { return name == event.Kind.String() })
			}
		}
	}
	// A try that finds nobody in its way waits for somebody; if nobody comes, the
	// execution does not count.
	if !slices.Equal(missing, []string{graph.LockIdle.String()}) {
		t.Errorf("missing: %v", missing)
	}
}

// TestGoldenTrace pins the format down: old traces must stay readable.
func TestGoldenTrace(t *testing.T) {
	s := scene([]step{spawn, reader, choose, func(t *kernel.Task, r *rig) string {
		if !r.rw.TryLock(t) {
			return "busy"
		}
		r.rw.Unlock(t)
		return "free"
	}})
	var text string
	for _, e := range exhausted(t, s, "sc") {
		if strings.Contains(e.Outcome(), "B run = 30; C run = 30; D run = busy") {
			text = explore.FormatTrace(header, e.Graph)
			break
		}
	}
	if text == "" {
		t.Fatal("there is no such execution")
	}
	const file = "testdata/everything.golden"
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// TestCoherenceAgainstTheOrderOfLines has a write that stands before one of an
// earlier line.
func TestCoherenceAgainstTheOrderOfLines(t *testing.T) {
	trace := "benign trace 1\nrace r\nscenario s\nvariant v\nmodel sc\ntask 1 \"A\"\ntask 2 \"B\"\n" +
		"1.0 write at=\"x\" order=once after=2.0\n2.0 write at=\"x\" order=once after=init\n"
	h, parsed, err := explore.ParseTrace("trace", []byte(trace))
	if err != nil {
		t.Fatal(err)
	}
	if again := explore.FormatTrace(h, parsed.Graph()); again != trace {
		t.Errorf("got\n%s", again)
	}
}

// TestStrangeNames writes and reads names that only quotes can tell apart from
// the rest of the line.
func TestStrangeNames(t *testing.T) {
	for _, name := range []string{"", "with a space", `a "quoted" one`, `ends with \`, "new\nline", "not \xff text", "a\x000", "a"} {
		quoted := fmt.Sprintf("%q", name)
		text := "benign trace 1\nrace the race\nscenario  s \nvariant v\nmodel m\ntask 1 " + quoted + "\n" +
			"1.0 read at=" + quoted + " order=once from=init\n1.1 read at=\"a\" order=once from=init\n"
		h, trace, err := explore.ParseTrace("trace", []byte(text))
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if h != (explore.TraceHeader{Race: "the race", Scenario: " s ", Variant: "v", Model: "m"}) {
			t.Errorf("header %+v", h)
		}
		if again := explore.FormatTrace(h, trace.Graph()); again != text {
			t.Errorf("%q: got\n%s", name, again)
		}
		if g := trace.Graph(); g.Tasks[0].Name != name || g.Locations[0].Name != name || (len(g.Locations) == 1) != (name == "a") {
			t.Errorf("%q: got %+v, %+v", name, g.Tasks, g.Locations)
		}
	}
}

// whole is a trace with one event of each sort, for tests that break it.
const whole = `benign trace 1
race r
scenario s
variant v
model sc
task 1 "A"
task 2 "B"
task 128 "child"
1.0 spawn child=128
1.1 lock-read at="l" mode=exclusive from=init
1.2 lock-write at="l" mode=exclusive after=init pair=1.1 end=1.3
1.3 unlock at="l" mode=exclusive
2.0 lock-read at="l" mode=exclusive turn=follows from=1.2
2.1 lock-write at="l" mode=exclusive after=1.2 pair=2.0
1.4 write at="x" order=release after=init
2.2 update-read at="x" order=full awaits=yes from=1.4
2.3 update-write at="x" order=full after=1.4 pair=2.2
2.4 read at="x" order=once from=2.3
128.0 lock-fail at="l" mode=exclusive try=yes from=2.1
128.1 choice choice=2
128.2 barrier barrier=full
1.5 join child=128
1.6 lock-read at="rw" strand=2 mode=shared from=init
1.7 lock-write at="rw" strand=2 mode=shared after=init pair=1.6
2.5 lock-busy at="rw" strand=2 mode=exclusive from=1.7
128.3 lock-idle at="l" mode=exclusive from=1.3
128.4 await at="y" order=acquire from=init
`

func TestWholeTraceIsRead(t *testing.T) {
	h, trace, err := explore.ParseTrace("trace", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if again := explore.FormatTrace(h, trace.Graph()); again != whole {
		t.Errorf("got\n%s", again)
	}
}

// TestBrokenTraces breaks the whole trace in one place each. The error says
// where that is, at the mark in the replacement, and what was expected.
func TestBrokenTraces(t *testing.T) {
	const (
		kinds    = "one of read, write, update-read, update-write, lock-read, lock-write, unlock, lock-fail, lock-busy, lock-idle, await, barrier, choice, spawn, join"
		event    = "TASK.POSITION with a task that is listed above"
		number   = "the number of another task"
		listed   = "another task that is listed above"
		written  = "a write to the same location, or init"
		alone    = "a write that no other stands after, and that does not stand after this one"
		hinders  = "a lock-write that is in its way"
		position = "position 3, the next of the task"
		choice   = "a number from 0 to 2147483647"
		omitted  = "TASK.POSITION of another operation, in ascending order"
	)
	for _, c := range []struct{ old, replacement, want string }{
		// The header and the tasks.
		{"benign trace 1", "^benign trace 2", `"benign trace 1"`},
		{"race r", "^race ", `a line "race NAME"`},
		{"scenario s\n", "^", `a line "scenario NAME"`},
		{"model sc\n", "^model\n", `a line "model NAME"`},
		{"model sc\n", "model sc\nwithout ^1 \"a\"\n", omitted},
		{"model sc\n", "model sc\nwithout ^0.1 \"a\"\n", omitted},
		{"model sc\n", "model sc\nwithout ^17.1 \"a\"\n", omitted},
		{"model sc\n", "model sc\nwithout ^1.-1 \"a\"\n", omitted},
		{"model sc\n", "model sc\nwithout ^1.01 \"a\"\n", omitted},
		{"model sc\n", "model sc\nwithout 1.1 \"a\"\nwithout ^1.1 \"a\"\n", omitted},
		{"model sc\n", "model sc\nwithout 2.0 \"a\"\nwithout ^1.3 \"a\"\n", omitted},
		{"model sc\n", "model sc\nwithout 1.0 ^a\n", "the operation's name in quotes"},
		{"model sc\n", "model sc\nwithout 1.0 \"a\" ^b\n", "the end of the line"},
		{"model sc\n", "model sc\nwithout 2.0 \"a\"\ntask 1 \"A\"\n^without 2.1 \"a\"\n", event},
		{"task 2", "task ^1", number},
		{"task 2", "task ^+2", number},
		{"task 2", "task ^two", number},
		{"task 2", "task ^3", "2, or a task that another one starts"},
		{"task 1 ", "task ^200 ", "1, or a task that another one starts"},
		{"task 2 \"B\"\ntask 128 \"child\"", "task 128 \"child\"\ntask ^2 \"B\"", "3, or a task that another one starts"},
		{`task 2 "B"`, `task 2^`, "the task's name in quotes"},
		{`task 2 "B"`, "task 2 ^'B'", "the task's name in quotes"},
		{`task 2 "B"`, `task 2 "B"^ `, "the end of the line"},
		{"task 128 \"child\"", "task 128 \"child\"\ntask ^129 \"other\"", "a task that one of the events starts"},
		// The line of an event.
		{"1.0 spawn", "^3.0 spawn", event},
		{"1.0 spawn", "^\"1\".0 spawn", event},
		{"1.3 unlock", "^\n1.3 unlock", event},
		{"1.3 unlock", "1.^4 unlock", position},
		{"1.3 unlock", "1.^03 unlock", position},
		{"unlock", "^free", kinds},
		{"1.3 unlock", "1.3 ^ unlock", kinds},
		{" unlock at=\"l\" mode=exclusive", "^ ", kinds},
		{`unlock at="l"`, `unlock ^`, "at="},
		{`unlock at="l"`, `unlock at=^l`, "a name in quotes"},
		{`unlock at="l"`, `unlock at=^"l`, "a name in quotes"},
		{`2.4 read at="x"`, `2.4 read at=^"l"`, "the name of a word"},
		{`128.3 lock-idle at="l"`, `128.3 lock-idle at=^"x"`, "the name of a lock"},
		{"unlock at=\"l\" mode=exclusive", "unlock at=\"l\"^", "mode="},
		{"mode=exclusive\n2.0", "mode=^both\n2.0", "one of exclusive, shared"},
		{"mode=exclusive\n2.0", "mode=exclusive ^end=1.4\n2.0", "the end of the line"},
		{"order=release", "order=^relaxed", "one of plain, once, acquire, release, acquire-release, full, sequential"},
		{"barrier=full", "barrier=^memory", "one of full, read, write"},
		{"turn=follows", "turn=^either", "one of waits, follows"},
		{"try=yes", "try=^no", "one of yes"},
		{"awaits=yes", "awaits=^no", "one of yes"},
		{"await at=\"y\"", "await at=^\"l\"", "the name of a word"},
		{"order=acquire from=init", "order=acquire from=^2.3", written},
		{"choice=2", "choice=^-1", choice},
		{"choice=2", "choice=^2147483648", choice},
		{"choice=2", "choice=^02", choice},
		{"1.6 lock-read at=\"rw\" strand=2", "1.6 lock-read at=\"rw\" strand=^0", "a number from 1 to 9223372036854775807"},
		{"spawn child=128", "spawn child=^2", "128, the next task that it starts"},
		{"spawn child=128", "spawn child=^1", listed},
		{"spawn child=128", "spawn child=^129", listed},
		{"join child=128", "join child=^129", listed},
		{"join child=128", "spawn child=^128", "129, the next task that it starts"},
		// Links.
		{"from=2.3", "from=^2.9", "another event of the trace, or init"},
		{"from=2.3", "from=^2.4", "another event of the trace, or init"},
		{"from=2.3", "from=^", "another event of the trace, or init"},
		{"from=2.3", "from=^2.2", written},
		{"from=2.3", "from=^1.2", written},
		{"turn=follows from=1.2", "turn=follows from=^init", written},
		{"turn=follows from=1.2", "from=^1.1", written},
		{"try=yes from=2.1", "try=yes from=^init", hinders},
		{"try=yes from=2.1", "try=yes from=^2.0", hinders},
		{"mode=exclusive from=1.7", "mode=exclusive from=^init", hinders},
		{"mode=exclusive from=1.7", "mode=exclusive from=^2.1", hinders},
		{"2.5 lock-busy at=\"rw\" strand=2 mode=exclusive from=1.7", "1.8 lock-busy at=\"rw\" strand=2 mode=exclusive from=^1.7", hinders},
		{"from=1.3", "from=^1.2", "an unlock of the same lock, or init"},
		{"after=1.4", "after=^2.2", written},
		{"after=1.4", "after=^1.2", written},
		{"after=1.4", "after=^init", "what 2.2 reads from"},
		{"release after=init", "release after=^2.3", alone},
		{"2.4 read at=\"x\" order=once from=2.3", "2.4 write at=\"x\" order=once after=^1.4", alone},
		{"pair=2.2", "pair=^init", "the update-read before it"},
		{"pair=2.2", "pair=^2.1", "the update-read before it"},
		{"pair=1.1", "pair=^2.0", "the lock-read before it"},
		{" end=1.3", "^", "end=1.3, the next unlock"},
		{"end=1.3", "end=^1.4", "end=1.3, the next unlock"},
		{"end=1.3", "end=^init", "end=1.3, the next unlock"},
		{"after=1.2 pair=2.0", "after=1.2 pair=2.0 end=^1.3", "no end, for the task does not unlock"},
		{"after=1.2 pair=2.0", "after=1.2 pair=2.0 end=^init", "no end, for the task does not unlock"},
	} {
		if strings.Count(whole, c.old) != 1 {
			t.Errorf("%q is not in one place", c.old)
		}
		marked := strings.Replace(whole, c.old, c.replacement, 1)
		before, _, _ := strings.Cut(marked, "^")
		place := fmt.Sprintf("t:%d:%d: ", strings.Count(before, "\n")+1, len(before)-strings.LastIndex(before, "\n"))
		_, _, err := explore.ParseTrace("t", []byte(strings.Replace(marked, "^", "", 1)))
		if want := place + "expected " + c.want; err == nil || err.Error() != want {
			t.Errorf("%q for %q: %v, want %s", c.replacement, c.old, err, want)
		}
	}
}

// TestCircles has events that wait for each other, in each way that events can.
func TestCircles(t *testing.T) {
	const head = "benign trace 1\nrace r\nscenario s\nvariant v\nmodel sc\ntask 1 \"A\"\ntask 2 \"B\"\n"
	for name, events := range map[string]string{
		"reads": "1.0 read at=\"x\" order=once from=2.1\n1.1 write at=\"y\" order=once after=init\n" +
			"2.0 read at=\"y\" order=once from=1.1\n2.1 write at=\"x\" order=once after=init\n",
		"joins": "1.0 join child=2\n2.0 join child=1\n",
		"start": "1.0 join child=128\n1.1 spawn child=128\n",
		"locks": "1.0 join child=2\n1.1 lock-read at=\"l\" mode=exclusive from=init\n1.2 lock-write at=\"l\" mode=exclusive after=init pair=1.1 end=1.3\n" +
			"1.3 unlock at=\"l\" mode=exclusive\n2.0 lock-read at=\"l\" mode=exclusive from=1.2\n",
	} {
		if name == "start" {
			events = "task 128 \"child\"\n" + events
		}
		_, _, err := explore.ParseTrace("t", []byte(head+events))
		if err == nil || !strings.HasSuffix(err.Error(), "expected an event that does not depend on itself") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestTornTraces end too early. Without its last events a trace is one of less.
func TestTornTraces(t *testing.T) {
	lines := strings.SplitAfter(whole, "\n")
	for n, want := range []string{
		`t:1:1: expected "benign trace 1"`, `t:2:1: expected a line "race NAME"`, `t:3:1: expected a line "scenario NAME"`,
		`t:4:1: expected a line "variant NAME"`, `t:5:1: expected a line "model NAME"`, "",
	} {
		_, _, err := explore.ParseTrace("t", []byte(strings.Join(lines[:n], "")))
		if got := fmt.Sprint(err); got != want && (err != nil || want != "") {
			t.Errorf("%d lines: %v, want %s", n, err, want)
		}
	}
}

func TestTooLargeTraces(t *testing.T) {
	const head = "benign trace 1\nrace r\nscenario s\nvariant v\nmodel sc\n"
	var tasks, events strings.Builder
	for i := range 17 {
		fmt.Fprintf(&tasks, "task %d \"\"\n", i+1)
	}
	for i := range 10_001 {
		fmt.Fprintf(&events, "1.%d barrier barrier=full\n", i)
	}
	for text, want := range map[string]string{
		head + tasks.String():                    "t:22:6: expected at most 16 tasks",
		head + "task 1 \"\"\n" + events.String(): "t:10007:1: expected at most 10000 events",
	} {
		if _, _, err := explore.ParseTrace("t", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// FuzzParseTrace reads anything. What is read can be written and read again, and
// replayed in any scenario: at worst it does not fit.
func FuzzParseTrace(f *testing.F) {
	scenes := map[string]explore.Config{}
	for _, p := range samples() {
		s := scene(p.steps)
		scenes[p.name] = configure(s, "kernel")
		all := exhausted(f, s, "kernel")
		for _, e := range []*explore.Execution{all[0], all[len(all)/2], all[len(all)-1]} {
			f.Add([]byte(explore.FormatTrace(explore.TraceHeader{Race: "r", Scenario: p.name, Variant: "only", Model: "kernel"}, e.Graph)))
		}
	}
	f.Add([]byte(whole))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, trace, err := explore.ParseTrace("t", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "t:") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q", err)
			}
			return
		}
		first := explore.FormatTrace(h, trace.Graph())
		h, trace, err = explore.ParseTrace("t", []byte(first))
		if err != nil {
			t.Fatalf("%v in\n%s", err, first)
		}
		if second := explore.FormatTrace(h, trace.Graph()); second != first {
			t.Fatalf("first\n%s\nand then\n%s", first, second)
		}
		config, ok := scenes[h.Scenario]
		if !ok {
			config = scenes["words"]
		}
		e, _, err := explore.Replay(config, trace)
		if (e == nil) != (err != nil) {
			t.Errorf("replayed: %v, %v", e, err)
		}
	})
}
