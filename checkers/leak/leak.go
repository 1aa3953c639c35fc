// Package leak finds what outlives its scenario: objects that nobody freed, and
// goroutines that nobody ended. Goroutines are goleak's business; this package
// is its one owner outside of tests.
package leak

import (
	"strings"

	"go.uber.org/goleak"

	"benign/impl/kernel"
)

// Objects returns a violation that names the objects of an explored world that
// are still alive, or nil. Call it when the scenario has been torn down.
func Objects(w *kernel.World) *kernel.Violation {
	leaked := w.Leaked()
	if len(leaked) == 0 {
		return nil
	}
	return &kernel.Violation{Kind: kernel.Leak, Message: strings.Join(leaked, ", ") + " outlived the scenario"}
}

// Goroutines remembers which goroutines run now.
type Goroutines struct{ running goleak.Option }

// Watch starts looking.
func Watch() Goroutines { return Goroutines{goleak.IgnoreCurrent()} }

// Check returns an error that shows the goroutines that were started since, and
// do not end within goleak's patience (about half a second).
func (g Goroutines) Check() error { return goleak.Find(g.running) }
