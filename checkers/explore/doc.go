// Package explore runs a scenario under every execution that a memory model
// allows, each exactly once.
//
// An execution is a graph (package graph). A run starts the scenario from
// scratch, drives its tasks through the events of the graph it was given, and
// then lets them go on: each new event takes its newest choice (read the newest
// write, write at the end of coherence, take the lock after everybody else),
// and every other choice that the model allows becomes a graph of its own,
// waiting to be run. A new write may also be what an older read should have
// read; such a revisit cuts the graph back to what the read and the write need.
// This is the algorithm TruSt (POPL 2022): no execution is met twice, nothing
// is remembered but the graphs that wait, and they can be run by any worker.
//
// User code keeps most of its state in ordinary memory, which a run cannot take
// back. Therefore every execution really runs the code, in an order that
// extends program order, reads-from and lock order, on a fresh world; such
// memory must be free of races, and package race reports the ones it has.
//
// A scenario that has too many executions can be sampled instead: the same run,
// with the offers left out, takes its steps in an order that a [Strategy] draws.
package explore
