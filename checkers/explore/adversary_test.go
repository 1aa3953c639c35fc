package explore_test

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/memmodel"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// file has a size of 64 bits, as an inode has, and what can protect it.
type file struct {
	kernel.Object
	size     kernel.Word[int64]
	long     kernel.Word[int] // as wide as the machine's words
	limit    kernel.Word[uint64]
	atomic   kernel.Word[uint64]
	sequence kernel.Word[int]
	flag     kernel.Word[int]
	head     kernel.Pointer[node]
	lock     kernel.SpinLock
	node     node
}

type node struct {
	kernel.Object
	value kernel.Word[int]
}

// The two sizes differ in both halves: 4 GiB less a byte, and 4 GiB.
const (
	smaller = 1<<32 - 1
	larger  = 1 << 32
)

var sizeSite = kernel.DataRaceSite("size", "an old size is as good as a new one")

type use func(t *kernel.Task, f *file) string

// files is a scenario of tasks A, B, … that share a file.
func files(uses ...use) *scenario.Scenario {
	build := func(setup *kernel.Task) *scenario.Instance {
		f := &file{}
		f.Init(setup, "file", f)
		f.size.Init(&f.Object, "size", smaller)
		f.long.Init(&f.Object, "long", smaller)
		f.limit.Init(&f.Object, "limit", 5<<32+6)
		f.atomic.InitAtomic(&f.Object, "atomic", smaller)
		f.sequence.Init(&f.Object, "sequence", 0)
		f.flag.Init(&f.Object, "flag", 0)
		f.lock.Init(&f.Object, "lock")
		f.node.Init(setup, "node", &f.node)
		f.node.value.Init(&f.node.Object, "value", 7)
		f.head.Init(&f.Object, "head", &f.node)
		i := &scenario.Instance{Observe: func(t *kernel.Task) string { return fmt.Sprint(f.size.Load(t, kernel.Plain)) }}
		for n, run := range uses {
			i.Tasks = append(i.Tasks, scenario.Task{Name: string(rune('A' + n)), Operations: []scenario.Operation{{Name: "use",
				Run: func(t *kernel.Task) scenario.Result { return scenario.Result{Value: run(t, f)} }}}})
		}
		return i
	}
	return &scenario.Scenario{Name: "files", Variants: []scenario.Variant{{Name: "only", Role: scenario.Candidate, Build: build}}}
}

func setSize(order kernel.Order, size int64) use {
	return func(t *kernel.Task, f *file) string { f.size.StoreRacy(t, order, size, sizeSite); return "" }
}

func getSize(order kernel.Order) use {
	return func(t *kernel.Task, f *file) string { return fmt.Sprint(f.size.LoadRacy(t, order, sizeSite)) }
}

func withLock(run use) use {
	return func(t *kernel.Task, f *file) string {
		f.lock.Lock(t)
		defer f.lock.Unlock(t)
		return run(t, f)
	}
}

// grow and look are the two sides of a sequence count.
func grow(t *kernel.Task, f *file) string {
	f.sequence.Store(t, kernel.Once, 1)
	t.Barrier(kernel.WriteBarrier)
	f.size.Store(t, kernel.Once, larger)
	t.Barrier(kernel.WriteBarrier)
	f.sequence.Store(t, kernel.Once, 2)
	return ""
}

func look(t *kernel.Task, f *file) string {
	before := f.sequence.Load(t, kernel.Once)
	t.Barrier(kernel.ReadBarrier)
	size := f.size.Load(t, kernel.Once)
	t.Barrier(kernel.ReadBarrier)
	if before%2 == 1 || f.sequence.Load(t, kernel.Once) != before {
		return "again"
	}
	return fmt.Sprint(size)
}

// onMachine explores everything and returns the results of the task, or what
// broke instead, without repetition and in order.
func onMachine(t *testing.T, arch int, model string, task int, s *scenario.Scenario) (results []string, stats explore.Stats) {
	t.Helper()
	config := configure(s, model)
	config.Arch = arch
	all, stats := executions(t, config)
	for _, e := range all {
		switch {
		case e.Violation != nil:
			results = append(results, e.Violation.Kind.String())
		default:
			results = append(results, e.Operations[task].Result.Value)
		}
	}
	slices.Sort(results)
	return slices.Compact(results), stats
}

