package explore

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"benign/checkers/memmodel"
	"benign/impl/kernel"

	"pgregory.net/rapid"
)

var (
	bruteChecks = flag.Int("brute.checks", 100, "random programs of the second judge, per model")
	bruteEvents = flag.Int("brute.events", 8, "instructions in a random program of the second judge")
	bruteTasks  = flag.Int("brute.tasks", 4, "tasks in a random program of the second judge")
)

// programmer draws a program. Instructions on words stand alone; a lock section
// has at most one instruction or one section of another lock in it.
type programmer struct {
	t     *rapid.T
	words int   // that the program uses
	locks []int // that the program uses
	codes []code
	left  []int // by task: how many instructions it may still have

	awaits bool // some instructions wait for values
	wide   bool // most accesses are to two halves
}

func (p *programmer) pick(name string, ops ...string) string {
	return rapid.SampledFrom(ops).Draw(p.t, name)
}

// number draws evenly; rapid's own ranges prefer small numbers.
func (p *programmer) number(name string, least, most int) int {
	var all []int
	for n := least; n <= most; n++ {
		all = append(all, n)
	}
	return rapid.SampledFrom(all).Draw(p.t, name)
}

// randomProgram shares the instructions out among the tasks that are there from
// the start, and they share theirs with those that they spawn.
func randomProgram(t *rapid.T) []code {
	p := &programmer{t: t, awaits: rapid.Bool().Draw(t, "awaits")}
	p.words = p.number("words", 1, bruteWords)
	p.locks = rapid.SampledFrom([][]int{{0}, {1}, {1}, {0, 1}, {0, 1}, {1, 2}, {bruteRCU}, {0, bruteRCU}}).Draw(t, "locks")
	tasks := p.number("tasks", 2, *bruteTasks)
	p.codes, p.left = make([]code, tasks), make([]int, tasks)
	for i := range *bruteEvents {
		p.left[i%tasks]++
	}
	for i := range tasks {
		p.task(i)
	}
	return p.codes
}

// task draws one task and those that it spawns. The task spawns at most one,
// and may join after that.
func (p *programmer) task(i int) {
	child := -1
	for p.left[i] > 0 {
		switch {
		case p.left[i] >= 2 && rapid.Bool().Draw(p.t, "section"):
			p.section(i, &child)
		case child < 0 || !p.join(i, child):
			p.single(i, &child)
		}
	}
}

func (p *programmer) add(i int, ins instruction) {
	p.codes[i] = append(p.codes[i], ins)
	p.left[i]--
}

func (p *programmer) join(i, child int) bool {
	joined := slices.ContainsFunc(p.codes[i], func(ins instruction) bool { return ins.op == "join" })
	if joined || !rapid.Bool().Draw(p.t, "join") {
		return false
	}
	p.add(i, instruction{op: "join", at: child})
	return true
}

// section draws a section of a lock: 0 is a mutex, under which a task may join,
// the others are reader/writer locks, and the last is RCU, with sections and grace
// periods. They are nested in one order only.
func (p *programmer) section(i int, child *int) {
	at := rapid.SampledFrom(p.locks).Draw(p.t, "lock")
	inner := p.locks[len(p.locks)-1]
	if at == bruteRCU && rapid.Bool().Draw(p.t, "synchronize") {
		p.add(i, instruction{op: "synchronize", at: at})
		return
	}
	p.add(i, instruction{op: p.pick("lock kind", lockKinds(at)...), at: at})
	p.left[i]-- // for the unlock
	if p.left[i] > 0 && rapid.Bool().Draw(p.t, "body") {
		switch {
		case at != inner && p.left[i] >= 2 && rapid.Bool().Draw(p.t, "nested"):
			p.add(i, instruction{op: p.pick("inner kind", lockKinds(inner)...), at: inner})
			p.add(i, instruction{op: "unlock", at: inner})
		case at > 0 || *child < 0 || !p.join(i, *child):
			p.single(i, child)
		}
	}
	p.codes[i] = append(p.codes[i], instruction{op: "unlock", at: at})
}

func lockKinds(at int) []string {
	switch at {
	case 0:
		return []string{"lock", "trylock"}
	case bruteRCU:
		return []string{"rlock"}
	}
	return []string{"lock", "trylock", "rlock", "tryrlock"}
}

