// Package file says what readers and writers of a file may see of one block: it
// is in one place at a time, a write moves it, and a read tells where it is.
//
// That is all that matters of the caches between: how many of their entries
// cover a block, or whether there is one at all, no reader can tell.
package file

// Place is where the content of a block comes from: how far into which extent.
// Equal places hold equal data.
type Place struct {
	// Extent names what has to be read as a whole, and Offset is in bytes.
	Extent, Offset uint64
}

// Input is an access to the block: a write, which puts it To, or a read.
type Input struct {
	// Write says which of the two it is.
	Write bool
	// To is where a write puts the block.
	To Place
}

// Step reports whether a block that is at the given place may answer the access
// with out, and where it is afterwards. A write answers with the new place.
func Step(at Place, in Input, out Place) (ok bool, next Place) {
	if in.Write {
		at = in.To
	}
	return out == at, at
}
