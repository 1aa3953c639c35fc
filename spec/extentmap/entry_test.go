package extentmap

import (
	"slices"
	"testing"
)

func TestWellFormed(t *testing.T) {
	compressed := Entry{Len: 8 * kib, DiskBytenr: mib, DiskNumBytes: 4 * kib, RAMBytes: 8 * kib, Flags: Zlib}
	good := []Entry{
		x, hole(0, 4), compressed, x.with(Prealloc | Pinned | Merged | Logging),
		{Len: 4 * kib, DiskBytenr: Inline},
		{Start: MaxOffset - 4095, Len: 4 * kib, DiskBytenr: Hole},
	}
	for _, e := range good {
		if err := e.WellFormed(); err != nil {
			t.Error(err)
		}
	}
	breakers := map[string]func(*Entry){
		"empty":                    func(e *Entry) { e.Len = 0 },
		"start not aligned":        func(e *Entry) { e.Start++ },
		"length not aligned":       func(e *Entry) { e.Len-- },
		"two algorithms":           func(e *Entry) { e.Flags |= Zlib | Zstd },
		"meaningless sentinel":     func(e *Entry) { e.DiskBytenr, e.Offset = FirstSentinel, 0 },
		"hole with an offset":      func(e *Entry) { e.DiskBytenr, e.Offset = Hole, 4096 },
		"inline, not at the start": func(e *Entry) { e.DiskBytenr, e.Start = Inline, 4096 },
		"no size on disk":          func(e *Entry) { e.DiskNumBytes = 0 },
		"past decompressed end":    func(e *Entry) { e.Flags, e.RAMBytes = LZO, 4096 },
		"past the end on disk":     func(e *Entry) { e.DiskNumBytes = 4096 },
		"sizes differ":             func(e *Entry) { e.RAMBytes += 4096 },
		"disk start not aligned":   func(e *Entry) { e.DiskBytenr++ },
		"offset not aligned":       func(e *Entry) { e.Offset++; e.Len = 4096 },
		"offset overflows":         func(e *Entry) { e.Offset = MaxOffset - 4095 },
	}
	for name, breakIt := range breakers {
		e := x
		if breakIt(&e); e.WellFormed() == nil {
			t.Errorf("%s: %v is taken for well-formed", name, e)
		}
	}
}

func TestDerivedFields(t *testing.T) {
	compressed := Entry{Start: 4096, Len: 8192, DiskBytenr: mib, DiskNumBytes: 4096, Offset: 4096, RAMBytes: 16384, Flags: Zstd}
	tests := []struct {
		name            string
		entry           Entry
		start, len, end uint64
		first           Place
		fileRange       Range
	}{
		{"in part", extent(0, 8, 1024, 16, 4), mib + 4096, 8192, mib + 3*4096, Place{Disk: mib + 4096}, Range{0, 8192}},
		{"compressed", compressed, mib, 4096, mib + 4096, Place{mib, 4096}, Range{4096, 3 * 4096}},
		{"hole", hole(0, 8), Hole, 8192, MaxOffset, Place{Disk: Hole}, Range{0, 8192}},
		{"inline", Entry{Len: 4096, DiskBytenr: Inline}, Inline, 4096, MaxOffset, Place{Disk: Inline}, Range{0, 4096}},
		{"to the end of all", Entry{Start: MaxOffset - 4095, Len: 8192, DiskBytenr: Hole}, Hole, 8192, MaxOffset, Place{Disk: Hole}, Range{MaxOffset - 4095, MaxOffset}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := tt.entry
			if e.BlockStart() != tt.start || e.BlockLen() != tt.len || e.BlockEnd() != tt.end {
				t.Errorf("blocks: start %d, len %d, end %d", e.BlockStart(), e.BlockLen(), e.BlockEnd())
			}
			if e.Place(e.Start) != tt.first || e.Range() != tt.fileRange {
				t.Errorf("place %v, range %v", e.Place(e.Start), e.Range())
			}
		})
	}
}

func TestRangeSets(t *testing.T) {
	if got := Union(Range{8, 12}, Range{0, 4}, Range{4, 6}, Range{5, 7}, Range{3, 3}); !slices.Equal(got, []Range{{0, 7}, {8, 12}}) {
		t.Errorf("union: %v", got)
	}
	if got := Subtract([]Range{{0, 10}, {20, 30}}, []Range{{2, 4}, {8, 22}, {29, 40}}); !slices.Equal(got, []Range{{0, 2}, {4, 8}, {22, 29}}) {
		t.Errorf("difference: %v", got)
	}
}

func TestEntryString(t *testing.T) {
	for want, e := range map[string]Entry{
		"[0,64K) 1M/64K off 0 ram 64K g7 -":                   x,
		"[0,64K) 1M/64K off 0 ram 64K g-in-flight pinned+lzo": x.gen(InFlight).with(Pinned | LZO),
		"[4K,max) hole off 0 ram 0 g0 -":                      {Start: 4096, Len: MaxOffset, DiskBytenr: Hole},
		"[0,4K) inline off 0 ram 100 g1 -":                    {Len: 4096, DiskBytenr: Inline, RAMBytes: 100, Generation: 1},
	} {
		if got := e.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
