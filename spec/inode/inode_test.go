package inode

import "testing"

func TestStep(t *testing.T) {
	idle, used, gone := State{InMemory: true}, State{Users: 1, InMemory: true}, State{}
	for _, c := range []struct {
		name string
		from State
		op   Op
		done bool
		ok   bool
		to   State
	}{
		{"get what is not there", gone, Get, true, true, used},
		{"get what is idle", idle, Get, true, true, used},
		{"get what is used", used, Get, true, true, State{Users: 2, InMemory: true}},
		{"get nothing", idle, Get, false, false, idle},
		{"put", used, Put, true, true, idle},
		{"put what nobody uses", idle, Put, true, false, idle},
		{"put that is not done", used, Put, false, false, used},
		{"find", idle, Find, true, true, idle},
		{"find what is used", used, Find, true, true, used},
		{"overlook", used, Find, false, false, used},
		{"find nothing", gone, Find, false, true, gone},
		{"find a ghost", gone, Find, true, false, gone},
		{"prune", idle, Prune, true, true, gone},
		{"prune nothing", gone, Prune, true, false, gone},
		{"prune what is used", used, Prune, true, false, used},
		{"pass by", idle, Prune, false, true, idle},
		{"no operation", idle, Op(0), true, false, idle},
		{"unknown operation", idle, opEnd, true, false, idle},
	} {
		if ok, to := Step(c.from, c.op, c.done); ok != c.ok || to != c.to {
			t.Errorf("%s: got %v, %+v, want %v, %+v", c.name, ok, to, c.ok, c.to)
		}
	}
}

func TestOpString(t *testing.T) {
	for op, want := range map[Op]string{
		0: "invalid operation 0", Get: "get", Put: "put", Find: "find", Prune: "prune", opEnd: "invalid operation 5",
	} {
		if got := op.String(); got != want {
			t.Errorf("%d prints as %q, want %q", uint8(op), got, want)
		}
	}
}
