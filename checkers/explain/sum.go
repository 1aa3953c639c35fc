package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Sum adds up what several explorations have shown of the same races, and sorts
// it. What is alike is one: accesses at the same places, equal values, and equal
// continuations of them.
func Sum(parts ...[]Race) []Race {
	var list []Race
	for _, part := range parts {
		for _, r := range part {
			at := slices.IndexFunc(list, func(known Race) bool { return known.Site == r.Site })
			if at < 0 {
				at = len(list)
				list = append(list, Race{Site: r.Site, Reason: r.Reason})
			}
			known := &list[at]
			known.Executions += r.Executions
			known.Racing += r.Racing
			known.Accesses = sumAccesses(known.Accesses, r.Accesses)
			known.Conflicts = sumAccesses(known.Conflicts, r.Conflicts)
			known.Values = append(slices.Clip(known.Values), r.Values...)
		}
	}
	for i := range list {
		list[i].Values = sumValues(list[i].Values)
		for _, v := range list[i].Values {
			list[i].Behind = max(list[i].Behind, v.Behind)
		}
	}
	slices.SortFunc(list, func(a, b Race) int { return strings.Compare(a.Site, b.Site) })
	return list
}

func sumAccesses(sum, more []Access) []Access {
	sum = slices.Clone(sum)
	for _, a := range more {
		at := slices.IndexFunc(sum, func(b Access) bool {
			return a.What == b.What && slices.Equal(a.Locks, b.Locks) && slices.Equal(a.Places, b.Places)
		})
		if at < 0 {
			sum = append(sum, a)
		} else {
			sum[at].Seen += a.Seen
			sum[at].Racing += a.Racing
		}
	}
	slices.SortFunc(sum, func(a, b Access) int {
		return cmp.Or(cmp.Compare(b.Seen, a.Seen), cmp.Compare(a.What, b.What), slices.Compare(a.Locks, b.Locks), slices.Compare(a.Places, b.Places))
	})
	return sum
}

// sumValues adds up equal values. Their counts are those of their continuations.
func sumValues(parts []Value) []Value {
	var sum []Value
	for _, v := range parts {
		at := slices.IndexFunc(sum, func(known Value) bool { return known.Of == v.Of && known.Text == v.Text && known.Stored == v.Stored })
		if at < 0 {
			at = len(sum)
			sum = append(sum, Value{Of: v.Of, Text: v.Text, Stored: v.Stored})
		}
		sum[at].Behind = max(sum[at].Behind, v.Behind)
		sum[at].Continuations = sumContinuations(sum[at].Continuations, v.Continuations)
	}
	for i := range sum {
		for _, c := range sum[i].Continuations {
			sum[i].Seen += c.Seen
			sum[i].Stale += c.Stale
			sum[i].Broken += c.Broken
		}
	}
	slices.SortFunc(sum, func(a, b Value) int {
		return cmp.Or(cmp.Compare(b.Seen, a.Seen), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Of, b.Of))
	})
	return sum
}

func sumContinuations(sum, more []Continuation) []Continuation {
	sum = slices.Clone(sum)
	for _, c := range more {
		at := slices.IndexFunc(sum, func(d Continuation) bool {
			return c.Check == d.Check && c.More == d.More && slices.Equal(c.Steps, d.Steps)
		})
		if at < 0 {
			sum = append(sum, c)
			continue
		}
		sum[at].add(c)
	}
	slices.SortStableFunc(sum, func(a, b Continuation) int {
		return cmp.Or(cmp.Compare(b.Seen, a.Seen), cmp.Compare(len(a.Steps), len(b.Steps)), slices.CompareFunc(a.Steps, b.Steps, compareSteps),
			strings.Compare(fmt.Sprint(a.Check), fmt.Sprint(b.Check)))
	})
	return sum
}

func compareSteps(a, b Step) int {
	return cmp.Or(strings.Compare(a.What, b.What), strings.Compare(a.Place, b.Place))
}

// mostNumbers is how many different numbers, other than 0, Brief leaves as they are.
const mostNumbers = 4

// Brief returns the race as people want to read it: without the values of accesses
// that never raced; with all numbers but 0 that one access saw as one value, if
// there are many; and with continuations that have the same check as one, which
// has the steps of the most frequent.
func (r Race) Brief() Race {
	racing, numbers := map[string]bool{}, map[string][]int64{}
	for _, a := range r.Accesses {
		racing[a.Name()] = racing[a.Name()] || a.Racing > 0
	}
	for _, v := range r.Values {
		if n, is := number(v.Text); is && n != 0 {
			numbers[v.Of] = append(numbers[v.Of], n)
		}
	}
	brief := slices.DeleteFunc(slices.Clone(r.Values), func(v Value) bool { return !racing[v.Of] })
	for i := range brief {
		several := numbers[brief[i].Of]
		if n, is := number(brief[i].Text); is && n != 0 && len(several) > mostNumbers {
			brief[i].Text = fmt.Sprintf("one of %d numbers from %d to %d", len(several), slices.Min(several), slices.Max(several))
		}
	}
	r.Values = sumValues(brief)
	for i := range r.Values {
		r.Values[i].Continuations = byCheck(r.Values[i].Continuations)
	}
	return r
}

// byCheck makes one of the continuations with the same check, of which the first
// is the most frequent.
func byCheck(list []Continuation) []Continuation {
	var brief []Continuation
	for _, c := range list {
		at := slices.IndexFunc(brief, func(d Continuation) bool { return c.Check == d.Check })
		if at < 0 {
			brief = append(brief, c)
			continue
		}
		brief[at].add(c)
		brief[at].Ways += c.Ways
	}
	slices.SortStableFunc(brief, func(a, b Continuation) int { return cmp.Compare(b.Seen, a.Seen) })
	return brief
}

func (c *Continuation) add(d Continuation) {
	c.Seen += d.Seen
	c.Stale += d.Stale
	c.Broken += d.Broken
}
