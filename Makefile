# Everything a newcomer needs: `make run`, `make test`. Needs Python 3.11+, make and git; sets up the rest itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
PYTEST := $(BIN)/python -m pytest
WORKERS ?= $(shell expr 2 '*' $$(getconf _NPROCESSORS_ONLN || echo 2))
FUZZ_SECONDS ?= 60
BROWSERS := $(CHROMIUM) chromium-headless-shell chromium chromium-browser google-chrome # the first that there is
TRACKLOG_STEPS ?= 5000
export PYTHONDONTWRITEBYTECODE := # else each worker compiles all tests in each run
TRACKLOG_KILLS ?= 1000

.PHONY: all run test check format lint types architecture docs quick unit soak browser screenshots lab drift update-pins lab-clients sdk sdk-compare corpus oracle prices bench golden fuzz machine clean help

all: format check unit ## format, lint, types, architecture, tests, docs fresh

help: ## what there is to make
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("tracklog needs Python 3.11 or newer; try: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --build-constraint constraints.txt --editable . --group dev
	touch $@

run: $(READY) ## tracklog on your own logs (on the shipped demo if there are none)
	$(BIN)/tracklog

test: $(READY) lab-clients sdk browser lint ## everything: lint, types, all tests
	$(MAKE) --no-print-directory --jobs 2 types unit

check: lint types docs

format: $(READY)
	$(BIN)/ruff format --quiet .
	$(BIN)/ruff check --quiet --fix-only .

lint: $(READY) # the schema of GitHub's workflows comes with check-jsonschema
	$(BIN)/ruff format --check --quiet . || { echo "not formatted: run make format" >&2; exit 1; }
	$(BIN)/ruff check .
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml

types: $(READY)
	$(BIN)/mypy

architecture: $(READY)
	$(PYTEST) -q tests/test_architecture.py

docs: $(READY) ## documents that are generated or checked against the code
	$(PYTEST) -q tests/test_docs.py

quick: $(READY) ## the tests that start no process, client or browser: for the inner loop
	TRACKLOG_TEST_QUICK=1 $(PYTEST) -q -n 2 tests/model tests/agents tests/contracts tests/sources tests/reading tests/ledger tests/secrets tests/search \
		tests/sessions tests/conversation tests/liveness tests/hooking tests/views/html tests/views/text tests/views/documents

unit: $(READY) # twice as many workers as cores: tests wait for clients and pages as long as they work
	$(PYTEST) -n $(WORKERS) --dist loadgroup

lab-clients: $(READY) # the pinned clients and tmux, if they can be installed; under CI the tests fail without them
	@command -v tmux > /dev/null || { apt-get update -qq && apt-get install -qq -y tmux; } > /dev/null 2>&1 \
		|| echo "tmux cannot be installed here: tests that need a terminal are skipped" >&2
	@command -v tmux > /dev/null && tmux -V || true
	$(BIN)/python -m tests.lab.clients install current --optional

browser: $(READY) # Chromium's headless build and fonts, if they can be had; under CI the tests in a browser fail without a browser
	@which $(BROWSERS) > /dev/null || { apt-get update -qq && for package in chromium-headless-shell chromium; do \
		apt-get install -qq -y $$package fonts-dejavu-core fonts-noto-core fonts-noto-cjk && break; done; } > /dev/null 2>&1 \
		|| echo "Chromium cannot be installed here: tests in a browser are skipped" >&2
	@found=$$(which $(BROWSERS) | head -n 1); test -z "$$found" || "$$found" --version

screenshots: $(READY) browser ## pictures of every page: light, dark, 390 px; three of them are the README's
	$(BIN)/python -m tests.browser.screenshots

sdk: $(READY) # Anthropic's own reader of session logs, apart from our environment; under CI the tests fail without it
	$(BIN)/python -m tests.sdk.environment install --optional

sdk-compare: $(READY) ## our living branch beside what Anthropic's SDK reads: make sdk-compare DIR=…
	@test -n "$(DIR)" || { echo "say which folder: make sdk-compare DIR=…" >&2; exit 2; }
	$(BIN)/python -m tests.sdk.comparing "$(DIR)"

lab: $(READY) ## the lab with every client version
	$(BIN)/python -m tests.lab.clients install all
	TRACKLOG_LAB_VERSIONS=all $(PYTEST) tests/lab tests/sdk

drift: $(READY) ## what the newest published clients write that we do not know; exit 1 if there is any
	$(BIN)/python -m tests.lab.drift

update-pins: $(READY) ## raise every pinned version to the newest, run what depends on them, print what changed
	$(BIN)/python -m tests.update_pins
	$(MAKE) lab oracle test
	git diff --stat -- constraints.txt tests/pins.toml 'src/tracklog/agents/*/support.py'

corpus: $(READY) ## verify and survey a folder of logs: make corpus DIR=…
	@test -n "$(DIR)" || { echo "say which folder: make corpus DIR=…" >&2; exit 2; }
	$(BIN)/tracklog verify "$(DIR)" || true
	$(BIN)/tracklog doctor --root "$(DIR)"
	$(BIN)/python -m bench.verdicts "$(DIR)"

oracle: $(READY) ## tracklog and its peers on an adversarial set of logs
	$(BIN)/python -m tests.oracle.install .lab/peers
	$(BIN)/python -m tests.oracle --peers .lab/peers

prices: $(READY) ## make the price book anew from genai-prices; review the difference
	$(BIN)/python -m tests.prices.make_book
	git diff --stat -- src/tracklog/ledger/prices/data

bench: $(READY) ## how fast reading, folding, totals, the board, the status line, the index and the pages are, and how cost grows, beside peers
	$(BIN)/python -m tests.oracle.install .lab/peers
	$(BIN)/python -m bench.read
	$(BIN)/python -m bench.fold
	$(BIN)/python -m bench.usage
	$(BIN)/python -m bench.cold_start
	$(BIN)/python -m bench.index
	$(BIN)/python -m bench.hook
	$(BIN)/python -m bench.many
	$(BIN)/python -m bench.scaling
	$(BIN)/python -m bench.tail
	$(BIN)/python -m bench.run
	$(BIN)/python -m bench.redact
	$(BIN)/python -m bench.serve
	$(BIN)/python -m bench.api

golden: $(READY) ## rewrite golden files and generated documents; review the difference
	$(BIN)/python -m tests.golden.rewrite
	git diff --stat -- docs tests/golden

soak: $(READY) machine fuzz ## every test at full length, with new Hypothesis examples; thousands of steps and kills, hostile bytes
	TRACKLOG_TEST_SOAK=1 TRACKLOG_TEST_EXAMPLES=new $(PYTEST) -n $(WORKERS) --dist loadgroup

fuzz: $(READY) ## hostile bytes for FUZZ_SECONDS (60)
	$(BIN)/python -m tests.fuzz --seconds $(FUZZ_SECONDS)

machine: $(READY) ## the index against a fresh one, over TRACKLOG_STEPS (5000) events and TRACKLOG_KILLS (1000) kills
	TRACKLOG_STEPS=$(TRACKLOG_STEPS) TRACKLOG_KILLS=$(TRACKLOG_KILLS) $(PYTEST) -n 2 tests/test_index_machine.py tests/index/test_index_killed.py

clean:
	rm -rf $(VENV) .lab .mypy_cache .ruff_cache .pytest_cache .hypothesis
