package practice

import (
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// Races returns the questions, an argument each.
func Races() []scenario.Race {
	return []scenario.Race{
		headCount(),
		groupUsed(),
		reclaimOrder(),
		itemSize(),
		dropLock(),
		lastTransaction(),
		transactionState(),
		quotaOff(),
		emptyList(),
		writeLock(),
	}
}

// builder sets one execution up.
type builder = func(setup *kernel.Task) *scenario.Instance

func baseline(name, about string, build builder) scenario.Variant {
	return scenario.Variant{Name: name, Role: scenario.Baseline, Expect: scenario.Indistinguishable, About: about, Build: build}
}

func candidate(name string, expect scenario.Class, about string, build builder) scenario.Variant {
	return scenario.Variant{Name: name, Role: scenario.Candidate, Expect: expect, About: about, Build: build}
}

// alternative is a form that is as harmless as the baseline, where nothing else
// is said.
func alternative(name, about string, build builder) scenario.Variant {
	return scenario.Variant{Name: name, Role: scenario.Alternative, Expect: scenario.Indistinguishable, About: about, Build: build}
}

func planted(name, about string, build builder) scenario.Variant {
	return scenario.Variant{Name: name, Role: scenario.Planted, Expect: scenario.Harmful, About: about, Build: build}
}

func task(name string, operations ...scenario.Operation) scenario.Task {
	return scenario.Task{Name: name, Operations: operations}
}

// operation returns a text and has no other result.
func operation(name string, run func(t *kernel.Task) string) scenario.Operation {
	return scenario.Operation{Name: name, Run: func(t *kernel.Task) scenario.Result { return scenario.Result{Value: run(t)} }}
}

// Sizes on both sides of 4 GiB: what a reader of two halves can make of them is
// neither, but 0 or the sum of both.
const (
	belowBoundary int64 = 1<<32 - 4096
	atBoundary    int64 = 1 << 32
)
