# Every command that checks something stands in .ci/run, so that a laptop and CI
# give the same answer. A verify-X target reports; the target X beside it mends.

.PHONY: help check test race lint mutants bench verify-fmt fmt verify-tidy tidy fix

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

check: ## the one gate: everything that CI runs
	.ci/run

test: ## all tests, without the race detector and with the giants
	.ci/run patient

race: ## all tests, under the race detector
	.ci/run race

lint: ## go vet, staticcheck, and a search for dead code
	.ci/run vet staticcheck deadcode

mutants: ## known bugs and planted faults, all of them
	go run ./cmd/verify mutants

bench: ## every benchmark, once; use COUNT=10 for benchstat
	go test -run='^$$' -bench=. -benchmem -count=$(or $(COUNT),1) ./...

verify-fmt: ## list files that are not formatted
	.ci/run format

fmt: ## format them
	gofmt -s -w .

verify-tidy: ## show what go mod tidy would change
	.ci/run tidy

tidy: ## let it
	go mod tidy

fix: fmt tidy ## mend what can be mended by machine
