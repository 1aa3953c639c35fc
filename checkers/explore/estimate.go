package explore

import "fmt"

// How much of an exploration is done cannot be known before it is: every run may
// open new ones. It can be estimated, in the way of Chen ("Heuristic Sampling: A
// Method for Predicting the Performance of Tree Searching Programs", SIAM
// Journal on Computing 1992, after Knuth): graphs are put into strata, by how
// many events they have when their run begins, and one of a stratum is taken to
// lead to as much as the others did on the average.

// strata counts runs by their strata.
type strata struct {
	ran     []int   // runs that began in the stratum
	offered [][]int // graphs that they offered, by the stratum of those
}

func (s *strata) run(stratum int) {
	s.grow(stratum)
	s.ran[stratum]++
}

// offer counts a graph that a run of another stratum has found.
func (s *strata) offer(from, stratum int) {
	for len(s.offered[from]) <= stratum {
		s.offered[from] = append(s.offered[from], 0)
	}
	s.offered[from][stratum]++
}

func (s *strata) grow(stratum int) {
	for len(s.ran) <= stratum {
		s.ran, s.offered = append(s.ran, 0), append(s.offered, nil)
	}
}

// take adds the counts of another one, and empties it.
func (s *strata) take(other *strata) {
	for from, n := range other.ran {
		if n == 0 {
			continue
		}
		s.grow(from)
		s.ran[from] += n
		row := other.offered[from]
		for len(s.offered[from]) < len(row) {
			s.offered[from] = append(s.offered[from], 0)
		}
		for stratum, n := range row {
			s.offered[from][stratum] += n
		}
		other.ran[from] = 0
		clear(row)
	}
}

// share estimates how much of all runs has been made, from 0 to 1.
func (s *strata) share() float64 {
	ran := 0
	for _, n := range s.ran {
		ran += n
	}
	if ran == 0 {
		return 0
	}
	waiting, rest := s.waiting(), 0.0
	sizes := s.sizes(len(waiting))
	for stratum, n := range waiting {
		rest += float64(max(0, n)) * sizes[stratum] // below 0 are those that a worker has not told of yet
	}
	return float64(ran) / (float64(ran) + rest)
}

// waiting returns how many graphs of each stratum wait to be run. The first one
// is empty, and nobody offered it.
func (s *strata) waiting() []int {
	waiting := []int{1}
	for from := range s.ran {
		for len(waiting) <= max(from, len(s.offered[from])-1) {
			waiting = append(waiting, 0)
		}
		waiting[from] -= s.ran[from]
		for stratum, n := range s.offered[from] {
			waiting[stratum] += n
		}
	}
	return waiting
}

// mostFruitful bounds what a run is taken to lead to in its own stratum and in
// lower ones, where revisits may cut graphs back to, so that the sum is finite.
const mostFruitful = 0.9

// sizes estimates how many runs come of a graph of each stratum, itself
// included. Where none has been run yet, runs that began before it passed it,
// and what they offered after it is taken.
func (s *strata) sizes(n int) []float64 {
	sizes := make([]float64, n)
	for stratum := n - 1; stratum >= 0; stratum-- {
		from := min(stratum, len(s.ran)-1)
		for from > 0 && s.ran[from] == 0 {
			from--
		}
		later, back := 1.0, 0.0
		for to, offers := range s.offered[from] {
			mean := float64(offers) / float64(s.ran[from])
			switch {
			case to > stratum:
				later += mean * sizes[to]
			case from == stratum:
				back += mean
			}
		}
		sizes[stratum] = later / (1 - min(back, mostFruitful))
	}
	return sizes
}

// CutShort says what was cut off and, if it is known, how much was done by then;
// it is empty if nothing was cut off.
func (s Stats) CutShort() string {
	switch percent := 100 * s.Share; {
	case s.Cut == "" || percent <= 0:
		return s.Cut
	case percent < 1:
		return s.Cut + ", when less than 1% had been explored, by estimate"
	default:
		return fmt.Sprintf("%s, when about %.0f%% had been explored, by estimate", s.Cut, min(percent, 99))
	}
}

// EstimatedExecutions is how many executions the exploration has in all, by
// estimate, if it has a Share; docs/long-runs.md says how far off that may be.
func (s Stats) EstimatedExecutions() float64 {
	if s.Share <= 0 {
		return float64(s.Executions())
	}
	return float64(s.Executions()) / s.Share
}
