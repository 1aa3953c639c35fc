package extentmap

import (
	"cmp"
	"fmt"
	"slices"
)

// MaxOffset is the largest position in a file or on disk. Sums saturate here.
const MaxOffset uint64 = 1<<64 - 1

// Range is the half-open byte range [Start, End). It is empty when End ≤ Start.
type Range struct {
	Start, End uint64
}

// Empty reports whether the range holds no byte.
func (r Range) Empty() bool { return r.End <= r.Start }

// Intersects reports whether the two ranges share a byte.
func (r Range) Intersects(o Range) bool {
	return !r.Empty() && !o.Empty() && r.Start < o.End && o.Start < r.End
}

// Contains reports whether the byte at offset lies in the range.
func (r Range) Contains(offset uint64) bool { return r.Start <= offset && offset < r.End }

// String prints the range with sizes in KiB where they are whole.
func (r Range) String() string { return fmt.Sprintf("[%s,%s)", size(r.Start), size(r.End)) }

// Union returns the same bytes as the smallest sorted list of ranges that do not touch each other.
func Union(ranges ...Range) []Range {
	sorted := slices.DeleteFunc(slices.Clone(ranges), Range.Empty)
	slices.SortFunc(sorted, func(a, b Range) int { return cmp.Compare(a.Start, b.Start) })
	var out []Range
	for _, r := range sorted {
		if last := len(out) - 1; last >= 0 && r.Start <= out[last].End {
			out[last].End = max(out[last].End, r.End)
			continue
		}
		out = append(out, r)
	}
	return out
}

// Subtract returns the bytes of from that are in none of the ranges in minus, in the form of [Union].
func Subtract(from, minus []Range) []Range {
	var out []Range
	for _, r := range Union(from...) {
		for _, m := range Union(minus...) {
			if !m.Intersects(r) {
				continue
			}
			if r.Start < m.Start {
				out = append(out, Range{r.Start, m.Start})
			}
			r.Start = m.End
		}
		if !r.Empty() {
			out = append(out, r)
		}
	}
	return out
}

// saturatingAdd returns a+b, or MaxOffset if the sum does not fit.
func saturatingAdd(a, b uint64) uint64 {
	if sum := a + b; sum >= a {
		return sum
	}
	return MaxOffset
}

// size prints a number of bytes: in KiB or MiB where it is a whole number of them.
func size(n uint64) string {
	switch {
	case n == MaxOffset:
		return "max"
	case n != 0 && n%(1<<20) == 0:
		return fmt.Sprintf("%dM", n>>20)
	case n != 0 && n%(1<<10) == 0:
		return fmt.Sprintf("%dK", n>>10)
	}
	return fmt.Sprint(n)
}
