package extentmap

import (
	"errors"
	"fmt"
	"strings"
)

// BlockSize is the unit, in bytes, to which file ranges and disk locations are
// aligned.
const BlockSize uint64 = 4096

// MaxOffset is the largest file or disk position. Sums saturate here.
const MaxOffset uint64 = 1<<64 - 1

// Values of [Mapping.DiskBytenr] that are no place on a disk; everything below
// FirstSentinel is one.
const (
	FirstSentinel uint64 = 1<<64 - 4 // the boundary; no mapping carries it
	Hole          uint64 = 1<<64 - 3 // nothing is stored, the range reads as zeroes
	Inline        uint64 = 1<<64 - 2 // the data is in the inode's own metadata item
)

// InFlight is the generation of a mapping whose write has not completed.
const InFlight uint64 = 1<<64 - 1

// Flags is a set of properties of a mapping.
type Flags uint8

const (
	// Pinned: a write is in flight, the disk location is not valid for others.
	Pinned Flags = 1 << iota
	// Zlib: the extent is compressed. At most one algorithm is set.
	Zlib
	// LZO: the extent is compressed.
	LZO
	// Zstd: the extent is compressed.
	Zstd
	// Prealloc: the space is reserved but never written, it reads as zeroes.
	Prealloc
	// Logging: a fast fsync has it on its private list or is logging it now.
	Logging
	// Merged: made from two or more entries.
	Merged

	compression = Zlib | LZO | Zstd
)

// Has reports whether all the given flags are set.
func (f Flags) Has(flags Flags) bool { return f&flags == flags }

// Compressed reports whether a compression flag is set.
func (f Flags) Compressed() bool { return f&compression != 0 }

