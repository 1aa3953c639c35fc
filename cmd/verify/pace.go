package main

import (
	"fmt"
	"time"

	"benign/checkers/verdict"
)

// pace is how fast one exploration goes, from the first news with an estimate
// on: what an earlier run has done took it no time.
type pace struct {
	of    verdict.Progress // without numbers
	begun time.Time
	share float64 // by then
}

// describe says how much has been explored, and how long the rest will take at
// this pace, both by estimate; it is empty if nothing is known.
func (p *pace) describe(news verdict.Progress, now time.Time) string {
	of, share := news, news.Stats.Share
	of.Stats = p.of.Stats
	if share <= 0 {
		return ""
	}
	text := fmt.Sprintf(", about %.0f%% explored", min(100*share, 99))
	if of != p.of || share < p.share {
		*p = pace{of, now, share}
		return text
	}
	if share == p.share {
		return text
	}
	left := time.Duration(float64(now.Sub(p.begun)) * (1 - share) / (share - p.share))
	if left > longest {
		return text + ", more than a year left"
	}
	return fmt.Sprintf("%s, about %v left", text, left.Round(time.Second))
}

// longest is the longest time that is worth telling.
const longest = 365 * 24 * time.Hour
