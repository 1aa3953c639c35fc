// Package reclaim frees memory for a task that wants to allocate some while there
// is too little.
//
// Reclaim runs in the middle of whatever the task is doing, with everything that
// the task holds: locks, or a handle of a transaction. Caches are asked to shrink
// there, each by its own shrinker. A task that must not be led into the filesystem
// says so, with the context in which it allocates (GFP_NOFS).
package reclaim

import "benign/impl/kernel"

// Shrinker makes the cache of a filesystem smaller.
type Shrinker interface {
	// Count returns how many objects could be freed, about.
	Count(t *kernel.Task) int64
	// Request asks for n > 0 objects to be looked at, now or soon, and reports
	// whether they will be.
	Request(t *kernel.Task, n int64) bool
}

// Context says what an allocation may lead to. The zero value is invalid.
type Context uint8

const (
	// Anything lets the allocation reclaim from filesystems (GFP_KERNEL). It may
	// sleep.
	Anything Context = iota + 1
	// NoFilesystem does not (GFP_NOFS).
	NoFilesystem
)

// String returns the context in words.
func (c Context) String() string {
	switch c {
	case Anything:
		return "anything"
	case NoFilesystem:
		return "no filesystem"
	}
	return "invalid"
}

// Memory is memory of which there is too little: every allocation reclaims first.
type Memory struct {
	filesystems []Shrinker
}

// New returns memory with the shrinkers of filesystems.
func New(filesystems ...Shrinker) *Memory { return &Memory{filesystems: filesystems} }

// Allocate makes room by asking every shrinker that the context admits for
// everything it has. It panics on an invalid context.
func (m *Memory) Allocate(t *kernel.Task, c Context) {
	switch c {
	case Anything:
		t.Resched()
		for _, s := range m.filesystems {
			if n := s.Count(t); n > 0 {
				s.Request(t, n)
			}
		}
	case NoFilesystem:
	default:
		panic("reclaim: invalid context")
	}
}
