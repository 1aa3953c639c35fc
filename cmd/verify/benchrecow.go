package main

import (
	"fmt"
	"io"

	"benign/impl/inhibit"
)

// recowBench measures what the sets of the race inhibit are good for: how often a block is
// copied again because it was written too early.
type recowBench struct {
	Seeds int  `default:"5" placeholder:"N" help:"Run the workload with N seeds (${default})."`
	JSON  bool `name:"json" help:"Print the numbers as JSON, with those of each seed."`
}

// maxSeeds bounds how long it can take.
const maxSeeds = 1000

// Validate refuses an experiment that is too small or too large.
func (c *recowBench) Validate() error {
	if c.Seeds < 1 || c.Seeds > maxSeeds {
		return fmt.Errorf("%d seeds: want 1 to %d", c.Seeds, maxSeeds)
	}
	return nil
}

// recowReport is the whole answer.
type recowReport struct {
	Name     string           `json:"name"`
	Workload inhibit.Workload `json:"workload"`
	Sets     []recowSet       `json:"sets"`
}

// recowSet is what was copied with one kind of set: by seed, from seed 1 on, and
// altogether.
type recowSet struct {
	Set    string           `json:"set"`
	Ratio  float64          `json:"ratio"`
	Kernel float64          `json:"kernel,omitempty"` // what was reported of one, or nothing
	Seeds  []inhibit.Copies `json:"seeds"`
}

// recowForms are the sets, with what was reported of a kernel.
func recowForms() []struct {
	name   string
	run    func(seed uint64) inhibit.Copies
	kernel float64
} {
	with := func(track inhibit.Track, slots int) func(uint64) inhibit.Copies {
		p := inhibit.Policy{Track: track, Slots: slots, Count: inhibit.CountAtomic}
		return func(seed uint64) inhibit.Copies { return inhibit.Eviction.Run(p, seed) }
	}
	return []struct {
		name   string
		run    func(seed uint64) inhibit.Copies
		kernel float64
	}{
		{"none", with(inhibit.TrackNone, 0), 6.1},
		{"fixed(32)", with(inhibit.TrackFixed, 32), 3.8},
		{"fixed(8)", with(inhibit.TrackFixed, 8), 0},
		{"fifo(8)", func(seed uint64) inhibit.Copies { return inhibit.Eviction.RunFIFO(8, seed) }, 0},
		{"clock(4)", with(inhibit.TrackClock, 4), 0},
		{"clock(8)", with(inhibit.TrackClock, 8), 1.6},
		{"clock(16)", with(inhibit.TrackClock, 16), 0},
		{"clock(32)", with(inhibit.TrackClock, 32), 0},
		{"xarray", with(inhibit.TrackXArray, 0), 1.4},
	}
}

func (c *recowBench) run(e *environment) (exit int, err error) {
	var line *progress
	if !c.JSON {
		line = newProgress(e.stderr)
	}
	if err := inhibit.Eviction.Validate(); err != nil {
		return 0, err
	}
	r := &recowReport{Name: "recow", Workload: inhibit.Eviction}
	for _, form := range recowForms() {
		set, sum := recowSet{Set: form.name, Kernel: form.kernel}, inhibit.Copies{}
		for seed := range uint64(c.Seeds) {
			line.say(fmt.Sprintf("%s, %s: seed %d of %d", r.Name, form.name, seed+1, c.Seeds))
			copies := form.run(seed + 1)
			sum.First, sum.Again = sum.First+copies.First, sum.Again+copies.Again
			set.Seeds = append(set.Seeds, copies)
		}
		set.Ratio = sum.Ratio()
		r.Sets = append(r.Sets, set)
	}
	line.clear()
	if c.JSON {
		return exitHarmless, writeJSON(e.stdout, r)
	}
	writeRecow(e.stdout, r)
	return exitHarmless, nil
}

// writeRecow writes a line for each kind of set.
func writeRecow(w io.Writer, r *recowReport) {
	fmt.Fprintf(w, "%s: how often a block is copied again, because it was written while a transaction was not done with it\n", r.Name)
	field(w, "workload", "%d leaves of files are removed from right to left, with %d descents to each, in trees of %d levels with %d children a node;\n"+
		"writeback comes every %.2f descents on average; sizes follow from the report, the rest is fitted to its four figures",
		r.Workload.Leaves, r.Workload.Visits, r.Workload.Height, r.Workload.Fan, r.Workload.Sweep)
	field(w, "measured", "%s, on the implementation itself, one task after the other", count(len(r.Sets[0].Seeds), "seed"))
	fmt.Fprintln(w)
	table := [][]string{{"set", "copied first", "again", "again per first", "of each seed", "reported of a kernel"}}
	for _, s := range r.Sets {
		kernel := "-"
		if s.Kernel > 0 {
			kernel = fmt.Sprintf("%.1f", s.Kernel)
		}
		sum, least, most := inhibit.Copies{}, s.Seeds[0].Ratio(), s.Seeds[0].Ratio()
		for _, c := range s.Seeds {
			sum.First, sum.Again = sum.First+c.First, sum.Again+c.Again
			least, most = min(least, c.Ratio()), max(most, c.Ratio())
		}
		table = append(table, []string{s.Set, fmt.Sprint(sum.First), fmt.Sprint(sum.Again), fmt.Sprintf("%.2f", s.Ratio), fmt.Sprintf("%.2f to %.2f", least, most), kernel})
	}
	writeTable(w, "  ", table)
	fmt.Fprintln(w)
	fmt.Fprintln(w, "  The ratios are what is reproduced, not the absolute numbers: the report is of real IO on a real tree.")
}
