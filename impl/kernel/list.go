package kernel

import "iter"

// Link is the place of one element in at most one intrusive list; it is
// embedded in the element. The zero value is "on no list".
type Link[T any] struct {
	list       *List[T]
	element    *T
	next, prev *Link[T]
}

// Linked reports whether the element is on a list.
func (l *Link[T]) Linked() bool { return l.list != nil }

// On reports whether the element is on the given list.
func (l *Link[T]) On(list *List[T]) bool { return l.list == list }

// Unlink takes the element off its list; on no list it does nothing.
func (l *Link[T]) Unlink() {
	if l.list == nil {
		return
	}
	l.prev.next, l.next.prev = l.next, l.prev
	l.list.length--
	l.list, l.element, l.next, l.prev = nil, nil, nil, nil
}

// List is an intrusive doubly linked list of plain memory, protected by
// whatever its owner says. The zero value is an empty list.
type List[T any] struct {
	root   Link[T]
	length int
}

// PushFront puts the element first. The link must be on no list.
func (l *List[T]) PushFront(link *Link[T], element *T) { l.insert(l.sentinel(), link, element) }

// PushBack puts the element last. The link must be on no list.
func (l *List[T]) PushBack(link *Link[T], element *T) { l.insert(l.sentinel().prev, link, element) }

// Front returns the first element, or nil.
func (l *List[T]) Front() *T { return l.sentinel().next.element }

// Len returns the number of elements.
func (l *List[T]) Len() int { return l.length }

// All yields the elements from front to back; the loop may unlink the element
// it is at.
func (l *List[T]) All() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		root := l.sentinel()
		for link := root.next; link != root; {
			next := link.next
			if !yield(link.element) {
				return
			}
			link = next
		}
	}
}

func (l *List[T]) sentinel() *Link[T] {
	if l.root.next == nil {
		l.root.next, l.root.prev = &l.root, &l.root
	}
	return &l.root
}

func (l *List[T]) insert(after, link *Link[T], element *T) {
	if link.Linked() {
		panic("kernel: list element is already on a list")
	}
	link.list, link.element = l, element
	link.prev, link.next = after, after.next
	after.next.prev = link
	after.next = link
	l.length++
}
