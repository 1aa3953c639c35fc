package kernel_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"benign/impl/kernel"
)

// The benchmarks come in pairs: a primitive of the machine in a native world,
// and what Go has for it.

var sink uint64

func benchTask(b *testing.B) (*kernel.Task, *rig) {
	b.Helper()
	return native(kernel.Options{})
}

func BenchmarkWordLoad(b *testing.B) {
	b.Run("kernel", func(b *testing.B) {
		task, r := benchTask(b)
		for b.Loop() {
			sink += uint64(r.word.Load(task, kernel.Once))
		}
	})
	b.Run("atomic", func(b *testing.B) {
		var word uint64
		for b.Loop() {
			sink += atomic.LoadUint64(&word)
		}
	})
}

func BenchmarkWordStore(b *testing.B) {
	b.Run("kernel", func(b *testing.B) {
		task, r := benchTask(b)
		for b.Loop() {
			r.word.Store(task, kernel.Release, 1)
		}
	})
	b.Run("atomic", func(b *testing.B) {
		var word uint64
		for b.Loop() {
			atomic.StoreUint64(&word, 1)
		}
	})
}

func BenchmarkWordAdd(b *testing.B) {
	b.Run("kernel", func(b *testing.B) {
		task, r := benchTask(b)
		for b.Loop() {
			r.word.Add(task, kernel.Full, 1)
		}
	})
	b.Run("atomic", func(b *testing.B) {
		var word uint64
		for b.Loop() {
			atomic.AddUint64(&word, 1)
		}
	})
}

func BenchmarkSpinLock(b *testing.B) {
	b.Run("kernel", func(b *testing.B) {
		task, r := benchTask(b)
		for b.Loop() {
			r.spin.Lock(task)
			r.spin.Unlock(task)
		}
	})
	b.Run("sync.Mutex", func(b *testing.B) {
		var mutex sync.Mutex
		for b.Loop() {
			mutex.Lock()
			//lint:ignore SA2001 the empty section is what is measured
			mutex.Unlock()
		}
	})
}

func BenchmarkRWLockRead(b *testing.B) {
	b.Run("kernel", func(b *testing.B) {
		task, r := benchTask(b)
		for b.Loop() {
			r.rw.RLock(task)
			r.rw.RUnlock(task)
		}
	})
	b.Run("sync.RWMutex", func(b *testing.B) {
		var mutex sync.RWMutex
		for b.Loop() {
			mutex.RLock()
			//lint:ignore SA2001 the empty section is what is measured
			mutex.RUnlock()
		}
	})
}

func BenchmarkRWLockWrite(b *testing.B) {
	b.Run("kernel", func(b *testing.B) {
		task, r := benchTask(b)
		for b.Loop() {
			r.rw.Lock(task)
			r.rw.Unlock(task)
		}
	})
	b.Run("sync.RWMutex", func(b *testing.B) {
		var mutex sync.RWMutex
		for b.Loop() {
			mutex.Lock()
			//lint:ignore SA2001 the empty section is what is measured
			mutex.Unlock()
		}
	})
}

func BenchmarkContendedSpinLock(b *testing.B) {
	b.Run("kernel", func(b *testing.B) {
		task, r := benchTask(b)
		b.RunParallel(func(p *testing.PB) {
			task := task.World().NewTask("contender")
			for p.Next() {
				r.spin.Lock(task)
				r.spin.Unlock(task)
			}
		})
	})
	b.Run("sync.Mutex", func(b *testing.B) {
		var mutex sync.Mutex
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				mutex.Lock()
				//lint:ignore SA2001 the empty section is what is measured
				mutex.Unlock()
			}
		})
	})
}

func BenchmarkRegion(b *testing.B) {
	task, r := benchTask(b)
	for b.Loop() {
		r.region.Read(task)
	}
}

func BenchmarkRefcount(b *testing.B) {
	task, r := benchTask(b)
	for b.Loop() {
		r.count.Get(task)
		r.count.Put(task)
	}
}

// BenchmarkReadSection is a section of an RCU domain, and the read lock of a
// sync.RWMutex in its place.
func BenchmarkReadSection(b *testing.B) {
	b.Run("kernel", func(b *testing.B) {
		task, r := nativeWaiting()
		for b.Loop() {
			r.rcu.ReadLock(task)
			r.rcu.ReadUnlock(task)
		}
	})
	b.Run("RWMutex", func(b *testing.B) {
		var mutex sync.RWMutex
		for b.Loop() {
			mutex.RLock()
			sink++
			mutex.RUnlock()
		}
	})
}