// TestTornAccesses: a 32-bit machine makes two accesses of one to 64 bits, marked
// or not, unless a lock, a sequence count or an atomic type keeps them together.
func TestTornAccesses(t *testing.T) {
	whole := []string{fmt.Sprint(smaller), fmt.Sprint(larger)}
	torn := []string{"0", fmt.Sprint(smaller), fmt.Sprint(larger), fmt.Sprint(smaller + larger)}
	for _, c := range []struct {
		name   string
		writer use
		reader use
		on32   []string // other than whole
	}{
		{"annotated plain accesses", setSize(kernel.Plain, larger), getSize(kernel.Plain), torn},
		{"marked accesses", setSize(kernel.Once, larger), getSize(kernel.Once), torn},
		{"a marked store, an annotated plain load", setSize(kernel.Once, larger), getSize(kernel.Plain), torn},
		{"both locked", withLock(setSize(kernel.Plain, larger)), withLock(getSize(kernel.Plain)), whole},
		{"one locked", withLock(setSize(kernel.Once, larger)), getSize(kernel.Once), torn},
		{"a sequence count", grow, look, append(slices.Clone(whole), "again")},
		{"a word of the machine",
			func(t *kernel.Task, f *file) string { f.long.StoreRacy(t, kernel.Plain, larger, sizeSite); return "" },
			func(t *kernel.Task, f *file) string { return fmt.Sprint(f.long.LoadRacy(t, kernel.Plain, sizeSite)) }, whole},
		{"an atomic word",
			func(t *kernel.Task, f *file) string { f.atomic.Store(t, kernel.Once, larger); return "" },
			func(t *kernel.Task, f *file) string { return fmt.Sprint(f.atomic.Load(t, kernel.Once)) }, whole},
		{"an update of an atomic word",
			func(t *kernel.Task, f *file) string { f.atomic.Add(t, kernel.Full, 1); return "" },
			func(t *kernel.Task, f *file) string { return fmt.Sprint(f.atomic.Load(t, kernel.Acquire)) }, whole},
	} {
		for _, model := range memmodel.Names() {
			if got, _ := onMachine(t, explore.Arch32, model, 1, files(c.writer, c.reader)); !slices.Equal(got, c.on32) {
				t.Errorf("%s, 32 bits, %s: %v, want %v", c.name, model, got, c.on32)
			}
			got, _ := onMachine(t, explore.Arch64, model, 1, files(c.writer, c.reader))
			if got = slices.DeleteFunc(got, func(s string) bool { return s == "again" }); !slices.Equal(got, whole) {
				t.Errorf("%s, 64 bits, %s: %v, want %v", c.name, model, got, whole)
			}
		}
	}
}

// TestHalvesInEitherOrder: which half comes first is the compiler's choice, not
// the same for all accesses. A reader who takes the high half first can see the
// low one of the second store with the high one of none.
func TestHalvesInEitherOrder(t *testing.T) {
	writer := func(t *kernel.Task, f *file) string {
		f.size.Store(t, kernel.Once, larger+1)
		f.size.Store(t, kernel.Once, 2*larger+2)
		return ""
	}
	for _, model := range memmodel.Names() {
		got, _ := onMachine(t, explore.Arch32, model, 1, files(writer, getSize(kernel.Once)))
		for high := range int64(3) {
			for _, low := range []int64{smaller, 1, 2} {
				if want := fmt.Sprint(high<<32 + low); !slices.Contains(got, want) {
					t.Errorf("%s: nobody reads %d of one store and %d of another: %v", model, high, low, got)
				}
			}
		}
	}
}

// TestInitialHalves: the initial value is in halves too.
func TestInitialHalves(t *testing.T) {
	set := func(t *kernel.Task, f *file) string { f.limit.Store(t, kernel.Once, 7<<32+8); return "" }
	get := func(t *kernel.Task, f *file) string {
		n := f.limit.Load(t, kernel.Once)
		return fmt.Sprint(n>>32, n&(1<<32-1))
	}
	for _, model := range memmodel.Names() {
		if got, _ := onMachine(t, explore.Arch32, model, 1, files(set, get)); !slices.Equal(got, []string{"5 6", "5 8", "7 6", "7 8"}) {
			t.Errorf("%s: %v", model, got)
		}
	}
}

