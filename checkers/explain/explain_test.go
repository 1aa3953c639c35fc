package explain

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"benign/checkers/explore"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// A value that is out of date has to be caught, and what catches it is found out.
func TestChecks(t *testing.T) {
	look := func(t *kernel.Task, b *box) { b.items.Load(t, kernel.Once) }
	// If the lock is taken first by who looks, that orders the write after the look.
	changed := Check{Kind: Reread, On: "box.items", Lock: "box.lock", Changed: true}
	for name, c := range map[string]struct {
		rest func(t *kernel.Task, b *box)
		want []Check
	}{
		"again under the lock": {func(t *kernel.Task, b *box) {
			b.lock.Lock(t)
			look(t, b)
			b.lock.Unlock(t)
		}, []Check{changed}},
		"after a try": {func(t *kernel.Task, b *box) {
			if b.lock.TryLock(t) {
				look(t, b)
				b.lock.Unlock(t)
			}
		}, []Check{{Kind: FailedTry, On: "box.lock"}, changed}},
		"nothing":          {func(*kernel.Task, *box) {}, []Check{{}}},
		"without the lock": {look, []Check{{}}},
		"under a lock that its writer does not take": {func(t *kernel.Task, b *box) {
			b.other.Lock(t)
			look(t, b)
			b.other.Unlock(t)
		}, []Check{{}}},
		"after the lock": {func(t *kernel.Task, b *box) {
			b.lock.Lock(t)
			b.lock.Unlock(t)
			look(t, b)
		}, []Check{{}}},
		"another word": {func(t *kernel.Task, b *box) {
			b.lock.Lock(t)
			b.size.Load(t, kernel.Once)
			b.lock.Unlock(t)
		}, []Check{{}}},
		"a reference that is not there": {func(t *kernel.Task, b *box) { b.references.GetUnlessZero(t) },
			[]Check{{Kind: FailedUpdate, On: "box.references"}}},
		"the next look begins anew": {func(t *kernel.Task, b *box) {
			b.items.LoadRacy(t, kernel.Once, peek)
			b.lock.Lock(t)
			look(t, b)
			b.lock.Unlock(t)
		}, []Check{{}, changed}},
	} {
		t.Run(name, func(t *testing.T) {
			r := collect(t, taking(c.rest), "sc")
			got := r.value(t, "1").checks()
			for _, check := range c.want {
				if !slices.Contains(got, check) {
					t.Errorf("no check %+v in\n%s", check, shown(r))
				}
			}
			for _, check := range got {
				if !slices.Contains(c.want, check) {
					t.Errorf("check %+v in\n%s", check, shown(r))
				}
			}
		})
	}
}

// A lock that was held at the access already checks nothing: whoever writes the
// word under it cannot have come in between.
func TestALockThatWasHeldAtTheAccessIsNoCheck(t *testing.T) {
	p := func(_ *kernel.Task, b *box) []scenario.Task {
		return []scenario.Task{
			task("peeker", func(t *kernel.Task) {
				b.other.Lock(t)
				b.items.LoadRacy(t, kernel.Once, peek)
				b.items.Load(t, kernel.Once)
				b.other.Unlock(t)
			}),
			task("writer", func(t *kernel.Task) {
				b.other.Lock(t)
				b.items.Store(t, kernel.Once, 1)
				b.other.Unlock(t)
			}),
		}
	}
	r := collect(t, p, "sc")
	for _, v := range r.Values {
		for _, c := range v.Continuations {
			if c.Check != (Check{}) {
				t.Errorf("%s: check %+v", v.Text, c.Check)
			}
		}
	}
	if want := []string{"box.other"}; !slices.Equal(r.Accesses[0].Locks, want) {
		t.Errorf("the reader holds %v, want %v", r.Accesses[0].Locks, want)
	}
}

