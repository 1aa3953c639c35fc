package shrinker

import (
	"testing"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// Every variant that is meant to be safe runs natively, with real goroutines,
// and must be found in order. Natively a few rounds prove little: it is the
// exploration that tries everything.
func TestScenariosRunNatively(t *testing.T) {
	const rounds = 20
	for _, race := range Races() {
		for _, s := range race.Scenarios {
			for _, v := range s.Variants {
				if v.Role == scenario.Planted {
					continue
				}
				t.Run(s.Name+"/"+v.Name, func(t *testing.T) {
					for range rounds {
						w := kernel.NewWorld(s.Options())
						setup := w.NewTask("set-up")
						perform(t, w, setup, v.Build(setup))
					}
				})
			}
		}
	}
}

// What an fsync has made durable is of no use for what was written there later.
func TestOverwrittenDataIsMissed(t *testing.T) {
	setup := kernel.NewWorld(kernel.Options{}).NewTask("set-up")
	f := newFixture(setup, patched)
	inode := f.inode(setup, firstInode, written(0))
	step := func(op scenario.Operation, wantErr bool) {
		t.Helper()
		op.Run(setup)
		if err := f.checkWritten(setup); (err != nil) != wantErr {
			t.Errorf("after %s: %v", op.Name, err)
		}
	}
	step(f.fsync(inode), false)
	step(f.replace(inode, moved(0)), false)
	step(drop(inode, 0, block(0).End()), true) // without a word
	inode.Maps.FullSync.Store(setup, kernel.Once, 1)
	step(f.fsync(inode), false)
	step(f.replace(inode, written(0)), false)
	f.teardown(setup)
}

// Some faults need no race at all to show: they end the scenario in any order,
// or in one of them when its tasks run one after the other.
func TestFaultsThatShowSequentially(t *testing.T) {
	for _, c := range []struct {
		scenario string
		form     form
		want     kernel.ViolationKind
	}{
		{"fsync", waitForMmap, kernel.SleepWhileSpinning},
		{"fsync", noFullSync, kernel.Assertion},
		{"writeback", noPinnedCheck, kernel.Assertion},
	} {
		t.Run(c.form.name, func(t *testing.T) {
			race := Races()[0]
			for _, s := range race.Scenarios {
				if s.Name != c.scenario {
					continue
				}
				w := kernel.NewWorld(s.Options())
				setup := w.NewTask("set-up")
				i := s.VariantNamed(c.form.name).Build(setup)
				got := outcome(func() {
					for n := len(i.Tasks) - 1; n >= 0; n-- { // the worker is the last
						for _, op := range i.Tasks[n].Operations {
							op.Run(w.NewTask(i.Tasks[n].Name))
						}
					}
				})
				if got != c.want {
					t.Errorf("got %v, want %v", got, c.want)
				}
			}
		})
	}
}
