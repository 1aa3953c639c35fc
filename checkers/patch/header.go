package patch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"benign/impl/scenario"
)

// Header says what a patch is, and what must be said of it.
type Header struct {
	// Title says in a few words what the patch does.
	Title string
	// Labels are the names that lists of known bugs have for it: Id and Also.
	Labels []string
	// Mechanism is the one that it changes, such as "extentmap".
	Mechanism string
	// Races are the questions that must show it, each "race" or "race/scenario".
	Races []string
	// Breaks says what goes wrong.
	Breaks string
	// Source is where it is known from, or Planted.
	Source string
	// Expect is the class that it must get.
	Expect scenario.Class
	// Violation is, for a harmful one, the kind that the finding must have, and
	// Trace the most steps that the shortest execution may take to show it.
	Violation string
	Trace     int
	// Models and Arch are where it must show; without them, where questions are
	// asked by default, on a 64-bit machine.
	Models []string
	Arch   int
	// Equivalent says why nothing can tell the patch from what it changes, or "".
	Equivalent string
	// Cost names what an execution takes more of: "events", "locks".
	Cost []string
}

// Planted is the Source of a fault that was never seen in the wild.
const Planted = "planted"

// Costs are what Header.Cost can name.
func Costs() []string { return []string{"events", "locks"} }

// keys are the fields of a header, in the order in which messages list them.
var keys = []string{"Title", "Id", "Also", "Mechanism", "Race", "Breaks", "Source", "Expect", "Violation", "Trace", "Model", "Arch", "Equivalent", "Cost"}

// parseHeader reads the fields that the text begins with; a text that does not
// begin with one has none. What comes after the fields is the description.
func parseHeader(name, text string) (h Header, description string, err error) {
	rest, line := text, 0
	seen := map[string]bool{}
	for rest != "" {
		first, after, _ := strings.Cut(rest, "\n")
		line++
		key, value, found := strings.Cut(first, ":")
		switch {
		case strings.TrimSpace(first) == "":
			return h, strings.TrimSpace(after), nil
		case len(seen) == 0 && (!found || !slices.Contains(keys, key)):
			return h, strings.TrimSpace(text), nil
		case !found || !slices.Contains(keys, key):
			return h, "", &Error{name, line, 1, fmt.Sprintf("%q is no field of a header; want one of %s, or an empty line", first, strings.Join(keys, ", "))}
		case seen[key]:
			return h, "", &Error{name, line, 1, fmt.Sprintf("%s is there twice", key)}
		}
		seen[key] = true
		value = strings.TrimSpace(value)
		if err := h.set(key, value); err != nil {
			return h, "", &Error{name, line, len(key) + 3, err.Error()}
		}
		rest = after
	}
	return h, "", nil
}

// set sets one field.
func (h *Header) set(key, value string) error {
	if value == "" {
		return fmt.Errorf("%s is empty", key)
	}
	texts := map[string]*string{"Title": &h.Title, "Mechanism": &h.Mechanism, "Breaks": &h.Breaks, "Source": &h.Source,
		"Violation": &h.Violation, "Equivalent": &h.Equivalent}
	if text := texts[key]; text != nil {
		*text = value
		return nil
	}
	switch key {
	case "Id":
		h.Labels = append([]string{value}, h.Labels...)
	case "Also":
		h.Labels = append(h.Labels, list(value)...)
	case "Race":
		h.Races = list(value)
	case "Model":
		h.Models = list(value)
	case "Expect":
		return h.Expect.UnmarshalText([]byte(value))
	case "Trace", "Arch":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || key == "Arch" && n != 32 && n != 64 {
			return fmt.Errorf("%s is %q; want %s", key, value, map[string]string{"Trace": "a number of steps", "Arch": "32 or 64"}[key])
		}
		if key == "Trace" {
			h.Trace = n
		} else {
			h.Arch = n
		}
	case "Cost":
		for _, rise := range list(value) {
			what, found := strings.CutSuffix(rise, " up")
			if !found || !slices.Contains(Costs(), what) {
				return fmt.Errorf("cost %q; want %s up", rise, strings.Join(Costs(), " up or "))
			}
			h.Cost = append(h.Cost, what)
		}
	}
	return nil
}

// list splits at commas.
func list(value string) []string {
	parts := strings.Split(value, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// Check returns an error unless the header says all that a patch of the corpus
// has to say, and nothing that does not belong together.
func (p *Patch) Check() error {
	h := &p.Header
	missing := func(key string) error {
		return &Error{File: p.Name, Message: fmt.Sprintf("the header has no %s", key)}
	}
	for key, empty := range map[string]bool{"Title": h.Title == "", "Mechanism": h.Mechanism == "", "Race": len(h.Races) == 0,
		"Breaks": h.Breaks == "", "Source": h.Source == "", "Expect": h.Expect == 0} {
		if empty {
			return missing(key)
		}
	}
	harmful := h.Expect == scenario.Harmful
	switch {
	case harmful && h.Violation == "":
		return missing("Violation")
	case harmful && h.Trace == 0:
		return missing("Trace")
	case !harmful && (h.Violation != "" || h.Trace != 0):
		return &Error{File: p.Name, Message: "Violation and Trace belong to Expect: HARMFUL"}
	case h.Equivalent != "" && (h.Expect != scenario.Indistinguishable || len(h.Cost) > 0):
		return &Error{File: p.Name, Message: "Equivalent belongs to Expect: INDISTINGUISHABLE, without a Cost"}
	case h.Expect == scenario.Indistinguishable && h.Equivalent == "" && len(h.Cost) == 0 && h.Source == Planted:
		return &Error{File: p.Name, Message: "a planted fault that must be INDISTINGUISHABLE needs Equivalent or Cost"}
	case p.Description == "":
		return &Error{File: p.Name, Message: "there is no description between the header and the diff"}
	}
	return nil
}
