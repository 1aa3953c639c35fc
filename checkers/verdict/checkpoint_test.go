package verdict

import (
	"bytes"
	"reflect"
	"testing"

	"benign/checkers/explore"
	"benign/checkers/graph"
)

// TestRecordIsTheWholeObservation: what an observation, or a culprit, gets in
// future is in its record, or is named here with a reason.
func TestRecordIsTheWholeObservation(t *testing.T) {
	for _, c := range []struct {
		of, record reflect.Type
		elsewhere  map[string]string
	}{
		{reflect.TypeFor[observation](), reflect.TypeFor[record](), map[string]string{
			"config": "the question is asked again", "base": "so is that of the baseline", "mutex": "",
			"search": "it is made again", "wanted": "no checkpoint keeps what shrinking explores", "judged": "histories are judged again", "text": "it is of the latest outcome", "texts": "they are those of the outcomes", "unfinished": "it is what the next run is about"}},
		{reflect.TypeFor[culprits](), reflect.TypeFor[culpritsRecord](), map[string]string{"wanted": "as above"}},
		{reflect.TypeFor[culprit](), reflect.TypeFor[culpritRecord](), map[string]string{
			"steps": "they are counted again", "switches": "they are when it is shortened", "identity": "it follows from the graph"}},
	} {
		for field := range c.of.Fields() {
			name := string(bytes.ToUpper([]byte(field.Name[:1]))) + field.Name[1:]
			if _, known := c.elsewhere[field.Name]; known {
				continue
			}
			if _, found := c.record.FieldByName(name); !found {
				t.Errorf("a record of %s has no %s", c.of, name)
			}
		}
	}
}

// TestObservationIsRestored: written down and read, it is the same.
func TestObservationIsRestored(t *testing.T) {
	g := graph.New()
	g.AddTask(1, "one", graph.Init)
	g.AddLocation(graph.Location{Owner: 3, Field: 1, Name: "x"})
	g.Place(g.Add(graph.Event{Kind: graph.Write, Location: 0, Source: graph.Init, Pair: graph.Init, End: graph.Init}), graph.Init)
	o := newObservation(explore.Config{}, nil, nil)
	o.stats = explore.Stats{Complete: 5, Violating: 1, Exhaustive: true}
	o.sample = &explore.SampleStats{Samples: 4, Distinct: 3, Unseen: 0.25}
	o.outcomes["a"], o.outcomes["b"] = 2, 3
	o.explained["a"], o.explained["b"] = true, false
	o.states["s"] = true
	o.evidence["site"] = &Evidence{Site: "site", Reason: "why", Executions: 4, Racing: 3, ReadFirst: 2, WriteFirst: 1}
	o.ledger.LargestDebt, o.ledger.MostRounds = 7, 2
	o.worst.add(newCulprit(g, 0, "crash", "boom", false))
	o.worst.add(newCulprit(g, 9, "leak", "drip", true))
	o.strange.add(newCulprit(g, 0, KindState, "odd", true))
	o.undecided, o.tasks, o.calls = true, []string{"one: write"}, 1
	var r record
	if err := decode(encode(o.record()), &r); err != nil {
		t.Fatal(err)
	}
	again := newObservation(explore.Config{}, nil, nil)
	again.outcomes["stale"] = 1
	again.restore(r)
	if !reflect.DeepEqual(again.record(), r) || again.outcomes["stale"] != 0 {
		t.Errorf("read %+v, restored %+v", r, again.record())
	}
	for i, one := range o.worst.shortest {
		two := again.worst.shortest[i]
		if compareCulprits(one, two) != 0 || two.kind != one.kind || two.message != one.message || two.whole != one.whole || two.graph.Key() != one.graph.Key() {
			t.Errorf("culprit %+v, restored %+v", one, two)
		}
	}
	if want := o.record(); !reflect.DeepEqual(r.Outcomes, want.Outcomes) || !reflect.DeepEqual(r.Evidence, want.Evidence) || r.Ledger != want.Ledger || r.Stats != want.Stats ||
		!reflect.DeepEqual(r.Sample, want.Sample) || !reflect.DeepEqual(r.Explained, want.Explained) || !reflect.DeepEqual(r.States, want.States) ||
		!reflect.DeepEqual(r.Worst.Kinds, want.Worst.Kinds) || !r.Undecided || r.Calls != 1 || !reflect.DeepEqual(r.Tasks, want.Tasks) || len(r.Strange.Shortest) != 1 {
		t.Errorf("written %+v, read %+v", want, r)
	}
}
