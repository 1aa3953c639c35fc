package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"benign/checkers/checkpoint"
	"benign/checkers/explore"
	"benign/checkers/verdict"
)

// keeping looks after the checkpoint of a run. A nil one has none.
type keeping struct {
	file       string
	checkpoint *verdict.Checkpoint
	signals    context.Context
	stop       context.CancelFunc
	stderr     io.Writer
}

// keep opens the checkpoint file that the command line names, if any, says so if
// there is something in it, and finds out whether it can be written before a
// long exploration does.
func (a *asking) keep(stderr io.Writer, question string) (*keeping, error) {
	if a.Checkpoint == "" {
		return nil, nil
	}
	c, err := verdict.OpenCheckpoint(a.Checkpoint, question)
	if err == nil {
		err = c.Save()
	}
	if err != nil {
		return nil, usageError{err}
	}
	if n := c.Executions(); n > 0 {
		fmt.Fprintf(stderr, "verify: going on from %s, which has %s\n", a.Checkpoint, count(n, "execution"))
	}
	k := &keeping{file: a.Checkpoint, checkpoint: c, stderr: stderr}
	k.signals, k.stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(k.signals, k.stop) // so that a second signal ends the process at once
	return k, nil
}

// apply makes the options use the checkpoint, and heed the signals.
func (k *keeping) apply(o *verdict.Options) {
	if k != nil {
		o.Checkpoint, o.Interrupt = k.checkpoint, k.signals.Done()
	}
}

// close ends the use of the checkpoint after an answer was written, or an error
// was met. It removes the file if it is of no further use.
func (k *keeping) close(err error) error {
	if k == nil {
		return err
	}
	k.stop()
	fault := (*checkpoint.FileError)(nil)
	switch {
	case errors.Is(err, explore.ErrInterrupted):
		return fmt.Errorf("interrupted; the same command goes on from %s, which has %s", k.file, count(k.checkpoint.Executions(), "execution"))
	case errors.As(err, &fault):
		return usageError{err}
	case err != nil:
		return err
	case k.checkpoint.Done():
		err = k.checkpoint.Remove()
	default:
		if err = k.checkpoint.Save(); err == nil {
			fmt.Fprintf(k.stderr, "verify: not all is explored; %s keeps %s, and the same command with more budget goes on from there\n",
				k.file, count(k.checkpoint.Executions(), "execution"))
		}
	}
	if err != nil {
		return usageError{err}
	}
	return nil
}

// question is the command line as far as the answer depends on it, bounds left
// out.
func (a *asking) question(command string) string {
	for _, model := range a.Model {
		command += " --model " + model
	}
	if a.Arch != nil {
		command += fmt.Sprintf(" --arch %d", *a.Arch)
	}
	if a.NoPlanted {
		command += " --no-planted"
	}
	if a.Strict {
		command += " --strict"
	}
	return command
}
