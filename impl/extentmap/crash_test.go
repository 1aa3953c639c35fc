package extentmap

import (
	"strings"
	"testing"
)

// at is a mapping of blocks in the file whose data begins at a block on disk.
func at(start, length, disk uint64) Mapping {
	return Mapping{Start: start * BlockSize, Len: length * BlockSize,
		DiskBytenr: disk * BlockSize, DiskNumBytes: length * BlockSize, RAMBytes: length * BlockSize}
}

func TestCheckAfterCrash(t *testing.T) {
	old, whole, middle := at(0, 3, 10), at(0, 3, 20), at(1, 1, 30)
	for _, c := range []struct {
		name  string
		do    func(d *Disk)
		fault string // part of the error, empty for none
	}{
		{"nothing", func(*Disk) {}, ""},
		{"no fsync", func(d *Disk) { write(d, whole) }, ""},
		{"fsync logs nothing", func(d *Disk) { write(d, whole); vouch(d) }, "would read 0xa000, and fsync has vouched for 0x14000"},
		{"fsync logs it", func(d *Disk) { write(d, whole); d.Log(whole); vouch(d) }, ""},
		{"fsync logs a part", func(d *Disk) { write(d, whole); d.Log(whole.piece(0, 2*BlockSize)); vouch(d) }, "the block at 0x2000"},
		{"fsync logs what is overwritten", func(d *Disk) { write(d, whole); write(d, middle); d.Log(whole); vouch(d) }, "the block at 0x1000"},
		{"fsync logs one over the other", func(d *Disk) { write(d, whole); write(d, middle); d.Log(whole); d.Log(middle); vouch(d) }, ""},
		{"what is newer may survive too", func(d *Disk) { write(d, whole); vouchFor(d, 1, whole); write(d, middle); d.Log(middle) }, ""},
		{"the data is not there", func(d *Disk) { d.Write(whole); d.Log(whole); vouch(d) }, "would read 0x14000, which was never written"},
		{"nobody wrote it", func(d *Disk) { d.Log(middle) }, "the block at 0x1000 would read 0x1e000, which was never written"},
		{"its user was told that it failed", func(d *Disk) { d.Store(middle); d.Log(middle) }, "the block at 0x1000 would read 0x1e000, and fsync has vouched for 0xb000"},
		{"nobody cares", func(d *Disk) { d.Log(middle); d.Exempt(BlockSize, 2*BlockSize) }, ""},
		{"items overlap", func(d *Disk) { write(d, whole); write(d, middle); d.CopyToLog(whole); d.CopyToLog(middle); vouch(d) }, "overlapping items"},
		{"a full fsync starts anew", func(d *Disk) {
			write(d, whole)
			d.Log(whole)
			vouch(d)
			d.EmptyLog()
			d.CopyToLog(whole)
			vouch(d)
		}, ""},
		{"the long way", func(d *Disk) { write(d, whole); write(d, middle); d.LogWrites(); vouch(d) }, ""},
	} {
		d := &Disk{}
		d.Commit(old)
		c.do(d)
		err := d.Check()
		if (err != nil) != (c.fault != "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: %v, want %q", c.name, err, c.fault)
		}
	}
}

// write is a write whose data arrives.
func write(d *Disk, m Mapping) { d.Write(m); d.Store(m) }

// vouch lets an fsync return that covers every write.
func vouch(d *Disk) { vouchFor(d, d.Writes()) }

func vouchFor(d *Disk, writes int, logged ...Mapping) {
	for _, m := range logged {
		d.Log(m)
	}
	_ = d.Vouch(writes) // which the caller asks for once more
}

// The next fsync changes nothing of the disk that is asked about it.
func TestCheckNext(t *testing.T) {
	d, m := &Disk{}, at(0, 2, 10)
	write(d, m)
	if err := d.CheckNext(nil, nil); err == nil || !strings.Contains(err.Error(), "would read zeroes") {
		t.Errorf("an fsync that finds nothing: %v", err)
	}
	if err := d.CheckNext(nil, []Mapping{m}); err != nil {
		t.Errorf("an fsync that finds it: %v", err)
	}
	if err := d.Check(); err != nil {
		t.Errorf("without an fsync: %v", err)
	}
	if got, want := d.Describe(), "0x0:zeroes 0x1000:zeroes "; got != want {
		t.Errorf("left after a crash: %q, want %q", got, want)
	}
}

// A byte comes from the same place however its mapping is cut or merged.
func TestPlaceOf(t *testing.T) {
	plain, packed := at(0, 4, 10), at(0, 4, 10)
	packed.Flags, packed.DiskNumBytes = Zlib, BlockSize
	hole := Mapping{Len: 4 * BlockSize, DiskBytenr: Hole}
	for _, m := range []Mapping{plain, packed, hole} {
		for offset := uint64(0); offset < m.End(); offset += BlockSize {
			want := m.PlaceOf(offset)
			for _, part := range []Mapping{m.piece(offset, m.End()), m.trimmed(offset, m.End()), m.piece(0, offset+BlockSize)} {
				if got := part.PlaceOf(offset); got != want {
					t.Errorf("%v has %#x at %v, in %v it is at %v", m, offset, want, part, got)
				}
			}
		}
	}
	left := plain.piece(0, BlockSize)
	if got, want := plain.piece(BlockSize, 2*BlockSize).mergedWith(left).PlaceOf(0), plain.PlaceOf(0); got != want {
		t.Errorf("merged at %v, want %v", got, want)
	}
	if got := packed.PlaceOf(BlockSize).String(); got != "0xa000+0x1000" {
		t.Errorf("a place in a compressed extent is %s", got)
	}
}
