.PHONY: help run test unit interleavings faults soak compose-test check format build clean backlog fuzz pictures bench bench-quick

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | column -t -s '|'

run:  ## everything on this machine, with a simulator in place of Linq, APNs and the iPhone
	./run

test:  ## everything that is tested
	./test

unit:  ## only what needs no server
	./test unit

interleavings:  ## 30,000 random lives of a card (or COUNT=…); SEED=… repeats a single one; build and ./test first
	INTERLEAVINGS=$(or $(COUNT),30000) $(if $(SEED),INTERLEAVING_SEED=$(SEED)) \
		swift test --skip-build --filter 'Random interleavings'

faults:  ## every fault, one after the other; build and ./test first
	ISTHMUS_CONFIGURATION=debug .test/venv/bin/pytest -p no:cacheprovider Tests/Faults

soak:  ## faults at random under 100,000 texts; build and ./test first
	ISTHMUS_CONFIGURATION=debug SOAK_TEXTS=100000 .test/venv/bin/pytest -p no:cacheprovider Tests/Faults/test_soak.py

compose-test:  ## builds the images and tries docker-compose.yml; needs a Docker engine
	scripts/compose-test

backlog:  ## a million texts (or TEXTS=…) while the agent is down, and the memory of each process; build and ./test first
	ISTHMUS_CONFIGURATION=debug BACKLOG_TEXTS=$(or $(TEXTS),1000000) \
		.test/venv/bin/pytest -s -p no:cacheprovider Tests/Faults/test_backlog.py

fuzz:  ## made-up bytes for all that reads bytes from outside, five minutes for each of five
	scripts/fuzz

pictures:  ## the README's pictures, made anew; build and ./test first
	ISTHMUS_CONFIGURATION=debug .test/venv/bin/pytest -p no:cacheprovider Tests/Browser/pictures.py

bench:  ## what is fast and what is not, each beside a reference: ten minutes on a machine that does nothing else
	Benchmarks/run

bench-quick:  ## a minute of it, held against Benchmarks/kept.json
	Benchmarks/run --quick

check:  ## format, structure, shell scripts
	scripts/check

format:  ## formats the Swift sources
	swift format format -i -r Package.swift ./*/

build:  ## a release build
	swift build -c release

clean:  ## removes what was built, run and tested; stop ./run first
	rm -rf .build .run .test .bench
