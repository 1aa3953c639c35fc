//go:build !race

package inhibit

const underRaceDetector = false