// single draws an instruction that is not about locks.
func (p *programmer) single(i int, child *int) {
	ops := []string{"load", "store", "add", "cas", "load", "store", "barrier", "choose"}
	if p.awaits {
		ops = append(ops, "await", "await-not", "await-add", "await")
	}
	if *child < 0 && len(p.codes) < *bruteTasks {
		ops = append(ops, "spawn", "spawn")
	}
	if p.wide {
		ops = append(slices.Repeat([]string{"wide load", "wide store"}, 6), ops...)
	}
	op := p.pick("instruction", ops...)
	ins := instruction{op: op}
	switch op {
	case "spawn":
		*child = len(p.codes)
		ins.at = *child
		p.add(i, ins)
		p.codes, p.left = append(p.codes, nil), append(p.left, (p.left[i]+1)/2)
		p.left[i] /= 2
		p.task(*child)
		return
	case "choose":
		ins.value = p.number("alternatives", 2, 3)
	case "barrier":
		ins.barrier = kernel.Barrier(p.number("barrier", 1, 3))
	default:
		loads := []kernel.Order{kernel.Once, kernel.Acquire, kernel.Sequential}
		orders := map[string][]kernel.Order{"load": loads, "await": loads, "await-not": loads, "store": {kernel.Once, kernel.Release, kernel.Sequential},
			"wide load": {kernel.Plain, kernel.Once}, "wide store": {kernel.Plain, kernel.Once}}[op]
		if orders == nil {
			orders = []kernel.Order{kernel.Once, kernel.Acquire, kernel.Release, kernel.AcquireRelease, kernel.Full, kernel.Sequential}
		}
		ins.at, ins.value = p.number("word", 0, p.words-1), p.number("value", 1, 2)
		if ins.awaits() {
			ins.expected, ins.value = p.number("expected", 0, 2), p.number("change", -1, 1)
		}
		ins.order = rapid.SampledFrom(orders).Draw(p.t, "order")
	}
	p.add(i, ins)
}

// compare explores a program and checks it against brute force: the same
// executions, none twice.
func compare(t interface {
	Errorf(string, ...any)
	Fatalf(string, ...any)
}, codes []code, model string) {
	want := bruteForce(codes, model)
	for _, scripted := range []bool{false, true} {
		compareWith(t, codes, model, scripted, want)
	}
}

// compareWith is compare with the code run in every execution, or scripted.
func compareWith(t interface {
	Errorf(string, ...any)
	Fatalf(string, ...any)
}, codes []code, model string, scripted bool, want map[string]bool) {
	s, v := program(bruteWords, 1, bruteLocks-1, codeProgram(codes)...)
	s.WordsOnly = scripted
	got := map[string]int{}
	stats, err := Explore(Config{Scenario: s, Variant: v, Model: model, Arch: Arch32, Workers: 1, CheckDefaults: true, Restart: func() { clear(got) }, Visit: func(e *Execution) {
		got[e.Graph.Key()]++
		if e.Violation != nil && !e.Violation.Kind.Stuck() {
			t.Errorf("unexpected violation: %v", e.Violation)
		}
	}})
	if err != nil {
		t.Fatalf("%v: %v", err, codes)
	}
	missing, extra, twice := 0, 0, 0
	for key := range want {
		if got[key] == 0 {
			missing++
		}
	}
	for key, n := range got {
		if !want[key] {
			extra++
		}
		twice += n - 1
	}
	if missing+extra+twice > 0 {
		text := ""
		for i, c := range codes {
			text += fmt.Sprintf("\n  T%d: %v", i+1, c)
		}
		t.Fatalf("%s: brute force has %d executions, explored %+v: %d missing, %d extra, %d met twice%s", model, len(want), stats, missing, extra, twice, text)
	}
}

// TestScriptsDoWhatCodeDoes explores programs that are too large for brute force
// with their code run in every execution, and with it scripted.
func TestScriptsDoWhatCodeDoes(t *testing.T) {
	if testing.Short() || underRaceDetector {
		t.Skip("thousands of executions")
	}
	for _, model := range memmodel.Names() {
		t.Run(model, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p := &programmer{t: t, words: 2, locks: []int{0, 1}}
				p.codes, p.left = make([]code, *bruteTasks), make([]int, *bruteTasks) // so many that none is spawned
				for i := range p.left {
					p.left[i] = p.number("instructions", 2, 4)
					p.task(i)
				}
				if !sameWithCode(t, p.codes, model) {
					t.Skip("too many executions: another program is drawn")
				}
			})
		})
	}
}

