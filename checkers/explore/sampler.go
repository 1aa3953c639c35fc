package explore

import (
	"encoding/binary"
	"math/rand/v2"

	"benign/checkers/graph"
	"benign/impl/kernel"
)

// sampler makes the choices of one sampled run. Operations are not interrupted:
// what is left of one comes before the next step, and an exclusive acquisition
// of a lock that others share begins when nobody holds it.
type sampler struct {
	random   *rand.Rand
	schedule Scheduler
	steps    int // taken so far
	threads  []*thread
	pending  []Pending
}

// newSampler returns the sampler that one seed stands for.
func newSampler(s Strategy, seed uint64, steps int) *sampler {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	random := rand.New(rand.NewChaCha8(key)) // whose streams are unrelated even for neighbouring seeds
	return &sampler{random: random, schedule: s.Begin(random, steps)}
}

// next picks the thread that takes the next event. When nobody can go on, those
// who wait say so in the graph.
func (s *sampler) next(r *run) *thread {
	for _, th := range r.threads {
		if th != nil && !r.hasBlocked(th) && th.hasBegun() {
			return th
		}
	}
	if s.collect(r, r.canBegin) {
		s.steps++
		return s.threads[s.schedule(s.pending)]
	}
	if s.collect(r, r.waitsSilently) {
		return s.threads[s.random.IntN(len(s.threads))]
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
		return int32(s.random.IntN(alternatives))
	case r.anyHeld(th.strands):
		return 1
	}
	return 0
}
