# SIM=verilator|icarus  CONFIG=nv_small|FILE.toml  RTL=FILELIST  TOP=MODULE  PORT_MAP=FILE.toml  JOBS=N  LEVEL=L0|L1|L2|L3
SIM ?= verilator
CONFIG ?= nv_small
LEVEL ?= L1
PYTHON ?= python3
PY := .venv/bin/python
DUT := --sim $(SIM) --config $(CONFIG) $(if $(RTL),--rtl $(RTL)) $(if $(TOP),--top $(TOP)) $(if $(PORT_MAP),--port-map $(PORT_MAP))

.PHONY: run regress test score lint clean distclean

run: .venv/ready
	$(PY) -m tb run $(DUT) $(if $(JOBS),--jobs $(JOBS))

regress: .venv/ready
	$(PY) -m tb regress plan --level $(LEVEL) $(DUT) $(if $(JOBS),--jobs $(JOBS))

test: .venv/ready
	$(PY) -m pytest tests $(if $(JOBS),-n $(JOBS),-n auto)

score: .venv/ready
	$(PY) -m tb score --sim $(SIM) $(if $(JOBS),--jobs $(JOBS))

lint: .venv/ready
	$(PY) -m ruff check . && $(PY) -m ruff format --check . && $(PY) -m mypy

# Regressions with their history, failures and scores stay.
clean:
	[ ! -d sim_build ] || find sim_build -mindepth 1 -maxdepth 1 ! -name regress ! -name score -exec rm -rf {} +

distclean:
	rm -rf .venv sim_build

.venv/ready: requirements.txt
	$(PYTHON) -m venv .venv && .venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt && touch $@
