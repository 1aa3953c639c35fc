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