// TestTornStores: what two stores leave behind is the halves of either.
func TestTornStores(t *testing.T) {
	for arch, want := range map[int]int{explore.Arch32: 4, explore.Arch64: 2} {
		for _, model := range memmodel.Names() {
			config := configure(files(setSize(kernel.Plain, larger+1), setSize(kernel.Plain, 2*larger+2)), model)
			config.Arch = arch
			states := map[string]bool{}
			all, _ := executions(t, config)
			for _, e := range all {
				states[e.State] = true
			}
			if len(states) != want || len(all) != want {
				t.Errorf("%d bits, %s: %v in %d executions, want %d", arch, model, states, len(all), want)
			}
		}
	}
}

// TestNoRaceNoHalves: without a race there is nothing more to explore in halves.
func TestNoRaceNoHalves(t *testing.T) {
	update := withLock(func(t *kernel.Task, f *file) string {
		size := f.size.Load(t, kernel.Plain)
		f.size.Store(t, kernel.Plain, size+larger)
		return fmt.Sprint(size)
	})
	child := func(t *kernel.Task, f *file) string {
		f.size.Store(t, kernel.Plain, larger)
		t.Join(t.Go("child", func(t *kernel.Task) { f.size.Store(t, kernel.Plain, f.size.Load(t, kernel.Plain)+1) }))
		return fmt.Sprint(f.size.Load(t, kernel.Plain))
	}
	for name, s := range map[string]*scenario.Scenario{"lock": files(update, update, update), "join": files(child)} {
		for _, model := range memmodel.Names() {
			narrow, on32 := onMachine(t, explore.Arch32, model, 0, s)
			wide, on64 := onMachine(t, explore.Arch64, model, 0, s)
			if on32.Complete != on64.Complete || on32.Executions() != on32.Complete || !slices.Equal(narrow, wide) {
				t.Errorf("%s, %s: %+v in halves, and %+v without", name, model, on32, on64)
			}
		}
	}
}

