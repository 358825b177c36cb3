"""Waves: their scope, when they begin, and the save files that open them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.stimulus.exchange import Request
from tests.sim.conftest import needs_icarus, simulated

pytestmark = needs_icarus


@pytest.fixture(scope="module")
def with_waves() -> Built:
    """Return a model of the embedded DUT that can write waves."""
    return build(BuildSpec(HwConfig.load("nv_small"), "icarus", waves=True))


def run(
    built: Built,
    folder: Path,
    start: str = "cycle:0",
    *plusargs: str,
    test: str = "the_scope_shows_each_write_as_the_scoreboard_judges_it",
) -> Path:
    """Return the file of the waves of a test that must pass; it is missing when they never began."""
    simulated(built, "tests.sim.waves", test, folder, *plusargs, request=Request("nv_small", waves_from=start))
    return folder / "waves.fst"


@pytest.fixture(scope="module")
def whole_bytes(with_waves: Built, tmp_path_factory: pytest.TempPathFactory) -> int:
    """Return the size of waves from the start, in which the scope shows each write as the scoreboard judges it."""
    return run(with_waves, tmp_path_factory.mktemp("whole")).stat().st_size


def test_the_scope_shows_each_write_as_the_scoreboard_judges_it(whole_bytes: int) -> None:
    assert whole_bytes > 10_000


@pytest.mark.parametrize("start", ["cycle:150", "layer:1"])
def test_waves_begin_at_the_condition_and_are_smaller(
    with_waves: Built, whole_bytes: int, tmp_path: Path, start: str
) -> None:
    assert 5_000 < run(with_waves, tmp_path, start, "+wave_wait").stat().st_size < whole_bytes


def test_waves_begin_in_the_cycle_that_was_asked_for(with_waves: Built, tmp_path: Path) -> None:
    run(with_waves, tmp_path, "cycle:150", "+wave_wait", test="waves_begin_in_the_cycle_that_was_asked_for")


def test_waves_whose_condition_never_comes_are_not_written(with_waves: Built, tmp_path: Path) -> None:
    assert not run(with_waves, tmp_path, "layer:7", "+wave_wait").exists()
