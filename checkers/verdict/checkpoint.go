package verdict

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"maps"
	"time"

	"benign/checkers/checkpoint"
	"benign/checkers/explore"
	"benign/checkers/graph"
	"benign/checkers/progress"
)

// Checkpoint keeps what the explorations of a question have come to in a file:
// those that are done with what they showed, and the others with what they
// showed so far and with what waits. A run that is killed goes on from there,
// and ends with the same answers.
//
// One question uses it at a time, and so does one process.
type Checkpoint struct {
	file    string
	header  checkpoint.Header
	parts   map[string]part
	every   time.Duration
	written time.Time
}

// part is one exploration, by the name that partName gives it.
type part struct {
	Executions int
	Seen       []byte // a record
	Rest       []byte // an explore.Snapshot, or nothing if it is done
}

// OpenCheckpoint returns the checkpoint of a question that is in the file, or an
// empty one if there is no such file. The text of the question must say all that
// the answers depend on, but for bounds on executions and time: a later run may
// have others. A file that is of no use gives a [*checkpoint.FileError].
func OpenCheckpoint(file, question string) (*Checkpoint, error) {
	build, err := checkpoint.Build()
	if err != nil {
		return nil, fmt.Errorf("find out which build of the code this is: %w", err)
	}
	c := &Checkpoint{file: file, header: checkpoint.Header{Build: build, Question: question},
		parts: map[string]part{}, every: explore.DefaultCheckpointEvery}
	payload, found, err := checkpoint.Read(file, c.header)
	if err != nil {
		return nil, err
	}
	if found {
		err = decode(payload, &c.parts)
	}
	return c, err
}

// Executions is how many executions are in the checkpoint.
func (c *Checkpoint) Executions() int {
	n := 0
	for _, p := range c.parts {
		n += p.Executions
	}
	return n
}

// Done reports whether every exploration that was begun has come to its end.
func (c *Checkpoint) Done() bool {
	for _, p := range c.parts {
		if p.Rest != nil {
			return false
		}
	}
	return true
}

// Save writes everything down.
func (c *Checkpoint) Save() error { return c.write(encode(c.parts)) }

// Remove deletes the file: an answer that was given needs it no more, and the
// same question is asked anew.
func (c *Checkpoint) Remove() error { return checkpoint.Remove(c.file) }

func (c *Checkpoint) write(payload []byte) error {
	c.written = time.Now()
	return checkpoint.Write(c.file, c.header, payload)
}

// partName names the exploration of a variant; 0 is the default machine.
func partName(race, scenario, variant, model string, arch int) string {
	return fmt.Sprintf("%q/%q, %q under %q on %d", race, scenario, variant, model, arch)
}

// explore is explore.Explore for an observation that may have been begun before.
func (c *Checkpoint) explore(name string, config explore.Config, seen *observation) error {
	if p, begun := c.parts[name]; begun {
		if err := c.resume(p, &config, seen); err != nil || p.Rest == nil {
			return err
		}
	}
	config.CheckpointEvery = c.every
	config.Checkpoint = func(s *explore.Snapshot) func() error {
		seen.unfinished = seen.unfinished || s.Ended
		c.parts[name] = part{s.Stats.Executions(), encode(seen.record()), encode(s)}
		payload := encode(c.parts)
		return func() error { return c.write(payload) }
	}
	stats, err := explore.Explore(config)
	seen.stats = stats
	if err != nil || seen.unfinished {
		return err
	}
	return c.finish(name, seen)
}

// finish notes what an exploration that is done has shown.
func (c *Checkpoint) finish(name string, seen *observation) error {
	c.parts[name] = part{seen.stats.Executions(), encode(seen.record()), nil}
	if time.Since(c.written) < c.every {
		return nil // short ones are written down together
	}
	return c.Save()
}

// resume brings the observation to where it was.
func (c *Checkpoint) resume(p part, config *explore.Config, seen *observation) error {
	var r record
	if err := decode(p.Seen, &r); err != nil {
		return err
	}
	seen.restore(r)
	if p.Rest == nil {
		return nil
	}
	config.Resume = &explore.Snapshot{}
	return decode(p.Rest, config.Resume)
}

// encode writes plain data down; it cannot fail on the types of this file.
func encode(data any) []byte {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(data); err != nil {
		panic(fmt.Sprintf("verdict: encode a checkpoint: %v", err))
	}
	return b.Bytes()
}

func decode(text []byte, data any) error {
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(data); err != nil {
		return fmt.Errorf("read a checkpoint: %w", err)
	}
	return nil
}

// record is an observation as plain data. The histories that were judged are
// not in it: they are judged again when they are met again.
type record struct {
	Stats     explore.Stats
	Sample    *explore.SampleStats
	Outcomes  map[string]int
	Explained map[string]bool
	States    map[string]bool
	Evidence  map[string]*Evidence
	Ledger    progress.Ledger
	Cost      Cost
	Measures  map[string]Measure
	Visited   int
	Found     int
	Worst     culpritsRecord
	Strange   culpritsRecord
	Undecided bool
	Tasks     []string
	Calls     int
}

type culpritsRecord struct {
	Kinds    map[string]int
	Shortest []culpritRecord
}

type culpritRecord struct {
	Graph         graph.Record
	Seed          uint64
	Kind, Message string
	Whole         bool
}

// record returns what the observation has come to; nobody may visit it meanwhile.
func (o *observation) record() record {
	return record{Stats: o.stats, Sample: o.sample, Outcomes: o.outcomes, Explained: o.explained, States: o.states,
		Evidence: o.evidence, Ledger: o.ledger, Cost: o.cost, Measures: o.measures, Visited: o.visited, Found: o.found, Worst: o.worst.record(), Strange: o.strange.record(),
		Undecided: o.undecided, Tasks: o.tasks, Calls: o.calls}
}

// restore is the opposite of record.
func (o *observation) restore(r record) {
	o.forget()
	o.stats, o.sample = r.Stats, r.Sample
	maps.Copy(o.outcomes, r.Outcomes)
	maps.Copy(o.explained, r.Explained)
	maps.Copy(o.states, r.States)
	maps.Copy(o.evidence, r.Evidence)
	maps.Copy(o.measures, r.Measures)
	o.cost, o.visited, o.found = r.Cost, r.Visited, r.Found
	o.ledger, o.worst, o.strange = r.Ledger, r.Worst.culprits(), r.Strange.culprits()
	o.undecided, o.tasks, o.calls = r.Undecided, r.Tasks, r.Calls
}

func (c *culprits) record() culpritsRecord {
	r := culpritsRecord{Kinds: c.kinds}
	for _, one := range c.shortest {
		r.Shortest = append(r.Shortest, culpritRecord{one.graph.Record(), one.seed, one.kind, one.message, one.whole})
	}
	return r
}

func (r culpritsRecord) culprits() culprits {
	c := culprits{kinds: r.Kinds}
	for _, one := range r.Shortest {
		c.shortest = append(c.shortest, newCulprit(one.Graph.Graph(), one.Seed, one.Kind, one.Message, one.Whole))
	}
	return c
}
