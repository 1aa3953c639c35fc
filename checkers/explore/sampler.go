package explore

import (
	"encoding/binary"
	"math/rand/v2"

	"benign/checkers/graph"
	"benign/impl/kernel"
)

// sampler makes the choices of one run instead of the exploration. Operations are not interrupted:
// what is left of one comes before the next step, and an exclusive acquisition
// of a lock that others share begins when nobody holds it.
type sampler struct {
	source   *rand.ChaCha8
	random   *rand.Rand      // from source
	schedule Scheduler       // a negative index gives the run up
	draw     func(n int) int // picks one of n alternatives of the environment
	steps    int             // taken so far
	latest   *thread         // that took one
	graph    *graph.Graph    // of the run, so far
	threads  []*thread
	pending  []Pending
}

// sampler returns the sampler that one seed stands for, in the memory of the
// worker's last one.
func (w *worker) sampler(s Strategy, seed uint64, steps int) *sampler {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	if w.sampling == nil {
		w.sampling = &sampler{source: rand.NewChaCha8(key)} // whose streams are unrelated even for neighbouring seeds
		w.sampling.random = rand.New(w.sampling.source)
		w.sampling.draw = w.sampling.random.IntN
	}
	w.sampling.source.Seed(key)
	w.sampling.schedule, w.sampling.steps, w.sampling.latest = s.Begin(w.sampling.random, steps), 0, nil
	return w.sampling
}

// next picks the thread that takes the next event. When nobody can go on, those
// who wait say so in the graph.
func (s *sampler) next(r *run) *thread {
	if th := s.latest; th != nil && th.hasBegun() && !r.hasBlocked(th) {
		return th
	}
	for _, th := range r.threads { // one that had to wait
		if th != nil && th.hasBegun() && !r.hasBlocked(th) {
			return th
		}
	}
	if s.collect(r, r.canBegin) {
		s.steps++
		s.graph = r.g
		at := s.schedule(s.pending)
		if at < 0 {
			r.pruned = true
			return nil
		}
		s.latest = s.threads[at]
		return s.latest
	}
	if s.collect(r, r.waitsSilently) {
		return s.threads[0]
	}
	return nil
}

// collect lists the threads that pass, and reports whether there are any.
func (s *sampler) collect(r *run, passes func(*thread) bool) bool {
	s.threads, s.pending = s.threads[:0], s.pending[:0]
	for _, th := range r.threads {
		if th != nil && passes(th) {
			s.threads, s.pending = append(s.threads, th), append(s.pending, pendingOf(th))
		}
	}
	return len(s.threads) > 0
}

// hasBegun reports whether the thread is in the middle of an operation.
func (th *thread) hasBegun() bool {
	return !th.finished && !th.stuck && (th.writing || th.reads > 0 || th.chosen)
}

// canBegin reports whether the thread's next operation would not wait.
func (r *run) canBegin(th *thread) bool {
	if !r.available(th) {
		return false
	}
	return th.op.Kind != kernel.OpAcquire || th.op.Try || !r.anyHeld(th.strands)
}

func (r *run) anyHeld(strands []int32) bool {
	for _, strand := range strands {
		if r.held(strand) {
			return true
		}
	}
	return false
}

// choose answers a Choice: what the environment picks is drawn, and a try of a
// lock fails if somebody has the lock.
func (s *sampler) choose(r *run, e graph.Event, alternatives int) int32 {
	th := r.threads[e.Task]
	switch {
	case th.op.Kind != kernel.OpAcquire:
		return int32(s.draw(alternatives))
	case r.anyHeld(th.strands):
		return 1
	}
	return 0
}
