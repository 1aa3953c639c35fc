package verdict

import (
	"benign/checkers/explore"
	"benign/impl/scenario"
)

// Form is a variant of a scenario under a memory model on a machine, perhaps
// without some of its operations: all that has to be known to observe it.
type Form struct {
	// Race, Scenario, Variant and Model are names.
	Race, Scenario, Variant, Model string
	// Arch is the machine, see Options.
	Arch int
	// Without are operations that are left out.
	Without []scenario.Omitted
	// MaxExecutions bounds the exploration; 0 is the default of package explore.
	MaxExecutions int
}

// Observed is all that a form has shown, as plain data for another process of
// the same version of this package.
type Observed []byte

// Observe explores a form and returns what it shows. An error means that it
// could not be explored.
func Observe(race *scenario.Race, s *scenario.Scenario, v *scenario.Variant, f Form, o Options) (Observed, error) {
	o.Arch, o.MaxExecutions = f.Arch, f.MaxExecutions
	config := o.config(race, s, v, f.Model)
	config.Without = f.Without
	seen, err := o.observe(race.Name, config, nil)
	if err != nil {
		return nil, err
	}
	return encode(seen.record()), nil
}

// Compare answers for a variant of which Options.Before knows what it has shown
// before the code was changed: that takes the place of the baseline. The
// verdict's Cost compares what the two take.
func Compare(race *scenario.Race, s *scenario.Scenario, v *scenario.Variant, model string, o Options) (*Verdict, error) {
	if err := wellFormed(race.Name, s); err != nil {
		return nil, err
	}
	base, err := o.baseline(race.Name, o.config(race, s, v, model))
	if err != nil {
		return nil, err
	}
	return judge(race, s, v, model, o, base)
}

// baseline returns what a configuration of the variant that others are compared
// with shows.
func (o Options) baseline(race string, config explore.Config) (*observation, error) {
	if o.Before == nil {
		return o.observe(race, config, nil)
	}
	observed, err := o.Before(Form{Race: race, Scenario: config.Scenario.Name, Variant: config.Variant.Name, Model: config.Model,
		Arch: config.Arch, Without: config.Without, MaxExecutions: config.MaxExecutions})
	if err != nil {
		return nil, err
	}
	var r record
	if err := decode(observed, &r); err != nil {
		return nil, err
	}
	seen := newObservation(config, nil, nil)
	seen.restore(r)
	return seen, nil
}

// reference is the variant that another one is compared with.
func (o Options) reference(s *scenario.Scenario, v *scenario.Variant) *scenario.Variant {
	if o.Before != nil {
		return v
	}
	return s.Variant(scenario.Baseline)
}
