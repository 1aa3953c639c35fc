package docs

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"benign/checkers/explore"
	"benign/checkers/memmodel"
	"benign/checkers/verdict"
	"benign/impl/practice"
	"benign/impl/scenario"
)

var update = flag.Bool("update", false, "rewrite the part of the track record that is about the arguments of maintainers")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// trackRecord is the document, and argumentsHeading begins its part that is
// written here; it is the last one.
const (
	trackRecord      = "track-record.md"
	argumentsHeading = "## Arguments of maintainers\n"
)

// argument is what somebody who knows the code has said about a race, and where
// it can be asked about.
type argument struct {
	argued, source          string
	race, scenario, variant string
	predicts                prediction
	on32                    prediction // if it is another one on a 32-bit machine
	except                  string     // why models other than kernel may answer otherwise
}

// prediction lists the classes that an argument allows.
type prediction []scenario.Class

var (
	harmless = prediction{scenario.Indistinguishable, scenario.Defers}
	defers   = prediction{scenario.Defers}
	harmful  = prediction{scenario.Harmful}
)

// String has one word for each prediction.
func (p prediction) String() string {
	if len(p) == 1 {
		return p[0].String()
	}
	return "harmless"
}

// arguments are those that were met with a source, and known practice without.
var arguments = []argument{
	{argued: "A count that is one off runs one more or one less now, and the commit runs all that are left, when nobody can add any", source: "ml:a69b9ae94",
		race: "head-count", scenario: "run", variant: "unlocked", predicts: defers},
	{argued: "An old number of used bytes makes the cleaner come for nothing; it looks again before it deletes", source: "ml:7865b59f4",
		race: "group-used", scenario: "delete", variant: "unlocked", predicts: harmless},
	{argued: "... and so does a torn one", source: "ml:7865b59f4",
		race: "group-used", scenario: "keep", variant: "unlocked", predicts: harmless},
	{argued: "... or makes it come later", source: "ml:7865b59f4",
		race: "group-used", scenario: "leave", variant: "unlocked", predicts: harmless},
	{argued: "A race that is meant is annotated, so that tools report the others", source: "ml:3482203d3",
		race: "group-used", scenario: "delete", variant: "not-annotated", predicts: harmful},
	{argued: "What is sorted by a number that changes meanwhile is in an order that was a guess anyway", source: "ml:7752a4370",
		race: "reclaim-order", scenario: "sort", variant: "unlocked", predicts: harmless},
	{argued: "data_race() is not enough for a size of 64 bits that goes to disk: half of it can be another one's", source: "ml:cbc36d195",
		race: "item-size", scenario: "log", variant: "data-race", predicts: harmless, on32: harmful},
	{argued: "READ_ONCE does not put the halves together either", source: "20240702154606.GG21023@twin.jikos.cz",
		race: "item-size", scenario: "log", variant: "marked", predicts: harmless, on32: harmful},
	{argued: "The same size was harmless where it only takes a lock that is not needed", source: "ml:cbc36d195",
		race: "drop-lock", scenario: "drop", variant: "unlocked", predicts: harmless},
	{argued: "The number of the transaction that a root was recorded in is only compared with this one's, torn or not", source: "ml:5643fb628, ml:e403a1fb4",
		race: "last-transaction", scenario: "record", variant: "unlocked", predicts: harmless},
	{argued: "Who misses a change of the state is woken later", source: "ml:6575c9031",
		race: "transaction-state", scenario: "commit", variant: "acquire", predicts: harmless},
	{argued: "A wait for a flag wants an acquire load or the lock, not a bare marked read", source: "CAL3q7H7phOax9p2s-pcaeGdE4rgpZc7NP1=0Ny+o93fXYKJ-Nw@mail.gmail.com",
		race: "transaction-state", scenario: "commit", variant: "bare-read", predicts: harmful,
		except: "these models order what follows a marked read, which the kernel does not promise, and cannot show what comes of it"},
	{argued: "A wake-up that is missed for good is a hang", source: "ml:6575c9031",
		race: "transaction-state", scenario: "commit", variant: "no-wake-up", predicts: harmful},
	{argued: "After an abort any latency is fine", source: "ml:f85f579bf",
		race: "transaction-state", scenario: "abort", variant: "late-wake-up", predicts: harmless},
	{argued: "A reported race is a false alert: the transaction that is held open excludes it", source: "ml:79155ad43, ml:064ecb38e",
		race: "quota-off", scenario: "account", variant: "handle-only", predicts: harmless},
	{argued: "The rescan holds no transaction open: it uses what was freed", source: "ml:064ecb38e, ml:ea62430f7",
		race: "quota-off", scenario: "rescan", variant: "as-reported", predicts: harmful},
	{argued: "A list is tested for emptiness before its hot lock is taken, and again under it", source: "1b139da4d48b3ef61c592122b44153b55fbdc5f0.1761234581.git.fdmanana@suse.com",
		race: "empty-list", scenario: "take", variant: "unlocked", predicts: harmless},
	{argued: "A size that only chooses the mode of a lock is read again under it",
		race: "write-lock", scenario: "write", variant: "unlocked", predicts: harmless},
}

