"""``plan`` and ``coverage``: features with what a store knows of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from models.config import HwConfig
from tb.cli.regress_play import COVERAGE_DIR
from tb.coverage.model import load_model
from tb.regress.record import Ending, Record
from tb.regress.store import Store
from tests.unit.cli.conftest import Run as Tb
from tests.unit.regress.tasks import task


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A store in which one scenario passed, another hung, and two random ones ended."""
    bins = list(load_model(COVERAGE_DIR, HwConfig.load("nv_small")).reachable())
    tasks = [task(1, "pdp_max_2x2"), task(1, "conv_chain"), task(1), task(2)]
    endings = [Ending.PASSED, Ending.HANG, Ending.PASSED, Ending.MISMATCH]
    with Store(tmp_path / "results.sqlite") as store:
        run = store.start("L1", tmp_path, tasks)
        for entry, ending in zip(tasks, endings, strict=True):
            coverage = dict.fromkeys(bins, 1) if ending is Ending.PASSED else {}
            store.add(run, replace(Record(entry.key, ending, ()), coverage=coverage))
        store.start("newer", tmp_path, tasks)
    return tmp_path


def test_without_a_store_every_feature_lacks_something(tb: Tb, tmp_path: Path) -> None:
    ran = tb(f"plan --results {tmp_path / 'none'}")
    assert ran.code == 0
    assert "features, 0 without holes" in ran.out
    assert "random scenarios" not in ran.out


def test_results_and_coverage_of_a_store_are_shown(tb: Tb, results: Path) -> None:
    lines = tb(f"plan --results {results}").out.splitlines()
    (units,) = [line for line in lines if line.startswith("units_at_once")]
    assert "1 failed, 5 not played" in units
    assert "100.0 % of" in units
    assert "failed: units_at_once: conv_chain" in lines
    assert "random scenarios: 1 passed, 1 failed (1 mismatch), 0 refused" in lines
    assert any(line.startswith("conv_reuse") and line.endswith("HOLE: no test") for line in lines)


def test_a_level_shows_its_features_and_one_run_its_own_coverage(tb: Tb, results: Path) -> None:
    out = tb(f"plan --level L0 --run 2 --results {results}").out
    assert "1 features, 0 without holes, 1 with; coverage 0.0 % of" in out


def test_a_level_that_there_is_not_is_refused(tb: Tb, tmp_path: Path) -> None:
    ran = tb(f"plan --level L7 --results {tmp_path}")
    assert (ran.code, ran.err) == (2, "error: level must be one of L0, L1, L2, L3, not L7\n")


def test_coverage_is_that_of_the_newest_run_of_one_or_of_all(tb: Tb, results: Path) -> None:
    newest = tb(f"coverage --results {results}").out
    assert newest.startswith("Coverage of nv_small in run 2\n")
    assert "hole: SDP.group 0/2: 0, 1" in newest
    page = results / "coverage.html"
    for words in ("1", "--all"):
        out = tb(f"coverage {words} --excluded --html {page} --results {results}").out
        assert "hole:" not in out
        assert "excluded: 2 of SDP.input_precision: the configuration has INT8 only" in out
    assert "Coverage of nv_small in run 1, run 2" in page.read_text(encoding="utf-8")
