package main

import (
	"benign/checkers/verdict"
	"benign/impl/scenario"
)

// allCommand answers every question of the catalogue and compares the answers
// with what the catalogue predicts.
type allCommand struct{ asking }

func (c *allCommand) run(e *environment) (exit int, err error) {
	line := c.progress(e.stderr)
	o, err := c.options(line)
	if err != nil {
		return 0, err
	}
	kept, err := c.keep(e.stderr, c.question("verify all"))
	if err != nil {
		return 0, err
	}
	kept.apply(&o)
	asked, err := c.askAll(e, line, o)
	if err == nil {
		writeSurprises(e.stdout, asked, c.maxExecutions())
		err = e.flush()
	}
	return exitOfAll(asked), kept.close(err)
}

// askAll answers every question, and writes each answer as soon as it is there:
// findings come last.
func (c *allCommand) askAll(e *environment, line *progress, o verdict.Options) (asked []*verdict.Question, err error) {
	for _, findings := range []bool{false, true} {
		for i := range e.races {
			race := &e.races[i]
			if race.Finding != findings {
				continue
			}
			q, err := ask(race, "", o)
			line.clear()
			if err != nil {
				return nil, err
			}
			asked = append(asked, q)
			writeOverview(e.stdout, q)
			if err := e.flush(); err != nil {
				return nil, err
			}
		}
	}
	return asked, nil
}

// exitOfAll is harmless when every answer is the predicted one, and unknown
// when the only others are those that were not reached.
func exitOfAll(asked []*verdict.Question) int {
	exit := exitHarmless
	for _, q := range asked {
		for _, v := range q.Surprises {
			if v.Class != scenario.Unknown {
				return exitHarmful
			}
			exit = exitUnknown
		}
		exit = worse(exit, exitOfReached(q.Reached))
	}
	return exit
}
