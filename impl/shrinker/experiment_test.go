package shrinker

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"benign/impl/kernel"
)

// small is an experiment whose counts can be told beforehand.
var small = Experiment{Inodes: 1000, WithMaps: 20, Rounds: 2, Seed: 1}

func TestIdleExperimentCountsExactly(t *testing.T) {
	c, err := small.Run()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []struct {
		form  string
		got   Measured
		taken int // in each round
	}{
		{"base", c.Base, small.Inodes + small.WithMaps},
		{"patched", c.Patched, small.WithMaps},
	} {
		if want := small.Rounds * m.taken; m.got.Locks.Taken != want || m.got.Locks.Busy != 0 {
			t.Errorf("%s: %d tree locks taken, %d busy; want %d and none", m.form, m.got.Locks.Taken, m.got.Locks.Busy, want)
		}
		if want := small.Rounds * small.WithMaps; m.got.Dropped != want {
			t.Errorf("%s: %d extent maps removed, want %d", m.form, m.got.Dropped, want)
		}
		if m.got.Locks.Held <= 0 {
			t.Errorf("%s: tree locks held for %v", m.form, m.got.Locks.Held)
		}
		if len(m.got.Walks) != small.Rounds || slices.Min(m.got.Walks) <= 0 {
			t.Errorf("%s: walks took %v, want %d of some length", m.form, m.got.Walks, small.Rounds)
		}
	}
}

// How often a lock is busy depends on the machine. That everything is tried
// once, and what must be tried, does not.
func TestExperimentWithReaders(t *testing.T) {
	x := small
	x.Readers = 4
	c, err := x.Run()
	if err != nil {
		t.Fatal(err)
	}
	all, most := x.Rounds*(x.Inodes+x.WithMaps), x.Rounds*x.WithMaps
	if tried := c.Base.Locks.Taken + c.Base.Locks.Busy; tried != all {
		t.Errorf("base: %d tree locks tried, want %d", tried, all)
	}
	if tried := c.Patched.Locks.Taken + c.Patched.Locks.Busy; tried < most || tried > all {
		t.Errorf("patched: %d tree locks tried, want %d to %d", tried, most, all)
	}
}

// What is saved must not be saved by doing less.
func TestBothFormsRemoveTheSame(t *testing.T) {
	f := openAll(small.Inodes, small.WithMaps)
	base, patched := newContender(f, Base), newContender(f, Patched)
	var want []Visit
	f.putBack()
	for _, inode := range f.withMaps {
		want = append(want, Visit{Root: firstRoot, Inode: inode.Number(f.task), Scanned: 1, Dropped: inode.Maps.Snapshot(f.task)})
	}
	for form, c := range []*contender{base, patched} {
		for _, watched := range []bool{false, true} {
			f.putBack()
			_, report := c.walk(f.task, watched)
			if !reflect.DeepEqual(report.Visits, want) {
				t.Errorf("form %d, watched %v: the visits were %v, want %v", form, watched, report.Visits, want)
			}
		}
		c.close(f.task)
	}
	f.closeAll()
	if live := f.world.LiveObjects(); live != 0 {
		t.Errorf("%d objects have survived the unmount", live)
	}
}

func TestLockMeterSeesBusyLocks(t *testing.T) {
	for _, c := range []struct {
		policy Policy
		taken  int
	}{{Base, 12}, {Patched, 2}} {
		t.Run(c.policy.Read.String(), func(t *testing.T) {
			f := openAll(10, 3)
			x := newContender(f, c.policy)
			f.putBack()
			other, busy := f.world.NewTask("other"), &f.withMaps[1].Maps
			busy.Lock.RLock(other)
			_, report := x.walk(f.task, true)
			busy.Lock.RUnlock(other)
			if got := x.found.Locks; got.Taken != c.taken || got.Busy != 1 || report.Dropped() != 2 {
				t.Errorf("%+v, %d extent maps removed; want %d taken, 1 busy, 2 removed", got, report.Dropped(), c.taken)
			}
			x.close(f.task)
			f.closeAll()
		})
	}
}

// The walks of all rounds begin with the same extent maps.
func TestReadersLeaveNothingBehind(t *testing.T) {
	f := openAll(50, 10)
	f.putBack()
	task := f.world.NewTask("reader")
	for range 3 {
		stop := f.startReaders(3, 1)
		for _, inode := range f.inodes {
			read(task, inode, true)
		}
		stop()
		for i, inode := range f.inodes {
			want := 0
			if i >= 50 {
				want = 1
			}
			if got := len(inode.Maps.Snapshot(f.task)); got != want {
				t.Errorf("file %d has %d extent maps, want %d", i, got, want)
			}
		}
	}
	if got := f.mount.Filesystem.Evictable.Load(f.task, kernel.Once); got != 10 {
		t.Errorf("%d extent maps are evictable, want 10", got)
	}
	f.closeAll()
}

func TestExperimentKeepsItsBounds(t *testing.T) {
	for _, c := range []struct {
		change func(*Experiment)
		want   string
	}{
		{func(x *Experiment) { x.Inodes = 0 }, "0 inodes without extent maps: want 1 to 1048576"},
		{func(x *Experiment) { x.Inodes = MaxExperimentInodes + 1 }, "1048577 inodes without extent maps: want 1 to 1048576"},
		{func(x *Experiment) { x.WithMaps = -1 }, "-1 inodes with extent maps: want 1 to 1048576"},
		{func(x *Experiment) { x.Rounds = 0 }, "0 rounds: want 1 to 10000"},
		{func(x *Experiment) { x.Readers = -1 }, "-1 readers: want 0 to 1000"},
		{func(x *Experiment) { x.Readers = MaxExperimentReaders + 1 }, "1001 readers: want 0 to 1000"},
	} {
		x := small
		c.change(&x)
		if _, err := x.Run(); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestExperimentTellsItsProgress(t *testing.T) {
	x, told := small, []string{}
	x.Progress = func(over, all int) { told = append(told, fmt.Sprintf("%d/%d", over, all)) }
	if _, err := x.Run(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(told, " "); got != "1/4 2/4 3/4 4/4" {
		t.Errorf("progress %s", got)
	}
}

// A walk over many open files, most of them without extent maps.
func BenchmarkWalk(b *testing.B) {
	const inodes, withMaps = 100_000, 200
	f := openAll(inodes, withMaps)
	defer f.closeAll()
	for _, p := range []Policy{Base, Patched} {
		b.Run(p.Read.String(), func(b *testing.B) {
			s := New(f.task, f.mount, p)
			for b.Loop() {
				b.StopTimer()
				f.putBack()
				b.StartTimer()
				s.Run(f.task, math.MaxInt64)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/(inodes+withMaps), "ns/inode")
			s.Close(f.task)
			s.Object.Free(f.task)
		})
	}
}
