package explore

import (
	"testing"
	"benign/impl/kernel"
)

func TestTry(t *testing.T) {
	for _, model := range []string{"sc", "rc11", "kernel"} {
		s, v := program(2, 1, 0, func(t *kernel.Task, m *machine) {
			m.words[0].Store(t, kernel.Plain, 1)
			m.words[1].Store(t, kernel.Release, 1)
		}, func(t *kernel.Task, m *machine) {
			if m.words[1].Load(t, kernel.Acquire) == 1 {
				m.words[0].Load(t, kernel.Plain)
			}
		})
		stats, twice := explored(t, model, s, v)
		t.Logf("mp plain %s %+v %d", model, stats, twice)
		s, v = program(2, 1, 0, repeat(2, func(t *kernel.Task, m *machine) {
			m.locks[0].Lock(t)
			m.words[0].Store(t, kernel.Plain, m.words[0].Load(t, kernel.Plain)+1)
			m.locks[0].Unlock(t)
		})...)
		stats, twice = explored(t, model, s, v)
		t.Logf("lockinc plain %s %+v %d", model, stats, twice)
		s, v = program(2, 1, 0, func(t *kernel.Task, m *machine) {
			m.words[0].Store(t, kernel.Plain, 1)
			c := t.Go("c", func(t *kernel.Task) {
			m.words[0].Load(t, kernel.Plain)
			m.words[0].Store(t, kernel.Plain, 2)
			})
			t.Join(c)
			m.words[0].Load(t, kernel.Plain)
		})
		stats, twice = explored(t, model, s, v)
		t.Logf("spawn plain %s %+v %d", model, stats, twice)
	}
}
