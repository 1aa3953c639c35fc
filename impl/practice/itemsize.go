package practice

import (
	"fmt"

	"benign/impl/kernel"
	"benign/impl/scenario"
)

// ItemSizeSite is the unlocked read of a size that is written to disk.
var ItemSizeSite = kernel.DataRaceSite("item-size", "the size is one that the file had a moment ago")

func itemSize() scenario.Race {
	// What one machine reads in one piece another one reads in two.
	torn := func(v scenario.Variant) scenario.Variant {
		v.ExpectOn32 = scenario.Harmful
		return v
	}
	return scenario.Race{
		Name:  "item-size",
		Title: "the size of a file is read without the lock, to be written into its inode item",
		Question: "A size that is out of date does no harm in the log, since whoever changes it logs it again. " +
			"Is data_race() enough for a size of 64 bits?",
		Sites: []*kernel.RaceSite{ItemSizeSite},
		Scenarios: []scenario.Scenario{{
			Name:   "log",
			About:  "a file grows past 4 GiB while its inode item is logged",
			Racing: true, On32: true,
			Variants: []scenario.Variant{
				baseline("locked", "reads the size under the lock", logSize(sizeForm{locked: true, order: kernel.Plain})),
				torn(candidate("data-race", scenario.Indistinguishable, "reads the size without the lock, once, and says that this is meant", logSize(sizeForm{order: kernel.Plain}))),
				torn(alternative("marked", "reads and writes the size with READ_ONCE and WRITE_ONCE", logSize(sizeForm{order: kernel.Once}))),
				alternative("atomic", "has the size in a word that every machine reads in one piece", logSize(sizeForm{order: kernel.Once, atomic: true})),
				planted("used-twice", "writes the size to two places, and the compiler reads again", logSize(sizeForm{order: kernel.Plain, twice: true})),
			},
		}},
	}
}

// sizeForm says how the size is kept and read.
type sizeForm struct {
	locked, atomic, twice bool
	order                 kernel.Order
}

// sizedInode is a file with its size, which changes under the lock.
type sizedInode struct {
	kernel.Object
	lock kernel.SpinLock
	size kernel.Word[int64]
	form sizeForm
	item struct{ size, extentsEnd int64 } // as it is on disk; the logging task's only
}

func logSize(form sizeForm) builder {
	return func(setup *kernel.Task) *scenario.Instance {
		i := &sizedInode{form: form}
		i.Init(setup, "inode", i)
		i.lock.Init(&i.Object, "lock")
		if form.atomic {
			i.size.InitAtomic(&i.Object, "size", belowBoundary)
		} else {
			i.size.Init(&i.Object, "size", belowBoundary)
		}
		return &scenario.Instance{
			Tasks: []scenario.Task{
				task("writer", operation("extend", i.extend)),
				task("fsync", operation("log", i.log)),
			},
			Check:    i.check,
			Observe:  func(t *kernel.Task) string { return fmt.Sprintf("size %d", i.size.Load(t, kernel.Plain)) },
			Teardown: i.Free,
		}
	}
}

func (i *sizedInode) extend(t *kernel.Task) string {
	i.lock.Lock(t)
	i.size.StoreRacy(t, i.form.order, atBoundary, ItemSizeSite)
	i.lock.Unlock(t)
	return "extended"
}

func (i *sizedInode) log(t *kernel.Task) string {
	if i.form.locked {
		i.lock.Lock(t)
	}
	size := i.size.Local(t, i.form.order, ItemSizeSite)
	if i.form.locked {
		i.lock.Unlock(t)
	}
	i.item.size = size.Get(t)
	i.item.extentsEnd = i.item.size
	if i.form.twice {
		i.item.extentsEnd = size.Get(t)
	}
	return fmt.Sprintf("logged %d", i.item.size)
}

func (i *sizedInode) check(*kernel.Task) error {
	if i.item.size != belowBoundary && i.item.size != atBoundary {
		return fmt.Errorf("the item has a size of %d, which the file never had", i.item.size)
	}
	if i.item.extentsEnd != i.item.size {
		return fmt.Errorf("the item has a size of %d, and its extents end at %d", i.item.size, i.item.extentsEnd)
	}
	return nil
}
