package extentmap

import "benign/impl/kernel"

// CachedSite is the unlocked look at whether the entry that a [Reader] keeps is
// still in the tree.
var CachedSite = kernel.DataRaceSite("cached-map",
	"a stale answer is about the cache, not about the file: who changes what the range means holds the range locked, as the reader does")

// Reader reads a file, one place after the other, and keeps the entry that it
// used last: the next read often wants the same one, and need not take the tree
// lock then. It belongs to one task.
//
// The caller has the file range locked for as long as it uses a Reader, from
// before the first read until Close, so that nobody writes there. Entries may
// come and go all the same.
type Reader struct {
	// Tree is where the reader looks first, and Index says what the on-disk index
	// has for a byte that no entry maps.
	Tree  *Tree
	Index func(offset uint64) Mapping

	cached held
}

// held is an entry with a reference, and whether it is compressed. That never
// changes; but it stands among the flags, and they may only be read under the
// tree lock.
type held struct {
	entry       *Entry
	compression Flags
}

// mapping returns what can be said of the entry without the tree lock.
func (h held) mapping(t *kernel.Task) Mapping {
	m := h.entry.Stable(t)
	m.Flags = h.compression
	return m
}

// Read returns where the byte at offset comes from.
//
// Kernel label: btrfs_do_readpage.
func (r *Reader) Read(t *kernel.Task, offset uint64) Place {
	h := r.find(t, offset)
	place := h.mapping(t).PlaceOf(offset)
	h.entry.Put(t)
	return place
}

// find returns the entry that maps the byte at offset, with a reference, and
// keeps another one for the next read.
//
// Kernel label: get_extent_map.
func (r *Reader) find(t *kernel.Task, offset uint64) held {
	if e := r.cached.entry; e != nil {
		if e.InTreeUnlocked(t, kernel.Once, CachedSite) && e.Stable(t).Contains(offset) {
			e.Get(t)
			return r.cached
		}
		r.Close(t)
	}
	h := r.lookup(t, offset)
	if h.entry == nil {
		h.entry = r.Tree.InsertOrAdopt(t, r.Index(offset), offset)
		r.Tree.Lock.RLock(t)
		h.compression = h.entry.Flags & compression
		r.Tree.Lock.RUnlock(t)
	}
	h.entry.Get(t)
	r.cached = h
	return h
}

// lookup returns the entry that maps the byte at offset, with a reference, or
// none.
func (r *Reader) lookup(t *kernel.Task, offset uint64) (h held) {
	r.Tree.Lock.RLock(t)
	if h.entry = r.Tree.Lookup(t, offset, 1); h.entry != nil {
		h.compression = h.entry.Flags & compression
	}
	r.Tree.Lock.RUnlock(t)
	return h
}

// Ahead returns how many bytes from offset on are mapped by the entry that maps
// the byte there, or 0 if none does: how far it is worth to read ahead, since a
// compressed extent can only be read whole. It is about the future, and takes
// note of nothing.
//
// Kernel label: add_ra_bio_pages.
func (r *Reader) Ahead(t *kernel.Task, offset uint64) (bytes uint64) {
	h := r.lookup(t, offset)
	if h.entry == nil {
		return 0
	}
	bytes = h.mapping(t).End() - offset
	h.entry.Put(t)
	return bytes
}

// Close lets go of the entry that was used last.
func (r *Reader) Close(t *kernel.Task) {
	if r.cached.entry != nil {
		r.cached.entry.Put(t)
		r.cached = held{}
	}
}
