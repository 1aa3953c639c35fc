// Verify decides whether a race is harmless.
//
// It takes the reference implementation of a mechanism, runs a small scenario
// under every execution that a memory model allows, and compares what the racy
// form can show with what the fully locked form can show. The answer is one of
// four classes:
//
//	INDISTINGUISHABLE  nothing shows that the lock was not taken
//	DEFERS             work is left for later, and is done after a stated number of rounds
//	HARMFUL            something breaks, or work is lost; the shortest execution is printed
//	UNKNOWN            a bound was hit first, the race was never seen to happen, or only
//	                   samples were drawn
//
// An answer holds for the tasks and operations of its scenario, for its memory
// model and machine, and only as far as the exploration went: all of that is
// printed with it. Beside the answer stand the faults that were planted on purpose, such as
// a check left out. A judge that misses one of them proves nothing.
//
// Without arguments verify answers every question of its catalogue, and
// complains about each answer that the catalogue does not predict. Races in
// which the kernel's behaviour as it stands does harm here are listed apart, as
// findings; they are predicted, so they are no reason to complain.
//
// # Examples
//
//	verify                                          every race of the catalogue
//	verify list                                     what there is to ask
//	verify race rb-empty                            one race, with all evidence
//	verify race rb-empty/insert --model kernel      one of its scenarios
//	verify race rb-empty/insert --arch 32           on a machine with words of 32 bits
//	verify race rb-empty --variant no-recheck       what if this check were missing?
//	verify race rb-empty/evict --variant no-igrab --trace evict.trace
//	verify replay evict.trace                       the same execution again
//	verify race rb-empty/unmount --strategy pct     samples, where there are too many executions
//	verify race rb-empty/crowd --strategy preemption --preemptions 1
//	verify explain rb-empty                         the text for the change log
//	verify explain my.patch                         the same for the races that a patch brings
//	verify patch my.patch                           the code with and without a patch
//	verify replay crash.trace --patch my.patch      the execution that it breaks
//	verify mutants                                  known bugs and planted faults
//	verify bench rb-empty                           what the patch gains
//	verify bench recow                              what the sets of inhibit gain
//	verify race rb-empty --budget 10m --checkpoint rb-empty.checkpoint
//
// # Long runs
//
// With --budget a run ends after a time, or after a number of executions of each
// variant; the answer is UNKNOWN then, unless harm was found, and says how much
// was explored, by estimate. With --checkpoint a run keeps what it has explored
// in a file. When the same command is given again it goes on from there, whether
// it was killed, interrupted or out of budget, and prints the same bytes as one
// that never stopped. The file is removed when all is explored. It is of no use
// to another question or another build of verify, which refuse it.
//
// # Patches
//
// A patch is a unified diff against the reference implementations. In a checkout
// of the sources, patch builds the code with and without it, explores the
// scenarios that run what it changes in both builds, and compares: what the
// unpatched form shows is the baseline of the same form patched. What no scenario
// runs is UNKNOWN. The checkout is not touched.
//
// # Can this happen?
//
// A race may also ask whether something can happen at all, harmful or not, such as
// whether a counter can exceed one. The answer is REACHABLE, with the smallest
// execution that shows it, or UNREACHABLE in all executions of a scenario, or
// UNKNOWN if not all of them were looked at. It counts for the exit status only if
// it is not the predicted one.
//
// # Exit status
//
//	0  harmless, or every answer is the predicted one
//	1  harmful, or an answer is not the predicted one
//	2  the question could not be asked: wrong arguments or bad input
//	3  unknown: a bound was hit, a race was never seen, or a planted fault was missed
package main