// Where the accesses are, and what their tasks hold there.
func TestAccesses(t *testing.T) {
	r := collect(t, taking(func(*kernel.Task, *box) {}), "sc")
	if len(r.Accesses) != 1 || len(r.Conflicts) != 1 || r.Executions != 2 || r.Racing != 2 {
		t.Fatalf("found %s", shown(r))
	}
	for _, c := range []struct {
		got      Access
		what, in string
		locks    []string
	}{
		{r.Accesses[0], "once load of box.items", ".1", nil},
		{r.Conflicts[0], "once store to box.items", ".2", []string{"box.lock"}},
	} {
		if c.got.What != c.what || !slices.Equal(c.got.Locks, c.locks) || c.got.Seen != 2 ||
			len(c.got.Places) == 0 || !strings.HasPrefix(c.got.Places[0], "explain/box_test.go:") || !strings.Contains(c.got.Places[0], "taking") || !strings.HasSuffix(c.got.Places[0], c.in) {
			t.Errorf("%s, want %s in %s under %v", shown(c.got), c.what, c.in, c.locks)
		}
	}
}

// How far a value may be out of date.
func TestStaleness(t *testing.T) {
	writes := func(t *kernel.Task, b *box) {
		for n := range 3 {
			b.items.Store(t, kernel.Once, n+1)
		}
	}
	for name, c := range map[string]struct {
		program program
		behind  map[string]int
	}{
		"nothing orders them": {func(_ *kernel.Task, b *box) []scenario.Task {
			return []scenario.Task{
				task("reader", func(t *kernel.Task) { b.items.LoadRacy(t, kernel.Once, peek) }),
				task("writer", func(t *kernel.Task) { writes(t, b) }),
			}
		}, map[string]int{"0": 3, "1": 2, "2": 1, "3": 0}},
		"the writer starts after the access": {func(_ *kernel.Task, b *box) []scenario.Task {
			return []scenario.Task{task("reader", func(t *kernel.Task) {
				b.items.LoadRacy(t, kernel.Once, peek)
				t.Join(t.Go("writer", func(t *kernel.Task) { writes(t, b) }))
			})}
		}, map[string]int{"0": 0}},
		"its own writes do not count": {func(_ *kernel.Task, b *box) []scenario.Task {
			return []scenario.Task{task("reader", func(t *kernel.Task) {
				b.items.LoadRacy(t, kernel.Once, peek)
				writes(t, b)
			})}
		}, map[string]int{"0": 0}},
		"some are joined before": {func(_ *kernel.Task, b *box) []scenario.Task {
			return []scenario.Task{task("reader", func(t *kernel.Task) {
				t.Join(t.Go("writer", func(t *kernel.Task) { writes(t, b) }))
				b.items.LoadRacy(t, kernel.Once, peek)
			})}
		}, map[string]int{"3": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			r := collect(t, c.program, "kernel")
			got, most := map[string]int{}, 0
			for _, v := range r.Values {
				got[v.Text] = v.Behind
				most = max(most, v.Behind)
				if (v.Stale > 0) != (v.Behind > 0) || v.Stale > v.Seen {
					t.Errorf("%s", shown(v))
				}
			}
			if !reflect.DeepEqual(got, c.behind) || r.Behind != most {
				t.Errorf("behind by %v, at most %d; want %v", got, r.Behind, c.behind)
			}
		})
	}
}

