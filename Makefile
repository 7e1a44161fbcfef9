# Needs Python 3.11 or newer and make; everything else is made in .venv.

# The first of these that runs and is new enough; or name one: make PYTHON=/path/to/python
PYTHON ?= $(shell for python in python3 python3.11 python3.12 python3.13 python3.14; do \
  $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-fast check bless bench fuzz docs clean

help:
	@echo "make setup      make .venv and install Alpha into it"
	@echo "make demo       build Digits, train it, print its held-out accuracy"
	@echo "make test       all tests"
	@echo "make test-fast  the tests that take no more than a second or two each"
	@echo "make check      format, lint, types, layers and locks"
	@echo "make bless      rewrite the expectations of the pages in tests/spec"
	@echo "make bench      time the compiler and what it builds"
	@echo "make fuzz       build 2,000 random packages for every host and compare their bits"
	@echo "make docs       rewrite the generated pages of docs/, and build the site in build/site"
	@echo "make clean      remove .venv and build/"

setup: $(STAMP)
	@echo "ready: source $(BIN)/activate, then alpha --help"

$(STAMP): pyproject.toml
	@test -n "$(PYTHON)" \
	  || { echo "Alpha needs Python 3.11 or newer; name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv --clear $(VENV) \
	  || { rm -rf $(VENV); echo "cannot make .venv; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "installing Alpha into $(VENV); this takes about a minute"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(STAMP)
	@$(BIN)/python tests/demo.py

# Two processes, each with whole files of tests: what a file builds once for its tests is built once.
test: $(STAMP)
	@$(BIN)/python -m pytest -n 2 --dist loadfile

test-fast: $(STAMP)
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

check: $(STAMP)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/alpha fmt --check . compiler/alpha/library compiler/alpha/driver/templates/*
	@$(BIN)/alpha lock --check

bless: $(STAMP)
	@$(BIN)/python -m pytest tests/spec/test_pages.py --bless

bench: $(STAMP)
	@$(BIN)/python -m bench

fuzz: $(STAMP)
	@$(BIN)/python -m fuzz

docs: $(STAMP)
	@$(BIN)/python -m generated_docs
	@$(BIN)/mkdocs build --strict --quiet
	@echo "wrote build/site/index.html"

bench docs fuzz: export PYTHONPATH := tests:reference:reference/target-models

clean:
	@rm -rf $(VENV) build
