// Package checkpoint keeps what a long run has done in a file, so that a run
// that is killed loses little. A file is whole or not there at all; it says what
// it is of, and a file of something else is refused.
package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
)

// A file is a line that names the format, the SHA-256 of the rest, and the rest,
// which package gob has encoded.
const (
	magic   = "benign checkpoint "
	version = 1
)

// Header says what a checkpoint is of. It is of use to the same question only,
// and to the same build of the code: what waits in it was found by that code.
type Header struct {
	// Build is a hash of the program, see [Build], and Question what was asked.
	Build, Question string
}

// content is all but the first line and the checksum.
type content struct {
	Header
	Payload []byte
}

// FileError says what is wrong with a checkpoint file.
type FileError struct {
	// File is its name, and Err what is wrong.
	File string
	Err  error
}

// Error implements error.
func (e *FileError) Error() string { return fmt.Sprintf("checkpoint %s: %v", e.File, e.Err) }

// Unwrap lets errors.Is see what is wrong.
func (e *FileError) Unwrap() error { return e.Err }

// What can be wrong with a file that can be read: it is ErrForeign, or it is
// ErrDamaged, or it is from another build, ErrBuild, or of another question,
// ErrQuestion.
var (
	ErrForeign  = errors.New("the file is no checkpoint")
	ErrDamaged  = errors.New("the file is cut off or damaged: its checksum is not that of its content")
	ErrBuild    = errors.New("the file was written by another build of the code, and means nothing to this one: go on with that build, or delete the file to begin anew")
	ErrQuestion = errors.New("the file is of another question")
)

// Write puts a checkpoint into the file, in the place of what was there.
func Write(file string, h Header, payload []byte) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(content{h, payload}); err != nil {
		return &FileError{file, err}
	}
	sum := sha256.Sum256(b.Bytes())
	if err := replace(file, fmt.Appendf(nil, "%s%d\n", magic, version), sum[:], b.Bytes()); err != nil {
		return &FileError{file, err}
	}
	return nil
}

// Remove deletes the file, and what a killed run may have left beside it.
func Remove(file string) error {
	for _, name := range []string{file, temporary(file)} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &FileError{file, err}
		}
	}
	return nil
}

// temporary is the name that a file has until it is whole. It is always the
// same, so that runs that are killed do not leave one each.
func temporary(file string) string { return file + ".new" }

// replace writes a file under a temporary name, which takes the place of what
// was there when it is safely on the disk.
func replace(file string, parts ...[]byte) (err error) {
	f, err := os.Create(temporary(file))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	for _, part := range parts {
		if _, err = f.Write(part); err != nil {
			break
		}
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	return err
}

// Read returns what was written for the header; found is false if there is no
// such file. An error is a [*FileError].
func Read(file string, h Header) (payload []byte, found bool, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err == nil {
		payload, err = parse(text, h)
	}
	if err != nil {
		return nil, true, &FileError{file, err}
	}
	return payload, true, nil
}

func parse(text []byte, h Header) ([]byte, error) {
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	format, ours := strings.CutPrefix(string(line), magic)
	switch {
	case !ours:
		return nil, ErrForeign
	case format != strconv.Itoa(version):
		return nil, fmt.Errorf("the file has format %q, want %d: %w", format, version, ErrForeign)
	case len(rest) < sha256.Size:
		return nil, ErrDamaged
	}
	if sum := sha256.Sum256(rest[sha256.Size:]); !bytes.Equal(sum[:], rest[:sha256.Size]) {
		return nil, ErrDamaged
	}
	var c content
	if err := gob.NewDecoder(bytes.NewReader(rest[sha256.Size:])).Decode(&c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	switch {
	case c.Question != h.Question:
		return nil, fmt.Errorf("%w: it is of %q, and this is %q", ErrQuestion, c.Question, h.Question)
	case c.Build != h.Build:
		return nil, ErrBuild
	}
	return c.Payload, nil
}

// Build returns a hash of the program that runs.
func Build() (string, error) { return build() }

var build = sync.OnceValues(func() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
})