// on is what the argument predicts for a machine.
func (a *argument) on(arch int) prediction {
	if arch == explore.Arch32 && a.on32 != nil {
		return a.on32
	}
	return a.predicts
}

// Scores of a verdict; every verdict has one.
const (
	right = iota
	falseAlarm
	miss
	otherHarmless
	unknownScore
	scores
)

var scoreNames = [scores]string{"right", "false alarms", "misses", "harmless in another way", "unknown"}

// score compares a class with a prediction.
func score(p prediction, c scenario.Class) int {
	switch {
	case slices.Contains(p, c):
		return right
	case c == scenario.Harmful:
		return falseAlarm
	case c != scenario.Indistinguishable && c != scenario.Defers:
		return unknownScore
	case slices.Contains(p, scenario.Harmful):
		return miss
	}
	return otherHarmless
}

func TestScore(t *testing.T) {
	for _, c := range []struct {
		predicts prediction
		said     scenario.Class
		want     int
	}{
		{harmless, scenario.Indistinguishable, right}, {harmless, scenario.Defers, right}, {defers, scenario.Defers, right}, {harmful, scenario.Harmful, right},
		{harmless, scenario.Harmful, falseAlarm}, {defers, scenario.Harmful, falseAlarm},
		{harmful, scenario.Indistinguishable, miss}, {harmful, scenario.Defers, miss},
		{defers, scenario.Indistinguishable, otherHarmless},
		{harmless, scenario.Unknown, unknownScore}, {harmful, scenario.Unknown, unknownScore}, {harmful, 0, unknownScore},
	} {
		if got := score(c.predicts, c.said); got != c.want {
			t.Errorf("%s predicted, %s said: %s, want %s", c.predicts, c.said, scoreNames[got], scoreNames[c.want])
		}
	}
}

// asked is a variant of the arguments' races, under a model and on a machine.
type asked struct {
	race, scenario, variant, model string
	arch                           int
}

var machines = []int{explore.Arch64, explore.Arch32}

// judgeAll asks about every variant of every argument, under every model and on
// every machine.
func judgeAll(t *testing.T) map[asked]*verdict.Verdict {
	t.Helper()
	all := map[asked]*verdict.Verdict{}
	for _, race := range practice.Races() {
		for _, s := range race.Scenarios {
			for i := range s.Variants {
				v := &s.Variants[i]
				for _, model := range memmodel.Names() {
					for _, arch := range machines {
						answer, err := verdict.Judge(&race, &s, v, model, verdict.Options{Arch: arch, Workers: 1})
						if err != nil {
							t.Fatalf("%s/%s, %s under %s on %d bits: %v", race.Name, s.Name, v.Name, model, arch, err)
						}
						all[asked{race.Name, s.Name, v.Name, model, arch}] = answer
					}
				}
			}
		}
	}
	return all
}

// TestArguments: every variant gets the class that the catalogue predicts, under
// every model and on every machine, and the track record says what the arguments
// predicted and what came out.
func TestArguments(t *testing.T) {
	all := judgeAll(t)
	for a, v := range all {
		if !v.AsExpected() {
			t.Errorf("%s/%s, %s under %s on %d bits: %s, expected %s: %s", a.race, a.scenario, a.variant, a.model, a.arch, v.Class, v.Expected, v.Reason)
		}
	}
	argued := map[string]bool{}
	for _, a := range arguments {
		argued[a.race] = true
		if all[asked{a.race, a.scenario, a.variant, "kernel", explore.Arch64}] == nil {
			t.Fatalf("there is no %s/%s, %s", a.race, a.scenario, a.variant)
		}
	}
	for _, race := range practice.Races() {
		if !argued[race.Name] {
			t.Errorf("nobody has argued about %s", race.Name)
		}
	}
	compareArguments(t, argumentsHeading+argumentTable(all)+scoreTable(all))
}

