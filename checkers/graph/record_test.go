package graph

import (
	"bytes"
	"encoding/gob"
	"reflect"
	"testing"
)

// through returns what is read of a record that was written down.
func through(t *testing.T, r Record) Record {
	t.Helper()
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(r); err != nil {
		t.Fatal(err)
	}
	var read Record
	if err := gob.NewDecoder(&b).Decode(&read); err != nil {
		t.Fatal(err)
	}
	return read
}

// fill sets every field of a struct, and of those in it, to something else than
// zero. A field that cannot be set from outside cannot be written down either.
func fill(t *testing.T, v reflect.Value, path string) {
	t.Helper()
	if !v.CanSet() {
		t.Fatalf("%s is not exported, so that no record carries it", path)
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), path)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0), path)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(path)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(1 + len(path)%100))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(1 + len(path)%100))
	default:
		t.Fatalf("%s is a %s, which this test knows nothing about", path, v.Kind())
	}
}

// TestRecordCarriesEveryField: what an event, a task or a location gets in
// future is written down, or this fails.
func TestRecordCarriesEveryField(t *testing.T) {
	var r Record
	fill(t, reflect.ValueOf(&r).Elem(), "Record")
	if read := through(t, r); !reflect.DeepEqual(read, r) {
		t.Errorf("written %+v, read %+v", r, read)
	}
}

// TestRecordIsTheWholeGraph: what a graph gets in future is in its record, or is
// named here with a reason.
func TestRecordIsTheWholeGraph(t *testing.T) {
	elsewhere := map[string]string{
		"words":    "it is Words",
		"prefixes": "it is Prefixes",
		"clock":    "stamps are of use to one memory only; those of another are new",
		"stamps":   "see clock",
		"latest":   "it is worked out from the events",
		"earlier":  "it is worked out from the events",
		"turns":    "no run takes back what was there when it began",
		"halved":   "the locations say so",
		"numbers":  "it is of use while the graph is restricted",
	}
	var g Graph
	record := reflect.TypeFor[Record]()
	for field := range reflect.TypeFor[Graph]().Fields() {
		if _, known := elsewhere[field.Name]; known {
			continue
		}
		kept, found := record.FieldByName(field.Name)
		if !found || kept.Type != field.Type {
			t.Errorf("a record has no %s", field.Name)
			continue
		}
		fill(t, reflect.ValueOf(&g).Elem().FieldByName(field.Name), field.Name)
	}
	g.words, g.prefixes = 3, []uint64{1, 2, 3}
	again := through(t, g.Record()).Graph()
	if len(again.stamps) != len(g.Events) {
		t.Errorf("%d stamps of %d events", len(again.stamps), len(g.Events))
	}
	if at := g.Events[0].Location; len(g.Events) != 1 || again.Latest(at) != 0 || again.Earlier(0) != Init {
		t.Errorf("the events at one location are not found again: %+v", again)
	}
	again.stamps, again.clock, again.latest, again.earlier = nil, 0, nil, nil
	if !reflect.DeepEqual(again, &g) {
		t.Errorf("written %+v, read %+v", &g, again)
	}
}

// TestRecordGoesOn: a graph that was written down grows as the other would.
func TestRecordGoesOn(t *testing.T) {
	g := twoTasks()
	first := g.write(0, 0, Init)
	section := g.lock(1, 1, Init)
	again := through(t, g.Record()).Graph()
	for _, graph := range []*Graph{g, again} {
		graph.read(1, 0, first)
		graph.unlock(section)
		graph.write(0, 0, first)
		graph.Undo()
	}
	if again.Key() != g.Key() {
		t.Error("they are different executions")
	}
	for id := range g.Events {
		if got, want := members(again.Prefix(int32(id))), members(g.Prefix(int32(id))); !reflect.DeepEqual(got, want) {
			t.Errorf("event %d comes after %v, want %v", id, got, want)
		}
	}
}
