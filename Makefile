# Each target sets up all that it needs, into .venv, on a machine with python3 (3.11 or newer) and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo test test-long coverage bench docs lint format clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "vmqp needs Python 3.11 or newer; point make at one: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { rm -rf $(VENV); echo "could not make a virtual environment: install the venv module of $(PYTHON)"; exit 1; }

$(VENV)/.core: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $@ $(VENV)/.core

# Compiled loops are cached beside the file that holds them, and inline code of other files: drop all when one changes.
$(VENV)/.compiled: $(wildcard src/vmqp/*.py src/vmqp/*/*.py) | $(BIN)/python
	@find src -name '*.nb[ci]' -delete
	@touch $@

demo: $(VENV)/.core $(VENV)/.compiled ## predict a generated wind field and write a report
	$(BIN)/vmqp demo

test: $(VENV)/.dev $(VENV)/.compiled ## the whole test suite, statistical tests at the size that fits
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadgroup

test-long: $(VENV)/.dev $(VENV)/.compiled ## the statistical tests at full size
	VMQP_TEST_SIZE=long $(BIN)/python -m pytest -q -n $(JOBS) -m statistical

# Statistical tests draw long in lines that others reach too, and the site is built in a process of its own.
coverage: $(VENV)/.dev $(VENV)/.compiled ## coverage of lines by all but statistical tests, which must be 92 % or more
	rm -f build/coverage/.coverage*
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadgroup -m "not statistical" --ignore tests/docs --cov --cov-report=
	$(BIN)/python -m coverage report --skip-covered

bench: $(VENV)/.dev $(VENV)/.compiled ## ratios measured in one run on this machine
	$(BIN)/python -m benchmarks

docs: $(VENV)/.dev $(VENV)/.compiled ## the site in build/site; the tutorials run, and warnings and dead links are errors
	rm -rf build/site docs/auto_tutorials
	$(BIN)/sphinx-build -W --keep-going -q -b html -d build/doctrees docs build/site
	$(BIN)/python docs/links.py build/site
	@echo "the site is there: build/site/index.html"

lint: $(VENV)/.dev ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev ## rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove the environment and everything that was made
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .mypy_cache demo-output docs/auto_tutorials
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
