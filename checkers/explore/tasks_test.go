package explore

import (
	"errors"
	"testing"

	"benign/checkers/race"
	"benign/impl/kernel"
)

func TestTooManyTasks(t *testing.T) {
	idle := func(*kernel.Task, *machine) {}
	spawn := func(t *kernel.Task, _ *machine) { t.Go("child", func(*kernel.Task) {}) }
	for _, c := range []struct {
		name  string
		tasks []body
		want  error
	}{
		{"as many as allowed", repeat(race.MaxTasks, idle), nil},
		{"one too many", repeat(race.MaxTasks+1, idle), errTooManyTasks},
		{"as many with a spawned one", append(repeat(race.MaxTasks-2, idle), spawn), nil},
		{"one too many spawned", append(repeat(race.MaxTasks-1, idle), spawn), errTooManyTasks},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, v := program(0, 0, 0, c.tasks...)
			_, err := Explore(Config{Scenario: s, Variant: v, Model: "sc"})
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestTooDeep(t *testing.T) {
	var descend func(depth int) func(t *kernel.Task)
	descend = func(depth int) func(t *kernel.Task) {
		return func(t *kernel.Task) {
			if depth > 0 {
				t.Go("child", descend(depth-1))
			}
		}
	}
	for depth, want := range map[int]error{6: nil, 7: errTooDeep} {
		s, v := program(0, 0, 0, func(t *kernel.Task, _ *machine) { descend(depth)(t) })
		if _, err := Explore(Config{Scenario: s, Variant: v, Model: "sc"}); !errors.Is(err, want) {
			t.Errorf("depth %d: %v, want %v", depth, err, want)
		}
	}
}