// What races is what the explorer says, who has watched it happen.
func TestRacesAreThoseOfTheExplorer(t *testing.T) {
	programs := map[string]program{
		"taking": taking(func(t *kernel.Task, b *box) {
			if b.lock.TryLock(t) {
				b.items.Load(t, kernel.Once)
				b.lock.Unlock(t)
			}
		}),
		"a message": func(_ *kernel.Task, b *box) []scenario.Task {
			return []scenario.Task{
				task("sender", func(t *kernel.Task) {
					b.items.Store(t, kernel.Once, 1)
					b.size.Store(t, kernel.Release, 1)
					b.items.Store(t, kernel.Once, 2)
				}),
				task("receiver", func(t *kernel.Task) {
					if b.size.Load(t, kernel.Acquire) == 1 {
						b.items.LoadRacy(t, kernel.Once, peek)
					}
				}),
			}
		},
		"children": func(_ *kernel.Task, b *box) []scenario.Task {
			return []scenario.Task{task("parent", func(t *kernel.Task) {
				b.items.Store(t, kernel.Once, 3) // before all of it
				first := t.Go("first", func(t *kernel.Task) { b.items.Store(t, kernel.Once, 1) })
				second := t.Go("second", func(t *kernel.Task) {
					b.items.LoadRacy(t, kernel.Once, peek)
					t.Join(t.Go("idle", func(*kernel.Task) {}))
				})
				t.Join(first)
				b.items.LoadRacy(t, kernel.Once, peek)
				t.Join(second)
			})}
		},
	}
	for name, p := range programs {
		for _, model := range []string{"sc", "kernel"} {
			t.Run(name+" under "+model, func(t *testing.T) {
				executions, racing, pairs := 0, 0, 0
				c := config(p, model)
				c.Visit = func(e *explore.Execution) {
					for _, seen := range e.Evidence {
						executions++
						pairs += seen.Unordered
						if seen.Unordered > 0 {
							racing++
						}
					}
				}
				if _, err := explore.Explore(c); err != nil {
					t.Fatal(err)
				}
				r := collect(t, p, model)
				conflicts := 0
				for _, other := range r.Conflicts {
					conflicts += other.Seen
				}
				if r.Executions != executions || r.Racing != racing || conflicts != pairs || racing == 0 {
					t.Errorf("%d executions, %d racing, %d conflicts; want %d, %d, %d", r.Executions, r.Racing, conflicts, executions, racing, pairs)
				}
			})
		}
	}
}

// Objects have no numbers, nil is nil, and a store has a value too.
func TestValues(t *testing.T) {
	p := func(setup *kernel.Task, b *box) []scenario.Task {
		for range 2 {
			other := &box{}
			other.Init(setup, "item", other)
			b.first.Store(setup, kernel.Plain, other)
		}
		return []scenario.Task{
			task("reader", func(t *kernel.Task) { b.first.LoadRacy(t, kernel.Once, peek) }),
			task("writer", func(t *kernel.Task) {
				own := &box{}
				own.Init(t, "item", own)
				b.first.Store(t, kernel.Once, nil)
				b.first.StoreRacy(t, kernel.Once, own, peek)
			}),
		}
	}
	r := collect(t, p, "sc")
	if item := r.value(t, "an item"); item.Seen != 3 && item.Stored || len(r.Values) != 3 || r.value(t, "nil").Seen != 1 {
		t.Errorf("values %s", shown(r.Values))
	}
	for _, v := range r.Values {
		if v.Stored && (v.Seen != 3 || v.Text != "an item") {
			t.Errorf("stored %s", shown(v))
		}
	}
}

// On a 32-bit machine a value may be of two stores.
func TestTornValues(t *testing.T) {
	p := func(_ *kernel.Task, b *box) []scenario.Task {
		return []scenario.Task{
			task("reader", func(t *kernel.Task) { b.size.LoadRacy(t, kernel.Once, peek) }),
			task("writer", func(t *kernel.Task) { b.size.Store(t, kernel.Once, 1<<32|7) }),
		}
	}
	c := config(p, "sc")
	c.Arch = explore.Arch32
	races, err := Collect(c)
	if err != nil {
		t.Fatal(err)
	}
	r := &races[0]
	for text, behind := range map[string]int{"0": 1, "7": 1, "4294967296": 1, "4294967303": 0} {
		if v := r.value(t, text); v.Behind != behind || v.Seen != 1 {
			t.Errorf("%s", shown(v))
		}
	}
	if len(r.Accesses) != 1 || len(r.Conflicts) != 1 || r.Accesses[0].Seen != 4 || r.Conflicts[0].Seen != 4 {
		t.Errorf("found %s", shown(r))
	}
}

