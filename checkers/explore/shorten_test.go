package explore_test

import (
	"testing"

	"benign/checkers/explore"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// busywork does much that has nothing to do with any violation.
func busywork(t *kernel.Task, r *rig) {
	for range 3 {
		r.y.Add(t, kernel.Once, 1)
	}
	locked(t, r)
}

// bystander does something else.
func bystander(t *kernel.Task, r *rig) string {
	r.spin.Lock(t)
	r.spin.Unlock(t)
	return ""
}

// faulty are scenarios in which some executions break something, with the
// fewest events that show it.
var faulty = map[string]struct {
	steps  []step
	kind   kernel.ViolationKind
	events int
}{
	"assertion": {[]step{
		bystander,
		func(t *kernel.Task, r *rig) string { busywork(t, r); r.x.Store(t, kernel.Once, 1); return "" },
		func(t *kernel.Task, r *rig) string { t.Assert(r.x.Load(t, kernel.Once) == 0, "x is set"); return "" },
	}, kernel.Assertion, 6 + 3 + 1 + 1}, // all that the store comes after, the store, the load
	"by itself": {[]step{
		func(t *kernel.Task, r *rig) string { busywork(t, r); return "" },
		func(t *kernel.Task, r *rig) string { r.x.Load(t, kernel.Once); panic("always") },
		func(t *kernel.Task, r *rig) string { busywork(t, r); return "" },
	}, kernel.Crash, 1},
	"under a lock": {[]step{
		bystander,
		func(t *kernel.Task, r *rig) string {
			locked(t, r)
			t.Assert(len(r.list) == 0 || r.list[0] == t.Name(), "not the first")
			return ""
		},
		func(t *kernel.Task, r *rig) string { busywork(t, r); return "" },
	}, kernel.Assertion, 6 + 3 + 3},
	"data race": {[]step{
		func(t *kernel.Task, r *rig) string { r.x.Store(t, kernel.Plain, 1); busywork(t, r); return "" },
		func(t *kernel.Task, r *rig) string { r.x.Load(t, kernel.Once); busywork(t, r); return "" },
	}, kernel.DataRace, 2},
	"either of two": {[]step{
		func(t *kernel.Task, r *rig) string {
			t.Assert(r.x.Load(t, kernel.Once) == 0, "x is set")
			busywork(t, r)
			return ""
		},
		func(t *kernel.Task, r *rig) string { r.x.Store(t, kernel.Once, 1); panic("always") },
	}, kernel.Crash, 1},
}

func ofKind(kind kernel.ViolationKind) func(*kernel.Violation) bool {
	return func(v *kernel.Violation) bool { return v.Kind == kind }
}

// TestShorten shortens every execution that breaks something. It must break the
// same kind of thing and be no longer, nothing that is left over may be
// droppable, and its text must show the same again.
func TestShorten(t *testing.T) {
	for name, c := range faulty {
		t.Run(name, func(t *testing.T) {
			s := scene(c.steps)
			config := configure(s, "kernel")
			shortened := 0
			for _, e := range exhausted(t, s, "kernel") {
				if e.Violation == nil || e.Violation.Kind != c.kind {
					continue
				}
				short := explore.Shorten(config, e.Graph, ofKind(c.kind))
				if len(short.Events) > len(e.Graph.Events) {
					t.Errorf("%d events became %d", len(e.Graph.Events), len(short.Events))
				}
				if len(short.Events) < len(e.Graph.Events) {
					shortened++
				}
				if len(short.Events) != c.events {
					t.Errorf("%d events are left, want %d:\n%s", len(short.Events), c.events, explore.FormatTrace(header, short))
				}
				again, _, err := explore.Replay(config, parsed(t, &explore.Execution{Graph: short}))
				if err != nil || again.Ended || again.Violation == nil || again.Violation.Kind != c.kind {
					t.Errorf("the short one shows %v, %v", again, err)
				}
			}
			if shortened == 0 {
				t.Error("nothing was shortened")
			}
		})
	}
}

// TestShortenKeepsWhatItCannotShorten asks for a kind that the execution does
// not break, and for a violation that only whole executions show.
func TestShortenKeepsWhatItCannotShorten(t *testing.T) {
	s := scene(faulty["assertion"].steps)
	for _, e := range exhausted(t, s, "sc") {
		if short := explore.Shorten(configure(s, "sc"), e.Graph, ofKind(kernel.UseAfterFree)); short.Key() != e.Graph.Key() {
			t.Errorf("shortened to\n%s", explore.FormatTrace(header, short))
		}
	}
	leak := scene(times(2, locked), func(i *scenario.Instance, _ *rig) { i.Teardown = func(*kernel.Task) {} })
	for _, e := range exhausted(t, leak, "sc") {
		if short := explore.Shorten(configure(leak, "sc"), e.Graph, ofKind(kernel.Leak)); short.Key() != e.Graph.Key() {
			t.Errorf("shortened to\n%s", explore.FormatTrace(header, short))
		}
	}
}
