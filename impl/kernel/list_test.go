package kernel_test

import (
	"slices"
	"testing"

	"benign/impl/kernel"

	"pgregory.net/rapid"
)

type element struct {
	number int
	link   kernel.Link[element]
}

func numbers(l *kernel.List[element]) []int {
	var found []int
	for e := range l.All() {
		found = append(found, e.number)
	}
	return found
}

// TestListAgainstSlices does random things to two lists and to two slices.
func TestListAgainstSlices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		elements := make([]element, 5)
		for i := range elements {
			elements[i].number = i
		}
		var lists [2]kernel.List[element]
		var want [2][]int
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			e := &elements[rapid.IntRange(0, len(elements)-1).Draw(t, "element")]
			on := rapid.IntRange(0, 1).Draw(t, "list")
			switch operation := rapid.SampledFrom([]string{"front", "back", "unlink"}).Draw(t, "operation"); {
			case operation == "unlink":
				e.link.Unlink()
				for i := range want {
					want[i] = slices.DeleteFunc(want[i], func(n int) bool { return n == e.number })
				}
			case e.link.Linked():
			case operation == "front":
				lists[on].PushFront(&e.link, e)
				want[on] = slices.Insert(want[on], 0, e.number)
			default:
				lists[on].PushBack(&e.link, e)
				want[on] = append(want[on], e.number)
			}
			for i := range lists {
				if got := numbers(&lists[i]); !slices.Equal(got, want[i]) || lists[i].Len() != len(want[i]) {
					t.Fatalf("list %d is %v of length %d, want %v", i, got, lists[i].Len(), want[i])
				}
				if front := lists[i].Front(); (front == nil) != (len(want[i]) == 0) || front != nil && front.number != want[i][0] {
					t.Fatalf("list %d begins with %+v, want %v", i, front, want[i])
				}
				if on := slices.Contains(want[i], e.number); on != e.link.On(&lists[i]) {
					t.Fatalf("element %d is on list %d: %v, want %v", e.number, i, !on, on)
				}
			}
			if linked := slices.Contains(want[0], e.number) || slices.Contains(want[1], e.number); linked != e.link.Linked() {
				t.Fatalf("element %d is linked: %v", e.number, !linked)
			}
		}
	})
}

func TestListLoops(t *testing.T) {
	elements := make([]element, 4)
	var l kernel.List[element]
	for i := range elements {
		elements[i].number = i
		l.PushBack(&elements[i].link, &elements[i])
	}
	var found []int
	for e := range l.All() { // the loop takes off what it is at
		found = append(found, e.number)
		if e.number%2 == 0 {
			e.link.Unlink()
		}
		if e.number == 2 {
			break
		}
	}
	if !slices.Equal(found, []int{0, 1, 2}) || !slices.Equal(numbers(&l), []int{1, 3}) {
		t.Errorf("the loop saw %v and left %v", found, numbers(&l))
	}
	defer func() {
		if recover() == nil {
			t.Error("an element is put on two lists")
		}
	}()
	var other kernel.List[element]
	other.PushBack(&elements[1].link, &elements[1])
}

// TestIndexAgainstMap does random things to an index and to a map.
func TestIndexAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		task, r := native(kernel.Options{})
		x := &r.index
		x.Lock(task)
		values := make([]int, 3)
		want := map[uint64]*int{}
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			key := rapid.SampledFrom([]uint64{0, 1, 2, 7, 1 << 40, ^uint64(0)}).Draw(t, "key")
			value := &values[rapid.IntRange(0, 2).Draw(t, "value")]
			if rapid.Bool().Draw(t, "store") {
				if old := x.Store(task, key, value); old != want[key] {
					t.Fatalf("storing at %d finds %p, want %p", key, old, want[key])
				}
				want[key] = value
			} else {
				there := want[key] == value
				if there {
					delete(want, key)
				}
				if erased := x.EraseIf(task, key, value); erased != there {
					t.Fatalf("erasing at %d: %v, want %v", key, erased, there)
				}
			}
			if got := x.Load(task, key); got != want[key] || x.Len(task) != len(want) {
				t.Fatalf("at %d is %p of %d entries, want %p of %d", key, got, x.Len(task), want[key], len(want))
			}
			checkFrom(t, task, x, want, rapid.SampledFrom([]uint64{0, 1, 3, 7, 8, 1 << 40, ^uint64(0)}).Draw(t, "from"))
		}
	})
}

func checkFrom(t *rapid.T, task *kernel.Task, x *kernel.Index[int], want map[uint64]*int, from uint64) {
	least, found := uint64(0), false
	for key := range want {
		if key >= from && (!found || key < least) {
			least, found = key, true
		}
	}
	key, value, ok := x.From(task, from)
	if ok != found || key != least || value != want[least] && found || !found && value != nil {
		t.Fatalf("from %d on comes %d (%v), want %d (%v)", from, key, ok, least, found)
	}
}
