// Package memmodel says which execution graphs a machine can show: one file a
// memory model, each axiom with its name and its source.
//
// A model is a predicate over graphs and knows nothing of scenarios or
// exploration. What the explorer relies on, and tests check by brute force: the
// predicate survives the removal of events nothing depends on, and adding an
// event that reads the newest value, or writes at the end of coherence, never
// makes a consistent graph inconsistent. Every model here forbids cycles of
// program order and reads-from (no load buffering), because the explorer runs
// user code in that order.
package memmodel

import (
	"fmt"
	"slices"
	"strings"

	"benign/checkers/graph"
)

// Model decides whether a graph is a possible execution. A Model keeps scratch
// memory: use one per goroutine.
type Model interface {
	// Name is what the command line calls the model.
	Name() string
	// Consistent reports whether the machine can show the execution.
	Consistent(g *graph.Graph) bool
	// Extends is Consistent for a graph that would be consistent without its
	// last n events, of which nothing depends on another but the second half of
	// an update or acquisition on the first. What it finds out about the other
	// events it remembers until it is asked about another graph.
	Extends(g *graph.Graph, n int) bool
}

var models = []struct {
	name, about string
	make        func() Model
}{
	{"sc", "sequential consistency: one interleaving of all events", func() Model { return newSequential() }},
	{"tso", "total store order, as on x86: a load may overtake the task's own earlier stores", func() Model { return newTSO() }},
	{"ra", "release and acquire: every store releases, every load acquires, barriers do nothing", func() Model { return newRA() }},
	{"rc11", "repaired C11: relaxed, acquire, release, sequential and fences, no load buffering", func() Model { return newRC11() }},
	{"kernel", "the Linux-kernel memory model without dependencies and load buffering", func() Model { return newKernel() }},
}

// Names returns the names of all models, from the strongest to the weakest as
// far as they can be compared. All show what sc shows; ra and rc11 show what tso
// shows, and so does kernel where no load is Sequential, which is a full barrier
// there. Otherwise none contains another.
func Names() []string {
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = m.name
	}
	return names
}

// About returns one line that describes the model.
func About(name string) string {
	for _, m := range models {
		if m.name == name {
			return m.about
		}
	}
	return ""
}

// New returns a model by name.
func New(name string) (Model, error) {
	for _, m := range models {
		if m.name == name {
			return m.make(), nil
		}
	}
	return nil, fmt.Errorf("memory model %q: want one of %s", name, strings.Join(Names(), ", "))
}

// Known reports whether there is a model of that name.
func Known(name string) bool { return slices.Contains(Names(), name) }
