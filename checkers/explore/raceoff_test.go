//go:build !race

package explore

const underRaceDetector = false
