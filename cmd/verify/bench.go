package main

import (
	"fmt"
	"runtime"

	"benign/impl/catalogue"
	"benign/impl/shrinker"
)

// benchCommand measures natively what patches save, or what policies cost: a benchmark each.
type benchCommand struct {
	RbEmpty rbEmptyBench `cmd:"" name:"rb-empty" help:"Walk over many open files, of which few have extent maps, with the patch and without it."`
	Recow   recowBench   `cmd:"" name:"recow" help:"Count how often blocks are copied again, by the set that keeps them from being written (the race inhibit)."`
}

// rbEmptyBench measures what the race rb-empty is good for.
type rbEmptyBench struct {
	Inodes   int  `default:"100000" placeholder:"N" help:"Open N files without an extent map (${default})."`
	WithMaps int  `default:"200" placeholder:"N" help:"And N with one each, which have the highest numbers (${default})."`
	Rounds   int  `default:"15" placeholder:"N" help:"Walk N times with the patch and N times without it to count, and as often to measure the time (${default})."`
	Readers  int  `default:"4" placeholder:"N" help:"Do it once with nobody about, and once beside N readers; 0 leaves the second time out (${default})."`
	JSON     bool `name:"json" help:"Print the numbers as JSON, with those of each round."`
}

// benchSeed decides which files the readers read. One seed is as good as
// another.
const benchSeed = 1

// Validate refuses an experiment that is too small or too large.
func (c *rbEmptyBench) Validate() error { return c.experiment(c.Readers).Validate() }

func (c *rbEmptyBench) experiment(readers int) shrinker.Experiment {
	return shrinker.Experiment{Inodes: c.Inodes, WithMaps: c.WithMaps, Rounds: c.Rounds, Readers: readers, Seed: benchSeed}
}

func (c *rbEmptyBench) run(e *environment) (exit int, err error) {
	var line *progress
	if !c.JSON {
		line = newProgress(e.stderr)
	}
	r, err := c.measure(line)
	if err != nil {
		return 0, err
	}
	if c.JSON {
		return exitHarmless, writeJSON(e.stdout, r)
	}
	writeRbEmpty(e.stdout, r)
	return exitHarmless, nil
}

// measure does what the command line says.
func (c *rbEmptyBench) measure(line *progress) (*rbEmptyReport, error) {
	r := c.report()
	loads := []int{0}
	if c.Readers > 0 {
		loads = append(loads, c.Readers)
	}
	for _, readers := range loads {
		x := c.experiment(readers)
		x.Progress = func(over, all int) {
			line.say(fmt.Sprintf("%s, %s: round %d of %d", r.Name, loadName(readers), over, all))
		}
		comparison, err := x.Run()
		line.clear()
		if err != nil {
			return nil, err
		}
		r.Loads = append(r.Loads, summarise(readers, c.Inodes+c.WithMaps, comparison))
	}
	return r, nil
}

// report says what is measured, and on what.
func (c *rbEmptyBench) report() *rbEmptyReport {
	race, _ := catalogue.Named("rb-empty")
	return &rbEmptyReport{
		Name: race.Name, Title: race.Title, Patch: race.Patch,
		Inodes: c.Inodes, WithMaps: c.WithMaps, Rounds: c.Rounds, Seed: benchSeed,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.GOMAXPROCS(0),
		Kernel: rbEmptyInKernel,
	}
}

// say shows a text on the progress line.
func (p *progress) say(text string) {
	if p == nil {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.bar.Describe(text)
}
