# Everything a contributor runs. Needs Python 3.11 or newer and nothing else; uses uv where it is on the PATH.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PYTEST_ARGS ?=
DEMO_ARGS   ?=
LOCK_ARGS   ?=

ifneq ($(shell command -v uv 2>/dev/null),)
NEW_VENV = uv venv --quiet --allow-existing --python "$$(command -v $(PYTHON))" $(VENV)
INSTALL  = uv pip install --quiet --python $(BIN)/python
else
NEW_VENV = $(PYTHON) -m venv $(VENV)
INSTALL  = $(BIN)/python -m pip install --quiet --disable-pip-version-check
endif

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test faults rules kills fuzz bench bench-short lint format lock kafka clean python docs dashboards

help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

demo: $(VENV)/.core ## Run the demo: simulator, page and /metrics, no broker (DEMO_ARGS="--listen 127.0.0.1:9200")
	$(BIN)/ranking-monitor demo $(DEMO_ARGS)

test: lint ## Lint, then every test, three files at a time (PYTEST_ARGS="-k windows -x -n 0" chooses)
	$(BIN)/pytest -n 3 --dist loadscope --no-loadscope-reorder $(PYTEST_ARGS)

faults: $(VENV)/.dev ## The fault tests in their long form: a quarter of an hour (`make test` has the short one)
	FAULTS=full $(BIN)/pytest tests/faults $(PYTEST_ARGS)

fuzz: $(VENV)/.dev ## Mutate valid input for a minute a target, from a new seed (FUZZ_SECONDS=600; `make test` has a short run)
	$(BIN)/python -m tests.fuzz

rules: ## promtool's unit tests of every alert: some minutes (`make test` leaves out the one that evaluates a day)
	promtool test rules deploy/prometheus/tests/*.yaml

kills: $(VENV)/.dev ## Six kills in a minute, twenty times over: half an hour
	FAULTS=full SIX_KILLS_RUNS=20 $(BIN)/pytest tests/faults/test_six_kills.py $(PYTEST_ARGS)

bench: $(VENV)/.dev ## Measure everything beside what others build, and write benchmarks/RESULTS.md: half an hour or more
	$(BIN)/python -m benchmarks

bench-short: $(VENV)/.dev ## The key ratios, in under a minute
	$(BIN)/python -m benchmarks --short

lint: $(VENV)/.dev ## Check style, types and which package may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.dev ## Repair what ruff can repair
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

kafka: $(VENV)/.dev ## Fetch ahead what the tests' Kafka needs, and say which one they will use
	$(BIN)/python -m tests.support.kafka

COMPILE = uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-annotate --no-header $(LOCK_ARGS) pyproject.toml

docs: $(VENV)/.dev ## Write the generated pages of docs/ anew
	$(BIN)/python -m monitor.reference docs

dashboards: $(VENV)/.dev ## Write the JSON of the Grafana dashboards anew
	$(BIN)/python -m grafana.build

lock: ## Pin the dependencies anew after a change in pyproject.toml (needs uv; LOCK_ARGS=--upgrade for newer versions)
	@command -v uv >/dev/null || { echo "make lock needs uv on the PATH: pip install uv" >&2; exit 2; }
	$(COMPILE) -o requirements.lock
	$(COMPILE) --group dev -c requirements.lock -o requirements-dev.lock

clean: ## Remove caches and build output; the environment and Kafka's jars stay
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find monitor tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# One environment; the development lock holds the same versions as the other, and more.
# The stamps are last: what failed half-way is done again.
$(VENV)/.core: requirements.lock pyproject.toml | python
	$(NEW_VENV)
	$(INSTALL) --require-hashes -r requirements.lock
	$(INSTALL) --no-deps -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml | python
	$(NEW_VENV)
	$(INSTALL) --require-hashes -r requirements-dev.lock
	$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

NEEDS = ranking-monitor needs Python 3.11 or newer (make PYTHON=/path/to/python3.11):
python:
	@command -v $(PYTHON) >/dev/null || { echo "$(NEEDS) there is no $(PYTHON)" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	|| { echo "$(NEEDS) $(PYTHON) is $$($(PYTHON) --version 2>&1)" >&2; exit 2; }
