package linear

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"benign/impl/scenario"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// register is a specification of one integer: input > 0 writes it, 0 reads.
var register = &scenario.Spec{
	Name:    "register",
	Initial: func(string) any { return 0 },
	Step: func(state, input, output any) (bool, any) {
		if input.(int) > 0 {
			return true, input
		}
		return output == state, state
	},
	Equal:    func(a, b any) bool { return a == b },
	Describe: func(input, output any) string { return fmt.Sprintf("%v→%v", input, output) },
}

func write(task, value int, call, ret int64, partition string) Call {
	return Call{Task: task, Call: call, Return: ret, Effects: []scenario.Effect{{Partition: partition, Input: value}}}
}

func read(task, value int, call, ret int64, partition string) Call {
	return Call{Task: task, Call: call, Return: ret, Effects: []scenario.Effect{{Partition: partition, Input: 0, Output: value}}}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name           string
		history        []Call
		timed, program Result
	}{
		{"empty", nil, Linearizable, Linearizable},
		{"in turn", []Call{write(0, 1, 0, 1, "x"), read(1, 1, 2, 3, "x")}, Linearizable, Linearizable},
		{"stale read", []Call{write(0, 1, 0, 1, "x"), read(1, 0, 2, 3, "x")}, NotLinearizable, Linearizable},
		{"concurrent read of the old value", []Call{write(0, 1, 0, 5, "x"), read(1, 0, 2, 3, "x")}, Linearizable, Linearizable},
		{"touching intervals are concurrent", []Call{write(0, 1, 0, 2, "x"), read(1, 0, 2, 3, "x")}, Linearizable, Linearizable},
		{"own write forgotten", []Call{write(0, 1, 0, 1, "x"), read(0, 0, 2, 3, "x")}, NotLinearizable, NotLinearizable},
		{"never written", []Call{write(0, 1, 0, 9, "x"), read(1, 7, 0, 9, "x")}, NotLinearizable, NotLinearizable},
		{"back in time", []Call{write(0, 1, 0, 9, "x"), read(1, 1, 1, 2, "x"), read(1, 0, 3, 4, "x")}, NotLinearizable, NotLinearizable},
		{"partitions are apart", []Call{write(0, 1, 0, 1, "x"), read(1, 0, 2, 3, "y")}, Linearizable, Linearizable},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := Check(register, c.history); got != c.timed {
				t.Errorf("by time: %d, want %d", got, c.timed)
			}
			if got, _ := CheckProgramOrder(register, c.history); got != c.program {
				t.Errorf("by program order: %d, want %d", got, c.program)
			}
		})
	}
}

// TestProgramOrderIsSequentialConsistency uses the store-buffering outcome,
// which each word alone explains: the property is per partition.
func TestProgramOrderIsSequentialConsistency(t *testing.T) {
	history := []Call{
		write(0, 1, 0, 1, "x"), read(0, 0, 2, 3, "y"),
		write(1, 1, 0, 1, "y"), read(1, 0, 2, 3, "x"),
	}
	if got, _ := CheckProgramOrder(register, history); got != Linearizable {
		t.Errorf("got %d", got)
	}
}

func TestErrorNamesThePartition(t *testing.T) {
	_, err := Check(register, []Call{write(0, 1, 0, 1, "inode 7"), read(1, 0, 2, math.MaxInt64, "inode 7")})
	if err == nil || !strings.Contains(err.Error(), "inode 7") || !strings.Contains(err.Error(), "task 2: 0→0") {
		t.Errorf("error %v does not name partition and operations", err)
	}
}

// TestManyEffectsOfOneTask goes past what a byte counts.
func TestManyEffectsOfOneTask(t *testing.T) {
	var history []Call
	for n := range 700 {
		history = append(history, write(0, n+1, int64(2*n), int64(2*n+1), "x"))
	}
	history = append(history, read(0, 700, 2000, 2001, "x"))
	if got, err := CheckProgramOrder(register, history); got != Linearizable {
		t.Errorf("got %d: %v", got, err)
	}
}
