// Package review says what a patch changes: it builds the code with and without
// it, explores the scenarios that the patch touches in both builds, and compares
// what they show.
//
// Each build is a process of its own, a [Process], which [Serve]s the questions of
// this one: observe a form, compare one with what it has shown in the other
// build, run a trace again. The questions and answers are plain data on the
// standard input and output. Which scenarios a patch touches is measured: the
// unpatched build counts which functions each of them runs.
//
// The package knows no mechanism. A build has its own catalogue, and is asked for
// it.
package review
