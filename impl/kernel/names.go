package kernel

import (
	"slices"
	"strconv"
)

// objectName renders class and identity: the maker's number and, after a dot,
// the how-manieth object of that maker it is. The set-up, which makes nearly
// everything, is left out: "inode#1".
func objectName(class string, id ObjectID) string {
	maker, sequence := int(id>>24)-1, int(id&(1<<24-1))
	if maker == 0 {
		return class + "#" + strconv.Itoa(sequence)
	}
	return class + "#" + strconv.Itoa(maker) + "." + strconv.Itoa(sequence)
}

func sortedNames(objects []*Object) []string {
	slices.SortFunc(objects, func(a, b *Object) int { return int(a.id) - int(b.id) })
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = o.Name()
	}
	return names
}
