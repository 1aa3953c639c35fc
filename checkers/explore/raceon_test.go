//go:build race

package explore

const underRaceDetector = true
