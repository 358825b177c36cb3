#: values: SIM=verilator|icarus  CONFIG=nv_small|FILE.toml  RTL=FILELIST  TOP=MODULE  PORT_MAP=FILE.toml  JOBS=N  LEVEL=L0|L1|L2|L3
#:   VENV=FOLDER of the Python packages  NVDLA_RESULTS=FOLDER of results  NVDLA_CACHE=FOLDER of built models
SIM ?= verilator
CONFIG ?= nv_small
LEVEL ?= L1
PYTHON ?= python3
VENV ?= .venv

# Recipes read the values from the environment: make or the shell would carry out what stands in them.
VALUES := SIM CONFIG LEVEL RTL TOP PORT_MAP JOBS PYTHON VENV NVDLA_RESULTS NVDLA_CACHE LOCK
$(foreach name,$(VALUES),$(eval override $(name) := $$(value $(name))))
export $(VALUES)
MAKEOVERRIDES :=
# Hundreds of processes import the same modules.
unexport PYTHONDONTWRITEBYTECODE

PY := "$$VENV/bin/python"
TB := "$$VENV/bin/nvdla-tb"
JOBS_OPTION := $${JOBS:+"--jobs=$$JOBS"}
DUT := "--sim=$$SIM" "--config=$$CONFIG" $${RTL:+"--rtl=$$RTL"} $${TOP:+"--top=$$TOP"} $${PORT_MAP:+"--port-map=$$PORT_MAP"}
# A file's tests share what takes long to make. Those of simulators come first, and many short files level the end.
SPREAD := -n "$${JOBS:-auto}" --dist loadfile --no-loadscope-reorder
# Compiling all of every package takes as long as to install it; what is imported is compiled then.
INSTALL := -m pip install --quiet --disable-pip-version-check

.PHONY: run regress test check score docs lint lock clean distclean ready help

#: run        (default) play the scenarios of nv_small and judge every byte: a smoke test, not the gate
run: ready
	$(TB) run $(DUT) $(JOBS_OPTION)

#: regress    the gate: all tests of LEVEL (L0 to L3; default: L1), and random layers that reach what they miss
regress: ready
	$(TB) regress plan "--level=$$LEVEL" $(DUT) $(JOBS_OPTION)

#: test       the tests of the testbench itself
test: ready
	$(PY) -m pytest tests $(SPREAD)

#: check      lint, types and the quick tests, which need no simulator
check: lint
	$(PY) -m pytest tests/unit -m "not slow" $(SPREAD)

#: score      seeded bugs: how many are caught and explained
score: ready
	$(TB) score "--sim=$$SIM" $(JOBS_OPTION)

#: docs       the documentation site: build/docs/index.html
docs: ready
	$(PY) -m sphinx --fail-on-warning --keep-going --fresh-env --quiet -c docs . build/docs

# The lines of this file that tell what targets and values there are.
help:
	@echo 'make [TARGET] [NAME=VALUE ...]'
	@echo
	@sed -n 's/^#: /  /p' Makefile

#: lint       ruff and mypy
lint: ready
	$(PY) -m ruff check . && $(PY) -m ruff format --check . && $(PY) -m mypy

# The newest packages that requirements.in allows, for all Pythons and machines, and those of the package alone without hashes; LOCK=--upgrade takes newer ones.
lock: ready
	$(PY) -m uv pip compile --universal --python-version 3.11 --generate-hashes --quiet --custom-compile-command 'make lock' $${LOCK:+"$$LOCK"} requirements.in -o requirements.txt
	$(PY) -m uv pip compile pyproject.toml --constraint requirements.txt --universal --python-version 3.11 --no-annotate --no-header --quiet -o constraints.txt

# Regressions with their history, failures and scores stay.
#: clean      remove logs and pages of runs, and the site; distclean: also packages, scores and regressions
clean:
	@PYTHONPATH=tb:models "$$PYTHON" -m nvdla_tb.run.clean
	rm -rf build/docs

distclean:
	@PYTHONPATH=tb:models "$$PYTHON" -m nvdla_tb.run.clean --all
	rm -rf build/docs
	[ ! -f "$$VENV/pyvenv.cfg" ] || rm -rf "$$VENV"

ready:
	@[ "$$VENV/ready" -nt requirements.txt -a "$$VENV/ready" -nt pyproject.toml ] || { "$$PYTHON" -m venv "$$VENV" \
	  && $(PY) $(INSTALL) --no-compile --require-hashes -r requirements.txt \
	  && $(PY) $(INSTALL) --no-deps --no-build-isolation --editable . && touch "$$VENV/ready"; }
