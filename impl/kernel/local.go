package kernel

import "slices"

// Local is a local variable of C that a word was assigned to, `v = word`. If the
// load was plain, the compiler need not keep the value: it may read the word
// again wherever the variable is used, so that two uses see two values. An
// explored task meets that; a marked load happens once, and natively the value
// is kept.
//
// What a compiler may do ends where it must assume that others have changed
// memory: at a barrier, at an access or update that acquires or releases, at a
// lock, a call that may sleep or fail, the start or join of a task; and where the
// task itself writes the word. From there on the value is what it was last.
type Local[V any] struct {
	loaded
	value V
	load  func() V
	used  bool
}

// loaded is the part of a [Local] that its task watches.
type loaded struct {
	location *Location
	kept     bool // the word is not read again
}

// Local loads the word into a variable, like [Word.LoadRacy]; site may be nil.
func (w *Word[T]) Local(t *Task, order Order, site *RaceSite) *Local[T] {
	return newLocal(t, &w.Location, order, func() T { return w.LoadRacy(t, order, site) })
}

// Local loads the pointer into a variable, like [Pointer.LoadRacy]; site may be
// nil.
func (p *Pointer[T]) Local(t *Task, order Order, site *RaceSite) *Local[*T] {
	return newLocal(t, &p.Location, order, func() *T { return p.LoadRacy(t, order, site) })
}

func newLocal[V any](t *Task, l *Location, order Order, load func() V) *Local[V] {
	v := &Local[V]{loaded: loaded{location: l, kept: order != Plain || t.engine == nil}, load: load, value: load()}
	if !v.kept {
		t.loaded = append(t.loaded, &v.loaded)
	}
	return v
}

// Get uses the variable. Only the task that loaded it may.
func (v *Local[V]) Get(t *Task) V {
	if v.used && !v.kept && t.readsAgain(v.location) {
		v.value = v.load()
	}
	v.used = true
	return v.value
}

// readsAgain lets the environment, which is the compiler here, read again.
func (t *Task) readsAgain(l *Location) bool {
	t.op = Op{Kind: OpChoose, Label: "the compiler reads " + l.Name() + " again", Choices: 2}
	return t.engine.Perform(t, &t.op).Choice == 1
}

// keepLoaded ends the compiler's freedom as far as the operation does.
func (t *Task) keepLoaded(op *Op) {
	t.loaded = slices.DeleteFunc(t.loaded, func(v *loaded) bool {
		v.kept = op.stopsCompiler() || op.Location == v.location && op.Kind != OpLoad
		return v.kept
	})
}

// stopsCompiler reports whether the operation is a barrier for the compiler:
// everything but single marked accesses, which the kernel makes volatile only. A
// loop that waits relaxes the processor, which is one too.
func (o *Op) stopsCompiler() bool {
	switch o.Kind {
	case OpLoad, OpStore, OpUpdate:
		return o.Order.Acquires() || o.Order.Releases() || o.Until != nil
	}
	return true
}
