package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"benign/checkers/verdict"
)

// progress is one line on a terminal that says what is being explored and how
// far it has come. How much is left can only be estimated: every execution may
// open new ones. A nil progress shows nothing.
type progress struct {
	mutex sync.Mutex
	bar   *progressbar.ProgressBar
	pace  pace
}

// newProgress returns nil unless w is a terminal.
func newProgress(w io.Writer) *progress {
	if !terminal(w) {
		return nil
	}
	return progressOn(w)
}

func progressOn(w io.Writer) *progress {
	return &progress{bar: progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetSpinnerChangeInterval(0), // redrawn when there is news, not by a goroutine
		progressbar.OptionSetElapsedTime(true),
	)}
}

// terminal reports whether w is a character device. That may be no terminal,
// but then nobody reads it.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// callback returns what the judge calls with news, or nil.
func (p *progress) callback() func(verdict.Progress) {
	if p == nil {
		return nil
	}
	return func(news verdict.Progress) {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.bar.Describe(describeProgress(news) + p.pace.describe(news, time.Now()))
	}
}

func describeProgress(news verdict.Progress) string {
	return fmt.Sprintf("%s/%s: %s under %s, %s", news.Race, news.Scenario, news.Variant, news.Model,
		count(news.Stats.Executions(), "execution"))
}

// clear takes the line away, for others to write where it was.
func (p *progress) clear() {
	if p == nil {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	_ = p.bar.Clear() // a terminal that is gone is no reason to give up
}
