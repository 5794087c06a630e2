# Two commands matter: `make demo` and `make test`. Each sets up its own virtual environment.
PYTHON ?= python3
BIN := .venv/bin
# Many small processes: what one has parsed the next should find.
unexport PYTHONDONTWRITEBYTECODE
# One process for each core; a file stays in one of them, since its tests share fixtures and compiled loops.
TESTS := $(BIN)/python -m pytest -q -n logical --maxprocesses 8 --dist loadfile --no-loadscope-reorder

# Most of what is installed is never loaded: Python compiles the rest when it is.
PIP := $(BIN)/python -m pip install -q --prefer-binary --no-compile --disable-pip-version-check

.PHONY: demo test tests test-smoke test-slow test-gpu check style types bench clean

demo: .venv/.core
	$(BIN)/riverboat demo

test: .venv/.dev  # side by side: types are checked by one process alone
	@$(MAKE) --no-print-directory -j 3 style types tests

tests: .venv/.dev
	@echo "== the tests, on every core"
	@command -v chromium > /dev/null || echo "no Chromium here: tests that drive a browser are left out"
	$(TESTS) --durations=15

# Less than a minute, with nothing compiled. Other versions of Numba: `make test-smoke NUMBA=0.61.0`, which stays installed, or
# `make test-smoke BIN=folder/bin` with an environment that has them.
test-smoke: $(if $(filter .venv/bin,$(BIN)),.venv/.dev)
	$(if $(NUMBA),$(PIP) "numba==$(NUMBA)")
	$(BIN)/python -c "import llvmlite, numba, numpy; print('numba', numba.__version__, 'llvmlite', llvmlite.__version__, 'numpy', numpy.__version__)"
	$(BIN)/python -m pytest -q -m "smoke and not slow" $$(grep -rl --include='test_*.py' 'mark\.smoke' tests)

test-slow: .venv/.cluster
	$(TESTS) --durations=40 -m "not gpu"

# On a machine with a CUDA device, and riverboat[gpu] in the environment; elsewhere it fails.
test-gpu: .venv/.dev
	$(PIP) -e ".[gpu]"
	$(BIN)/python -m pytest -q -m gpu tests/walks/test_gpu.py

check: style types
	@echo "== the staircase"
	$(BIN)/python -m pytest -q tests/test_layers.py

style: .venv/.dev
	$(BIN)/ruff check -q .
	$(BIN)/ruff format -q --check .

types: .venv/.dev
	$(BIN)/mypy

bench: .venv/.dev
	$(BIN)/riverboat bench --full

.venv/bin/python:
	$(PYTHON) -c "import sys; assert sys.version_info >= (3, 11), 'Riverboat needs Python 3.11 or newer'"
	$(PYTHON) -m venv .venv

.venv/.core: .venv/bin/python pyproject.toml
	$(PIP) -e .
	@echo "compiling the loops, once"; $(BIN)/riverboat solve kuhn --json > /dev/null
	@$(BIN)/riverboat solve spot --board AsKd7c4h2s --pot 2 --stack 2 --oop AA --ip KK --bets a --json > /dev/null 2>&1
	touch $@

.venv/.dev: .venv/bin/python pyproject.toml
	@echo "== what the tests need"
	$(PIP) -e ".[dev]"
	touch $@

.venv/.cluster: .venv/.dev
	$(PIP) -e ".[cluster]" || echo "no Ray for this machine: the tests of clusters on it are left out"
	touch $@

clean:
	rm -rf .venv build dist runs .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
