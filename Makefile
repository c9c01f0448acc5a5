# Needs make, git and python3; uv and everything else is fetched.

PYTHON := $(shell for p in /usr/bin/python3 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
# Where the system has no Python 3.11, uv brings one.
export UV_PYTHON := $(or $(PYTHON),3.11)
# Where none is kept on disk, each command compiles all that it imports, for a second or two.
unexport PYTHONDONTWRITEBYTECODE
SETUP := $(or $(PYTHON),python3) scripts/setup.py
UV := $(shell command -v uv || echo .boot/bin/uv)
BOOT := $(filter .boot/bin/uv,$(UV))

.PHONY: run test test-real coverage check bench clients dist fmt clean

run: $(BOOT)
	@$(SETUP)
	@$(UV) run --locked --no-dev roost serve

test: $(BOOT)
	@$(SETUP) --tests
	@$(UV) run --locked scripts/test

# SUITES: names of some; --changed: those that the last day's changes reach.
test-real: $(BOOT)
	@$(SETUP) --tests
	@$(UV) run --locked scripts/test-real $(SUITES)

coverage: $(BOOT)
	@$(SETUP) --tests
	@$(UV) run --locked scripts/coverage

check: $(BOOT)
	@$(UV) run --locked scripts/check

bench: $(BOOT)
	@$(SETUP)
	@$(UV) run --locked python -m bench

# Writes docs/clients.md.
clients: $(BOOT)
	@$(UV) run --locked scripts/try-clients

# A wheel in dist, and the container image "roost".
dist: $(BOOT)
	@python3 scripts/libraries.py
	@$(UV) build --wheel --out-dir dist
	@scripts/build-image

fmt: $(BOOT)
	@$(UV) run --locked ruff format .
	@$(UV) run --locked ruff check --fix .

# The state in .roost stays.
clean:
	rm -rf dist .venv .boot .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

.boot/bin/uv:
	@scripts/get-uv
