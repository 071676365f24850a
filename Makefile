# The commands of a developer's day. `make demo` and `make test` set up all they need.

CARGO ?= cargo
CROSSOVER = target/release/crossover

.DEFAULT_GOAL := help
.PHONY: help demo check test test-program test-pages lint bench bench-before prove web release dist

help: ## list these targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-12s %s\n", $$1, $$2}'

demo: release ## the whole story on this machine, in minutes; ends with the dashboard served
	$(CROSSOVER) demo $(DEMO_FLAGS)

# What a test could not do on this machine.
export CROSSOVER_TEST_SKIPS = $(CURDIR)/target/tmp/skipped

# Crates of the dry side (ARCHITECTURE.md) with a folder `tests`, or that may get one.
DRY_SIDE = $(addprefix --package ,engine sql stats plan record report)

# Properties with few cases, and without `host`, whose unit tests start servers: `make test` has both.
check: export CROSSOVER_TEST_CASES ?= 16
check: web ## formatting, clippy, unit tests and the tests of the dry side: before each commit
	@mkdir -p target/tmp
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) test $(DRY_SIDE) --package testing --test '*'
	$(CARGO) test --workspace --exclude host --lib

test: web ## every kind of proof once, small
	@mkdir -p target/tmp && rm -f $(CROSSOVER_TEST_SKIPS)
	$(CARGO) test --workspace --no-run
	$(CARGO) test $(BENCHMARKS) --no-run
	$(MAKE) --jobs=2 --output-sync=line test-program test-pages
	cd web && REPORT=$(CURDIR)/target/tmp/report.html npm run test:browser -- report
	$(TINY) $(CARGO) test $(BENCHMARKS) >target/tmp/benchmarks || { cat target/tmp/benchmarks; exit 1; }
	@cat target/tmp/documents
	@if [ -s $(CROSSOVER_TEST_SKIPS) ]; then \
	  echo "$$(wc -l <$(CROSSOVER_TEST_SKIPS)) tests were skipped:"; sort -u $(CROSSOVER_TEST_SKIPS); \
	else echo "no test was skipped"; fi

# Every benchmark once, tiny and without others beside ours: it must not rot.
BENCHMARKS = $(addprefix --bench ,client_processes dashboard generators kvtest load_generator migration ten_million watched)
TINY = CROSSOVER_BENCH_TINY=1 CROSSOVER=$(CURDIR)/target/debug/crossover PAIRS=1 SECONDS=1 ROWS=1000 \
  OBSERVATIONS=1000 BLOBS=50 READS=50 UPDATES=5 PASSES=1

# Tests make and delete hundreds of thousands of files, which costs a disk a third of their time: a
# folder in memory, where it has 8 GB and may hold programs. Data directories of servers lie there too,
# and none is left in the account's own place.
MEMORY := $(shell [ -w /dev/shm ] && [ "$$(df -Pk /dev/shm | awk 'END { print $$4 }')" -gt 8000000 ] \
  && ! grep -q ' /dev/shm .*noexec' /proc/mounts && echo /dev/shm)

# Both wait for servers and browsers most of the time, so more than one per core runs.
test-program: export RUST_TEST_THREADS ?= 4
test-program:
	folder=$$(mktemp -d $(or $(MEMORY),$${TMPDIR:-/tmp})/crossover-XXXXXX) && chmod 755 $$folder && \
	  trap "rm -rf $$folder" EXIT && MAKEFLAGS= $(CARGO) test --workspace \
	  --config "target.'cfg(unix)'.runner = ['env', 'TMPDIR=$$folder', 'CROSSOVER_DATA_DIR=$$folder/data']"

test-pages:
	crates/dashboard/tests/served/fuzz target/debug/crossover target/tools 5 1
	cd web && npm test && npm run test:browser

lint: web ## formatting, clippy without warnings, types of the pages
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	cd web && npm run check

bench: release target/duckdb ## our dashboard, our load generator and our reports, as ratios to others
	$(CROSSOVER) bench dashboard --on sqlite --on postgres:18 --scale 0.1 --time 1s --no-bisection
	$(CARGO) bench --package lab --bench load_generator --bench ten_million --bench client_processes
	$(CARGO) bench --package migrate --bench migration
	$(CARGO) bench --package dashboard --bench dashboard
	$(CARGO) bench --package oltp --bench generators
	$(CARGO) bench --package blob --bench kvtest
	$(CARGO) bench --package watch --bench watched

# The fastest peer of the migration, with its extensions for SQLite and PostgreSQL.
target/duckdb:
	python3 -m venv $@.new && $@.new/bin/pip install --quiet duckdb==1.5.5 duckdb-extension-sqlite-scanner==1.5.5 \
	  duckdb-extension-postgres-scanner==1.5.5
	mv $@.new $@

