package review

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"runtime/coverage"
	"sync"
	"time"

	"benign/checkers/explain"
	"benign/checkers/explore"
	"benign/checkers/verdict"
	"benign/impl/scenario"
)

// Serve answers the questions of another process about a catalogue until the
// input ends. Flush is called after each message.
func Serve(races []scenario.Race, in io.Reader, out io.Writer, flush func() error) error {
	s := &server{races: races, in: gob.NewDecoder(in), out: gob.NewEncoder(out), flush: flush}
	for {
		var q question
		err := s.in.Decode(&q)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a question: %w", err)
		}
		r, err := s.answer(q)
		if err != nil {
			misuse := (*misuseError)(nil)
			r = reply{Error: &failure{err.Error(), errors.As(err, &misuse)}}
		}
		if err := s.send(r); err != nil {
			return err
		}
	}
}

type server struct {
	races []scenario.Race
	in    *gob.Decoder
	mutex sync.Mutex // of out: progress is reported by goroutines
	out   *gob.Encoder
	flush func() error
}

// misuseError is an error of whoever asks.
type misuseError struct{ error }

func (s *server) send(r reply) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := s.out.Encode(r); err != nil {
		return err
	}
	return s.flush()
}

func (s *server) answer(q question) (r reply, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("the code breaks outside of any execution: %v", problem)
		}
	}()
	switch {
	case q.Observe != nil:
		race, sc, v, err := s.find(q.Observe.Form)
		if err != nil {
			return reply{}, err
		}
		if r.Observed, err = verdict.Observe(race, sc, v, q.Observe.Form, s.options(q.Observe)); err != nil {
			return reply{}, err
		}
		return r, writeCounters(q.Observe.Coverage)
	case q.Compare != nil:
		race, sc, v, err := s.find(q.Compare.Form)
		if err != nil {
			return reply{}, err
		}
		r.Verdict, err = verdict.Compare(race, sc, v, q.Compare.Form.Model, s.options(q.Compare))
		return r, err
	case q.Explain != nil:
		r.Explained, err = s.explain(q.Explain)
		return r, err
	case q.Replay != nil:
		r.Replayed, err = s.replay(q.Replay)
		return r, err
	}
	return reply{Catalogue: listing(s.races)}, nil
}

func (s *server) find(f verdict.Form) (*scenario.Race, *scenario.Scenario, *scenario.Variant, error) {
	for i := range s.races {
		race := &s.races[i]
		if race.Name != f.Race {
			continue
		}
		for n := range race.Scenarios {
			if sc := &race.Scenarios[n]; sc.Name == f.Scenario {
				if v := sc.VariantNamed(f.Variant); v != nil {
					return race, sc, v, nil
				}
			}
		}
	}
	return nil, nil, nil, &misuseError{fmt.Errorf("this build has no variant %s of scenario %s/%s", f.Variant, f.Race, f.Scenario)}
}

func (s *server) options(t *task) verdict.Options {
	o := verdict.Options{Arch: t.Form.Arch, MaxExecutions: t.Form.MaxExecutions, Workers: t.Workers, Shrink: !t.NoShrink, Before: s.before,
		Progress: s.progress()}
	if t.Limit > 0 {
		o.Deadline = time.Now().Add(t.Limit)
	}
	return o
}

// progressEvery is how often a process says what it is at.
const progressEvery = 200 * time.Millisecond

func (s *server) progress() func(verdict.Progress) {
	var mutex sync.Mutex
	var last time.Time
	return func(p verdict.Progress) {
		mutex.Lock()
		defer mutex.Unlock()
		if time.Since(last) < progressEvery {
			return
		}
		last = time.Now()
		_ = s.send(reply{Progress: &p}) // whoever does not read it gets no answer either
	}
}

// before asks back what a form has shown in the unpatched build. Nothing is
// explored meanwhile, so that the next question is the answer.
func (s *server) before(f verdict.Form) (verdict.Observed, error) {
	if err := s.send(reply{Before: &f}); err != nil {
		return nil, err
	}
	var q question
	if err := s.in.Decode(&q); err != nil {
		return nil, fmt.Errorf("read an answer: %w", err)
	}
	if q.Before == nil {
		return nil, errors.New("there is a question in the place of an answer")
	}
	if q.Before.Error != "" {
		return nil, errors.New(q.Before.Error)
	}
	return q.Before.Observed, nil
}

// explain explores a form once more, and takes a closer look.
func (s *server) explain(t *task) ([]explain.Race, error) {
	_, sc, v, err := s.find(t.Form)
	if err != nil {
		return nil, err
	}
	news := s.progress()
	config := explore.Config{Scenario: sc, Variant: v, Model: t.Form.Model, Arch: t.Form.Arch, Workers: t.Workers, MaxExecutions: t.Form.MaxExecutions,
		Progress: func(stats explore.Stats) {
			news(verdict.Progress{Race: t.Form.Race, Scenario: t.Form.Scenario, Variant: t.Form.Variant, Model: t.Form.Model, Stats: stats})
		}}
	if t.Limit > 0 {
		config.Deadline = time.Now().Add(t.Limit)
	}
	return explain.Collect(config)
}

func (s *server) replay(q *replay) (*Replayed, error) {
	header, trace, err := explore.ParseTrace(q.Name, q.Text)
	if err != nil {
		return nil, &misuseError{err}
	}
	form := verdict.Form{Race: header.Race, Scenario: header.Scenario, Variant: header.Variant, Model: header.Model, Arch: trace.Arch()}
	race, sc, v, err := s.find(form)
	if err != nil {
		return nil, err
	}
	finding, _, err := verdict.Options{Before: s.before}.Replay(race, sc, v, header.Model, trace)
	if err != nil {
		return nil, &misuseError{fmt.Errorf("%s: %w", q.Name, err)}
	}
	return &Replayed{form, finding}, nil
}

// writeCounters writes down what was run since the last time.
func writeCounters(directory string) error {
	if directory == "" {
		return nil
	}
	if err := coverage.WriteMetaDir(directory); err != nil {
		return err
	}
	if err := coverage.WriteCountersDir(directory); err != nil {
		return err
	}
	return coverage.ClearCounters()
}
