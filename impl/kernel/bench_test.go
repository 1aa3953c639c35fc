package kernel_test

import (
	"sync"
	"sync/atomic"
	"testing"

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
