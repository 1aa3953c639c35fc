package explain

import (
	"maps"
	"slices"
	"strings"

	"benign/checkers/explore"
	"benign/checkers/graph"
)

// shower replays the execution of each kind for its source places and values.
type shower struct {
	config explore.Config
	known  map[*graph.Graph]map[int32]explore.Step
}

func newShower(config explore.Config) *shower {
	return &shower{config, map[*graph.Graph]map[int32]explore.Step{}}
}

// step returns the step that the event completes.
func (s *shower) step(g *graph.Graph, event int32) (explore.Step, error) {
	steps, known := s.known[g]
	if !known {
		_, list, err := explore.ReplayGraph(s.config, g)
		if err != nil {
			return explore.Step{}, err
		}
		steps = map[int32]explore.Step{}
		for _, step := range list {
			steps[step.Event] = step
		}
		s.known[g] = steps
	}
	return steps[event], nil
}

func (s *shower) races(sites map[string]*site) ([]Race, error) {
	var list []Race
	for _, name := range slices.Sorted(maps.Keys(sites)) {
		found := sites[name]
		r := Race{Site: name, Reason: found.reason, Executions: found.executions, Racing: found.racing}
		var err error
		if r.Accesses, err = s.accesses(found.accesses); err != nil {
			return nil, err
		}
		if r.Conflicts, err = s.accesses(found.conflicts); err != nil {
			return nil, err
		}
		if r.Values, err = s.values(found.values); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return Sum(list), nil
}

func (s *shower) accesses(kinds map[string]*kind) ([]Access, error) {
	var list []Access
	for _, key := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[key]
		step, err := s.step(k.graph, k.event)
		if err != nil {
			return nil, err
		}
		list = append(list, Access{What: k.what, Locks: k.locks, Places: step.Places, Seen: k.seen, Racing: k.racing})
	}
	return list, nil
}

func (s *shower) values(found map[string]*values) ([]Value, error) {
	var list []Value
	for _, key := range slices.Sorted(maps.Keys(found)) {
		v := Value{Of: found[key].of, Stored: found[key].stored}
		for _, key2 := range slices.Sorted(maps.Keys(found[key].kinds)) {
			k := found[key].kinds[key2]
			step, err := s.step(k.graph, k.event)
			if err != nil {
				return nil, err
			}
			_, shown, _ := strings.Cut(step.What, " = ")
			v.Text = valueText(shown)
			c := Continuation{Seen: k.seen, Stale: k.stale, Broken: k.broken, Ways: 1, More: k.more, Check: k.check}
			if c.Steps, err = s.steps(k); err != nil {
				return nil, err
			}
			v.Behind = max(v.Behind, k.behind)
			v.Continuations = append(v.Continuations, c)
		}
		list = append(list, v)
	}
	return list, nil
}

// steps are the acts of a kind. Choices and try-locks show what they are only when
// they are run again; a choice that is a part of a try-lock is no step.
func (s *shower) steps(k *kind) ([]Step, error) {
	var list []Step
	for i, what := range k.acts {
		step, err := s.step(k.graph, k.events[i])
		if err != nil {
			return nil, err
		}
		switch k.graph.Events[k.events[i]].Kind {
		case graph.Choice, graph.LockWrite:
			if what = objectNumber.ReplaceAllString(step.What, ""); what == "" {
				continue
			}
		}
		list = append(list, Step{What: what, Place: innermost(step.Places)})
	}
	return list, nil
}

func innermost(places []string) string {
	if len(places) == 0 {
		return ""
	}
	return places[0]
}
