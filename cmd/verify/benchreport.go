package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"benign/impl/shrinker"
)

// pair is one quantity without the patch and with it.
type pair struct {
	Base    float64 `json:"base"`
	Patched float64 `json:"patched"`
	// Ratio is patched by base, or nil if base is nothing.
	Ratio *float64 `json:"ratio"`
}

func newPair(base, patched float64) pair {
	if base == 0 {
		return pair{Base: base, Patched: patched}
	}
	ratio := patched / base
	return pair{base, patched, &ratio}
}

// rbEmptyReport is the outcome of the benchmark rb-empty, and with what it was
// come by.
type rbEmptyReport struct {
	Name       string         `json:"name"`
	Title      string         `json:"title"`
	Patch      string         `json:"patch"`
	Inodes     int            `json:"inodes"`   // files without extent maps
	WithMaps   int            `json:"withMaps"` // files with one
	Rounds     int            `json:"rounds"`
	Seed       uint64         `json:"seed"`
	Go         string         `json:"go"`
	Platform   string         `json:"platform"`
	Processors int            `json:"processors"`
	Loads      []rbEmptyLoad  `json:"loads"`
	Kernel     rbEmptyFigures `json:"kernel"`
}

// rbEmptyLoad is what was measured while a number of readers was about. Times
// are nanoseconds for each inode that is walked over; locks are those of all
// rounds.
type rbEmptyLoad struct {
	Readers      int       `json:"readers"`
	Minimum      pair      `json:"nsPerInodeMinimum"`
	Median       pair      `json:"nsPerInodeMedian"`
	RoundByRound float64   `json:"ratioRoundByRoundMedian"` // the median of the rounds' own ratios
	Taken        pair      `json:"writeLocksTaken"`
	Busy         pair      `json:"writeLocksBusy"`
	Held         pair      `json:"writeLocksHeldMicroseconds"`
	Base         []float64 `json:"nsPerInodeBase"`    // round by round
	Patched      []float64 `json:"nsPerInodePatched"` // ditto
}

// rbEmptyFigures are the numbers that the patch was submitted with.
type rbEmptyFigures struct {
	Idle    pair `json:"nsPerInodeIdle"`
	Readers pair `json:"nsPerInodeFourReaders"`
	Taken   pair `json:"writeLocksTaken"`
	Held    pair `json:"writeLocksHeldMicroseconds"`
}

var rbEmptyInKernel = rbEmptyFigures{
	Idle:    newPair(46.4, 40.1),
	Readers: newPair(47.8, 38.4),
	Taken:   newPair(628_016, 228_000),
	Held:    newPair(47_512, 22_717),
}

// summarise makes numbers that can be compared out of what was measured.
func summarise(readers, inodes int, c shrinker.Comparison) rbEmptyLoad {
	base, patched := perInode(c.Base.Walks, inodes), perInode(c.Patched.Walks, inodes)
	ratios := make([]float64, len(base))
	for i := range ratios {
		ratios[i] = patched[i] / base[i]
	}
	used := func(quantity func(shrinker.LockUse) float64) pair {
		return newPair(quantity(c.Base.Locks), quantity(c.Patched.Locks))
	}
	return rbEmptyLoad{
		Readers:      readers,
		Minimum:      newPair(slices.Min(base), slices.Min(patched)),
		Median:       newPair(median(base), median(patched)),
		RoundByRound: median(ratios),
		Taken:        used(func(l shrinker.LockUse) float64 { return float64(l.Taken) }),
		Busy:         used(func(l shrinker.LockUse) float64 { return float64(l.Busy) }),
		Held:         used(func(l shrinker.LockUse) float64 { return float64(l.Held) / float64(time.Microsecond) }),
		Base:         base,
		Patched:      patched,
	}
}

// perInode returns how many nanoseconds of each walk fall to one inode.
func perInode(walks []time.Duration, inodes int) []float64 {
	times := make([]float64, len(walks))
	for i, walk := range walks {
		times[i] = float64(walk.Nanoseconds()) / float64(inodes)
	}
	return times
}

