package extentmap

import (
	"cmp"
	"fmt"
	"slices"
)

// Disk is what a crash leaves of one file, and what it must leave.
//
// A crash takes everything in memory. What remains are the items of the last
// commit and the log, which holds what fsyncs have added since. The next mount
// replays the log over the items, and readers get what the result says.
//
// Beside that, a Disk knows what its owner has written and how much of it an
// fsync has vouched for, and [Disk.Check] compares the two. New data never goes
// where other data is, so a place on disk stands for what was written there.
//
// A Disk is plain memory; whoever owns it says which lock protects it.
type Disk struct {
	committed []Mapping // items of the last commit
	log       []Mapping // items that fsyncs have logged since
	stored    []Mapping // whose data has reached its place, since the last commit
	writes    []Mapping // in the order in which users saw them take effect
	vouched   int       // so many of the writes are covered by an fsync that has returned
	exempt    []Mapping // ranges that nobody cares for
}

// Place is where a byte of a file comes from: how far into which extent, once
// that is decompressed. Neighbours on disk count as one extent, at zero, unless
// they are compressed. Equal places hold equal data.
type Place struct {
	// Extent is the start of a compressed extent on disk, 0 for others, or what
	// stands for no extent; Offset is in bytes.
	Extent, Offset uint64
}

// String prints the extent, if it has to be read whole, and the offset in it.
func (p Place) String() string {
	switch p.Extent {
	case 0:
		return fmt.Sprintf("%#x", p.Offset)
	case Hole:
		return "zeroes"
	}
	return fmt.Sprintf("%#x+%#x", p.Extent, p.Offset)
}

// PlaceOf returns where the byte at offset comes from, which must be mapped. It
// is the same however the mapping is cut or merged.
func (m Mapping) PlaceOf(offset uint64) Place {
	switch {
	case !m.Real():
		return Place{Extent: m.DiskBytenr}
	case m.Flags.Compressed():
		return Place{m.DiskBytenr, m.Offset + offset - m.Start}
	}
	return Place{0, m.DiskBytenr + m.Offset + offset - m.Start}
}

// Commit adds an item that the last commit has made durable, with its data.
func (d *Disk) Commit(m Mapping) { d.committed = Overlay(d.committed, m) }

// Write takes note of a write that its user has seen take effect: from now on an
// fsync has to cover it.
func (d *Disk) Write(m Mapping) { d.writes = append(d.writes, m) }

// Store takes note of data that has reached its place.
func (d *Disk) Store(m Mapping) { d.stored = append(d.stored, m) }

// Exempt says that nobody cares what [start, end) holds after a crash.
func (d *Disk) Exempt(start, end uint64) {
	d.exempt = append(d.exempt, Mapping{Start: start, Len: end - start})
}

// Log adds an item to the log in the place of whatever the log says about its
// range, as a fast fsync does.
func (d *Disk) Log(m Mapping) { d.log = Overlay(d.log, m) }

// EmptyLog forgets the log, and CopyToLog adds an item to it as it is: a full
// fsync, which copies every item of the file.
func (d *Disk) EmptyLog() { d.log = nil }

// CopyToLog adds an item to the log, see [Disk.EmptyLog].
func (d *Disk) CopyToLog(m Mapping) { d.log = append(d.log, m) }

// LogWrites logs everything that was written: a full fsync by an owner who has
// no items of its own to copy.
func (d *Disk) LogWrites() {
	for _, m := range d.writes {
		d.Log(m)
	}
}

// Writes returns how many writes there have been. An fsync that has them all
// before it passes the number to [Disk.Vouch] when it returns.
func (d *Disk) Writes() int { return len(d.writes) }

// Vouch says that an fsync has returned that covers the first so many writes. It
// returns what a crash would break of that now.
func (d *Disk) Vouch(writes int) error {
	d.vouched = max(d.vouched, writes)
	return d.Check()
}

