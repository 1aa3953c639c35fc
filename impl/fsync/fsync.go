package fsync

import "benign/impl/kernel"

// Fsync makes everything durable that was written before it took its locks, and
// reports whether it went the long way.
//
// Kernel label: btrfs_sync_file.
func (f *File) Fsync(t *kernel.Task) (full bool) {
	f.Writeback(t) // while others may still write; the rest is less then
	f.Maps.InodeLock.Lock(t)
	f.Maps.MmapLock.Lock(t)
	var writes int
	f.with(t, func() { writes = f.disk.Writes() })
	f.Writeback(t)

	// Until here the flag may have been set: by a writer, who held one of the
	// locks, or by writeback, our own or another's. From now on there is one
	// answer, so that every step goes the same way.
	f.waitForData(t)
	full = f.Maps.FullSync.Load(t, kernel.Once) != 0
	if full || f.writeFailed.Swap(t, kernel.Once, 0) != 0 {
		f.waitForCompletions(t)
	}
	if full {
		f.Maps.ForgetModified(t)
		f.copyItems(t)
	} else {
		full = f.logMaps(t)
	}
	f.with(t, func() {
		err := f.disk.Vouch(writes)
		t.Assert(err == nil, "fsync returns: %v", err)
	})
	f.Maps.MmapLock.Unlock(t)
	f.Maps.InodeLock.Unlock(t)
	return full
}

// waitForData waits until no page is being written back.
func (f *File) waitForData(t *kernel.Task) {
	for _, o := range f.inFlight(t) {
		o.written.Wait(t)
		o.put(t)
	}
}

// waitForCompletions waits until the index has every write that has begun, and
// the tree has no map of one that has failed.
func (f *File) waitForCompletions(t *kernel.Task) {
	for _, o := range f.inFlight(t) {
		o.done.Wait(t)
		o.put(t)
	}
}

// logMaps adds the extent maps of the modified list to the log, in the place of
// what it says about their ranges. If there are too many, it goes the long way
// after all, and says so.
func (f *File) logMaps(t *kernel.Task) (full bool) {
	logged, full := f.Maps.LogModified(t, transaction)
	f.with(t, func() {
		for _, m := range logged {
			f.disk.Log(m)
		}
	})
	if full {
		f.waitForCompletions(t)
		f.copyItems(t)
	}
	return full
}

// copyItems copies the file's items to the log, in file order. The index is free
// between two of them; nobody may change what it says about this file.
func (f *File) copyItems(t *kernel.Task) {
	f.with(t, f.disk.EmptyLog)
	for next, more := uint64(0), true; more; t.Resched() {
		f.with(t, func() {
			more = false
			for _, m := range f.items {
				if m.Start >= next {
					f.disk.CopyToLog(m)
					next, more = m.Start+1, true
					break
				}
			}
		})
	}
}
