# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# One worker more than there are cores: some tests wait for disks, servers and clusters.
JOBS   ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )))
PACKAGES := postgresql chromium gcc libc6-dev openjdk-17-jre-headless libpostgresql-jdbc-java
comma := ,

.PHONY: help setup test-setup demo test lint lists bench growth table reproduce attacks measures mutants fuzz faults system clean

help:            ## what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */\1\t/' | expand -t 10

# $(1): what to install into the virtual environment, with uv where it can be had (some ten times quicker), else with pip.
define install
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@uv=$$(command -v uv || echo $(BIN)/uv); pip="$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check"; \
	{ test -x $$uv || $$pip uv; } 2>/dev/null && $$uv pip install --quiet --python $(BIN)/python -e $(1) || $$pip -e $(1)
	@$(BIN)/python -m compileall -q src
	@touch $@
endef

$(VENV)/.ready: pyproject.toml
	$(call install,".")

$(VENV)/.ready-test: pyproject.toml
	$(call install,".[test]")
	@touch $(VENV)/.ready

setup: $(VENV)/.ready   ## make .venv with Shoal in it

test-setup: $(VENV)/.ready-test   ## the same with what the tests need

demo: setup             ## the main job on the built-in sample, offline
	@$(BIN)/shoal demo --overwrite

lint: $(VENV)/.ready-test    ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Types are checked beside the tests. Bytecode of tests is kept: without it every worker translates every file anew.
# A worker takes tests from the other only at the end: neighbours need the same kernels, which one then compiles.
# Assertions are plain, since taking them apart costs as much as gathering all tests; what failed runs again with them
# taken apart, to say more. The status is that of the first run.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest
test: $(VENV)/.ready-test    ## lint, types and the whole suite
	@$(MAKE) --no-print-directory lint > $(VENV)/lint.log 2>&1 & lint=$$!; \
	$(PYTEST) -n $(JOBS) --dist worksteal --assert=plain; tests=$$?; \
	test $$tests != 1 || $(PYTEST) --last-failed --last-failed-no-failures=none; \
	wait $$lint; lint=$$?; cat $(VENV)/lint.log; test $$tests = 0 -a $$lint = 0

lists: $(VENV)/.ready-test   ## write the lists of methods, models, publishers and measures anew
	$(BIN)/python tools/lists.py

bench: $(VENV)/.ready-test   ## speed and memory, as ratios within one run; the score of what init proposes
	$(BIN)/python bench/first_call.py
	$(BIN)/python bench/run.py
	$(BIN)/python bench/anatomy.py
	$(BIN)/python bench/slicing.py
	$(BIN)/python bench/roles.py
	$(BIN)/python bench/size.py
	$(BIN)/python bench/stages.py
	$(BIN)/python bench/cores.py
	$(BIN)/python bench/growth.py
	$(BIN)/python bench/blocks_loss.py
	$(BIN)/python bench/blocks.py
	$(BIN)/python bench/spark.py

growth: $(VENV)/.ready-test  ## time and memory against rows, for every method, written to docs/performance.md
	$(BIN)/python bench/growth.py

table: $(VENV)/.ready-test   ## all methods side by side, written to docs/comparison.md
	$(BIN)/python bench/table.py

reproduce: $(VENV)/.ready-test   ## the experiments of the five works, written to docs/reproduce
	$(BIN)/shoal reproduce all --out docs/reproduce --overwrite

attacks: $(VENV)/.ready-test   ## linking beside Mondrian, Anonymeter beside the attacks, written to docs/attacks.md
	$(BIN)/python bench/attacks.py

measures: $(VENV)/.ready-test   ## all measures beside Mondrian, a million rows, written to docs/measures.md
	$(BIN)/python bench/measures.py

$(VENV)/.ready-mutants: pyproject.toml
	$(call install,".[test$(comma)mutants]")
	@touch $(VENV)/.ready $(VENV)/.ready-test

mutants: $(VENV)/.ready-mutants   ## changes in checker, models and enforcement that no test notices, written to tests/mutants.md
	PYTHONPATH=tools $(BIN)/python -m mutants

fuzz: $(VENV)/.ready-test    ## ten thousand damaged files, canaries in their cells: no mistake of ours, no canary said
	PYTHONPATH=tests $(BIN)/python -m fuzz --cases 10000

faults: $(VENV)/.ready-test   ## every system call of every command that writes fails in turn: old or new, and the message true
	PYTHONPATH=tools $(BIN)/python -m faults

system:                 ## Debian packages some suites need (root and apt)
	@if command -v apt-get >/dev/null 2>&1 && test "$$(id -u)" = 0; then \
	  apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(PACKAGES) >/dev/null; \
	else \
	  echo "make system needs apt and root; install by hand: $(PACKAGES)"; \
	fi

clean:                  ## remove what the other commands made
	rm -rf $(VENV) bench/.rivals* shoal-demo .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
