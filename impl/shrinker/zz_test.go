package shrinker
import ("testing";"fmt";"time";"slices")
func TestX(t *testing.T){
 for _, r := range []int{0,4} {
  s:=time.Now()
  c,err:=Experiment{Inodes:100000,WithMaps:200,Rounds:15,Readers:r,Seed:1}.Run()
  fmt.Println(time.Since(s),err)
  for _,m:=range []Measured{c.Base,c.Patched}{ fmt.Println(m.Walks, m.Locks, m.Dropped); w:=slices.Sorted(slices.Values(m.Walks)); fmt.Println(float64(w[0])/100200, float64(w[7])/100200)}
 }
}