// What the task does in its next operation is another matter.
func TestContinuationsEndWithTheOperation(t *testing.T) {
	p := taking(func(*kernel.Task, *box) {})
	again := func(setup *kernel.Task, b *box) []scenario.Task {
		tasks := p(setup, b)
		tasks[0].Operations = append(tasks[0].Operations, task("again", func(t *kernel.Task) {
			b.lock.Lock(t)
			b.items.Load(t, kernel.Once)
			b.lock.Unlock(t)
		}).Operations...)
		return tasks
	}
	r := collect(t, again, "sc")
	for _, c := range r.value(t, "1").Continuations {
		if c.Check != (Check{}) || len(c.Steps) > 0 {
			t.Errorf("it goes on with %s", shown(c))
		}
	}
}

// Steps are those that others could notice, a try-lock is one even if it is made of
// several, and no more than a few are shown.
func TestSteps(t *testing.T) {
	p := func(_ *kernel.Task, b *box) []scenario.Task {
		return []scenario.Task{
			task("peeker", func(t *kernel.Task) {
				b.items.LoadRacy(t, kernel.Once, peek)
				b.size.Store(t, kernel.Once, 1)
				if b.shared.TryLock(t) {
					b.items.Store(t, kernel.Once, 1)
					b.shared.Unlock(t)
				}
			}),
			task("reader", func(t *kernel.Task) {
				b.shared.RLock(t)
				b.items.Load(t, kernel.Once)
				b.shared.RUnlock(t)
			}),
			task("writer", func(t *kernel.Task) { b.items.Store(t, kernel.Once, 2) }),
		}
	}
	r := collect(t, p, "sc")
	var got []string
	for _, c := range r.value(t, "0").Continuations {
		var steps []string
		for _, s := range c.Steps {
			if !strings.HasPrefix(s.Place, "explain/explain_test.go:") {
				t.Errorf("%s is at %q", s.What, s.Place)
			}
			steps = append(steps, s.What)
		}
		got = append(got, strings.Join(steps, "; "))
	}
	slices.Sort(got)
	if want := []string{"trylock box.shared fails", "trylock box.shared; once store to box.items; unlock box.shared"}; !slices.Equal(got, want) {
		t.Errorf("it goes on with %q, want %q", got, want)
	}
	long := collect(t, taking(func(t *kernel.Task, b *box) {
		for range mostSteps + 1 {
			b.items.Load(t, kernel.Once)
		}
	}), "sc")
	if c := long.value(t, "1").Continuations[0]; len(c.Steps) != mostSteps || !c.More {
		t.Errorf("a long way on is %s", shown(c))
	}
}

// Places are those of the shortest execution.
func TestPlacesAreOfTheShortest(t *testing.T) {
	short := func(t *kernel.Task, b *box) { b.items.Store(t, kernel.Once, 1) }
	long := func(t *kernel.Task, b *box) {
		for range 9 {
			b.size.Load(t, kernel.Once)
		}
		b.items.Store(t, kernel.Once, 1)
	}
	for name, last := range map[string]int64{"first": 0, "last": 1} {
		t.Run(name, func(t *testing.T) {
			r := collect(t, func(_ *kernel.Task, b *box) []scenario.Task {
				return []scenario.Task{
					task("reader", func(t *kernel.Task) { b.items.LoadRacy(t, kernel.Once, peek) }),
					task("starter", func(t *kernel.Task) { b.size.Store(t, kernel.Once, 1) }),
					task("writer", func(t *kernel.Task) {
						if b.size.Load(t, kernel.Once) == last {
							short(t, b)
						} else {
							long(t, b)
						}
					}),
				}
			}, "sc")
			if len(r.Conflicts) != 1 || !strings.HasSuffix(r.Conflicts[0].Places[0], ".func1") {
				t.Errorf("the conflicting access is %s", shown(r.Conflicts))
			}
		})
	}
}

// What breaks is counted where it does.
func TestBrokenExecutions(t *testing.T) {
	p := taking(func(t *kernel.Task, b *box) {
		t.Assert(b.items.Load(t, kernel.Once) == 1, "it has been taken")
	})
	r := collect(t, p, "sc")
	if one, none := r.value(t, "1"), r.value(t, "0"); one.Broken != 1 || one.Seen != 2 || none.Broken != 0 {
		t.Errorf("values %s", shown(r.Values))
	}
}

