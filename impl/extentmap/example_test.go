package extentmap_test

import (
	"fmt"

	"benign/impl/extentmap"
	"benign/impl/kernel"
)

// A file with one extent of four blocks has a hole punched into it.
func Example() {
	world := kernel.NewWorld(kernel.Options{})
	task := world.NewTask("main")
	fs := extentmap.NewFilesystem(task, 7)
	var file struct {
		kernel.Object
		maps extentmap.Tree
	}
	file.Init(task, "file", &file)
	file.maps.Init(task, &file.Object, fs, true)

	const block = extentmap.BlockSize
	file.maps.ReplaceRange(task, extentmap.Mapping{
		Len: 4 * block, DiskBytenr: 256 * block, DiskNumBytes: 4 * block, RAMBytes: 4 * block, Generation: 7,
	}, true)
	file.maps.DropRange(task, block, 2*block-1, false)
	for _, m := range file.maps.Snapshot(task) {
		fmt.Println(m)
	}
	logged, full := file.maps.FastSync(task, 7)
	fmt.Println(len(logged), "logged, full", full)
	file.maps.DropAll(task)
	fmt.Println("empty", file.maps.EmptyUnlocked(task, kernel.Once, nil))
	// Output:
	// [0x0,0x1000) 0x100000/0x4000 off 0x0 ram 0x4000 g7 -
	// [0x2000,0x4000) 0x100000/0x4000 off 0x2000 ram 0x4000 g7 -
	// 2 logged, full false
	// empty true
}
