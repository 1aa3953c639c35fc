package explain

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"benign/checkers/graph"
	"benign/impl/kernel"
)

// objectNumber is what tells objects of one class apart: "inode#5", "map#1.2".
var objectNumber = regexp.MustCompile(`#\d+(\.\d+)?`)

// names knows words, locks and objects without their numbers.
type names map[string]string

func (n names) of(name string) string {
	short, known := n[name]
	if !known {
		short = objectNumber.ReplaceAllString(name, "")
		n[name] = short
	}
	return short
}

func (n names) at(g *graph.Graph, location int32) string { return n.of(g.Locations[location].Name) }

// valueText says what a value is, in the way a reader says it: an object by its
// class.
func valueText(shown string) string {
	class := objectNumber.ReplaceAllString(shown, "")
	if class == shown {
		return shown
	}
	article := "a"
	if strings.ContainsAny(class[:1], "aeiou") {
		article = "an"
	}
	return article + " " + class
}

// number reports whether a value is a number, and which.
func number(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// act is a step of a task: what it did, and the event that completed it.
type act struct {
	what  string
	event int32
}

// acts lists what a task did in a stretch of its events. What no other task
// touches is left out, as nobody notices it.
func (n names) acts(g *graph.Graph, events []int32, shared map[place]bool) []act {
	var list []act
	for at, id := range events {
		e := &g.Events[id]
		if e.Location >= 0 && !shared[placeOf(g, e.Location)] {
			continue
		}
		following := graph.Init
		if at+1 < len(events) {
			following = events[at+1]
		}
		if what := n.phrase(g, e, following); what != "" {
			list = append(list, act{what, id})
		}
	}
	return list
}

// phrase says what the operation did that an event completes; it is empty if the
// event completes none. Following is the task's next event.
func (n names) phrase(g *graph.Graph, e *graph.Event, following int32) string {
	switch e.Kind {
	case graph.Read, graph.Write:
		if following != graph.Init && g.SecondHalf(following) {
			return ""
		}
		return n.access(g, e)
	case graph.UpdateWrite:
		return n.access(g, e)
	case graph.UpdateRead:
		if e.Pair == graph.Init {
			return n.access(g, e) + " does nothing"
		}
	case graph.LockWrite:
		if following != graph.Init && g.Events[following].Kind == graph.LockRead && g.SameLock(e.Location, g.Events[following].Location) {
			return "" // the next strand of the same lock
		}
		return acquireVerb(e) + n.at(g, e.Location) + sharedSuffix(e)
	case graph.LockFail, graph.LockBusy:
		return "trylock " + n.at(g, e.Location) + sharedSuffix(e) + " fails"
	case graph.Unlock:
		if following != graph.Init && g.Events[following].Kind == graph.LockRead && g.SameLock(e.Location, g.Events[following].Location) {
			return "" // passed on to the next one
		}
		return "unlock " + n.at(g, e.Location) + sharedSuffix(e)
	case graph.Await:
		return "wait for " + n.at(g, e.Location)
	case graph.Barrier:
		return e.Barrier.String()
	case graph.Choice:
		if following == graph.Init || g.Events[following].Kind != graph.LockBusy && g.Events[following].Kind != graph.LockFail {
			return choicePhrase(e)
		}
	case graph.Spawn:
		return "start " + g.Tasks[e.Child].Name
	case graph.Join:
		return "join " + g.Tasks[e.Child].Name
	}
	return ""
}

// choicePhrase tells choices apart; what is chosen is only known when it is
// replayed. It may be a part of a try-lock.
func choicePhrase(e *graph.Event) string { return fmt.Sprintf("choice %d", e.Choice) }

// access says what an access to a word is, with its marking.
func (n names) access(g *graph.Graph, e *graph.Event) string {
	verb := "load of "
	switch e.Kind {
	case graph.Write:
		verb = "store to "
	case graph.UpdateRead, graph.UpdateWrite:
		verb = "update of "
	}
	return e.Order.String() + " " + verb + n.at(g, e.Location)
}

func acquireVerb(e *graph.Event) string {
	if e.Try {
		return "trylock "
	}
	return "lock "
}

func sharedSuffix(e *graph.Event) string {
	if e.Mode == kernel.Shared {
		return " shared"
	}
	return ""
}