// A program with locks of several strands, choices and many tasks gives one answer.
func busy(setup *kernel.Task, b *box) []scenario.Task {
	b.items.Store(setup, kernel.Plain, 5)
	add := func(t *kernel.Task) {
		b.lock.Lock(t)
		b.items.Store(t, kernel.Once, b.items.Load(t, kernel.Once)+1)
		b.lock.Unlock(t)
	}
	take := func(t *kernel.Task) {
		if b.items.LoadRacy(t, kernel.Once, peek) > 5 && b.lock.TryLock(t) {
			b.items.Store(t, kernel.Once, b.items.Load(t, kernel.Once)-1)
			b.lock.Unlock(t)
		}
	}
	return []scenario.Task{task("one", add), task("two", add), task("three", take), task("four", take)}
}

func TestWorkersChangeNothing(t *testing.T) {
	want := collect(t, busy, "kernel")
	for range 3 {
		c := config(busy, "kernel")
		c.Workers = 4
		got, err := Collect(c)
		if err != nil || !reflect.DeepEqual(got, []Race{want}) {
			t.Fatalf("%v: %s\nwant %s", err, shown(got), shown(want))
		}
	}
}

// A program that nobody annotated has nothing to explain, and one that cannot be
// explored has no explanation.
func TestNothingToExplain(t *testing.T) {
	races, err := Collect(config(func(_ *kernel.Task, b *box) []scenario.Task {
		return []scenario.Task{task("reader", func(t *kernel.Task) { b.items.Load(t, kernel.Once) })}
	}, "sc"))
	if err != nil || len(races) != 0 {
		t.Errorf("%v: %s", err, shown(races))
	}
	if _, err := Collect(config(busy, "x86")); err == nil {
		t.Error("there is a model x86")
	}
}

func TestSumAndBrief(t *testing.T) {
	numbers := func(seen int, texts ...string) Race {
		r := Race{Site: "s", Executions: 1, Racing: 1, Accesses: []Access{{What: "load", Seen: seen, Racing: 1}, {What: "load", Locks: []string{"lock"}, Seen: 1}},
			Values: []Value{{Of: "load, under lock", Text: "7", Continuations: []Continuation{{Seen: 1}}}}}
		for n, text := range texts {
			check := Check{}
			if n%2 == 1 {
				check = Check{Kind: FailedTry, On: "lock"}
			}
			r.Values = append(r.Values, Value{Of: "load, under no lock", Text: text, Behind: n, Continuations: []Continuation{{Seen: seen, Stale: n, Ways: 1, Check: check}}})
		}
		return r
	}
	sum := Sum([]Race{numbers(1, "0", "1"), {Site: "r"}}, []Race{numbers(2, "0", "2", "3", "4", "5", "nil")})
	if len(sum) != 2 || sum[1].Executions != 2 || sum[1].Accesses[0].Seen != 3 || sum[1].Values[0].Text != "0" || sum[1].Values[0].Seen != 3 || sum[1].Behind != 5 {
		t.Fatalf("the sum is %s", shown(sum))
	}
	brief := sum[1].Brief()
	var texts []string
	for _, v := range brief.Values {
		texts = append(texts, v.Text)
	}
	if want := []string{"one of 5 numbers from 1 to 5", "0", "nil"}; !slices.Equal(texts, want) {
		t.Errorf("values %q, want %q", texts, want)
	}
	if many := brief.Values[0]; many.Seen != 9 || many.Behind != 4 || len(many.Continuations) != 2 {
		t.Errorf("many numbers are %s", shown(many))
	}
	if few := Sum([]Race{numbers(1, "0", "1", "2", "3", "4")})[0].Brief(); len(few.Values) != 5 { // that of the access that does not race is left out
		t.Errorf("few numbers are %s", shown(few.Values))
	}
}
