package extentmap

import (
	"testing"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// One task after the other, with memory for so many pieces: this is where the
// variants differ, and no race is needed to see it.
func TestCutAndFsyncOneAfterTheOther(t *testing.T) {
	for _, c := range []struct {
		variant string
		fails   [3]bool // with memory for none, one, two pieces
	}{
		{"both-or-none", [3]bool{false, false, false}},
		{"as-is", [3]bool{false, true, false}},
		{"announced", [3]bool{false, false, false}},
		{"silent", [3]bool{true, true, false}},
		{"no-inode-lock", [3]bool{false, false, false}}, // takes a race
	} {
		s := oneSpare().Scenarios[0]
		for pieces, want := range c.fails {
			options := s.Options()
			left := pieces
			options.FailAllocation = func(string) bool { left--; return left < 0 }
			if got := runInOrder(t, options, s.VariantNamed(c.variant).Build); got != want {
				t.Errorf("%s with memory for %d pieces: data is missed %v, want %v", c.variant, pieces, got, want)
			}
		}
	}
}

// runInOrder runs the tasks of an instance one after the other and reports
// whether an fsync missed data. If none did, nothing may be left of it.
func runInOrder(t *testing.T, options kernel.Options, build func(*kernel.Task) *scenario.Instance) (missed bool) {
	t.Helper()
	w := kernel.NewWorld(options)
	setup := w.NewTask("set-up")
	i := build(setup)
	defer func() {
		if v, ok := recover().(*kernel.Violation); ok {
			missed = v.Kind == kernel.Assertion
		}
	}()
	for _, task := range i.Tasks {
		for _, op := range task.Operations {
			op.Run(w.NewTask(task.Name))
		}
	}
	if err := i.Check(setup); err != nil {
		t.Errorf("fsync was content, but %v", err)
	}
	if i.Observe(setup) == "" {
		t.Error("there is nothing to observe")
	}
	i.Teardown(setup)
	if live := w.LiveObjects(); live != 0 {
		t.Errorf("%d objects have outlived the scenario", live)
	}
	return false
}
