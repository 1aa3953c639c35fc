package practice

import (
	"fmt"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// WriteLockSite is the unlocked read of a size that only chooses a lock mode.
var WriteLockSite = kernel.DataRaceSite("write-lock", "a wrong size only chooses the wrong mode, and under the lock the size is read again")

func writeLock() scenario.Race {
	return scenario.Race{
		Name:  "write-lock",
		Title: "a write reads the size of the file without the lock, to choose the mode of the lock",
		Question: "Writes that stay within a file share its lock, and those that make it longer need it alone. " +
			"Which one a write is has to be known before the lock is taken: what if the size changes, or is torn?",
		Sites: []*kernel.RaceSite{WriteLockSite},
		Scenarios: []scenario.Scenario{{
			Name:   "write",
			About:  "a file of 4 GiB is cut short and looked at while somebody writes its last block",
			Racing: true, On32: true,
			Variants: []scenario.Variant{
				baseline("exclusive", "always takes the lock alone", writeBlock(writeForm{exclusive: true})),
				candidate("unlocked", scenario.Indistinguishable, "chooses the mode by the size, and takes the lock again, alone, if the file turns out to be shorter", writeBlock(writeForm{})),
				planted("no-recheck", "keeps the mode that was chosen", writeBlock(writeForm{noRecheck: true})),
			},
		}},
	}
}

// writeForm says how the mode is chosen.
type writeForm struct{ exclusive, noRecheck bool }

// writtenInode is a file that grows and shrinks with its lock held alone.
type writtenInode struct {
	kernel.Object
	lock   kernel.RWSem
	memory kernel.Region
	blocks int64 // under the lock
	size   kernel.Word[int64]
}

const bytesOfBlock = 4096

func writeBlock(form writeForm) builder {
	return func(setup *kernel.Task) *scenario.Instance {
		i := &writtenInode{blocks: atBoundary / bytesOfBlock}
		i.Init(setup, "inode", i)
		i.lock.Init(&i.Object, "lock")
		i.memory.Init(&i.Object, "blocks")
		i.size.Init(&i.Object, "size", atBoundary)
		return &scenario.Instance{
			Tasks: []scenario.Task{
				task("truncater", operation("truncate", i.truncate), operation("stat", i.stat)),
				task("writer", operation("write", func(t *kernel.Task) string { return i.write(t, form) })),
			},
			Check: func(t *kernel.Task) error {
				if size := i.size.Load(t, kernel.Plain); size != i.blocks*bytesOfBlock {
					return fmt.Errorf("the size is %d, and there are %d blocks", size, i.blocks)
				}
				return nil
			},
			Observe:  func(*kernel.Task) string { return fmt.Sprintf("%d blocks", i.blocks) },
			Teardown: i.Free,
		}
	}
}

// resize is for those who hold the lock alone.
func (i *writtenInode) resize(t *kernel.Task, size int64) {
	i.memory.Write(t)
	i.blocks = size / bytesOfBlock
	i.size.StoreRacy(t, kernel.Plain, size, WriteLockSite)
}

func (i *writtenInode) truncate(t *kernel.Task) string {
	i.lock.Lock(t)
	i.resize(t, belowBoundary)
	i.lock.Unlock(t)
	return "truncated"
}

func (i *writtenInode) stat(t *kernel.Task) string {
	i.lock.RLock(t)
	defer i.lock.RUnlock(t)
	i.memory.Read(t)
	return fmt.Sprintf("%d blocks", i.blocks)
}

// write writes the last block before 4 GiB.
func (i *writtenInode) write(t *kernel.Task, form writeForm) string {
	shared := !form.exclusive && i.size.LoadRacy(t, kernel.Plain, WriteLockSite) >= atBoundary
	if shared {
		i.lock.RLock(t)
		if !form.noRecheck && i.size.Load(t, kernel.Plain) < atBoundary {
			i.lock.RUnlock(t)
			shared = false
		}
	}
	if shared {
		defer i.lock.RUnlock(t)
	} else {
		i.lock.Lock(t)
		defer i.lock.Unlock(t)
	}
	i.memory.Read(t)
	if i.blocks*bytesOfBlock >= atBoundary {
		return "within"
	}
	i.resize(t, atBoundary)
	return "longer"
}
