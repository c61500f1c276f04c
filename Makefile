# Everything a person types. `make help` lists it.
# Needs Python 3.11 or newer and make; set-up happens by itself, once, in .venv.
PYTHON ?= python3
LAB_ARGS ?=
PYTEST_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
NEWS_OFF := {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}}

.DEFAULT_GOAL := help
.PHONY: help lab test lint bench figures notebooks reset-notebooks html lock warm clean

help:  ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-24s %s\n", $$1, $$2}'

lab: warm  ## set up if needed and open JupyterLab on notebooks/00_start_here (LAB_ARGS="..." is passed on)
	@echo "Opening JupyterLab on this machine only (127.0.0.1). Stop it with Ctrl-C."
	@$(BIN)/python -m jupyterlab --ServerApp.ip=127.0.0.1 --ServerApp.root_dir="$(CURDIR)" \
	  --LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb $(LAB_ARGS)

test: lint warm  ## set up if needed and run every test, notebooks included
	@$(BIN)/python -m pytest -n 2 --dist loadscope --nbval --nbval-current-env --nbval-cell-timeout=120 \
	  --nbval-sanitize-with tests/nbval.cfg tests notebooks $(PYTEST_ARGS)

lint: $(READY)  ## style of code and notebooks
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

bench: warm  ## measure the speed promises and print them as tables
	@$(BIN)/python tools/bench.py && $(BIN)/python tools/bench_simulator.py && $(BIN)/python tools/bench_panel.py

figures: warm  ## redraw figures/ from code (needs Chromium)
	@$(BIN)/python tools/publish.py figures

notebooks: warm  ## re-execute notebooks/ in place, with pictures of their panels (needs Chromium)
	@$(BIN)/python tools/publish.py notebooks

reset-notebooks:  ## put the committed notebooks back (your copy goes to notebooks/mine-TIME)
	@sh tools/reset_notebooks.sh

html: $(READY)  ## pages to read without JupyterLab, in html/
	@$(BIN)/python tools/publish.py html
	@echo "Open html/00_start_here.html in a browser."

lock: $(READY)  ## renew requirements.lock from pyproject.toml
	@$(BIN)/uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --generate-hashes \
	  --upgrade --no-header --no-annotate --no-emit-index-url --no-emit-find-links -q -o requirements.lock
	@echo "requirements.lock renewed; 'make test' installs it."

warm: $(READY)
	@$(BIN)/python -c "import lbcore; lbcore.warm()"

clean:  ## remove .venv, compiled kernels and html/
	@rm -rf $(VENV) html && find . -name __pycache__ -prune -exec rm -rf {} +

$(READY): requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Python is missing: install Python 3.11 or newer, or name it: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; '$(PYTHON)' is $$($(PYTHON) -V 2>&1). Name another: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "Python's venv module is missing: install it (Debian, Ubuntu: apt install python3-venv) and try again"; exit 1; }
	@echo "Set-up 1/2: making $(VENV) with $$($(PYTHON) -V)"
	@$(PYTHON) -m venv $(VENV) || { echo "Could not make $(VENV): is this folder writable?"; exit 1; }
	@echo "Set-up 2/2: installing the packages of requirements.lock (once; some minutes)"
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock || { echo "Installing failed: is there a network? The lines above say more; 'make' again goes on from here"; exit 1; }
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@mkdir -p $(VENV)/share/jupyter/lab/settings && echo '$(NEWS_OFF)' > $(VENV)/share/jupyter/lab/settings/overrides.json
	@touch $(READY)
