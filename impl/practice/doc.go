// Package practice has the arguments with which kernel reviewers accept or refuse
// data races, each as a small scenario of its own: what is argued, the fully
// locked form, the racy form, and what the argument rests on taken away. A file
// has one argument.
//
// The mechanisms are cut down to what the argument is about. That a twin is
// harmless says that the argument holds where its premises do; it does not say
// that they hold in a kernel.
package practice
