package inhibit

// Debt counts the blocks that background writeback would write if it came now: dirty, and in no set.
func Debt(blocks []Block) int {
	n := 0
	for _, b := range blocks {
		if b.Dirty && b.Holders == 0 {
			n++
		}
	}
	return n
}

// Pass is one undisturbed pass of background writeback, and says how many blocks it has written. After it there is no debt.
func Pass(blocks []Block) (after []Block, wrote int) {
	for _, b := range blocks {
		if b.Dirty && b.Holders == 0 {
			b.write(Output{Wrote: true})
			wrote++
		}
		after = append(after, b)
	}
	return after, wrote
}
