package reclaim

import (
	"slices"
	"testing"

	"benign/impl/kernel"
)

// cache notes what it is asked for.
type cache struct {
	size  int64
	asked []int64
}

func (c *cache) Count(*kernel.Task) int64 { return c.size }

func (c *cache) Request(_ *kernel.Task, n int64) bool {
	c.asked = append(c.asked, n)
	return true
}

func TestAllocate(t *testing.T) {
	for _, c := range []struct {
		context Context
		want    []int64
	}{{Anything, []int64{3}}, {NoFilesystem, nil}} {
		full, empty := &cache{size: 3}, &cache{}
		New(empty, full).Allocate(kernel.NewWorld(kernel.Options{}).NewTask("test"), c.context)
		if !slices.Equal(full.asked, c.want) || empty.asked != nil {
			t.Errorf("in the context %v: asked for %v and %v, want %v and nothing", c.context, full.asked, empty.asked, c.want)
		}
	}
}

func TestContextMustBeChosen(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the invalid context was accepted")
		}
	}()
	New().Allocate(nil, Context(0))
}

func TestContextString(t *testing.T) {
	for context, want := range map[Context]string{0: "invalid", Anything: "anything", NoFilesystem: "no filesystem", 9: "invalid"} {
		if got := context.String(); got != want {
			t.Errorf("%d prints as %q, want %q", context, got, want)
		}
	}
}