// BenchmarkOnce is the use of something that has long been done.
func BenchmarkOnce(b *testing.B) {
	b.Run("kernel", func(b *testing.B) {
		task, r := nativeWaiting()
		for b.Loop() {
			r.once.Do(task, func(*kernel.Task) {})
		}
	})
	b.Run("sync", func(b *testing.B) {
		var once sync.Once
		for b.Loop() {
			once.Do(func() {})
		}
	})
}

// BenchmarkCompletion completes and waits without having to sleep; a channel
// with room for one does the same.
func BenchmarkCompletion(b *testing.B) {
	b.Run("kernel", func(b *testing.B) {
		task, r := nativeWaiting()
		for b.Loop() {
			r.completed.Complete(task)
			r.completed.Wait(task)
		}
	})
	b.Run("channel", func(b *testing.B) {
		done := make(chan struct{}, 1)
		for b.Loop() {
			done <- struct{}{}
			<-done
		}
	})
}

// BenchmarkWake wakes a queue that is empty.
func BenchmarkWake(b *testing.B) {
	b.Run("kernel", func(b *testing.B) {
		task, r := nativeWaiting()
		for b.Loop() {
			r.room.WakeAll(task)
		}
	})
	b.Run("sync", func(b *testing.B) {
		cond := sync.NewCond(&sync.Mutex{})
		for b.Loop() {
			cond.Broadcast()
		}
	})
}

// overheads pair a number of calls of a primitive with as many of what Go has
// for it, for [BenchmarkOverhead].
func overheads() []overhead {
	task, r := native(kernel.Options{})
	var bare struct {
		word    uint64
		pointer atomic.Pointer[rig]
		mutex   sync.Mutex
		rw      sync.RWMutex
	}
	return []overhead{
		{"word load", 1, func() { sink += uint64(r.word.Load(task, kernel.Once)) }, func() { sink += atomic.LoadUint64(&bare.word) }},
		{"word store", 1, func() { r.word.Store(task, kernel.Release, 1) }, func() { atomic.StoreUint64(&bare.word, 1) }},
		{"word add", 1, func() { r.word.Add(task, kernel.Full, 1) }, func() { atomic.AddUint64(&bare.word, 1) }},
		{"word swap", 1, func() { r.word.Swap(task, kernel.Full, 1) }, func() { atomic.SwapUint64(&bare.word, 1) }},
		{"word compare-and-swap", 1, func() { r.word.CompareAndSwap(task, kernel.Full, 1, 1) }, func() { atomic.CompareAndSwapUint64(&bare.word, 1, 1) }},
		{"refcount get and put", 2, func() { r.count.Get(task); r.count.Put(task) }, func() { atomic.AddUint64(&bare.word, 1); atomic.AddUint64(&bare.word, ^uint64(0)) }},
		//lint:ignore SA2001 the empty section is what is measured
		{"rwlock read section", 2, func() { r.rw.RLock(task); r.rw.RUnlock(task) }, func() { bare.rw.RLock(); bare.rw.RUnlock() }},
		//lint:ignore SA2001 the empty section is what is measured
		{"rwlock write section", 2, func() { r.rw.Lock(task); r.rw.Unlock(task) }, func() { bare.rw.Lock(); bare.rw.Unlock() }},
		{"rwlock try", 2, func() {
			if r.rw.TryLock(task) {
				r.rw.Unlock(task)
			}
		}, func() {
			if bare.rw.TryLock() {
				bare.rw.Unlock()
			}
		}},
		//lint:ignore SA2001 the empty section is what is measured
		{"spinlock section", 2, func() { r.spin.Lock(task); r.spin.Unlock(task) }, func() { bare.mutex.Lock(); bare.mutex.Unlock() }},
		{"region read", 1, func() { r.region.Read(task) }, func() {}},
	}
}

type overhead struct {
	name         string
	calls        int // in one run of either function
	kernel, bare func()
}

// BenchmarkOverhead reports what one call of a primitive of a native world costs
// more than what Go has for it. Both are called through a function value. Of
// many short rounds the quickest counts, so that a busy machine does not matter.
func BenchmarkOverhead(b *testing.B) {
	const round = 1000
	quickest := func(best time.Duration, run func()) time.Duration {
		start := time.Now()
		for range round {
			run()
		}
		return min(best, time.Since(start))
	}
	for _, o := range overheads() {
		b.Run(o.name, func(b *testing.B) {
			machine, bare := time.Hour, time.Hour
			for b.Loop() {
				machine, bare = quickest(machine, o.kernel), quickest(bare, o.bare)
			}
			calls := float64(round * o.calls)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(machine)/calls, "kernel-ns")
			b.ReportMetric(float64(bare)/calls, "bare-ns")
			b.ReportMetric(float64(machine-bare)/calls, "over-ns")
		})
	}
}
