package explore

import "iter"

// coroutine runs one task at a time and switches to and from it without the
// scheduler. It is used again for the tasks of later executions.
type coroutine struct {
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	job    job
}

// job is what a coroutine does.
type job interface{ work() }

func newCoroutine() *coroutine {
	c := &coroutine{}
	c.resume, c.stop = iter.Pull(func(yield func(struct{}) bool) {
		c.yield = yield
		for {
			c.job.work()
			if !yield(struct{}{}) {
				return
			}
		}
	})
	return c
}

// pool keeps idle coroutines.
type pool struct{ idle []*coroutine }

func (p *pool) get(job job) *coroutine {
	var c *coroutine
	if n := len(p.idle); n > 0 {
		c, p.idle = p.idle[n-1], p.idle[:n-1]
	} else {
		c = newCoroutine()
	}
	c.job = job
	return c
}

// put takes a coroutine back whose job has returned.
func (p *pool) put(c *coroutine) { p.idle = append(p.idle, c) }

func (p *pool) close() {
	for _, c := range p.idle {
		c.stop()
	}
	p.idle = nil
}