// String joins the names of the flags with a plus sign; no flags give "-".
func (f Flags) String() string {
	var names []string
	for i, name := range [...]string{"pinned", "zlib", "lzo", "zstd", "prealloc", "logging", "merged"} {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if names == nil {
		return "-"
	}
	return strings.Join(names, "+")
}

// Mapping says where one file range lives. All positions and sizes are bytes.
// It is the part of an [Entry] that has a meaning outside of the tree.
type Mapping struct {
	Start, Len uint64 // the file range [Start, Start+Len), block aligned, Len > 0

	DiskBytenr   uint64 // start of the whole on-disk extent, or Hole, or Inline
	DiskNumBytes uint64 // its size on disk; 0 for a hole and inline data
	Offset       uint64 // where Start lies in the decompressed extent; 0 without one
	RAMBytes     uint64 // size of the whole extent once decompressed

	Generation uint64 // the transaction that made it, or InFlight
	Flags      Flags  // its properties, a set
}

// End returns the first byte after the file range, saturating.
func (m Mapping) End() uint64 { return saturatingAdd(m.Start, m.Len) }

// Contains reports whether the file byte at offset is mapped.
func (m Mapping) Contains(offset uint64) bool { return m.Start <= offset && offset < m.End() }

// Intersects reports whether any byte of [start, end) is mapped; an empty range
// has none.
func (m Mapping) Intersects(start, end uint64) bool {
	return start < end && m.Start < end && start < m.End()
}

// Real reports whether there is an extent on disk. Preallocated space is real.
func (m Mapping) Real() bool { return m.DiskBytenr < FirstSentinel }

// BlockStart returns where on disk a reader of the whole mapping begins: at the
// start of a compressed extent, which can only be read whole, else at the place
// of Start. Without an extent it returns the sentinel.
func (m Mapping) BlockStart() uint64 {
	if !m.Real() || m.Flags.Compressed() {
		return m.DiskBytenr
	}
	return saturatingAdd(m.DiskBytenr, m.Offset)
}

// BlockLen returns how many bytes that reader reads.
func (m Mapping) BlockLen() uint64 {
	if m.Flags.Compressed() {
		return m.DiskNumBytes
	}
	return m.Len
}

// BlockEnd returns the first byte after them, saturating.
func (m Mapping) BlockEnd() uint64 { return saturatingAdd(m.BlockStart(), m.BlockLen()) }

// String prints the range in file and on disk, for traces and test failures.
func (m Mapping) String() string {
	disk := fmt.Sprintf("%#x/%#x", m.DiskBytenr, m.DiskNumBytes)
	switch m.DiskBytenr {
	case Hole:
		disk = "hole"
	case Inline:
		disk = "inline"
	}
	generation := fmt.Sprintf("g%d", m.Generation)
	if m.Generation == InFlight {
		generation = "in flight"
	}
	return fmt.Sprintf("[%#x,%#x) %s off %#x ram %#x %s %v",
		m.Start, m.End(), disk, m.Offset, m.RAMBytes, generation, m.Flags)
}

// piece returns the part [from, to) as a mapping of its own. What is being
// logged is the original, so no piece is.
func (m Mapping) piece(from, to uint64) Mapping {
	p := m
	p.Start, p.Len = from, to-from
	p.Flags &^= Logging
	if m.Real() {
		p.Offset += from - m.Start
	} else {
		p.DiskNumBytes, p.Offset, p.RAMBytes = 0, 0, p.Len
	}
	return p
}

// trimmed returns the part of the mapping that lies in [from, to). Moving the
// start moves the place in the extent by as much. That is so for a compressed
// extent too, because Offset counts decompressed bytes.
func (m Mapping) trimmed(from, to uint64) Mapping {
	start, end := max(m.Start, from), min(m.End(), to)
	if m.Real() {
		m.Offset += start - m.Start
	}
	m.Start, m.Len = start, end-start
	return m
}

// continues reports whether the mapping goes on where the one before ends, in
// the file and on disk, and is of the same kind. It may belong to another
// extent that is a neighbour by chance.
func (m Mapping) continues(before Mapping) bool {
	switch {
	case before.End() != m.Start, (before.Flags^m.Flags)&^Merged != 0:
		return false
	case m.Real():
		return m.BlockStart() == before.BlockEnd()
	default:
		return m.DiskBytenr == before.DiskBytenr
	}
}

// mergedWith returns the mapping widened over a neighbour. The extent of the
// result is the smallest one around both extents.
func (m Mapping) mergedWith(neighbour Mapping) Mapping {
	first, second := m, neighbour
	if neighbour.Start < m.Start {
		first, second = neighbour, m
	}
	m.Start, m.Len = first.Start, first.Len+second.Len
	m.Generation = max(first.Generation, second.Generation)
	m.Flags |= Merged
	if m.Real() {
		start := min(first.DiskBytenr, second.DiskBytenr)
		end := max(first.DiskBytenr+first.DiskNumBytes, second.DiskBytenr+second.DiskNumBytes)
		m.DiskBytenr, m.DiskNumBytes, m.RAMBytes = start, end-start, end-start
		m.Offset = first.DiskBytenr + first.Offset - start
	}
	return m
}

// WellFormed returns the first rule that the mapping breaks by itself, or nil.
// The tree checks it at insertion, replacement and after each merge, as debug
// builds of the kernel do.
func (m Mapping) WellFormed() error {
	algorithms := m.Flags & compression
	switch {
	case m.Len == 0:
		return errors.New("empty range")
	case (m.Start|m.Len)%BlockSize != 0:
		return errors.New("range is not block aligned")
	case algorithms&(algorithms-1) != 0:
		return errors.New("two compression algorithms")
	case m.Real():
		return m.wellFormedExtent()
	case m.DiskBytenr == FirstSentinel || m.DiskBytenr > Inline:
		return errors.New("disk location has no meaning")
	case m.Offset != 0:
		return errors.New("offset without an extent")
	case m.DiskBytenr == Inline && m.Start != 0:
		return errors.New("inline data does not start the file")
	}
	return nil
}

func (m Mapping) wellFormedExtent() error {
	end := saturatingAdd(m.Offset, m.Len)
	switch {
	case m.DiskNumBytes == 0:
		return errors.New("extent without a size on disk")
	case end > m.RAMBytes:
		return errors.New("range ends behind the decompressed extent")
	case (m.DiskBytenr|m.DiskNumBytes|m.Offset|m.RAMBytes)%BlockSize != 0:
		return errors.New("extent is not block aligned")
	case m.Flags.Compressed():
		return nil
	case end > m.DiskNumBytes:
		return errors.New("range ends behind the extent on disk")
	case m.RAMBytes != m.DiskNumBytes:
		return errors.New("uncompressed extent with two sizes")
	}
	return nil
}

func saturatingAdd(a, b uint64) uint64 {
	if sum := a + b; sum >= a {
		return sum
	}
	return MaxOffset
}
