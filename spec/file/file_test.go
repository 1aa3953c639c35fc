package file

import "testing"

func TestStep(t *testing.T) {
	here, there := Place{Offset: 1}, Place{Extent: 2, Offset: 1}
	for _, c := range []struct {
		name string
		in   Input
		out  Place
		ok   bool
		next Place
	}{
		{"read what is there", Input{}, here, true, here},
		{"read something else", Input{}, there, false, here},
		{"write", Input{Write: true, To: there}, there, true, there},
		{"write, and see what was there", Input{Write: true, To: there}, here, false, there},
	} {
		if ok, next := Step(here, c.in, c.out); ok != c.ok || next != c.next {
			t.Errorf("%s: %v, %v, want %v, %v", c.name, ok, next, c.ok, c.next)
		}
	}
}
