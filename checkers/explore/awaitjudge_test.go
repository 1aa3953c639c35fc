package explore

import (
	"fmt"
	"testing"

	"benign/checkers/memmodel"
	"benign/impl/kernel"
)

// TestAwaitsAreRevisited has the second judge look at chosen programs in which an
// await that waits goes on after all, or one that had gone on waits: random ones
// seldom come to that.
func TestAwaitsAreRevisited(t *testing.T) {
	store := func(at, value int) instruction {
		return instruction{op: "store", at: at, order: kernel.Release, value: value}
	}
	load := func(at int) instruction { return instruction{op: "load", at: at, order: kernel.Acquire} }
	await := func(at, value int) instruction {
		return instruction{op: "await", at: at, order: kernel.Acquire, expected: value}
	}
	take := instruction{op: "await-add", order: kernel.AcquireRelease, expected: 0, value: 1}
	spin := code{take, store(0, 0)}
	for _, c := range []struct {
		name  string
		codes []code
	}{
		{"a lock of two", []code{spin, spin}},
		{"a lock of three", []code{spin, spin, spin}},
		{"a lock of two, and who looks", []code{spin, spin, {await(0, 1), load(0)}}},
		{"a lock of two, and who breaks in", []code{spin, spin, {store(0, 2)}}},
		{"dekker", []code{{store(0, 1), await(1, 0), store(0, 0)}, {store(1, 1), await(0, 0), store(1, 0)}}},
		{"dekker that gives in", []code{{store(0, 1), await(1, 0), store(0, 2)}, {store(1, 1), await(0, 2), store(1, 0)}, {load(0), load(1)}}},
		{"too late, and then helped", []code{{await(0, 1), store(1, 1)}, {store(0, 1), store(0, 2)}, {await(1, 1), store(0, 1)}}},
		{"helped by one that was too late", []code{{await(0, 1), load(1)}, {store(0, 1), store(0, 0), store(1, 1)}, {await(1, 0), store(0, 1)}}},
		{"updates that were too late", []code{{take, load(1)}, {store(0, 1), store(0, 2)}, {await(0, 1), store(1, 1), store(0, 0)}}},
		{"waits because of what is taken back", []code{{await(0, 0)}, {await(1, 0), store(0, 2)}, {await(1, 0), store(1, 1)}}},
		{"a chain", []code{{await(0, 1), store(0, 2)}, {await(0, 2), store(0, 0)}, {store(0, 1)}, {await(0, 0), load(0)}}},
		{"under a lock", []code{{{op: "lock"}, await(0, 1), {op: "unlock"}, load(1)}, {store(0, 1), store(0, 0), {op: "lock"}, store(1, 1), {op: "unlock"}}}},
		{"under a lock, and helped", []code{{{op: "lock"}, await(0, 1), {op: "unlock"}}, {{op: "lock"}, load(0), {op: "unlock"}}, {store(0, 1), store(0, 2)}, {load(1), store(0, 1)}}},
	} {
		for _, model := range memmodel.Names() {
			t.Run(fmt.Sprintf("%s under %s", c.name, model), func(t *testing.T) { compare(t, c.codes, model) })
		}
	}
}

// TestGracePeriods has the second judge look at chosen programs with sections and
// grace periods.
func TestGracePeriods(t *testing.T) {
	store := instruction{op: "store", order: once, value: 1}
	load := instruction{op: "load", order: once}
	enter, leave := instruction{op: "rlock", at: bruteRCU}, instruction{op: "unlock", at: bruteRCU}
	grace := instruction{op: "synchronize", at: bruteRCU}
	lock, unlock := instruction{op: "lock"}, instruction{op: "unlock"}
	for _, c := range []struct {
		name  string
		codes []code
	}{
		{"nobody reads", []code{{grace, store}, {grace, load}}},
		{"two read", []code{{enter, load, leave}, {enter, load, leave}, {store, grace, store}}},
		{"three read", []code{{enter, leave}, {enter, leave}, {enter, leave}, {grace}}},
		{"two wait", []code{{enter, load, leave}, {grace, store}, {grace}}},
		{"two wait for two", []code{{enter, leave}, {enter, leave}, {grace}, {grace}}},
		{"a reader waits", []code{{enter, leave, grace}, {enter, leave, grace}}},
		{"waits under a lock", []code{{enter, load, leave, lock, unlock}, {lock, grace, unlock}, {enter, leave, store}}},
		{"waits for ever", []code{{enter, {op: "await", order: acq, expected: 1}, leave}, {grace, store}, {enter, leave}}},
		{"started in a section", []code{{enter, {op: "spawn", at: 2}, load, leave}, {enter, leave, load}, {grace, store}}},
	} {
		for _, model := range memmodel.Names() {
			t.Run(fmt.Sprintf("%s under %s", c.name, model), func(t *testing.T) { compare(t, c.codes, model) })
		}
	}
}
