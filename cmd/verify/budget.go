package main

import (
	"fmt"
	"strconv"
	"time"
)

// budget is what the command line allows for an answer: a time, or a number of
// executions of each variant.
type budget struct {
	time       time.Duration
	executions int
}

// UnmarshalText reads a time, such as 2s, or a number.
func (b *budget) UnmarshalText(text []byte) error {
	if n, err := strconv.Atoi(string(text)); err == nil && n > 0 {
		b.executions = n
		return nil
	}
	d, err := time.ParseDuration(string(text))
	if err != nil || d <= 0 {
		return fmt.Errorf("%q is neither a time, such as 2s or 5m, nor a number of executions", text)
	}
	b.time = d
	return nil
}
