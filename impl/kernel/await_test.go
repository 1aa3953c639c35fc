package kernel_test

import (
	"testing"
	"time"

	"benign/impl/kernel"
)

// TestAwait hands a turn round between tasks, so that each has to wait for the
// one before; what they write under their turn is plain memory.
func TestAwait(t *testing.T) {
	task, r := native(kernel.Options{})
	order := []int{}
	for n := range crowd {
		task.Go("T", func(t *kernel.Task) {
			for round := range rounds / 10 {
				turn := round*crowd + n
				if seen := r.word.Await(t, kernel.Acquire, func(v int) bool { return v >= turn }); seen != turn {
					t.Violate(kernel.Assertion, "turn %d is at %d", turn, seen)
				}
				order = append(order, turn)
				r.word.Store(t, kernel.Release, turn+1)
			}
		})
	}
	r.word.Await(task, kernel.Acquire, func(v int) bool { return v == crowd*(rounds/10) })
	for i, turn := range order {
		if i != turn {
			t.Fatalf("turn %d came as number %d", turn, i)
		}
	}
}

// TestAwaitUpdate takes tokens out of a word in which there are never enough.
func TestAwaitUpdate(t *testing.T) {
	task, r := native(kernel.Options{})
	const tokens = 3
	r.word.Store(task, kernel.Once, tokens)
	spawn(task, crowd, func(task *kernel.Task) {
		for range rounds {
			had := r.word.AwaitUpdate(task, kernel.Acquire, func(v int) bool { return v > 0 }, func(v int) (int, bool) { return v - 1, true })
			if had < 1 || had > tokens {
				t.Errorf("there were %d", had)
			}
			r.word.Add(task, kernel.Release, 1)
		}
	})
	if had := r.word.AwaitUpdate(task, kernel.Acquire, func(v int) bool { return v == tokens }, func(int) (int, bool) { return 0, false }); had != tokens {
		t.Errorf("%d tokens are left", had)
	}
	if left := r.word.Load(task, kernel.Once); left != tokens {
		t.Errorf("an update that declines has written: %d", left)
	}
}

// TestLongAwait waits for longer than a task does so actively.
func TestLongAwait(t *testing.T) {
	task, r := native(kernel.Options{})
	task.Go("late", func(t *kernel.Task) {
		time.Sleep(3 * time.Millisecond)
		r.word.Store(t, kernel.Release, 1)
	})
	if got := r.word.Await(task, kernel.Acquire, func(v int) bool { return v != 0 }); got != 1 {
		t.Errorf("got %d", got)
	}
}
