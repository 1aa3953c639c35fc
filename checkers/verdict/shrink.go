package verdict

import (
	"regexp"
	"slices"
	"strings"

	"benign/checkers/explore"
	"benign/checkers/memmodel"
	"benign/checkers/shrink"
	"benign/impl/kernel"
	"benign/impl/scenario"
)

// fault is what stays the same while a failing scenario is shrunk: the kind of
// what is broken, and the class of the message.
type fault struct{ kind, class string }

func faultOf(kind, message string) fault {
	switch kind {
	case kernel.Deadlock.String(), kernel.LostWakeup.String(), kernel.Livelock.String(), KindHistory, KindLost, KindState, KindReached, KindBound:
		return fault{kind: kind} // the message tells the execution
	case kernel.UseAfterFree.String(), kernel.DoubleFree.String(), kernel.ReferenceUnderflow.String(), kernel.DataRace.String():
		// What it happened to; which side of it came last is a matter of order.
		message = strings.TrimPrefix(strings.TrimPrefix(message, "read of "), "write of ")
		message, _, _ = strings.Cut(message, " is ")
	}
	return fault{kind, numbers.ReplaceAllStringFunc(message, func(number string) string {
		if strings.HasPrefix(number, ".go:") {
			return number
		}
		return "N"
	})}
}

// numbers finds addresses, counts and the numbers of objects in a message, and
// places in the source, which are no such numbers.
var numbers = regexp.MustCompile(`\.go:\d+|0x[0-9a-f]+|\d+(\.\d+)*`)

func (f *fault) is(kind, message string) bool { return *f == faultOf(kind, message) }

// Is reports whether a violation is what the finding is about: of the same kind,
// and with the same message but for numbers, or at the same object.
func (f *Finding) Is(v *kernel.Violation) bool {
	same := faultOf(f.Kind, f.Message)
	return same.is(v.Kind.String(), v.Message)
}

// shrinkExecutions bounds each exploration of a smaller scenario. What would take
// more is not left out.
const shrinkExecutions = 20_000

// shrinking makes the scenario of one fault smaller. Each smaller one is explored
// to its end, with the baseline shrunk alike: if leaving an operation out breaks
// that, what is broken without it is another story.
type shrinking struct {
	race       string
	options    Options
	seen, base *observation // of the whole
	fault      fault
	smallest   *observation // of what is left
}

// shrink leaves out of the variant what the fault does not need, and returns the
// observation of what is left; nil if even the whole is too large for that.
func (o Options) shrink(race string, seen, base *observation, f fault) (*observation, error) {
	seen.config.Strict, base.config.Strict = false, false // it has been looked at
	o.Strategy, o.Bound = nil, nil                        // what they leave out may show the fault
	o.Checkpoint = nil                                    // it is of the whole
	s := &shrinking{race: race, options: o, seen: seen, base: base, fault: f}
	tasks, err := explore.Tasks(seen.config)
	if err != nil {
		return nil, nil // it breaks before there are any
	}
	if _, err := shrink.Operations(tasks, s.fails); err != nil {
		return nil, err
	}
	if s.smallest == nil {
		_, err = s.fails(nil)
	}
	return s.smallest, err
}

// fails explores what is left, and reports whether the fault shows.
func (s *shrinking) fails(out []scenario.Omitted) (bool, error) {
	base := s.base
	if s.base.sound() {
		var err error
		if base, err = s.options.baseline(s.race, within(alike(s.base.config, out))); err != nil || !base.sound() {
			return false, err
		}
	}
	smaller := s.seen.config
	smaller.Without = out
	smaller = within(smaller)
	seen := newObservation(smaller, base, &s.fault)
	seen.search = s.seen.search
	if err := s.options.gather("", smaller, seen); err != nil || seen.stats.Executions() >= seen.config.MaxExecutions {
		return false, err
	}
	if seen.worst.empty() && (seen.strange.empty() || !base.sound()) {
		return false, nil
	}
	s.smallest = seen
	return true, nil
}

// alike is the configuration without the operations that stand where those of
// another variant stand that are left out. They need not have the same names.
func alike(c explore.Config, out []scenario.Omitted) explore.Config {
	c.Without = nil
	tasks, err := explore.Tasks(c)
	if err != nil {
		return c // it will say so itself
	}
	for _, o := range out {
		if o.Task < len(tasks) && o.Operation < len(tasks[o.Task].Operations) {
			o.Name = tasks[o.Task].Operations[o.Operation].Name
			c.Without = append(c.Without, o)
		}
	}
	return c
}

// within bounds the exploration of a smaller scenario.
func within(c explore.Config) explore.Config {
	if c.MaxExecutions < 1 || c.MaxExecutions > shrinkExecutions {
		c.MaxExecutions = shrinkExecutions
	}
	return c
}

// finding turns one of the culprits into something to read: the one of the
// smallest scenario, with the fewest switches and steps, shortened, and replayed
// with source places.
func (o Options) finding(c culprits, seen, base *observation, h explore.TraceHeader) (*Finding, error) {
	best := c.best(seen.config)
	f := &Finding{Kind: best.kind, Count: total(c.kinds), Kinds: c.kinds, After: seen.found, Seed: best.seed}
	config := seen.config
	if o.Shrink {
		smaller, err := o.shrink(h.Race, seen, base, faultOf(best.kind, best.message))
		if err != nil {
			return nil, err
		}
		if smaller != nil {
			found := smaller.worst
			if found.empty() {
				found = smaller.strange
			}
			best, config = found.best(smaller.config), smaller.config
		}
	}
	f.Message, f.Trace = best.message, explore.FormatTrace(h, best.graph, config.Without...)
	e, steps, err := explore.ReplayGraph(config, best.graph)
	if err != nil {
		return nil, err
	}
	if e.Violation != nil {
		f.Message = e.Violation.Message
	}
	f.show(e, steps, config)
	return f, nil
}

// best shortens the culprits that were kept, and returns the best of them.
func (c *culprits) best(config explore.Config) culprit {
	for i := range c.shortest {
		one := &c.shortest[i]
		if !one.whole {
			f := faultOf(one.kind, one.message)
			one.graph = explore.Shorten(config, one.graph, func(v *kernel.Violation) bool { return f.is(v.Kind.String(), v.Message) })
			one.steps, one.identity = visible(one.graph), one.graph.Key()
		}
		_, one.switches = memmodel.FewestSwitches(one.graph)
	}
	return slices.MinFunc(c.shortest, compareCulprits)
}
