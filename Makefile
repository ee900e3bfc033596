PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test browser-test bench bench-small lint types clean

# The main job on an embedded default: a table on the screen and a picture in demo.png.
demo: $(VENV)/.demo
	$(BIN)/python -m dips demo

# Everything that must hold: style, types, behaviour.
test: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n auto -q

# Time and memory, measured; tables on the screen, JSON in results/. BENCH=--quick takes minutes instead of most of an hour.
bench: $(VENV)/.bench
	$(BIN)/python benchmarks/watch.py $(BENCH)
	$(BIN)/python benchmarks/runs.py $(BENCH)
	$(BIN)/python benchmarks/ensembles.py $(BENCH)
	$(BIN)/python benchmarks/growth.py $(BENCH)
	$(BIN)/python benchmarks/out_of_core.py $(BENCH)

# What must hold of whatever is made faster; part of the tests.
bench-small: $(VENV)/.dev
	$(BIN)/python benchmarks/small.py

# The report in headless Chromium, with pictures in results/report; needs chromium and chromedriver on the path.
browser-test: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt "selenium>=4.20"
	DIPS_PICTURES=results/report $(BIN)/pytest tests/report/test_browser.py -q

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[plot]"
	touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@ $(VENV)/.demo

$(VENV)/.bench: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[bench]"
	touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache demo.png
