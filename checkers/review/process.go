package review

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"benign/checkers/explain"
	"benign/checkers/verdict"
)

// Process is a build that answers questions, one at a time. It is safe for
// concurrent use.
type Process struct {
	mutex  sync.Mutex
	pipe   io.Closer // of in
	in     *gob.Encoder
	out    *gob.Decoder
	end    func() string
	broken error // what ended it too soon
	grace  time.Duration
	// Before answers what a form has shown in the unpatched build; nil for a
	// process that is never asked to compare.
	Before func(verdict.Form) (verdict.Observed, error)
	// Progress, if not nil, is told what is being explored.
	Progress func(verdict.Progress)
}

// Start starts a build, for as long as the context lasts.
func (t Tree) Start(ctx context.Context, file string) (*Process, error) {
	ctx, stop := context.WithCancel(ctx)
	command := exec.CommandContext(ctx, file, t.Arguments...)
	command.Dir = t.Root
	command.Env = append(os.Environ(), "GOCOVERDIR="+os.DevNull)
	words := &head{}
	command.Stderr = words
	in, err := command.StdinPipe()
	if err != nil {
		stop()
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		stop()
		return nil, err
	}
	if err := command.Start(); err != nil {
		stop()
		return nil, err
	}
	return newProcess(in, out, func() string {
		stop()
		why := fmt.Sprint("the process has ended: ", command.Wait())
		if text := words.String(); text != "" {
			why += ": " + text
		}
		return why
	}), nil
}

// newProcess returns what answers on a pair of pipes. End ends it, if it has not
// ended, and says how.
func newProcess(in io.WriteCloser, out io.Reader, end func() string) *Process {
	return &Process{pipe: in, in: gob.NewEncoder(in), out: gob.NewDecoder(out), end: sync.OnceValue(end), grace: grace}
}

// Close ends the process.
func (p *Process) Close() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.pipe.Close()
	p.end()
}

// BrokenError means that the process has ended in the middle of a question, or
// was ended because it gave no answer: the code that it runs breaks the whole
// process, or never comes to an end.
type BrokenError struct {
	// Why it ended, with the last words of the process.
	Why string
}

// Error implements error.
func (e *BrokenError) Error() string { return e.Why }

// MisuseError is an error of whoever asks, not of the code that is asked about.
type MisuseError struct {
	// Message is what whoever asks is told.
	Message string
}

// Error implements error.
func (e *MisuseError) Error() string { return e.Message }

// grace is how much longer than its limit a process may take: an execution that
// was begun is run to its end, and what was found is shortened.
const grace = 30 * time.Second

// ask sends a question and returns its answer.
func (p *Process) ask(q question, limit time.Duration) (reply, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.broken != nil {
		return reply{}, p.broken
	}
	patience := 2*limit + p.grace
	if limit > 0 {
		timer := time.AfterFunc(patience, func() { p.end() })
		defer timer.Stop()
	}
	began := time.Now()
	r, err := p.converse(q)
	if err != nil {
		why := p.end()
		if limit > 0 && time.Since(began) >= patience {
			why = fmt.Sprintf("the process gave no answer within %v, and was ended", patience)
		}
		p.broken = &BrokenError{why}
		return reply{}, p.broken
	}
	if r.Error != nil {
		if r.Error.Misuse {
			return reply{}, &MisuseError{r.Error.Message}
		}
		return reply{}, errors.New(r.Error.Message)
	}
	return r, nil
}

func (p *Process) converse(q question) (reply, error) {
	if err := p.in.Encode(q); err != nil {
		return reply{}, err
	}
	for {
		var r reply
		if err := p.out.Decode(&r); err != nil {
			return reply{}, err
		}
		switch {
		case r.Progress != nil:
			if p.Progress != nil {
				p.Progress(*r.Progress)
			}
		case r.Before != nil:
			if err := p.in.Encode(question{Before: p.before(*r.Before)}); err != nil {
				return reply{}, err
			}
		default:
			return r, nil
		}
	}
}

func (p *Process) before(f verdict.Form) *before {
	if p.Before == nil {
		return &before{Error: "nobody knows what the unpatched code shows"}
	}
	observed, err := p.Before(f)
	if err != nil {
		return &before{Error: err.Error()}
	}
	return &before{Observed: observed}
}

// Catalogue returns what can be asked about.
func (p *Process) Catalogue() ([]Race, error) {
	r, err := p.ask(question{Catalogue: true}, 0)
	return r.Catalogue, err
}

// Replay runs a trace again; name is what messages call it.
func (p *Process) Replay(name string, text []byte) (*Replayed, error) {
	r, err := p.ask(question{Replay: &replay{name, text}}, 0)
	return r.Replayed, err
}

func (p *Process) observe(t task) (verdict.Observed, error) {
	r, err := p.ask(question{Observe: &t}, t.Limit)
	return r.Observed, err
}

func (p *Process) explain(t task) ([]explain.Race, error) {
	r, err := p.ask(question{Explain: &t}, t.Limit)
	return r.Explained, err
}

func (p *Process) compare(t task) (*verdict.Verdict, error) {
	r, err := p.ask(question{Compare: &t}, t.Limit)
	return r.Verdict, err
}

// head keeps the first words of a process, which tell why a Go program crashes.
type head struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

// maxHead bounds what is kept of what a process says before it ends: the first
// words tell why a Go program crashes.
const maxHead = 2000

// Write implements io.Writer; it never fails.
func (t *head) Write(b []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if room := maxHead - t.text.Len(); room > 0 {
		t.text.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

// String returns the first line.
func (t *head) String() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	first, _, _ := strings.Cut(strings.TrimSpace(t.text.String()), "\n")
	return first
}
