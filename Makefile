# Needs only Python 3.11+ and make: every target installs its requirements in .venv.

# The first interpreter that is new enough; `make test PYTHON=/path/to/python` chooses another.
NEW_ENOUGH = import sys; sys.exit(sys.version_info < (3, 11))
PYTHON = $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	if $$python -c '$(NEW_ENOUGH)' >/dev/null 2>&1; then echo $$python; break; fi; done)

VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python scripts/install.py -c constraints.txt

# Stamps: the demo needs little, the checks need everything.
READY_DEMO := $(VENV)/.ready-demo
READY_DEV := $(VENV)/.ready-dev

# Further arguments: make test ARGS="-k wrapper", make bench ARGS=server, make demo ARGS=--once
ARGS :=
# Words put between `python` and `-m pytest`; `make check` measures coverage with them.
MEASURE :=
# Which tests: not the long ones, and few examples for each property. `make check` runs all of them.
SELECTION := -m "not long" --hypothesis-profile=quick
# One process per core. A worker starts with its share of the tests in order, so that it starts a server once for all
# tests of a file, and takes tests from others when its own share is done.
PARALLEL := -n auto --dist worksteal

# The engine, whose branch coverage is complete.
empty :=
comma := ,
space := $(empty) $(empty)
CORE := __init__.py equal_json.py jsonvalue.py references.py alternatives.py examples.py sample.py pattern_text.py key_patterns.py errors.py secret_names.py shape.py shape_check.py contract.py context.py markers.py unpack.py decorator.py detect.py decorated/* publish/* compile/* compile/pydantic/* boundary/* boundary/keys/* boundary/values/* boundary/cures/* spelling.py schema_objections.py
CORE_FILES := $(subst $(space),$(comma),$(addprefix src/toolbooth/,$(CORE)))

.DEFAULT_GOAL := help
.PHONY: help demo tour test check lint types layers coverage docs clients conformance oracle hosts hosts-large services check-services schemas peers frameworks check-frameworks lowest newest wild package release rooms trace count stale long bench words clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile

demo: $(READY_DEMO) ## a Django project as an MCP server, seeded and served; ARGS=--once only prints
	@$(BIN)/python examples/crm/manage.py demo $(ARGS)

tour: $(READY_DEMO) ## a tour in the terminal: one tool, right and wrong calls, and their results
	@$(BIN)/python demo/tour.py

test: $(READY_DEV) ## run all tests except the long ones, with few Hypothesis examples
	$(BIN)/python $(MEASURE) -m pytest $(PARALLEL) $(SELECTION) $(ARGS)

check: lint types layers coverage docs clients conformance oracle hosts check-services check-frameworks package rooms trace count stale ## everything that CI runs
	@echo "All checks passed."

lint: $(READY_DEV) ## ruff: format and rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY_DEV) ## pyright, strict, over src
	$(BIN)/pyright --pythonpath $(BIN)/python

layers: $(READY_DEV) ## import-linter: imports point down only
	$(BIN)/lint-imports --no-logo --no-cache

coverage: $(READY_DEV) ## all tests with branch coverage; the core must be complete
	$(BIN)/coverage erase
	$(MAKE) --no-print-directory test MEASURE="-m coverage run" SELECTION=
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
	$(BIN)/coverage report --include='$(CORE_FILES)' --fail-under=100

docs: $(READY_DEV) ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clients: $(READY_DEV) ## the TypeScript client and the Inspector against every server and the proxy
	@$(BIN)/python scripts/node_home.py
	$(BIN)/python -m pytest -q -o verbosity_assertions=2 tests/node/clients.py tests/node/proxied_clients.py

conformance: $(READY_DEV) ## the official MCP conformance suite, also before and after protect
	$(BIN)/python scripts/conformance.py

oracle: $(READY_DEV) ## the provider SDKs' own converters over the published schemas
	$(BIN)/python oracle/run.py $(ARGS)

hosts: $(READY_DEV) ## real third-party projects behind the gateway, described and called completely
	@$(BIN)/python scripts/hosts.py $(ARGS)

services: $(READY_DEV) ## repeated and previewed writes on PostgreSQL, MariaDB and SQLite
	@$(BIN)/python scripts/services.py $(ARGS)

# In make check: prints only one line if PostgreSQL does not answer, unless CI is set.
check-services: $(READY_DEV)
	@$(BIN)/python scripts/services.py --if-there

hosts-large: $(READY_DEV) ## pretix, label-studio and nautobot compared with their REST APIs; part of make long
	@$(BIN)/python scripts/long.py hosts $(ARGS)

schemas: $(READY_DEV) ## JSON-Schema-Test-Suite through the boundary; ARGS=--details names the cases
	@$(BIN)/python tests/schemas/measure.py $(ARGS)

peers: $(READY_DEV) ## the test suites of FastMCP and the SDK on protected servers; part of make long
	@$(BIN)/python scripts/peers.py $(ARGS)

# NEWEST=1 runs the newest versions, and writes no page.
frameworks: $(READY_DEV) ## the contract suite in every agent framework, or in ARGS=langchain; part of make long
	@$(BIN)/python scripts/frameworks.py $(if $(NEWEST),--newest) $(ARGS)

# In make check: the twelve shapes on the first tier.
check-frameworks: $(READY_DEV)
	@$(BIN)/python scripts/frameworks.py --shapes

wild: $(READY_DEV) ## malformed calls of real clients to five servers, into docs/measured/wild.md
	@$(BIN)/python wild/play.py $(ARGS)

lowest: $(READY_DEV) ## the tests on the lowest versions that users may have; part of make long
	@$(BIN)/python scripts/version_ends.py lowest $(ARGS)

newest: $(READY_DEV) ## the tests on the newest versions; part of make long
	@$(BIN)/python scripts/version_ends.py newest $(ARGS)

package: $(READY_DEV) ## build and check the wheel, and try it with each extra in clean environments
	@$(BIN)/python scripts/package.py $(ARGS)

release: $(READY_DEV) ## prepare a release; VERSION=0.2.0. Prints the commands that publish it
	@$(BIN)/python scripts/release.py $(VERSION)

rooms: $(READY_DEV) ## print the largest files and functions
	$(BIN)/python scripts/largest_rooms.py

trace: $(READY_DEV) ## count the files that two calls go through; fails over the limits
	@$(BIN)/python scripts/trace_call.py $(ARGS)

# Without Valgrind or a C compiler it prints one line and counts nothing.
count: $(READY_DEV) ## count the instructions of fixed calls; fails if one needs over 5 % more
	@$(BIN)/python bench/count.py $(ARGS)

stale: $(READY_DEV) ## name the results of make long whose files have changed since
	@$(BIN)/python scripts/long.py --stale

long: $(READY_DEV) ## measurements too long for make check, into docs/measured/; ARGS=matrix for one part
	@$(BIN)/python scripts/long.py $(ARGS)

bench: $(READY_DEV) ## measure speed, into bench/results/
	$(BIN)/python bench/run.py $(ARGS)

words: $(READY_DEV) ## write the list of words that distinguishes slips from other words
	$(BIN)/python scripts/words.py

clean: ## remove .venv and everything built
	rm -rf $(VENV) .bench .conformance .frameworks .hosts .long .oracle .package .peers .proxied .real_tools .schemas .versions .words build dist site .coverage .coverage.* .hypothesis .pytest_cache .ruff_cache .import_linter_cache
	find src tests demo bench scripts wild examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Toolbooth needs Python 3.11 or newer; set PYTHON=/path/to/python" >&2; exit 1; }
	@echo "Creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

$(READY_DEMO): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Toolbooth and the demo into $(VENV) (about a minute, once)"
	@$(INSTALL) -e '.[cli,django,examples,mcp]'
	@touch $@

$(READY_DEV): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Toolbooth and the tools for the checks into $(VENV) (a minute or two, once)"
	@$(INSTALL) -e '.[dev]'
	@touch $(READY_DEMO) $@