// TestNoSuchAccess: code that a 32-bit machine has no instruction for is no
// question about it.
func TestNoSuchAccess(t *testing.T) {
	for name, run := range map[string]use{
		"acquire load":  getSize(kernel.Acquire),
		"release store": setSize(kernel.Release, 1),
		"once update":   func(t *kernel.Task, f *file) string { return fmt.Sprint(f.size.Add(t, kernel.Once, 1)) },
		"full update":   func(t *kernel.Task, f *file) string { return fmt.Sprint(f.size.Add(t, kernel.Full, 1)) },
	} {
		config := configure(files(run), "sc")
		if _, err := explore.Explore(config); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		config.Arch = explore.Arch32
		if _, err := explore.Explore(config); err == nil || !strings.Contains(err.Error(), "file#1.size has 64 bits") || !strings.HasSuffix(err.Error(), "not a "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	await := configure(files(func(t *kernel.Task, f *file) string {
		return fmt.Sprint(f.size.Await(t, kernel.Once, func(size int64) bool { return size > 0 }))
	}), "sc")
	await.Arch = explore.Arch32
	if _, err := explore.Explore(await); err == nil || !strings.HasSuffix(err.Error(), "no await") {
		t.Errorf("an await: %v", err)
	}
	config := configure(files(look), "sc")
	config.Arch = 16
	if _, err := explore.Explore(config); err == nil || err.Error() != "a machine of 16 bits: want 32 or 64" {
		t.Error(err)
	}
	if _, err := explore.Sample(config, explore.RandomWalk{}, 1, 1); err == nil || err.Error() != "a machine of 16 bits: want 32 or 64" {
		t.Error(err)
	}
}

// TestWordsOnlyHalves: a scenario whose code need not be run must be run after
// all, if there are halves in it.
func TestWordsOnlyHalves(t *testing.T) {
	torn := 0
	size := func(t *kernel.Task, f *file) string {
		if n := f.size.Load(t, kernel.Once); n != smaller && n != larger {
			torn++
		}
		return ""
	}
	s := files(func(t *kernel.Task, f *file) string { f.size.Store(t, kernel.Once, larger); return "" }, size)
	build := s.Variants[0].Build
	s.WordsOnly = true
	s.Variants[0].Build = func(setup *kernel.Task) *scenario.Instance {
		i := build(setup)
		i.Observe = nil
		i.Tasks[0].Operations[0].Run = func(t *kernel.Task) scenario.Result { return scenario.Result{} }
		return i
	}
	config := configure(s, "sc")
	config.Arch = explore.Arch32
	if _, err := explore.Explore(config); err != nil || torn != 0 {
		t.Errorf("%v, torn %d times by nobody", err, torn)
	}
	s.Variants[0].Build = func(setup *kernel.Task) *scenario.Instance {
		i := build(setup)
		i.Observe = nil
		return i
	}
	for arch, want := range map[int]int{explore.Arch32: 2, explore.Arch64: 0} {
		torn, config.Arch = 0, arch
		restarts := 0
		config.Restart = func() { torn, restarts = 0, restarts+1 }
		if _, err := explore.Explore(config); err != nil || torn != want {
			t.Errorf("%d bits: %v, %d torn loads, want %d", arch, err, torn, want)
		}
	}
}

// TestResumedHalves goes on in the middle of an exploration in halves, and does
// not on another machine.
func TestResumedHalves(t *testing.T) {
	for _, model := range []string{"sc", "ra"} {
		twice := func(t *kernel.Task, f *file) string {
			return setSize(kernel.Once, 1)(t, f) + setSize(kernel.Once, larger)(t, f)
		}
		config := configure(files(twice, getSize(kernel.Once)), model)
		config.Arch = explore.Arch32
		_, whole := executions(t, config)
		for at := 1; at < whole.Executions(); at++ {
			var left bytes.Buffer
			config.MaxExecutions = at
			config.Checkpoint = func(s *explore.Snapshot) func() error {
				left.Reset() // one may have been taken in passing
				return func() error { return gob.NewEncoder(&left).Encode(s) }
			}
			executions(t, config)
			config.MaxExecutions, config.Checkpoint = 0, nil
			if _, stats := rest(t, config, left.Bytes()); stats != whole {
				t.Errorf("%s, cut at %d: %+v, want %+v", model, at, stats, whole)
			}
			config.Resume = &explore.Snapshot{}
			if err := gob.NewDecoder(&left).Decode(config.Resume); err != nil {
				t.Fatal(err)
			}
			config.Arch = explore.Arch64
			if _, err := explore.Explore(config); err == nil || !strings.Contains(err.Error(), "32 bits") {
				t.Errorf("on another machine: %v", err)
			}
			config.Arch, config.Resume = explore.Arch32, nil
		}
	}
}

// TestTornStepsAreNoted replays: a torn access says of which stores its halves
// are, and the trace that is written says it too, and is read again.
func TestTornStepsAreNoted(t *testing.T) {
	for _, model := range []string{"sc", "kernel"} {
		config := configure(files(setSize(kernel.Plain, larger), getSize(kernel.Plain)), model)
		config.Arch = explore.Arch32
		all, _ := executions(t, config)
		notes := map[string]string{}
		for _, e := range all {
			_, steps, err := explore.ReplayGraph(config, e.Graph)
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(steps, func(s explore.Step) bool { return s.Task == 1 })
			notes[steps[at].What] = steps[at].Note
			h := explore.TraceHeader{Race: "race", Scenario: "files", Variant: "only", Model: model, Arch: explore.Arch32}
			text := explore.FormatTrace(h, e.Graph)
			header, trace, err := explore.ParseTrace("trace", []byte(text))
			if err != nil || header != h {
				t.Fatalf("%+v, %v\n%s", header, err, text)
			}
			again, stepsAgain, err := explore.Replay(configure(config.Scenario, model), trace)
			if err != nil || again.Outcome() != e.Outcome() {
				t.Errorf("%s: %v, was %s\n%s", model, err, e.Outcome(), text)
			}
			if !reflect.DeepEqual(stepsAgain, steps) { // though the trace does not say what a store writes that ends later
				t.Errorf("%s: the trace has %+v, and the execution %+v", model, stepsAgain, steps)
			}
			if formatted := explore.FormatTrace(h, again.Graph); formatted != text {
				t.Errorf("got\n%s\nwant\n%s", formatted, text)
			}
		}
		for what, note := range map[string]string{
			"plain load of file#1.size = 4294967295": "",
			"plain load of file#1.size = 4294967296": "",
			"plain load of file#1.size = 0":          "torn: low of 4294967296, high of 4294967295",
			"plain load of file#1.size = 8589934591": "torn: low of 4294967295, high of 4294967296",
		} {
			if got, there := notes[what]; !there || got != note {
				t.Errorf("%s: %s: %q, want %q", model, what, got, note)
			}
		}
	}
}

// TestTornStepsInOrder: a load that took its high half first is drawn where it
// was made, and what comes after it sees the newest values still.
func TestTornStepsInOrder(t *testing.T) {
	writer := func(t *kernel.Task, f *file) string {
		f.size.Store(t, kernel.Once, larger+1)
		f.size.Store(t, kernel.Once, 2*larger+2)
		f.flag.Store(t, kernel.Once, 1)
		f.flag.Store(t, kernel.Once, 2)
		return ""
	}
	reader := func(t *kernel.Task, f *file) string {
		return fmt.Sprint(f.size.Load(t, kernel.Once), f.flag.Load(t, kernel.Once))
	}
	config := configure(files(writer, reader), "sc")
	config.Arch = explore.Arch32
	all, _ := executions(t, config)
	for _, e := range all {
		_, steps, err := explore.ReplayGraph(config, e.Graph)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			if strings.HasPrefix(s.Note, "stale") {
				t.Errorf("%s: %+v", e.Outcome(), steps)
			}
		}
	}
}

// TestTornStoresAreNoted draws two stores of which each overwrote a half.
func TestTornStoresAreNoted(t *testing.T) {
	config := configure(files(setSize(kernel.Plain, larger+1), setSize(kernel.Plain, 2*larger+2)), "sc")
	config.Arch = explore.Arch32
	all, _ := executions(t, config)
	torn := 0
	for _, e := range all {
		_, steps, err := explore.ReplayGraph(config, e.Graph)
		if err != nil {
			t.Fatal(err)
		}
		mixed := e.State == fmt.Sprint(larger+2) || e.State == fmt.Sprint(2*larger+1)
		noted := slices.ContainsFunc(steps, func(s explore.Step) bool { return strings.HasPrefix(s.Note, "torn: low over ") })
		if noted != mixed {
			t.Errorf("finally %s: noted %v, want %v: %+v", e.State, noted, mixed, steps)
		}
		if noted {
			torn++
		}
	}
	if torn != 2 {
		t.Errorf("%d torn executions, want 2", torn)
	}
}

// TestHalvesOfTraces: a trace without the machine has no halves, and one with it
// must name them as the code comes by them.
func TestHalvesOfTraces(t *testing.T) {
	begin := "benign trace 1\nrace r\nscenario files\nvariant only\nmodel sc\n"
	events := "task 1 \"A\"\n1.0 read at=\"file#1.size\" half=low order=plain from=init\n1.1 read at=\"file#1.size\" half=high order=plain from=init\n"
	for text, want := range map[string]string{
		begin + events:                "trace:7:32: expected no half, for the trace has no line \"arch 32\"",
		begin + "arch 64\n" + events:  "trace:6:1: expected TASK.POSITION with a task that is listed above",
		begin + "arch 32 \n" + events: "trace:6:1: expected TASK.POSITION with a task that is listed above",
		begin + "arch 32\n" + strings.Replace(events, "low", "left", 1): "trace:8:32: expected one of low, high",
	} {
		if _, _, err := explore.ParseTrace("trace", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for change, fits := range map[string]bool{"": true, "half=low ": false, "half=high ": false} {
		text := begin + "arch 32\n" + events
		if change != "" {
			text = strings.Replace(text, change, "", 1)
		}
		_, trace, err := explore.ParseTrace("trace", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = explore.Replay(configure(files(getSize(kernel.Plain)), "sc"), trace)
		if diverged := (*explore.DivergenceError)(nil); fits != (err == nil) || !fits && !errors.As(err, &diverged) {
			t.Errorf("without %q: %v", change, err)
		}
	}
}

// TestEvidenceOfHalves: a pair of racing accesses is one pair, however many
// halves it has.
func TestEvidenceOfHalves(t *testing.T) {
	config := configure(files(setSize(kernel.Once, larger), getSize(kernel.Once)), "sc")
	for _, arch := range []int{explore.Arch32, explore.Arch64} {
		config.Arch = arch
		first := map[bool]bool{}
		all, _ := executions(t, config)
		for _, e := range all {
			sum := e.Evidence[0]
			if len(e.Evidence) != 1 || sum.Executed != 2 || sum.Unordered != 1 {
				t.Errorf("%d bits: %+v", arch, e.Evidence)
			}
			first[sum.ReadFirst == 1] = true
		}
		if len(first) != 2 {
			t.Errorf("%d bits: seen one way round only", arch)
		}
	}
}

// TestSampledHalves: samples are interrupted between the halves too.
func TestSampledHalves(t *testing.T) {
	for _, name := range explore.StrategyNames() {
		strategy, err := explore.NewStrategy(name, 3)
		if err != nil {
			t.Fatal(err)
		}
		config := configure(files(setSize(kernel.Plain, larger), getSize(kernel.Plain)), "sc")
		config.Arch = explore.Arch32
		seen := map[string]bool{}
		config.Visit = func(e *explore.Execution) { seen[e.Operations[1].Result.Value] = true }
		if _, err := explore.Sample(config, strategy, 500, 1); err != nil || len(seen) != 4 {
			t.Errorf("%s: %v, %v", name, err, seen)
		}
	}
}

// TestBoundedHalves: schedules with few preemptions find torn accesses, and do not
// claim to have seen all: they have low halves come first.
func TestBoundedHalves(t *testing.T) {
	for arch, want := range map[int]int{explore.Arch32: 4, explore.Arch64: 2} {
		config := configure(files(setSize(kernel.Plain, larger), getSize(kernel.Plain)), "sc")
		config.Arch = arch
		seen := map[string]bool{}
		config.Visit = func(e *explore.Execution) { seen[e.Operations[1].Result.Value] = true }
		stats, err := explore.ExploreBounded(config, explore.Bound{Most: 10})
		if err != nil || len(seen) != want || stats.Exhaustive != (arch == explore.Arch64) {
			t.Errorf("%d bits: %v, %v, %+v", arch, err, seen, stats)
		}
		config.Arch = 16
		if _, err := explore.ExploreBounded(config, explore.Bound{}); err == nil {
			t.Error("there is a machine of 16 bits")
		}
	}
}

// TestStalePlainLoads: an annotated plain load may be as old as a marked one.
func TestStalePlainLoads(t *testing.T) {
	send := func(t *kernel.Task, f *file) string {
		f.long.StoreRacy(t, kernel.Plain, 1, sizeSite)
		f.flag.Store(t, kernel.Once, 1)
		return ""
	}
	receive := func(t *kernel.Task, f *file) string {
		flag := f.flag.Load(t, kernel.Once)
		return fmt.Sprint(flag, f.long.LoadRacy(t, kernel.Plain, sizeSite))
	}
	for model, want := range map[string]bool{"sc": false, "tso": false, "ra": false, "rc11": true, "kernel": true} {
		got, _ := onMachine(t, explore.Arch64, model, 1, files(send, receive))
		if slices.Contains(got, fmt.Sprint(1, smaller)) != want {
			t.Errorf("%s: %v, stale expected: %v", model, got, want)
		}
	}
}

// TestCarelessRaces: an annotation excuses the access that carries it, and not
// the plain one that it races with.
func TestCarelessRaces(t *testing.T) {
	careless := func(t *kernel.Task, f *file) string { f.size.Store(t, kernel.Plain, larger); return "" }
	for _, c := range []struct {
		name   string
		writer use
		order  kernel.Order
		raced  bool
	}{
		{"both annotated", setSize(kernel.Plain, larger), kernel.Plain, false},
		{"annotated and marked", setSize(kernel.Once, larger), kernel.Plain, false},
		{"annotated and careless", careless, kernel.Plain, true},
		{"marked, annotated, and careless", careless, kernel.Once, true},
	} {
		for _, arch := range []int{explore.Arch32, explore.Arch64} {
			got, _ := onMachine(t, arch, "kernel", 1, files(c.writer, getSize(c.order)))
			if slices.Contains(got, kernel.DataRace.String()) != c.raced {
				t.Errorf("%s, %d bits: %v", c.name, arch, got)
			}
		}
	}
}
