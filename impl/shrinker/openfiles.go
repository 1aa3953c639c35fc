package shrinker

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"benign/impl/evict"
	"benign/impl/extentmap"
	"benign/impl/kernel"
)

const (
	// fileSize is the size of the files of an [Experiment], in bytes.
	fileSize = 1 << 20
	// cachedMisses is one in how many misses the readers cache an extent map
	// for. If it were all, the garbage collector would be the one to be measured.
	cachedMisses = 16
)

// openFiles is a native filesystem with many open files, for an [Experiment].
type openFiles struct {
	world    *kernel.World
	task     *kernel.Task
	mount    *evict.Mount
	inodes   []*evict.Inode // in order of their numbers
	withMaps []*evict.Inode // the last of them
}

// openAll mounts a filesystem and opens its files. None has an extent map yet.
func openAll(inodes, withMaps int) *openFiles {
	f := &openFiles{world: kernel.NewWorld(kernel.Options{Reschedule: true})}
	f.task = f.world.NewTask("worker")
	f.mount = evict.NewMount(f.task, transaction, evict.GrabByFlags)
	root := f.mount.NewRoot(f.task, firstRoot, true)
	for i := range inodes + withMaps {
		f.inodes = append(f.inodes, evict.Create(f.task, root, firstInode+uint64(i)))
	}
	f.withMaps = f.inodes[inodes:]
	return f
}

// closeAll unmounts the filesystem and closes the files.
func (f *openFiles) closeAll() {
	f.mount.Deactivate(f.task)
	// From the end: the index moves what comes after the entry that it erases.
	for _, inode := range slices.Backward(f.inodes) {
		inode.Put(f.task)
	}
	f.mount.Destroy(f.task)
}

// putBack caches the extent maps that walks have removed.
func (f *openFiles) putBack() {
	for _, inode := range f.withMaps {
		cache(f.task, inode)
	}
}

// cache maps the whole file, unless it is mapped already.
func cache(t *kernel.Task, inode *evict.Inode) {
	inode.Maps.InsertOrAdopt(t, extentmap.Mapping{
		Len: fileSize, DiskBytenr: fileSize * inode.Number(t), DiskNumBytes: fileSize, RAMBytes: fileSize,
		Generation: transaction - 1,
	}, 0).Put(t)
}

// startReaders lets goroutines read files until stop is called, which waits for
// their end. When it returns, all of them are at it. Equal seeds make equal
// choices; how far the readers get depends on the machine.
func (f *openFiles) startReaders(readers int, seed uint64) (stop func()) {
	var started, ended sync.WaitGroup
	var over atomic.Bool
	started.Add(readers)
	for n := range uint64(readers) {
		ended.Go(func() {
			t, random := f.world.NewTask("reader"), rand.New(rand.NewPCG(seed, n))
			started.Done()
			for !over.Load() {
				read(t, f.inodes[random.IntN(len(f.inodes))], random.IntN(cachedMisses) == 0)
				// Without a processor for each, the walk would stand still for
				// as long as the scheduler lets a reader run.
				runtime.Gosched()
			}
			t.CheckExit()
		})
	}
	started.Wait()
	return func() {
		over.Store(true)
		ended.Wait()
	}
}

// read looks the extent map of a file up. If there is none it may cache one, and
// then lets go of it as memory pressure would: when all readers have ended, no
// file has a map that it had not before.
func read(t *kernel.Task, inode *evict.Inode, mayCache bool) {
	tree := &inode.Maps
	tree.Lock.RLock(t)
	found := tree.Lookup(t, 0, extentmap.BlockSize)
	tree.Lock.RUnlock(t)
	switch {
	case found != nil:
		found.Put(t)
	case mayCache:
		cache(t, inode)
		tree.ReleaseFolio(t, 0, fileSize, nil)
	}
}