// CheckNext returns what a crash would break after one more fsync, which writes
// the given data and finds the given mappings to log.
func (d *Disk) CheckNext(data, toLog []Mapping) error {
	next := *d
	next.stored, next.log = slices.Concat(d.stored, data), slices.Clone(d.log)
	for _, m := range toLog {
		next.Log(m)
	}
	return next.Vouch(len(d.writes))
}

// Crash replays the log and returns what the file consists of then, in file
// order. An error means that the log cannot be replayed: two of its items
// overlap.
func (d *Disk) Crash() ([]Mapping, error) {
	var replayed []Mapping
	left := slices.Clone(d.committed)
	for _, m := range d.log {
		for _, other := range replayed {
			if m.Intersects(other.Start, other.End()) {
				return nil, fmt.Errorf("the log has overlapping items, %v and %v", other, m)
			}
		}
		replayed = append(replayed, m)
		left = Overlay(left, m)
	}
	return left, nil
}

// Check returns what would be wrong after a crash now, or nil: a log that cannot
// be replayed, a block that says where it is and has never been written there, or
// one that does not read what was written into it last before an fsync that has
// returned, nor anything newer.
func (d *Disk) Check() error {
	left, err := d.Crash()
	if err != nil {
		return err
	}
	for _, at := range d.blocks(left) {
		place, allowed := read(left, at), d.allowed(at)
		switch {
		case d.exempted(at):
		case !d.holdsData(at, place):
			return fmt.Errorf("after a crash the block at %#x would read %v, which was never written", at, place)
		case !slices.Contains(allowed, place):
			return fmt.Errorf("after a crash the block at %#x would read %v, and fsync has vouched for %v", at, place, allowed[0])
		}
	}
	return nil
}

// Describe returns what a crash now would leave, block by block.
func (d *Disk) Describe() string {
	left, err := d.Crash()
	if err != nil {
		return err.Error()
	}
	text := ""
	for _, at := range d.blocks(left) {
		text += fmt.Sprintf("%#x:%v ", at, read(left, at))
	}
	return text
}

// blocks returns the start of every block of the file that was ever mapped.
func (d *Disk) blocks(left []Mapping) []uint64 {
	var all []uint64
	for _, m := range slices.Concat(left, d.writes, d.committed) {
		for at := m.Start; at < m.End(); at += BlockSize {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// allowed returns what the block may read after a crash: first what has been
// vouched for, then what is newer.
func (d *Disk) allowed(at uint64) []Place {
	places := []Place{read(d.committed, at)}
	for n, m := range d.writes {
		switch {
		case !m.Contains(at):
		case n < d.vouched:
			places = []Place{m.PlaceOf(at)}
		default:
			places = append(places, m.PlaceOf(at))
		}
	}
	return places
}

// holdsData reports whether what the block reads is there.
func (d *Disk) holdsData(at uint64, place Place) bool {
	for _, m := range slices.Concat(d.committed, d.stored) {
		if m.Contains(at) && m.PlaceOf(at) == place {
			return true
		}
	}
	return place.Extent == Hole
}

func (d *Disk) exempted(at uint64) bool {
	return slices.ContainsFunc(d.exempt, func(m Mapping) bool { return m.Contains(at) })
}

// read returns where the block at offset comes from; what is not mapped is a
// hole.
func read(items []Mapping, offset uint64) Place {
	for _, m := range items {
		if m.Contains(offset) {
			return m.PlaceOf(offset)
		}
	}
	return Place{Extent: Hole}
}

// Overlay returns the items, disjoint and in file order, with m in the place of
// what they say about its range. The argument is not changed.
func Overlay(items []Mapping, m Mapping) []Mapping {
	var all []Mapping
	for _, old := range items {
		if !old.Intersects(m.Start, m.End()) {
			all = append(all, old)
			continue
		}
		if old.Start < m.Start {
			all = append(all, old.piece(old.Start, m.Start))
		}
		if old.End() > m.End() {
			all = append(all, old.piece(m.End(), old.End()))
		}
	}
	at, _ := slices.BinarySearchFunc(all, m.Start, func(e Mapping, start uint64) int { return cmp.Compare(e.Start, start) })
	return slices.Insert(all, at, m)
}
