"""Waves: their scope, when they begin, and the save files that open them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from models.config import HwConfig
from tb.run.compile.build import build
from tb.run.compile.spec import BuildSpec, Built
from tb.run.folders import RESULTS
from tb.run.simulate import SimResult, simulate
from tb.stimulus.exchange import REQUEST, Request
from tests.sim.conftest import ROOT

pytestmark = pytest.mark.skipif(
    shutil.which("iverilog") is None, reason="Icarus is not installed (apt-get install iverilog)"
)


@pytest.fixture(scope="module")
def with_waves() -> Built:
    """Return a model of the embedded DUT that can write waves."""
    return build(BuildSpec(HwConfig.load("nv_small"), "icarus", waves=True), ROOT / RESULTS)


def run(built: Built, folder: Path, start: str | None = None) -> SimResult:
    return simulate(
        built,
        test_module="tests.sim.waves",
        testcase="the_scope_shows_each_write_as_the_scoreboard_judges_it",
        env={REQUEST: Request("nv_small", waves_from=start or "cycle:0").encode()},
        work_dir=folder,
        timeout_seconds=120,
        waves=True,
        plusargs=() if start is None else ("+wave_wait",),
    )


def test_the_scope_shows_each_write_as_the_scoreboard_judges_it(with_waves: Built, tmp_path: Path) -> None:
    result = run(with_waves, tmp_path)
    assert result.passed, f"{result.message}\n{result.log_path.read_text(encoding='utf-8')}"
    assert result.waves_path is not None
    assert result.waves_path.stat().st_size > 10_000


@pytest.mark.parametrize("start", ["cycle:150", "layer:1"])
def test_waves_begin_at_the_condition_and_are_smaller(with_waves: Built, tmp_path: Path, start: str) -> None:
    whole, part = run(with_waves, tmp_path / "whole").waves_path, run(with_waves, tmp_path / "part", start).waves_path
    assert whole is not None
    assert part is not None
    assert 5_000 < part.stat().st_size < whole.stat().st_size


def test_waves_whose_condition_never_comes_are_not_written(with_waves: Built, tmp_path: Path) -> None:
    result = run(with_waves, tmp_path, "layer:7")
    assert result.passed
    assert result.waves_path is not None
    assert not result.waves_path.exists()
