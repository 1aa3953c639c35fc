package main

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// killed starts a command, waits until it has written a checkpoint, and kills
// it: "killed run.checkpoint verify race ...". The command must be at work then.
func killed(ts *testscript.TestScript, negated bool, args []string) {
	if err := signalled(ts, negated, args, syscall.SIGKILL); err.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		ts.Fatalf("it was not killed: %v", err)
	}
}

// interrupted is the same with a signal that the command can see, and after
// which it must say that it knows no answer.
func interrupted(ts *testscript.TestScript, negated bool, args []string) {
	if err := signalled(ts, negated, args, syscall.SIGTERM); err.ExitCode() != exitUnknown {
		ts.Fatalf("it ended otherwise: %v", err)
	}
}

// signalled sends the signal when the checkpoint has changed twice: when it was
// made, and when something was explored.
func signalled(ts *testscript.TestScript, negated bool, args []string, signal syscall.Signal) *os.ProcessState {
	if negated || len(args) < 2 {
		ts.Fatalf("usage: killed|interrupted file command [argument...]")
	}
	var stdout, stderr bytes.Buffer
	program, err := exec.LookPath(args[1])
	ts.Check(err)
	command := exec.Command(program, args[2:]...)
	command.Dir, command.Stdout, command.Stderr = ts.MkAbs("."), &stdout, &stderr
	command.Env = append(os.Environ(), "PATH="+ts.Getenv("PATH"))
	ts.Check(command.Start())
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	var before []byte
	for changes, deadline := 0, time.Now().Add(2*time.Minute); changes < 2; {
		select {
		case err := <-ended:
			ts.Fatalf("it ended by itself: %v\n%s%s", err, &stdout, &stderr)
		case <-time.After(5 * time.Millisecond):
		}
		if now, err := os.ReadFile(ts.MkAbs(args[0])); err == nil && !bytes.Equal(now, before) {
			before = now
			changes++
		}
		if time.Now().After(deadline) {
			_ = command.Process.Kill()
			ts.Fatalf("no checkpoint in two minutes")
		}
	}
	ts.Check(command.Process.Signal(signal))
	<-ended
	ts.Logf("[stdout]\n%s[stderr]\n%s", &stdout, &stderr)
	if stdout.Len() > 0 {
		ts.Fatalf("it had an answer already:\n%s", &stdout)
	}
	if signal != syscall.SIGKILL && !bytes.Contains(stderr.Bytes(), []byte("verify: interrupted; the same command goes on from "+args[0])) {
		ts.Fatalf("it does not say how to go on: %s", &stderr)
	}
	return command.ProcessState
}
