//go:build race

package inhibit

// underRaceDetector says that exploring takes about ten times as long. What the
// tests leave out then, they do without it: CI runs them both ways.
const underRaceDetector = true
