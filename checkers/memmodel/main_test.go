package memmodel_test

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain asks for more random graphs than is usual: each is small and cheap.
func TestMain(m *testing.M) {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if !asked {
		if err := flag.Set("rapid.checks", "1000"); err != nil {
			panic(err)
		}
	}
	status := m.Run()
	if err := goleak.Find(); err != nil && status == 0 {
		println(err.Error())
		status = 1
	}
	os.Exit(status)
}
