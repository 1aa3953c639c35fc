package practice

import (
	"fmt"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// EmptyListSite is the unlocked test whether a list has something in it.
var EmptyListSite = kernel.DataRaceSite("empty-list", "what is missed is taken the next time, and what is seen too long is looked for under the lock")

func emptyList() scenario.Race {
	return scenario.Race{
		Name:  "empty-list",
		Title: "a list is tested for emptiness before its hot lock is taken",
		Question: "Everybody takes the lock to see whether there is work, and mostly there is none. " +
			"Can the list be tested without the lock first?",
		Sites:   []*kernel.RaceSite{EmptyListSite},
		Barrier: "the next look",
		Scenarios: []scenario.Scenario{{
			Name:   "take",
			About:  "two tasks want the only piece of work, and a third one adds another piece",
			Racing: true,
			Variants: []scenario.Variant{
				baseline("locked", "looks under the lock", takeWork(takeForm{locked: true})),
				candidate("unlocked", scenario.Indistinguishable, "looks without the lock, and again under it", takeWork(takeForm{})),
				planted("no-recheck", "takes the first piece without looking again", takeWork(takeForm{noRecheck: true})),
				planted("no-lock", "takes the first piece without the lock", takeWork(takeForm{noLock: true})),
			},
		}},
	}
}

// takeForm says how work is taken.
type takeForm struct{ locked, noRecheck, noLock bool }

// workList has pieces of work, by number. It is under the lock; the first one can
// be told without it.
type workList struct {
	kernel.Object
	lock   kernel.SpinLock
	memory kernel.Region
	pieces []int
	first  kernel.Word[int] // 0 for none
	taken  [3]int           // how often, by number
}

func takeWork(form takeForm) builder {
	return func(setup *kernel.Task) *scenario.Instance {
		l := &workList{pieces: []int{1}}
		l.Init(setup, "work list", l)
		l.lock.Init(&l.Object, "lock")
		l.memory.Init(&l.Object, "pieces")
		l.first.Init(&l.Object, "first", 1)
		take := func(t *kernel.Task) string { return l.take(t, form) }
		return &scenario.Instance{
			Tasks: []scenario.Task{
				task("one", operation("take", take)),
				task("two", operation("take", take)),
				task("adder", operation("add", l.add)),
			},
			Check: l.check, Debt: func(*kernel.Task) int { return len(l.pieces) },
			Quiesce:  func(t *kernel.Task) bool { return take(t) != "nothing" },
			Observe:  func(*kernel.Task) string { return fmt.Sprintf("%d pieces left", len(l.pieces)) },
			Teardown: l.Free,
		}
	}
}

func (l *workList) add(t *kernel.Task) string {
	l.lock.Lock(t)
	l.memory.Write(t)
	l.pieces = append(l.pieces, 2)
	l.publish(t)
	l.lock.Unlock(t)
	return "added"
}

func (l *workList) take(t *kernel.Task, form takeForm) string {
	if !form.locked && l.first.LoadRacy(t, kernel.Plain, EmptyListSite) == 0 {
		return "nothing"
	}
	if !form.noLock {
		l.lock.Lock(t)
		defer l.lock.Unlock(t)
	}
	l.memory.Read(t)
	if !form.noRecheck && len(l.pieces) == 0 {
		return "nothing"
	}
	l.memory.Write(t)
	piece := l.pieces[0]
	l.pieces = l.pieces[1:]
	l.taken[piece]++
	l.publish(t)
	return fmt.Sprintf("piece %d", piece)
}

// publish tells those who do not have the lock.
func (l *workList) publish(t *kernel.Task) {
	first := 0
	if len(l.pieces) > 0 {
		first = l.pieces[0]
	}
	l.first.StoreRacy(t, kernel.Plain, first, EmptyListSite)
}

func (l *workList) check(*kernel.Task) error {
	for piece, times := range l.taken {
		if times > 1 {
			return fmt.Errorf("piece %d was taken %d times", piece, times)
		}
	}
	return nil
}
