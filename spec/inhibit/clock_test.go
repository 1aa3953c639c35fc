package inhibit

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// name prints buffers as the letters from A on.
func name(b Buffer) string {
	if b == 0 {
		return ""
	}
	return string(rune('A' + b - 1))
}

// The trace that every implementation must follow, on four slots.
func TestClockFollowsTheTrace(t *testing.T) {
	c := NewClock(4)
	for _, b := range []Buffer{1, 2, 3, 4} {
		c, _ = c.Inhibit(b)
	}
	for _, s := range []struct {
		call, evicted string
		clears        int
		slots, bits   string
		hand          int
	}{
		{"A", "", 0, "ABCD", "1111", 0},
		{"E", "A", 4, "EBCD", "1000", 1},
		{"F", "B", 0, "EFCD", "1100", 2},
		{"C", "", 0, "EFCD", "1110", 2},
		{"G", "D", 1, "EFCG", "1101", 0},
		{"C", "", 0, "EFCG", "1111", 0},
		{"H", "E", 4, "HFCG", "1000", 1},
		{"A", "F", 0, "HACG", "1100", 2},
		{"C", "", 0, "HACG", "1110", 2},
	} {
		var claim Claim
		c, claim = c.Inhibit(Buffer(s.call[0] - 'A' + 1))
		slots, bits := "", ""
		for i, b := range c.Members() {
			slots += name(b)
			bits += fmt.Sprint(c.Referenced >> i & 1)
		}
		if !claim.Tracked || claim.Hit != (s.evicted == "") || name(claim.Evicted) != s.evicted || claim.Clears != s.clears ||
			slots != s.slots || bits != s.bits || c.Hand != s.hand {
			t.Errorf("%s: %+v, slots %s, bits %s, hand %d; want %+v", s.call, claim, slots, bits, c.Hand, s)
		}
	}
}

func TestClockSizes(t *testing.T) {
	for size, want := range map[int]bool{0: false, 1: true, 2: true, 3: false, 8: true, 12: false, 32: true, 64: false} {
		func() {
			defer func() {
				if got := recover() == nil; got != want {
					t.Errorf("%d slots: valid %v, want %v", size, got, want)
				}
			}()
			NewClock(size)
		}()
	}
}

// Whatever is put in: the set stays well-formed, no claim clears more bits than there are slots, what is put in is there, and
// what is there has been put in.
func TestClockProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewClock(1 << rapid.IntRange(0, 5).Draw(t, "size"))
		for _, b := range rapid.SliceOf(rapid.Custom(func(t *rapid.T) Buffer { return Buffer(rapid.IntRange(1, 50).Draw(t, "buffer")) })).Draw(t, "calls") {
			before := c.Members()
			var claim Claim
			c, claim = c.Inhibit(b)
			if err := c.Check(); err != nil {
				t.Fatal(err)
			}
			want := slices.Clone(before)
			if claim.Evicted != 0 {
				want = slices.DeleteFunc(slices.Clone(before), func(m Buffer) bool { return m == claim.Evicted })
			}
			if !slices.Contains(before, b) {
				want = append(want, b)
			}
			slices.Sort(want)
			got := slices.Sorted(slices.Values(c.Members()))
			if !slices.Equal(got, want) || claim.Clears > c.Size || claim.Hit != slices.Contains(before, b) || claim.Evicted != 0 && len(before) < c.Size {
				t.Fatalf("%v, then %d: %v, %+v", before, b, got, claim)
			}
		}
	})
}

func TestCheckFindsWhatIsWrong(t *testing.T) {
	full := func(change func(*Clock)) Clock {
		c := NewClock(2)
		c, _ = c.Inhibit(1)
		c, _ = c.Inhibit(2)
		change(&c)
		return c
	}
	for what, c := range map[string]Clock{
		"a buffer twice":     full(func(c *Clock) { c.Slots[1] = 1 }),
		"an empty slot":      full(func(c *Clock) { c.Slots[0] = 0 }),
		"too many":           full(func(c *Clock) { c.Used = 3 }),
		"a hand on no slot":  full(func(c *Clock) { c.Hand = 2 }),
		"a bit for no slot":  {Size: 2, Referenced: 1},
		"a hand before them": full(func(c *Clock) { c.Hand = -1 }),
	} {
		if c.Check() == nil {
			t.Errorf("%s is not noticed", what)
		}
	}
	if err := errors.Join(full(func(*Clock) {}).Check(), NewClock(8).Check()); err != nil {
		t.Error(err)
	}
}

func TestSets(t *testing.T) {
	for _, c := range []struct {
		name string
		set  Set
		want string // after A B C B D
	}{
		{"none", None{}, ""},
		{"fixed", Fixed{Size: 2}, "AB"},
		{"unbounded", Unbounded{}, "ABCD"},
		{"clock", Second{NewClock(2)}, "CD"}, // both bits are set when D comes, and the hand stands at B
	} {
		s := c.set
		for _, b := range []Buffer{1, 2, 3, 2, 4} {
			had := slices.Contains(s.Members(), b)
			var claim Claim
			s, claim = s.Inhibit(b)
			if claim.Tracked != slices.Contains(s.Members(), b) || claim.Hit != had {
				t.Errorf("%s: %+v, and the members are %v", c.name, claim, s.Members())
			}
		}
		got := ""
		for _, b := range s.Members() {
			got += name(b)
		}
		if got != c.want {
			t.Errorf("%s has %s, want %s", c.name, got, c.want)
		}
	}
}

func TestInhibitorsAreAMultiset(t *testing.T) {
	counts := Inhibitors(None{}, Fixed{2, []Buffer{1, 2}}, Unbounded{[]Buffer{2, 3}}, Second{NewClock(2)})
	if fmt.Sprint(counts) != "map[1:1 2:2 3:1]" {
		t.Error(counts)
	}
}
