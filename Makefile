# `make` lists the targets. Everything is installed into .venv; remove it with `make clean`.
PYTHON ?= python3
STUDY ?= examples/studies/demo.toml
OUT ?= results/demo
PYTEST_ARGS ?= -n 2
# Neither tests that take two thirds of a second nor further cases of which some are tested.
QUICK := not (long or further)
# Kernels of OpenBLAS that every processor of its kind can run and hardly any takes by itself.
CORETYPE ?= $(if $(filter arm64 aarch64,$(shell uname -m)),ARMV8,Nehalem)

BIN := .venv/bin
# The matrices are small: a second BLAS thread costs more than it gives, and trials run in parallel anyway.
export OMP_NUM_THREADS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Worker processes would compile all sources anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo quick quick-tests test test-data test-long long-tests alone-tests test-trackers test-numerics lint format lite rehearse clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/.installed-eval ## Run the demo study: STUDY=examples/studies/demo.toml OUT=results/demo
	$(BIN)/gpbandits run $(STUDY) --out $(OUT)

quick: .venv/.installed-dev ## Run the tests of a room and the contracts of six agents: ROOM=agents/widths
	$(BIN)/pytest $(PYTEST_ARGS) -m "$(QUICK)" tests/$(or $(ROOM),$(error name a room: make quick ROOM=agents/widths))
	$(BIN)/pytest $(PYTEST_ARGS) -m "typical and $(QUICK)" tests/agents/test_every_agent.py

test: .venv/.installed-dev ## Check format, lint, imports and types, and run all tests but the long ones
	@$(MAKE) --no-print-directory --jobs 2 lint quick-tests # pyright takes a minute of one core

quick-tests: .venv/.installed-dev
	$(BIN)/pytest $(PYTEST_ARGS) -m "$(QUICK)"

test-data: .venv/.installed-dev ## Run the tests of measurements that `make test` skips where they are absent
	$(BIN)/pytest $(PYTEST_ARGS) -m "data and not long"

test-long: .venv/.installed-dev ## Run the long tests: many trials, many rounds, whole installations
	@$(MAKE) --no-print-directory --jobs 2 long-tests alone-tests # which wait more than they compute

long-tests: .venv/.installed-dev
	$(BIN)/pytest $(PYTEST_ARGS) --dist loadfile --no-loadscope-reorder -m "(long or further) and not alone"

# One after another: they start, count and kill processes.
alone-tests: .venv/.installed-dev
	$(BIN)/pytest $(filter --durations%,$(PYTEST_ARGS)) -m "(long or further) and alone"

test-trackers: build/trackers/.installed ## Run the tests of trackers, with MLflow and Trackio
	build/trackers/bin/python -m pytest tests/gpbandits/test_tracking.py

test-numerics: .venv/.installed-dev ## Run the numerical tests as another processor rounds: CORETYPE=Haswell
	OPENBLAS_CORETYPE=$(CORETYPE) $(BIN)/pytest $(PYTEST_ARGS) -m "numerics and not long"

lint: .venv/.installed-dev ## Check format, lint, imports and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/pyright --pythonpath $(BIN)/python

format: .venv/.installed-dev ## Format the code and mend what ruff can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lite: .venv/.installed-lite ## Build the site, with tutorials that run in a browser, into build/lite/docs
	$(BIN)/python tools/rehearse_release.py lite site --keep build/lite

rehearse: .venv/.installed-lite build/release-tools/.installed ## Build all that is published, checked as its registry would
	$(BIN)/python tools/rehearse_release.py

clean: ## Remove .venv, results and everything generated
	rm -rf .venv build dist results .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv

# The stamps say what is installed: a second call installs nothing until the dependencies change.
.venv/.installed-eval: pyproject.toml | $(BIN)/python
	@echo "Installing into .venv; this takes a minute or two"
	$(BIN)/python -m pip install --quiet --editable '.[eval]'
	@touch $@

.venv/.installed-dev: pyproject.toml tools/constraints.txt | $(BIN)/python
	@echo "Installing into .venv; this takes a minute or two"
	$(BIN)/python -m pip install --quiet --constraint tools/constraints.txt --editable '.[dev]'
	@touch $@ .venv/.installed-eval

# MLflow and Trackio ask for older versions of libraries that others need: they have an environment of their own,
# which borrows the rest. Of MLflow it has the part that writes and reads runs.
build/trackers/.installed: .venv/.installed-dev
	$(BIN)/python -m venv --without-pip build/trackers
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
		> "$$(build/trackers/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/borrowed.pth"
	$(BIN)/python -m pip --python build/trackers/bin/python install --quiet --no-compile 'mlflow-skinny>=3' 'trackio>=0.2'
	@touch $@

.venv/.installed-lite: .venv/.installed-dev
	$(BIN)/python -m pip install --quiet --editable '.[lite]'
	@touch $@

# What checks formats of registries asks for versions of its own.
build/release-tools/.installed: tools/release-tools.txt | $(BIN)/python
	$(PYTHON) -m venv build/release-tools
	build/release-tools/bin/python -m pip install --quiet --requirement $<
	@touch $@
