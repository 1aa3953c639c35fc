package shrinker

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"benign/impl/kernel"
)

// readInChild names, in the environment of a child process, the form whose
// unlocked read TestUnlockedReadInChild races with.
const readInChild = "BENIGN_UNLOCKED_READ"

// The Go race detector is a judge that knows nothing of this project. It must
// report the plain read of the root, and must not report the marked one.
func TestRaceDetectorSeesThePlainRead(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a test binary with the race detector")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go tool is not installed")
	}
	for _, c := range []struct {
		form form
		want bool
	}{{plainRead, true}, {patched, false}} {
		t.Run(c.form.name, func(t *testing.T) {
			t.Parallel()
			command := exec.Command(goTool, "test", "-race", "-count=1", "-run=^TestUnlockedReadInChild$", ".")
			command.Env = append(os.Environ(), readInChild+"="+c.form.name)
			output, err := command.CombinedOutput()
			text := string(output)
			var failed *exec.ExitError
			switch {
			case err != nil && !errors.As(err, &failed):
				t.Fatal(err)
			case strings.Contains(text, "-race requires cgo") || strings.Contains(text, "C compiler"):
				t.Skipf("the race detector cannot be built here: %s", text)
			case c.want && !strings.Contains(text, "WARNING: DATA RACE"):
				t.Errorf("no data race was reported:\n%s", text)
			case !c.want && err != nil:
				t.Errorf("the marked read has failed:\n%s", text)
			case c.want && !bytes.Contains(output, []byte("EmptyUnlocked")):
				t.Errorf("a data race was reported, but not at the unlocked read:\n%s", text)
			}
		})
	}
}

// TestUnlockedReadInChild walks over an inode while its only extent map comes
// and goes.
func TestUnlockedReadInChild(t *testing.T) {
	forms := map[string]form{plainRead.name: plainRead, patched.name: patched}
	f, asked := forms[os.Getenv(readInChild)]
	if !asked {
		t.Skip("runs in a child process of TestRaceDetectorSeesThePlainRead")
	}
	w := kernel.NewWorld(kernel.Options{})
	setup := w.NewTask("set-up")
	x := newFixture(setup, f)
	inode, m := x.inode(setup, firstInode), block(0)
	var wait sync.WaitGroup
	for _, body := range []func(*kernel.Task){
		func(t *kernel.Task) { adopt(inode, m).Run(t); drop(inode, m.Start, m.End()).Run(t) },
		func(t *kernel.Task) { x.scan(1).Run(t) },
	} {
		wait.Go(func() {
			task := w.NewTask("task")
			for range 500 {
				body(task)
			}
		})
	}
	wait.Wait()
	x.teardown(setup)
}
