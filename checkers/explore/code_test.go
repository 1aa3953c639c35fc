package explore

import (
	"fmt"
	"slices"
	"strings"

	"benign/impl/kernel"
)

// The second judge: a small program as data, run in two ways. As tasks of the
// machine it is explored; as a list of instructions it is run by brute force,
// which knows nothing of revisits: it builds every graph event by event, in
// every order, trying every source and every place, and keeps those that the
// model allows.

type instruction struct {
	op       string // load store add cas await await-not await-add barrier choose spawn join lock trylock rlock tryrlock unlock synchronize, wide load, wide store
	at       int    // word, lock (0 is the mutex, the last one stands for RCU) or task
	order    kernel.Order
	value    int // of choose: the alternatives
	expected int
	barrier  kernel.Barrier
}

func (i instruction) String() string {
	return fmt.Sprintf("%s(%d,%s,%d,%d)", i.op, i.at, i.order, i.value, i.expected)
}

// code is one task; a failed try skips to behind its unlock. A task that
// another one spawns stands behind it in the list of all tasks.
type code []instruction

func (c code) String() string {
	parts := make([]string, len(c))
	for i, ins := range c {
		parts[i] = ins.String()
	}
	return strings.Join(parts, " ")
}

// afterSection returns where a task goes on whose try at position i failed.
func (c code) afterSection(i int) int {
	for j := i + 1; j < len(c); j++ {
		if c[j].op == "unlock" && c[j].at == c[i].at {
			return j + 1
		}
	}
	return len(c)
}

// afterChoice returns where a task goes on that chose at position i: each
// alternative skips one instruction more, but no lock, spawn or join.
func (c code) afterChoice(i, choice int) int {
	next := i + 1
	for ; choice > 0 && next < len(c) && c[next].onWords(); choice-- {
		next++
	}
	return next
}

func (i instruction) onWords() bool {
	return slices.Contains([]string{"load", "store", "add", "cas", "barrier", "wide load", "wide store"}, i.op)
}

func (c code) shared(i int) bool {
	for j := i - 1; j >= 0; j-- {
		if c[j].at == c[i].at && strings.Contains(c[j].op, "lock") && c[j].op != "unlock" {
			return strings.Contains(c[j].op, "rlock")
		}
	}
	return false
}

// identities returns the identity of each task: those that are there from the
// start are counted from 1; a spawned one is named by its parent and by how
// many the parent had spawned before.
func identities(codes []code) []int {
	ids := make([]int, len(codes))
	for i, c := range codes {
		if ids[i] == 0 {
			ids[i] = i + 1
		}
		spawned := 0
		for _, ins := range c {
			if ins.op == "spawn" {
				ids[ins.at] = (ids[i]+1)*64 + spawned
				spawned++
			}
		}
	}
	return ids
}

// codeProgram returns the tasks that are there from the start.
func codeProgram(codes []code) []body {
	var bodies []body
	for i, id := range identities(codes) {
		if id == i+1 {
			bodies = append(bodies, func(t *kernel.Task, m *machine) { perform(codes, i, t, m) })
		}
	}
	return bodies
}

// perform runs the code of one task on the machine.
func perform(codes []code, task int, t *kernel.Task, m *machine) {
	c := codes[task]
	children := map[int]*kernel.Task{}
	for i := 0; i < len(c); {
		ins := c[i]
		next := i + 1
		switch ins.op {
		case "choose":
			next = c.afterChoice(i, t.Choose("how many to skip", ins.value))
		case "spawn":
			children[ins.at] = t.Go("spawned", func(t *kernel.Task) { perform(codes, ins.at, t, m) })
		case "join":
			if child := children[ins.at]; child != nil {
				t.Join(child)
			}
		case "trylock", "tryrlock":
			if !c.try(i, t, m) {
				next = c.afterSection(i)
			}
		case "synchronize":
			m.rcu.Synchronize(t)
		case "lock", "rlock", "unlock":
			c.lock(i, t, m)
		default:
			ins.access(t, m)
		}
		i = next
	}
}

func (i instruction) access(t *kernel.Task, m *machine) {
	switch i.op {
	case "wide load", "wide store":
		i.accessHalves(t, m)
	case "load":
		m.words[i.at].Load(t, i.order)
	case "store":
		m.words[i.at].Store(t, i.order, i.value)
	case "add":
		m.words[i.at].Add(t, i.order, i.value)
	case "cas":
		m.words[i.at].CompareAndSwap(t, i.order, i.expected, i.value)
	case "await", "await-not":
		m.words[i.at].Await(t, i.order, i.ends)
	case "await-add":
		m.words[i.at].AwaitUpdate(t, i.order, i.ends, func(old int) (int, bool) { return old + i.value, true })
	case "barrier":
		t.Barrier(i.barrier)
	}
}

// awaits reports whether the instruction may have to wait for a value.
func (i instruction) awaits() bool { return strings.HasPrefix(i.op, "await") }

// ends reports whether the value ends the wait of an await.
func (i instruction) ends(value int) bool { return (value == i.expected) != (i.op == "await-not") }

func (c code) try(i int, t *kernel.Task, m *machine) bool {
	switch at := c[i].at; {
	case at == 0:
		return m.locks[0].TryLock(t)
	case c[i].op == "trylock":
		return m.rw[at-1].TryLock(t)
	default:
		return m.rw[at-1].TryRLock(t)
	}
}

func (c code) lock(i int, t *kernel.Task, m *machine) {
	var lock interface {
		Lock(*kernel.Task)
		Unlock(*kernel.Task)
	} = &m.locks[0]
	if at := c[i].at; at > 0 && at != bruteRCU {
		lock = &m.rw[at-1]
	}
	switch {
	case c[i].at == bruteRCU && c[i].op == "rlock":
		m.rcu.ReadLock(t)
	case c[i].at == bruteRCU:
		m.rcu.ReadUnlock(t)
	case c[i].op == "rlock":
		m.rw[c[i].at-1].RLock(t)
	case c[i].op == "lock":
		lock.Lock(t)
	case c.shared(i):
		m.rw[c[i].at-1].RUnlock(t)
	default:
		lock.Unlock(t)
	}
}