bench-before: ## our load generators beside those of BASE=COMMIT, interleaved
	@git cat-file -e '$(BASE)^{commit}' || { echo "which commit? make bench-before BASE=COMMIT"; exit 2; }
	rm -rf target/before/source && mkdir -p target/before/source
	git archive $(BASE) | tar -x -C target/before/source
	$(MAKE) -C target/before/source web
	for bench in load_generator generators; do \
	  old=$$(cd target/before/source && CARGO_TARGET_DIR=../target $(CARGO) bench --bench $$bench --no-run 2>&1 | \
	    tee -a /dev/stderr | sed -n 's/.*Executable.*(\(.*\))/\1/p' | xargs realpath) && \
	  BEFORE=$$old $(CARGO) bench --bench $$bench || exit 1; \
	done

# The parts that fill RELIABILITY.md, with as many tries of each row as make a thousand kills.
PARTS = kills disk connections clock read-only power fuzz
TRIES = $(if $(FULL),1,50)

# Tests that are ignored run one at a time: some of them measure.
prove: $(if $(filter packages,$(PART)),dist,release) ## the proofs at full number; long, by hand; PART=kills and others fill RELIABILITY.md; PART=packages installs them; PART=applications moves applications
ifeq ($(PART),packages)
	packaging/prove dist $(WAYS)
else ifeq ($(PART),applications)
	crates/migrate/tests/applications/prove $(CROSSOVER) $(WAYS)
else ifneq ($(PART),)
	$(CARGO) run --release --package prove -- $(PART) --tries $(TRIES) $(if $(FULL),--full) $(PROVE_FLAGS)
else
	CROSSOVER_PROVE=1 CROSSOVER_TEST_CASES=2000 $(CARGO) test --workspace --release
	$(MAKE) target/foreign-clients
	$(CARGO) test --package lab --package crossover --release -- --ignored --test-threads=1 proof_
	for release in 9.6 14; do \
	  CROSSOVER_TEST_POSTGRES=$$release CROSSOVER_TEST_CASES=500 \
	    $(CARGO) test --package migrate --release --test suite || exit 1; \
	done
	crates/dashboard/tests/served/fuzz $(CROSSOVER) target/tools 200
	crates/dashboard/tests/served/people $(CROSSOVER) 200 300 1
	for part in $(PARTS) packages applications; do $(MAKE) prove PART=$$part || exit 1; done
	$(MAKE) prove PART=kills FULL=1
endif

# The libraries by which applications of four languages connect; Ruby's are Debian's.
target/foreign-clients:
	rm -rf $@.new && mkdir -p $@.new/node
	python3 -m venv $@.new/venv && $@.new/venv/bin/pip install --quiet \
	  django dj-database-url django-environ gunicorn 'psycopg[binary]' SQLAlchemy
	for jar in org.postgresql:postgresql:42.7.4 org.xerial:sqlite-jdbc:3.46.1.3 \
	  org.slf4j:slf4j-api:1.7.36; do mvn --quiet --batch-mode dependency:copy -Dartifact=$$jar \
	  -DoutputDirectory=$(CURDIR)/$@.new/jars || exit 1; done
	cd $@.new/node && npm init --yes >/dev/null && npm install --no-audit --no-fund \
	  @prisma/adapter-pg@7 @prisma/adapter-libsql@7 better-sqlite3@12.11.1 knex@3.3.0 pg@8.23.1
	ruby -r active_record -r pg -r sqlite3 -e 1 || \
	  { echo "install ruby-activerecord, ruby-pg and ruby-sqlite3"; exit 1; }
	mv $@.new $@

release: web ## target/release/crossover, pages inside
	$(CARGO) build --release --package crossover

dist: web ## dist/: one binary for Debian 11 and later, as archive, wheel, npm, Debian package and image
	packaging/dist

# npm ci only where the lock file changed since.
web/node_modules/.package-lock.json: web/package-lock.json
	cd web && npm ci --no-audit --no-fund

# Only where a source changed since: pages written again would have all crates above them compiled again.
PAGES = web/dist/report.html web/dist/dashboard/index.html
PAGE_SOURCES = $(shell find web/src web/build web/*.json web/*.ts ! -name '.*')

web/dist/report.html: web/node_modules/.package-lock.json $(PAGE_SOURCES)
	cd web && npm run build:report

web/dist/dashboard/index.html: web/node_modules/.package-lock.json $(PAGE_SOURCES)
	cd web && npm run build:dashboard

web: $(PAGES) ## the pages that the binary carries inside
