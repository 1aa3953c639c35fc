package review

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"benign/checkers/checkpoint"
	"benign/checkers/verdict"
)

// memory is what the unpatched code has shown, so that no form is explored twice.
// It is safe for concurrent use.
type memory struct {
	mutex   sync.Mutex
	process *Process
	file    string // that keeps it, or ""
	build   string
	kept    kept
	changed bool
}

// kept is what a memory knows: what forms have shown, and which functions of
// which files the forms of scenarios have run.
type kept struct {
	Observed  map[string]verdict.Observed
	Functions map[string][][2]string
}

func nothing() kept { return kept{map[string]verdict.Observed{}, map[string][][2]string{}} }

// newMemory returns the memory of a build. What an earlier one with the same
// program has left in the directory of the cache is in it; a file that is of no
// use is made anew.
func newMemory(p *Process, program, cache string) *memory {
	m := &memory{process: p, kept: nothing()}
	text, err := os.ReadFile(program)
	if cache == "" || err != nil {
		return m
	}
	sum := sha256.Sum256(text)
	m.build = hex.EncodeToString(sum[:])
	m.file = filepath.Join(cache, "unpatched")
	if payload, found, err := checkpoint.Read(m.file, m.header()); found && err == nil {
		if gob.NewDecoder(bytes.NewReader(payload)).Decode(&m.kept) != nil {
			m.kept = nothing()
		}
	}
	return m
}

func (m *memory) header() checkpoint.Header {
	return checkpoint.Header{Build: m.build, Question: "what the code shows without a patch"}
}

// save writes the memory down, if it is to be kept. That it cannot is no reason
// not to answer.
func (m *memory) save() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.file == "" || !m.changed {
		return
	}
	var b bytes.Buffer
	if gob.NewEncoder(&b).Encode(m.kept) != nil || os.MkdirAll(filepath.Dir(m.file), 0o755) != nil {
		return
	}
	_ = checkpoint.Write(m.file, m.header(), b.Bytes())
}

func key(f verdict.Form) string { return fmt.Sprintf("%+v", f) }

// observed returns what a form shows, see Process.Before. What depends on a limit
// in time is the same for all that ask.
func (m *memory) observed(f verdict.Form) (verdict.Observed, error) {
	return m.observe(task{Form: f, Workers: 1})
}

func (m *memory) observe(t task) (verdict.Observed, error) {
	m.mutex.Lock()
	o, ok := m.kept.Observed[key(t.Form)]
	m.mutex.Unlock()
	if ok {
		return o, nil
	}
	return m.explore(t)
}

func (m *memory) explore(t task) (verdict.Observed, error) {
	o, err := m.process.observe(t)
	if err != nil {
		return nil, fmt.Errorf("%s/%s, %s under %s without the patch: %w", t.Form.Race, t.Form.Scenario, t.Form.Variant, t.Form.Model, err)
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.kept.Observed[key(t.Form)] = o
	m.changed = true
	return o, nil
}

// run observes the forms of a scenario and returns the functions that they run.
func (m *memory) run(ctx context.Context, e experiment, directory string, tree Tree) (*ran, error) {
	c, name := newRan(), fmt.Sprintf("%s %+v", e.name, e.tasks)
	m.mutex.Lock()
	functions, ok := m.kept.Functions[name]
	m.mutex.Unlock()
	if ok {
		c.add(functions)
		return c, nil
	}
	if err := os.Mkdir(directory, 0o755); err != nil {
		return nil, err
	}
	for _, t := range e.tasks {
		t.Coverage = directory
		if _, err := m.explore(t); err != nil {
			return nil, err
		}
	}
	if err := c.read(ctx, directory, tree); err != nil {
		return nil, err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.kept.Functions[name] = c.list()
	m.changed = true
	return c, nil
}