// median returns the value in the middle, of which there must be one; between
// two values it is the mean.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// writeRbEmpty writes the numbers, those of the kernel, and how the two compare.
func writeRbEmpty(w io.Writer, r *rbEmptyReport) {
	fmt.Fprintf(w, "%s: %s\n", r.Name, r.Title)
	field(w, "patch", "%s", r.Patch)
	field(w, "walked over", "%s open files without extent maps, then %s with one each", grouped(float64(r.Inodes)), grouped(float64(r.WithMaps)))
	field(w, "measured", "%s timed and as many watched, in turns; %s, %s, %s",
		count(r.Rounds, "round"), r.Go, r.Platform, count(r.Processors, "processor"))
	table := [][]string{{"", "base", "patched", "patched/base", "change"}}
	for _, l := range r.Loads {
		table = append(table, loadRows(l)...)
	}
	table = append(table,
		[]string{""},
		[]string{"the kernel, as reported with the patch"},
		numbers("ns per inode, idle", tenths, r.Kernel.Idle),
		numbers("ns per inode, 4 readers", tenths, r.Kernel.Readers),
		numbers("tree write locks taken", grouped, r.Kernel.Taken),
		numbers("tree write locks held, µs", grouped, r.Kernel.Held))
	fmt.Fprintln(w)
	writeNumbers(w, table)
	writeCaveats(w, r)
}

// loadRows are the rows of the table that are about one load.
func loadRows(l rbEmptyLoad) [][]string {
	return [][]string{
		{""},
		{loadName(l.Readers)},
		numbers("ns per inode, median", tenths, l.Median),
		numbers("ns per inode, minimum", tenths, l.Minimum),
		{"  ratio of each round, median", "", "", fmt.Sprintf("%.3f", l.RoundByRound), change(l.RoundByRound)},
		numbers("tree write locks taken", grouped, l.Taken),
		numbers("tree write locks busy", grouped, l.Busy),
		numbers("tree write locks held, µs", grouped, l.Held),
	}
}

func loadName(readers int) string {
	if readers == 0 {
		return "idle"
	}
	return "with " + count(readers, "reader")
}

// numbers is a row of the table.
func numbers(label string, format func(float64) string, p pair) []string {
	row := []string{"  " + label, format(p.Base), format(p.Patched), "-", "-"}
	if p.Ratio != nil {
		row[3], row[4] = fmt.Sprintf("%.3f", *p.Ratio), change(*p.Ratio)
	}
	return row
}

// change is a ratio as what is more or less than before.
func change(ratio float64) string { return fmt.Sprintf("%+.1f %%", 100*(ratio-1)) }

func tenths(x float64) string { return fmt.Sprintf("%.1f", x) }

// grouped rounds a number, which is not negative, and sets its thousands apart.
func grouped(x float64) string {
	digits := strconv.FormatFloat(x, 'f', 0, 64)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// writeNumbers is writeTable for numbers, which end in the same place. The cells
// of the first column are labels.
func writeNumbers(w io.Writer, rows [][]string) {
	columns := widths(rows)
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			blanks := strings.Repeat(" ", columns[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				line.WriteString("  " + cell + blanks)
			} else {
				line.WriteString("  " + blanks + cell)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// writeCaveats says what may be concluded from the table, and what may not.
func writeCaveats(w io.Writer, r *rbEmptyReport) {
	fmt.Fprint(w, `
Compare ratios, and nanoseconds not at all: here a walk looks files up in a
sorted slice, every step is checked for misuse of memory and of locks, and what
it looks at lies in other cache lines.

The locks are those that the worker took, and after the patch they are those of
the files with extent maps. The kernel's numbers are those of everybody, also of
those who read the files back in, which no patch of the shrinker saves; and they
are too small to be of 15 walks. So the share that is saved is larger here, and
only the direction compares. Without readers the locks that are taken do not
depend on the machine. How long they are held does; reading the clock for that
is left out of it.

Both forms walk over the same files in turns, so other load hits both. It still
moves the numbers from run to run, the ratio of each round less than that of the
medians, and all of them less with more rounds.
`)
	for _, l := range r.Loads {
		if r.Processors <= l.Readers {
			fmt.Fprintf(w, `
There are %s for %s and the worker. The worker waits for its turn
now and then, and its time is that of the clock on the wall.
`, count(r.Processors, "processor"), count(l.Readers, "reader"))
		}
	}
}
