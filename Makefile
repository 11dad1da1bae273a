# Two commands matter: `make run` and `make check`. Both set up .venv by themselves.
# Arguments for hostconf: make run ARGS="plan deepseek-web-retrieval --host codex"

BIN := .venv/bin
ARGS ?=
PYTEST_ARGS ?=
export PYTHON

.DEFAULT_GOAL := help
.PHONY: help run check format lint types walls test real-hosts bench clean setup setup-dev

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r a b; do printf '%-20s %s\n' "$$a" "$$b"; done

run: setup ## set up and start hostconf; arguments in ARGS
	@$(BIN)/hostconf $(ARGS)

check: setup-dev format lint types walls test ## everything that has to be green before a change is handed in

format: setup-dev ## is the code formatted? (mend it: .venv/bin/ruff format)
	@$(BIN)/ruff format --check --quiet || { echo 'error: not formatted; run `.venv/bin/ruff format`' >&2; exit 1; }

lint: setup-dev ## ruff
	@$(BIN)/ruff check --quiet

types: setup-dev ## mypy, strict, over src and tests
	@$(BIN)/mypy --no-error-summary

walls: setup-dev ## the import contracts of pyproject.toml
	@$(BIN)/lint-imports >.venv/walls.log 2>&1 || { cat .venv/walls.log; exit 1; }

test: setup-dev ## pytest on all cores; more words in PYTEST_ARGS
	@$(BIN)/python -m pytest -n auto --dist loadgroup --quiet $(PYTEST_ARGS)

real-hosts: setup-dev ## install real host programs into a cache and check the facts against them
	@$(BIN)/python -m pytest tests/real_hosts -m real_hosts -n auto --dist worksteal $(PYTEST_ARGS)

bench: setup-dev ## how long things take, in CPU time
	@for file in benchmarks/*.py; do [ -e "$$file" ] || continue; echo "== $$file"; $(BIN)/python "$$file" || exit 1; done

clean: ## remove what was made here: .venv, caches, builds
	@rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup:
	@sh scripts/venv run

setup-dev:
	@sh scripts/venv dev
