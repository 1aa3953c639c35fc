package verdict_test
import ("testing";"fmt";"benign/checkers/verdict";"benign/impl/catalogue")
func TestZZ(t *testing.T){
 r := catalogue.All()[0]
 for i := range r.Scenarios { s := &r.Scenarios[i]; if s.Name!="remove" && s.Name!="evict" {continue}
  for _, n := range []string{"no-recheck","no-igrab"} { x := s.VariantNamed(n); if x==nil {continue}
  v,err := verdict.Judge(&r, s, x, "sc", verdict.Options{})
  if err!=nil {t.Fatal(err)}
  for k,st := range v.Finding.Steps { fmt.Println(k,v.Finding.Tasks[st.Task],"|",st.What,"|",st.Note,"|",st.Place, st.Callers) }
  fmt.Println(v.Finding.Message)
  fmt.Println(v.Finding.Trace)
 }}
}
