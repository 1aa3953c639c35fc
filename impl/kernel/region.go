package kernel

// Region tags plain memory that something else must protect: the nodes of a
// tree, a list, a counter under a lock. Reads and writes of a region are
// race-checked when explored and cost no schedule points; natively they are
// nothing, and the Go race detector watches the memory itself.
type Region struct {
	world *World
	owner *Object
	name  string
	// Slot is scratch space for the engine, like [Location].Slot.
	Slot int
}

// Init names the region within its owner.
func (r *Region) Init(owner *Object, name string) { r.init(owner.world, owner, name) }

func (r *Region) init(w *World, owner *Object, name string) {
	r.world, r.owner, r.name, r.Slot = w, owner, name, 0
}

// Read states that the task reads the region now.
func (r *Region) Read(t *Task) {
	if t.engine != nil {
		t.engine.Access(t, r, false)
	}
}

// Write states that the task writes the region now.
func (r *Region) Write(t *Task) {
	if t.engine != nil {
		t.engine.Access(t, r, true)
	}
}

// Name returns the owner's name and the region's.
func (r *Region) Name() string { return r.owner.Name() + "." + r.name }

// Lifetime reports whether the region stands for the life of its owner, whose
// writes are birth and free, rather than for its contents.
func (r *Region) Lifetime() bool { return r == &r.owner.lifetime }

// Owner returns the name of the object that the region belongs to.
func (r *Region) Owner() string { return r.owner.Name() }

// OwnerFreed reports whether the object that the region belongs to is freed.
func (r *Region) OwnerFreed() bool { return r.owner.freed.Load() }

// RaceSite is the annotation that a reviewer wants to see at a deliberate
// race: where it is and why it is believed harmless. Verdicts refer to it by
// name. It is what data_race() is in the kernel, with the reason attached
// (tools/memory-model/Documentation/access-marking.txt).
type RaceSite struct {
	// Name is what verdicts call the race, such as "rb-empty".
	Name string
	// Reason is the one sentence why it is believed harmless.
	Reason string
}

// DataRaceSite declares a deliberate race. Call it once, in a package-level
// variable beside the access.
func DataRaceSite(name, reason string) *RaceSite { return &RaceSite{Name: name, Reason: reason} }
