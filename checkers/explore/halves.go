package explore

import (
	"errors"
	"fmt"
	"slices"

	"benign/checkers/graph"
	"benign/impl/kernel"
)

// On a 32-bit machine a load or store of a word of 64 bits is an access to each
// of its halves, which may read from, or be overwritten by, different stores: it
// is torn. The halves are locations of their own, see graph.LowHalf. Without a
// race both are of the same store, so that nothing is explored twice.

// Machines that a scenario can be explored on, by the bits of their words.
const (
	// Arch32 reads and writes 64 bits in two halves.
	Arch32 = 32
	// Arch64 has every word in one piece. It is the default.
	Arch64 = 64
)

// CheckArch returns an error if there is no such machine; 0 is the default one.
func CheckArch(arch int) error {
	if arch != 0 && arch != Arch32 && arch != Arch64 {
		return fmt.Errorf("a machine of %d bits: want %d or %d", arch, Arch32, Arch64)
	}
	return nil
}

// errNoSuchAccess ends the exploration of code that no compiler would build for
// a 32-bit machine.
var errNoSuchAccess = errors.New("has 64 bits, and a 32-bit machine has plain and once accesses to them only (kernel.Word.InitAtomic makes an atomic64_t)")

// splits reports whether the machine makes two accesses of the operation, which
// is one on a word.
func (c *Config) splits(op *kernel.Op) bool { return c.Arch == Arch32 && op.Location.Wide() }

// placeWord finds the words, or halves of one, that the operation accesses.
func (r *run) placeWord(th *thread) {
	op := th.op
	if th.split = r.worker.config.splits(op); !th.split {
		th.at = r.locate(op.Location, 0, false)
		return
	}
	switch {
	case op.Until != nil:
		r.failure = fmt.Errorf("%s %w: no await", op.Location.Name(), errNoSuchAccess)
	case op.Kind == kernel.OpUpdate || op.Order != kernel.Plain && op.Order != kernel.Once:
		r.failure = fmt.Errorf("%s %w: not a %s %s", op.Location.Name(), errNoSuchAccess, op.Order, op.Kind)
	}
	th.at = r.locate(op.Location, graph.LowHalf, false)
	th.high = r.locate(op.Location, graph.HighHalf, false)
}

// next returns the location of the thread's next access to a word.
func (th *thread) next() int32 {
	if th.second {
		return th.high
	}
	return th.at
}

// stored returns what the thread's store writes to the location that is next.
func (th *thread) stored(value uint64) uint64 {
	switch {
	case !th.split:
		return value
	case th.second:
		return highHalf(value)
	}
	return lowHalf(value)
}

// completes takes what an access read or wrote and reports whether it completes
// the operation. Value is then that of the whole word, and before that what is
// known of it.
func (th *thread) completes(read uint64) (value uint64, done bool) {
	switch {
	case !th.split:
		return read, true
	case th.second:
		return join(th.low, read), true
	}
	th.low, th.second = read, true
	return read, false
}

func lowHalf(value uint64) uint64  { return value & (1<<32 - 1) }
func highHalf(value uint64) uint64 { return value >> 32 }

func join(low, high uint64) uint64 { return low | high<<32 }

// partOf returns what a location of the graph holds of the value of its word.
func partOf(l *graph.Location, value uint64) uint64 {
	switch {
	case l.Lock || l.Strand == 0:
		return value
	case l.Strand == graph.HighHalf:
		return highHalf(value)
	}
	return lowHalf(value)
}

// withPart returns the value of a word after a write to the location.
func withPart(l *graph.Location, value, part uint64) uint64 {
	switch {
	case l.Strand == graph.HighHalf:
		return join(lowHalf(value), part)
	case l.Strand == graph.LowHalf:
		return join(part, highHalf(value))
	}
	return part
}

// tearing notes an access whose halves are of different stores: a load that read
// from two, or a store that overwrote two. It names them by their values.
func (r *run) tearing(e *graph.Event, id int32) string {
	if !r.g.SecondHalf(id) {
		return ""
	}
	low, high, verb := e.Previous, id, "of"
	if e.Kind == graph.Write {
		low, high, verb = writeBefore(r.g, low), writeBefore(r.g, high), "over"
	} else {
		low, high = r.g.Events[low].Source, r.g.Events[high].Source
	}
	if r.g.OneStore(low, high) {
		return ""
	}
	l := r.words[e.Location]
	first := r.g.Events[e.Previous].Location
	return fmt.Sprintf("torn: low %s %s, high %s %s", verb, l.Show(r.whole(first, low)), verb, l.Show(r.whole(e.Location, high)))
}

// whole returns the value that the store, of which the write is a half at the
// location, gave the word.
func (r *run) whole(location, write int32) uint64 {
	if write == graph.Init {
		return r.words[location].Initial()
	}
	e := &r.g.Events[write]
	if r.g.SecondHalf(write) {
		return join(r.g.Events[e.Previous].Value, e.Value)
	}
	for id := range r.g.Events {
		if r.g.Events[id].Previous == write && r.g.SecondHalf(int32(id)) {
			return join(e.Value, r.g.Events[id].Value)
		}
	}
	return e.Value // the other half is not written yet
}

// halfName names the half in messages; it is empty for a whole word.
func halfName(l *graph.Location) string {
	if l.Lock || l.Strand == 0 {
		return ""
	}
	return " (" + traceHalves[l.Strand] + " half)"
}

// runnable returns the events in an order in which code can be run, first halves
// first, and otherwise as they come in the given one as far as possible.
func runnable(g *graph.Graph, order []int32) []int32 {
	if !g.Halved() {
		return order
	}
	left, done := slices.Clone(order), g.NewSet()
	list := make([]int32, 0, len(order))
	for len(left) > 0 {
		at := max(0, slices.IndexFunc(left, func(id int32) bool {
			for before := range g.Prefix(id).All() {
				if !done.Has(before) {
					return false
				}
			}
			return true
		}))
		done.Add(left[at])
		list = append(list, left[at])
		left = slices.Delete(left, at, at+1)
	}
	return list
}
