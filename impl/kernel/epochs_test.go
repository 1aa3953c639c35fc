package kernel

import (
	"testing"
	"time"
)

// TestLateReader: a reader that has looked at the current epoch, and counts in it
// only when that has ended, is waited for by the next grace period.
func TestLateReader(t *testing.T) {
	task := NewWorld(Options{}).NewTask("test")
	var e epochs
	epoch := e.current.Load()
	e.wait(task, nil)
	e.readers[epoch].Add(1)
	passed := make(chan struct{})
	go func() {
		e.wait(task, nil)
		close(passed)
	}()
	select {
	case <-passed:
		t.Error("the grace period ends before the section")
	case <-time.After(20 * time.Millisecond):
	}
	e.leave(epoch)
	<-passed
}
