PYTHON ?= python3
# What is tested besides the core: "all" brings PyTorch and the other libraries; empty leaves them out.
EXTRAS ?= all
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo review-demo test attack audit-dependencies browser-test bench bench-small docs dist lowest clean

# The main job on an embedded default: a table on the screen and a picture in demo.png.
demo: $(VENV)/.demo
	$(BIN)/python -m dips demo

# The review on a table whose wrong labels are known: the browser opens, and in the end it says how many were found.
review-demo: $(VENV)/.review
	$(BIN)/python -m dips review --demo

# Everything that must hold: style, types, behavior. `make test EXTRAS=` does without PyTorch and skips its tests.
# Bytecode is kept, whatever the shell says: some tests start Python, and should not compile the package each time.
test: $(VENV)/.dev-$(EXTRAS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n auto -q

# Pools on Spark, on this machine; needs Java, and downloads PySpark (0.5 GB). `make test` skips these where it is missing.
spark-test: $(VENV)/.dev-$(EXTRAS)
	$(PIP) -e ".[spark]"
	$(BIN)/pytest tests/spark -q

# Hostile tables, tampered models and records, kills, full disks, a sanitized kernel, pages in a browser: a table of counts.
# All of it takes a day; ATTACK="--share 0.01" takes a hundredth of it, ATTACK="models disks" those two.
attack: $(VENV)/.dev-$(EXTRAS)
	$(BIN)/python tools/attack.py $(ATTACK)

# The documentation site, in docs/_build/html; once its environment is there, no network is needed.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

# What is released: sdist and wheel, checked, installed into a bare environment and used there.
dist: $(VENV)/.dist
	rm -rf dist build
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tools/check_dist.py dist
	$(BIN)/python tools/sbom.py > dist/sbom.cdx.json

# Known holes in what development installs, by the files' checksums in requirements-dev.txt; asks the network.
audit-dependencies: $(VENV)/pyvenv.cfg
	$(PIP) "pip-audit>=2.7"
	$(BIN)/pip-audit --strict --require-hashes --disable-pip -r requirements-dev.txt

# The tests on the lowest versions that pyproject.toml promises, in an environment of their own.
LOWEST := $(VENV)-lowest
lowest:
	$(PYTHON) -m venv $(LOWEST)
	$(PYTHON) tools/lowest.py lightgbm catboost polars plot excel review > $(LOWEST)/lowest.txt
	$(LOWEST)/$(notdir $(BIN))/python -m pip install --quiet --disable-pip-version-check -c $(LOWEST)/lowest.txt \
	  -e ".[lightgbm,catboost,polars,plot,excel,review]" pytest pytest-xdist hypothesis
	$(LOWEST)/$(notdir $(BIN))/pytest -n auto -q

# Time and memory, measured; tables on the screen, JSON in results/. BENCH=--quick takes minutes instead of most of an hour.
bench: $(VENV)/.bench
	$(BIN)/python benchmarks/watch.py $(BENCH)
	$(BIN)/python benchmarks/runs.py $(BENCH)
	$(BIN)/python benchmarks/ensembles.py $(BENCH)
	$(BIN)/python benchmarks/growth.py $(BENCH)
	$(BIN)/python benchmarks/out_of_core.py $(BENCH)

# What must hold of whatever is made faster; part of the tests.
bench-small: $(VENV)/.dev-$(EXTRAS)
	$(BIN)/python benchmarks/small.py

# The report and the review in headless Chromium, with pictures in results/pages; needs chromium and chromedriver.
browser-test: $(VENV)/.dev-$(EXTRAS)
	$(PIP) "selenium>=4.20"
	DIPS_PICTURES=results/pages $(BIN)/pytest tests/report/test_browser.py tests/review/test_browser.py -q

$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(VENV)/pyvenv.cfg pyproject.toml constraints.txt
	$(PIP) -e ".[plot]"
	touch $@

$(VENV)/.review: $(VENV)/pyvenv.cfg pyproject.toml constraints.txt
	$(PIP) -e ".[review]"
	touch $@

$(VENV)/.dev-$(EXTRAS): $(VENV)/pyvenv.cfg pyproject.toml constraints.txt
	$(PIP) -e ".[dev$(addprefix $(comma),$(EXTRAS))]"
	touch $@ $(VENV)/.demo

$(VENV)/.docs: $(VENV)/pyvenv.cfg pyproject.toml constraints.txt
	$(PIP) -e ".[docs]"
	touch $@

$(VENV)/.dist: $(VENV)/pyvenv.cfg pyproject.toml constraints.txt
	$(PIP) "build>=1.2" "setuptools>=77" "twine>=6.1"
	touch $@

$(VENV)/.bench: $(VENV)/pyvenv.cfg pyproject.toml constraints.txt
	$(PIP) -e ".[bench]"
	touch $@

comma := ,

clean:
	rm -rf $(VENV) $(LOWEST) .pytest_cache .mypy_cache .ruff_cache demo.png dist build docs/_build docs/_extra docs/api docs/gallery
