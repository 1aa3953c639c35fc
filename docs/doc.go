// Package docs is where the project explains itself, and where the explanations
// are kept true.
//
// The Markdown files in this directory are for readers. The package around them
// has no code to import: it consists of tests that read the whole module from
// disk and hold it to what the documents promise. imports_test.go is the order
// of the packages, written as two tables: who may import whom, and who may
// import each outside module. tidy_test.go is the house rules for code: the
// length of functions, doc comments, the names at the top level. documents_test.go
// is those for documents: titles, links, dependencies. quotes_test.go holds the
// guide to code that runs, and arguments_test.go the track record to what the
// judges answer. Each rule is also run on small planted modules that break it,
// because a rule that cannot fail is only an opinion.
//
// The tests parse files in-process and never ask a child process such as "go
// list": the test cache records what a test itself reads, and would go on
// answering "ok (cached)" after a wrong import that only a child has seen.
package docs
