package explore

import (
	"fmt"

	"benign/checkers/graph"
	"benign/impl/kernel"
)

// announced names an operation that has not been performed yet.
func announced(op *kernel.Op) string {
	switch op.Kind {
	case kernel.OpLoad:
		return fmt.Sprintf("%s %s of %s", op.Order, loadVerb(op.Until != nil), op.Location.Name())
	case kernel.OpStore:
		return fmt.Sprintf("%s store to %s", op.Order, op.Location.Name())
	case kernel.OpUpdate:
		return fmt.Sprintf("%s update of %s%s", op.Order, op.Location.Name(), awaitSuffix(op.Until != nil))
	case kernel.OpAcquire:
		if op.Passes {
			return "grace period of " + op.Location.Name()
		}
		return fmt.Sprintf("%s %s%s", acquireVerb(op.Try), op.Location.Name(), sharedSuffix(op.Mode))
	case kernel.OpRelease:
		return fmt.Sprintf("unlock %s%s", op.Location.Name(), sharedSuffix(op.Mode))
	case kernel.OpChoose:
		return fmt.Sprintf("choice of %d: %s", max(2, op.Choices), op.Label)
	case kernel.OpBarrier:
		return op.Barrier.String()
	case kernel.OpSpawn:
		return "start " + op.Label
	}
	return "join " + op.Child.Name()
}

// recorded names the operation that an event of a graph is of, in the same words.
func recorded(g *graph.Graph, e *graph.Event) string {
	name := ""
	if e.Location >= 0 {
		name = g.Locations[e.Location].Name + halfName(&g.Locations[e.Location])
	}
	switch e.Kind {
	case graph.Read, graph.Await:
		return fmt.Sprintf("%s %s of %s", e.Order, loadVerb(e.Awaits || e.Kind == graph.Await), name)
	case graph.Write:
		return fmt.Sprintf("%s store to %s", e.Order, name)
	case graph.UpdateRead, graph.UpdateWrite:
		return fmt.Sprintf("%s update of %s%s", e.Order, name, awaitSuffix(e.Awaits))
	case graph.Unlock:
		return fmt.Sprintf("unlock %s%s", name, sharedSuffix(e.Mode))
	case graph.LockBusy, graph.LockIdle:
		return fmt.Sprintf("trylock %s%s", name, sharedSuffix(e.Mode))
	case graph.Choice:
		return fmt.Sprintf("choice of alternative %d", e.Choice)
	case graph.Barrier:
		return e.Barrier.String()
	case graph.Spawn:
		return "start " + g.Tasks[e.Child].Name
	case graph.Join:
		return "join " + g.Tasks[e.Child].Name
	}
	return fmt.Sprintf("%s %s%s", acquireVerb(e.Try), name, sharedSuffix(e.Mode))
}

func loadVerb(awaits bool) string {
	if awaits {
		return "await"
	}
	return "load"
}

func awaitSuffix(awaits bool) string {
	if awaits {
		return ", once it has a certain value"
	}
	return ""
}

func acquireVerb(try bool) string {
	if try {
		return "trylock"
	}
	return "lock"
}

func sharedSuffix(mode kernel.LockMode) string {
	if mode == kernel.Shared {
		return " (shared)"
	}
	return ""
}
