package inhibit

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"benign/impl/kernel"
	spec "benign/spec/inhibit"
)

// buffers makes so many blocks that no tree has.
func (b *bench) buffers(n int) []*Buffer {
	var all []*Buffer
	for range n {
		all = append(all, b.fs.newBuffer(b.task, 7, "X", 0, nil))
	}
	return all
}

func (b *bench) drop(all []*Buffer) {
	for _, one := range all {
		one.put(b.task)
	}
}

// Every set does what the specification says, call by call, and counts and refers as it
// must.
func TestSetsDoAsSpecified(t *testing.T) {
	for _, p := range append(policies(), Clock(1), Clock(2), Clock(32)) {
		t.Run(p.Track.String(), func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				b := newBench(p)
				blocks, s, m := b.buffers(40), b.fs.steps.newSet(b.fs), p.model()
				for _, i := range rapid.SliceOf(rapid.IntRange(0, len(blocks)-1)).Draw(r, "calls") {
					blocks[i].lock.RLock(b.task)
					got := s.keep(b.task, blocks[i])
					blocks[i].lock.RUnlock(b.task)
					var want spec.Claim
					m, want = m.Inhibit(spec.Buffer(blocks[i].block))
					evicted := spec.Buffer(0)
					if got.evicted != nil {
						evicted = spec.Buffer(got.evicted.block)
					}
					if got.tracked != want.Tracked || got.clears != want.Clears || evicted != want.Evicted {
						r.Fatalf("%+v, want %+v", got, want)
					}
					checkMembers(r, b, blocks, s, m)
				}
				if dropped := s.empty(b.task); dropped != len(m.Members()) {
					r.Fatalf("%d were dropped, want %d", dropped, len(m.Members()))
				}
				checkMembers(r, b, blocks, s, p.model())
				b.drop(blocks)
				b.fs.Unmount(b.task)
			})
		})
	}
}

func checkMembers(r *rapid.T, b *bench, blocks []*Buffer, s set, m spec.Set) {
	var got []spec.Buffer
	for _, member := range s.members() {
		got = append(got, spec.Buffer(member.block))
	}
	if !slices.Equal(got, m.Members()) {
		r.Fatalf("members %v, want %v", got, m.Members())
	}
	counts := spec.Inhibitors(m)
	for _, one := range blocks {
		want := counts[spec.Buffer(one.block)]
		if n, refs := one.inhibitors.Load(b.task, kernel.Once), one.refs.Count(b.task); n != want || refs != 2+want {
			r.Fatalf("block %d has %d inhibitors and %d references, want %d and %d", one.block, n, refs, want, 2+want)
		}
	}
	if err := checkSet(s); err != nil {
		r.Fatal(err)
	}
}

// The trace that the specification has too, on the real thing.
func TestClockFollowsTheTrace(t *testing.T) {
	b := newBench(Clock(4))
	blocks, s := b.buffers(8), &clockSet{fs: b.fs, size: 4}
	for _, step := range []struct {
		call       byte
		clears     int
		slots      string
		referenced uint32 // slot 0 is the lowest bit
		hand       int
	}{
		{'A', 0, "A", 0b0001, 0}, {'B', 0, "AB", 0b0011, 0}, {'C', 0, "ABC", 0b0111, 0}, {'D', 0, "ABCD", 0b1111, 0},
		{'A', 0, "ABCD", 0b1111, 0},
		{'E', 4, "EBCD", 0b0001, 1},
		{'F', 0, "EFCD", 0b0011, 2},
		{'C', 0, "EFCD", 0b0111, 2},
		{'G', 1, "EFCG", 0b1011, 0},
		{'C', 0, "EFCG", 0b1111, 0},
		{'H', 4, "HFCG", 0b0001, 1},
		{'A', 0, "HACG", 0b0011, 2},
		{'C', 0, "HACG", 0b0111, 2},
	} {
		c := s.keep(b.task, blocks[step.call-'A'])
		slots := ""
		for _, member := range s.members() {
			slots += string(rune('A' + slices.Index(blocks, member)))
		}
		if slots != step.slots || c.clears != step.clears || s.referenced != step.referenced || s.hand != step.hand {
			t.Errorf("%c: %d clears, slots %s, bits %04b, hand %d; want %+v", step.call, c.clears, slots, s.referenced, s.hand, step)
		}
	}
	s.empty(b.task)
	b.drop(blocks)
	b.unmount(t, nil)
}

// Neither keeping a block nor letting all go allocates memory, whatever has to make
// room; the map does.
func TestClockAllocatesNothing(t *testing.T) {
	for _, c := range []struct {
		policy Policy
		none   bool
	}{{Clock(8), true}, {Policy{Track: TrackFixed, Slots: 8, Count: CountAtomic}, true}, {Policy{Track: TrackXArray, Count: CountAtomic}, false}} {
		b := newBench(c.policy)
		blocks, s := b.buffers(20), b.fs.steps.newSet(b.fs)
		got := testing.AllocsPerRun(100, func() {
			for _, one := range blocks {
				s.keep(b.task, one)
			}
			s.empty(b.task)
		})
		if (got == 0) != c.none {
			t.Errorf("%v: %v allocations for 20 blocks", c.policy.Track, got)
		}
		b.drop(blocks)
		b.unmount(t, nil)
	}
}

// A map without memory keeps nothing, and a block that comes in the place of another one
// lets that go.
func TestXArray(t *testing.T) {
	short := false
	b := newBenchWith(Policy{Track: TrackXArray, Count: CountAtomic}, kernel.Options{AllocationFailure: true,
		FailAllocation: func(string) bool { return short }})
	blocks, s := b.buffers(3), b.fs.steps.newSet(b.fs)
	short = true
	if c := s.keep(b.task, blocks[0]); c.tracked || len(s.members()) != 0 {
		t.Errorf("without memory: %+v", c)
	}
	short = false
	s.keep(b.task, blocks[1])
	s.(*xarraySet).entries[blocks[2].block] = blocks[1] // as if the number had been given away again
	delete(s.(*xarraySet).entries, blocks[1].block)
	if c := s.keep(b.task, blocks[2]); !c.tracked || c.evicted != blocks[1] || blocks[1].inhibitors.Load(b.task, kernel.Once) != 0 {
		t.Errorf("in the place of another one: %+v", c)
	}
	if s.empty(b.task) != 1 {
		t.Error("more than one was left")
	}
	b.drop(blocks)
	b.unmount(t, nil)
}

func TestInvalidPolicies(t *testing.T) {
	for _, p := range []Policy{{}, {Track: TrackNone}, {Track: TrackFixed, Count: CountAtomic}, Clock(0), Clock(3), Clock(64),
		{Track: TrackFixed, Slots: 33, Count: CountAtomic}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v is taken", p)
				}
			}()
			p.steps()
		}()
	}
}

func TestNames(t *testing.T) {
	for want, got := range map[string]string{
		"none": TrackNone.String(), "xarray": TrackXArray.String(), "fixed": TrackFixed.String(), "clock": TrackClock.String(), "invalid": Track(0).String(),
		"atomic": CountAtomic.String(), "locked": CountLocked.String(), "invalid ": Count(0).String() + " ",
		"running": Running.String(), "completed": Completed.String(), "invalid  ": State(9).String() + "  ",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
