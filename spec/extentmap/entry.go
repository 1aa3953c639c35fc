package extentmap

import (
	"errors"
	"fmt"
	"strings"
)

// BlockSize is the unit, in bytes, to which file ranges and disk locations are aligned.
const BlockSize uint64 = 4096

// Values of [Entry.DiskBytenr] that are no place on a disk. Everything below FirstSentinel is one.
const (
	FirstSentinel uint64 = 1<<64 - 4 // the boundary; no entry carries it
	Hole          uint64 = 1<<64 - 3 // nothing is stored, the range reads as zeroes
	Inline        uint64 = 1<<64 - 2 // the data is stored inside the file's own metadata item
)

// InFlight is the generation of an entry whose write has not completed.
const InFlight uint64 = 1<<64 - 1

// Flags is a set of properties of an entry.
type Flags uint8

// The flags. Compression, Prealloc and Merged are never cleared once set.
const (
	Pinned   Flags = 1 << iota // a write is in flight, the disk location is not valid for others yet
	Zlib                       // compressed by zlib; an entry has at most one of the three algorithms
	LZO                        // compressed by LZO
	Zstd                       // compressed by zstd
	Prealloc                   // space is reserved but never written: it reads as zeroes
	Logging                    // a fast fsync has it on its private list, or is writing it to the log just now
	Merged                     // made out of two or more entries

	compression = Zlib | LZO | Zstd
)

// Has reports whether all the given flags are set.
func (f Flags) Has(flags Flags) bool { return f&flags == flags }

// Compressed reports whether any compression flag is set.
func (f Flags) Compressed() bool { return f&compression != 0 }

// String joins the names of the flags with a plus sign; no flags give "-".
func (f Flags) String() string {
	names := []string{"pinned", "zlib", "lzo", "zstd", "prealloc", "logging", "merged"}
	var set []string
	for i, name := range names {
		if f&(1<<i) != 0 {
			set = append(set, name)
		}
	}
	if len(set) == 0 {
		return "-"
	}
	return strings.Join(set, "+")
}

// Entry maps one range of a file. It is the part of an entry that a caller may look at; what the tree keeps
// beside it is in [Node].
type Entry struct {
	Start uint64 // first byte in the file; block aligned
	Len   uint64 // bytes; block aligned, more than zero

	DiskBytenr   uint64 // where the whole extent starts on disk, or one of the sentinels
	DiskNumBytes uint64 // size of the whole extent on disk, compressed if it is; 0 for a hole and inline data
	Offset       uint64 // where Start lies in the extent once decompressed; 0 for a hole and inline data
	RAMBytes     uint64 // size of the whole extent once decompressed

	Generation uint64 // the transaction that made it, or InFlight
	Flags      Flags  // its properties
}

// Real reports whether the entry has a place on the disk. Preallocated space is real, a hole is not.
func (e Entry) Real() bool { return e.DiskBytenr < FirstSentinel }

// End returns the first byte after the range, saturating.
func (e Entry) End() uint64 { return saturatingAdd(e.Start, e.Len) }

// Range returns the file range that the entry maps.
func (e Entry) Range() Range { return Range{e.Start, e.End()} }

// Contains reports whether the entry maps the file byte at offset.
func (e Entry) Contains(offset uint64) bool { return e.Range().Contains(offset) }

// BlockStart returns where on the disk a reader of the entry has to start: the sentinel if the entry is not real,
// the start of the extent if it is compressed (it can only be read whole), else the place of Start itself.
func (e Entry) BlockStart() uint64 {
	if !e.Real() || e.Flags.Compressed() {
		return e.DiskBytenr
	}
	return saturatingAdd(e.DiskBytenr, e.Offset)
}

// BlockLen returns how many bytes that reader has to read.
func (e Entry) BlockLen() uint64 {
	if e.Flags.Compressed() {
		return e.DiskNumBytes
	}
	return e.Len
}

// BlockEnd returns the first byte after BlockLen bytes from BlockStart, saturating.
func (e Entry) BlockEnd() uint64 { return saturatingAdd(e.BlockStart(), e.BlockLen()) }

// Place is where one byte of a file lives. Two entries map a byte alike when its places are equal.
type Place struct {
	Disk  uint64 // disk position of the byte; of the whole extent if compressed; or a sentinel
	Inner uint64 // position inside the decompressed extent or the inline data; 0 otherwise
}

// Place returns where the file byte at offset lives. The entry must contain offset.
func (e Entry) Place(offset uint64) Place {
	inside := offset - e.Start
	switch {
	case e.DiskBytenr == Inline:
		return Place{Inline, inside}
	case !e.Real():
		return Place{Disk: e.DiskBytenr}
	case e.Flags.Compressed():
		return Place{e.DiskBytenr, e.Offset + inside}
	}
	return Place{Disk: e.DiskBytenr + e.Offset + inside}
}

// WellFormed checks the entry by itself, the way debug builds do at insertion, replacement and after a merge.
// The error names the rule that is broken.
func (e Entry) WellFormed() error {
	switch {
	case e.Len == 0:
		return e.malformed("it is empty")
	case !aligned(e.Start, e.Len):
		return e.malformed("its file range is not block aligned")
	case e.Flags.Compressed() && e.Flags&compression&(e.Flags&compression-1) != 0:
		return e.malformed("it has two compression algorithms")
	case !e.Real() && e.DiskBytenr != Hole && e.DiskBytenr != Inline:
		return e.malformed("its disk location is a value without a meaning")
	case !e.Real() && e.Offset != 0:
		return e.malformed("it has no extent, but an offset into one")
	case e.DiskBytenr == Inline && e.Start != 0:
		return e.malformed("inline data does not start the file")
	case e.Real():
		return e.wellFormedReal()
	}
	return nil
}

// wellFormedReal checks the four disk fields of a real entry against each other.
func (e Entry) wellFormedReal() error {
	end := saturatingAdd(e.Offset, e.Len)
	switch {
	case e.DiskNumBytes == 0:
		return e.malformed("its extent has no size on disk")
	case end > e.RAMBytes:
		return e.malformed("it reaches past the end of its decompressed extent")
	case !e.Flags.Compressed() && end > e.DiskNumBytes:
		return e.malformed("it reaches past the end of its extent on disk")
	case !e.Flags.Compressed() && e.RAMBytes != e.DiskNumBytes:
		return e.malformed("it is not compressed, but its two sizes differ")
	case !aligned(e.DiskBytenr, e.DiskNumBytes, e.Offset, e.RAMBytes):
		return e.malformed("its disk fields are not block aligned")
	}
	return nil
}

var errMalformed = errors.New("entry is not well-formed")

func (e Entry) malformed(why string) error { return fmt.Errorf("%w: %s: %v", errMalformed, why, e) }

// aligned reports whether every value is a multiple of BlockSize.
func aligned(values ...uint64) bool {
	for _, v := range values {
		if v%BlockSize != 0 {
			return false
		}
	}
	return true
}

// String prints the entry in the notation used throughout the tests:
//
//	[0,64K) 1M/128K off 16K ram 128K g7 pinned
func (e Entry) String() string {
	generation := fmt.Sprintf("g%d", e.Generation)
	if e.Generation == InFlight {
		generation = "g-in-flight"
	}
	disk := fmt.Sprintf("%s/%s", size(e.DiskBytenr), size(e.DiskNumBytes))
	switch e.DiskBytenr {
	case Hole:
		disk = "hole"
	case Inline:
		disk = "inline"
	}
	return fmt.Sprintf("%v %s off %s ram %s %s %v", e.Range(), disk, size(e.Offset), size(e.RAMBytes), generation, e.Flags)
}