// compareArguments holds the last part of the document against what it must be.
func compareArguments(t *testing.T, want string) {
	t.Helper()
	text, err := os.ReadFile(trackRecord)
	if err != nil {
		t.Fatal(err)
	}
	before, got, found := strings.Cut(string(text), argumentsHeading)
	if *update {
		if err := os.WriteFile(trackRecord, []byte(before+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !found || argumentsHeading+got != want {
		t.Errorf("the arguments in %s are stale: write them with go test ./docs -run Arguments -update", trackRecord)
	}
}

const argumentsPreface = `
What maintainers of the kernel have said about races is a judgement from outside. [Kernel practice](practice.md) tells of each argument
and of its scenario; here is what it predicted, and what the answer was. This part is written by
[a test](arguments_test.go), with its flag ` + "`-update`" + `, which fails if it is stale.

A source that begins with ml: is a commit of the archive of the mailing list linux-btrfs, others are message identifiers. *Harmless*
is INDISTINGUISHABLE or DEFERS. The arguments are about the kernel, so that the answer that counts is the one under ` + "`kernel`" + `;
where another model answers otherwise the row says so.

The scenarios were written with the arguments at hand, and a twin that did not come out as argued was looked at until it was known
why. So the figures show that the arguments can be told apart by their premises, and are no estimate of how often the tool is right
about races that it has not seen.

`

// argumentTable has a row for each argument.
func argumentTable(all map[asked]*verdict.Verdict) string {
	var b strings.Builder
	b.WriteString(argumentsPreface + "| argued | source | asked about | predicted | 64-bit machine | 32-bit machine |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, a := range arguments {
		predicted := a.predicts.String()
		if a.on32 != nil {
			predicted += ", on 32 bits " + a.on32.String()
		}
		source := "–"
		if a.source != "" {
			source = "`" + a.source + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | `%s/%s`, `%s` | %s | %s | %s |\n", a.argued, source, a.race, a.scenario, a.variant, predicted,
			a.cell(all, explore.Arch64), a.cell(all, explore.Arch32))
	}
	return b.String()
}

// cell is the answer under kernel with its score, and other answers.
func (a *argument) cell(all map[asked]*verdict.Verdict, arch int) string {
	under := func(model string) scenario.Class {
		return all[asked{a.race, a.scenario, a.variant, model, arch}].Class
	}
	said := under("kernel")
	text := said.String()
	if outcome := score(a.on(arch), said); outcome != right {
		text = fmt.Sprintf("**%s** (%s)", said, scoreNames[outcome])
	}
	others := map[scenario.Class][]string{}
	for _, model := range memmodel.Names() {
		if c := under(model); c != said {
			others[c] = append(others[c], "`"+model+"`")
		}
	}
	for c := scenario.Indistinguishable; c <= scenario.Unknown; c++ {
		if len(others[c]) > 0 {
			text += fmt.Sprintf("; %s under %s", c, strings.Join(others[c], ", "))
		}
	}
	return text
}

// scoreTable has a row for each model, and lists what is wrong.
func scoreTable(all map[asked]*verdict.Verdict) string {
	var table strings.Builder
	table.WriteString("\nEach argument is asked about on both machines.\n\n| model | answers | " + strings.Join(scoreNames[:], " | ") + " | accuracy | planted faults caught |\n|" + strings.Repeat(" --- |", scores+4) + "\n")
	wrongly := map[string][]string{} // where, by what
	for _, model := range memmodel.Names() {
		counts, answers := [scores]int{}, 0
		for _, a := range arguments {
			for _, arch := range machines {
				said := all[asked{a.race, a.scenario, a.variant, model, arch}].Class
				outcome := score(a.on(arch), said)
				counts[outcome]++
				answers++
				if outcome != right {
					what := fmt.Sprintf("`%s/%s`, `%s`: %s predicted, %s answered (%s)", a.race, a.scenario, a.variant, a.on(arch), said, scoreNames[outcome])
					if model != "kernel" && a.except != "" {
						what += "; " + a.except
					}
					wrongly[what] = append(wrongly[what], fmt.Sprintf("`%s` on %d bits", model, arch))
				}
			}
		}
		fmt.Fprintf(&table, "| `%s` | %d |", model, answers)
		for _, n := range counts {
			fmt.Fprintf(&table, " %d |", n)
		}
		caught, planted := caughtUnder(all, model)
		fmt.Fprintf(&table, " %.0f %% | %d of %d |\n", 100*float64(counts[right])/float64(answers), caught, planted)
	}
	if len(wrongly) == 0 {
		return table.String() + "\nNone is wrong.\n"
	}
	table.WriteString("\nThese are wrong:\n\n")
	for _, what := range slices.Sorted(maps.Keys(wrongly)) {
		fmt.Fprintf(&table, "- %s. So under %s.\n", what, strings.Join(wrongly[what], ", "))
	}
	return table.String()
}

// caughtUnder counts the planted faults, on both machines.
func caughtUnder(all map[asked]*verdict.Verdict, model string) (caught, planted int) {
	for _, race := range practice.Races() {
		for _, s := range race.Scenarios {
			for _, v := range s.Variants {
				if v.Role != scenario.Planted {
					continue
				}
				for _, arch := range machines {
					planted++
					if all[asked{race.Name, s.Name, v.Name, model, arch}].Class == scenario.Harmful {
						caught++
					}
				}
			}
		}
	}
	return caught, planted
}