// TestScriptsOfWaitingTasks has tasks that wait for a lock while others make
// choices: a branch that is taken later knows who waited.
func TestScriptsOfWaitingTasks(t *testing.T) {
	at := func(op string, at int) instruction {
		return instruction{op: op, at: at, order: kernel.Once, value: 1}
	}
	codes := []code{
		{at("load", 0), at("load", 0), at("lock", 1), at("unlock", 1)},
		{at("lock", 1), at("unlock", 1)},
		{{op: "barrier", barrier: kernel.FullBarrier}, {op: "choose", value: 2}},
		{at("rlock", 1), at("store", 0), at("unlock", 1)},
	}
	orders := 0
	for i := range 256 {
		order := []int{i & 3, i >> 2 & 3, i >> 4 & 3, i >> 6}
		var permuted []code
		for _, j := range order {
			permuted = append(permuted, codes[j])
		}
		slices.Sort(order)
		if slices.Equal(order, []int{0, 1, 2, 3}) {
			if !sameWithCode(t, permuted, "sc") {
				t.Fatal("too many executions")
			}
			orders++
		}
	}
	if orders != 24 {
		t.Errorf("%d orders of the tasks, want 24", orders)
	}
}

// TestTriesOfStrands has a task try a reader/writer lock exclusively and then
// shared. What it saw belongs to one lock, although the strands are different,
// and a sequential load elsewhere has the model look at that in another way.
func TestTriesOfStrands(t *testing.T) {
	lock := code{{op: "lock", at: 1}, {op: "unlock", at: 1}}
	codes := []code{
		{{op: "trylock", at: 1}, {op: "unlock", at: 1}, {op: "tryrlock", at: 1}, {op: "unlock", at: 1}},
		lock, {{op: "load", order: kernel.Once}, {op: "load", order: kernel.Sequential}}, lock,
	}
	for _, model := range memmodel.Names() {
		if !sameWithCode(t, codes, model) {
			t.Fatal("too many executions")
		}
	}
}

// sameWithCode explores the program both ways, and reports whether that was
// possible within a budget.
func sameWithCode(t interface{ Fatalf(string, ...any) }, codes []code, model string) bool {
	var found [2]map[string]int
	for i, scripted := range []bool{false, true} {
		s, v := program(bruteWords, 1, bruteLocks-1, codeProgram(codes)...)
		s.WordsOnly = scripted
		found[i] = map[string]int{}
		stats, err := Explore(Config{Scenario: s, Variant: v, Model: model, Workers: 1, MaxExecutions: 5000, CheckDefaults: true,
			Restart: func() { clear(found[i]) }, Visit: func(e *Execution) { found[i][e.Graph.Key()]++ }})
		if err != nil {
			t.Fatalf("%v: %v", err, codes)
		}
		if !stats.Exhaustive {
			return false
		}
	}
	if !maps.Equal(found[0], found[1]) {
		t.Fatalf("%s: %d executions if the code is run, %d scripted, or others\n%v", model, len(found[0]), len(found[1]), codes)
	}
	return true
}

// TestSecondJudge draws as many programs as -brute.checks says, and one in five
// of them in short runs. At night it is run with several thousands.
func TestSecondJudge(t *testing.T) {
	withChecks(*bruteChecks, func() {
		for _, model := range memmodel.Names() {
			t.Run(model, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					compare(t, randomProgram(t), model)
				})
			})
		}
	})
}

// withChecks has rapid draw so many programs.
func withChecks(n int, run func()) {
	checks := flag.Lookup("rapid.checks").Value
	defer checks.Set(checks.String())
	checks.Set(strconv.Itoa(n))
	run()
}

func TestLockThenTries(t *testing.T) {
	for at := range bruteLocks {
		try := code{{op: "trylock", at: at}, {op: "unlock", at: at}}
		lock := code{{op: "lock", at: at}, {op: "unlock", at: at}}
		compare(t, []code{lock, try}, "sc")
		compare(t, []code{lock, try, try}, "sc")
		compare(t, []code{lock, lock, try}, "sc")
		compare(t, []code{lock, try, try, try}, "sc")
	}
}
