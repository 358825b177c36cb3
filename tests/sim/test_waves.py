"""Waves: their scope, when they begin, and the save files that open them."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.config import HwConfig
from tb.run.compile.build import build
from tb.run.compile.spec import BuildSpec, Built
from tb.run.simulate import SimResult, simulate
from tb.stimulus.exchange import REQUEST, Request
from tests.sim.conftest import needs_icarus

pytestmark = needs_icarus


@pytest.fixture(scope="module")
def with_waves() -> Built:
    """Return a model of the embedded DUT that can write waves."""
    return build(BuildSpec(HwConfig.load("nv_small"), "icarus", waves=True))


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


@pytest.fixture(scope="module")
def whole_bytes(with_waves: Built, tmp_path_factory: pytest.TempPathFactory) -> int:
    """Return the size of waves from the start, in which the scope shows each write as the scoreboard judges it."""
    folder = tmp_path_factory.mktemp("whole")
    result = run(with_waves, folder)
    assert result.passed, f"{result.message}\n{result.log_path.read_text(encoding='utf-8')}"
    return (folder / "waves.fst").stat().st_size


def test_the_scope_shows_each_write_as_the_scoreboard_judges_it(whole_bytes: int) -> None:
    assert whole_bytes > 10_000


@pytest.mark.parametrize("start", ["cycle:150", "layer:1"])
def test_waves_begin_at_the_condition_and_are_smaller(
    with_waves: Built, whole_bytes: int, tmp_path: Path, start: str
) -> None:
    run(with_waves, tmp_path, start)
    assert 5_000 < (tmp_path / "waves.fst").stat().st_size < whole_bytes


def test_waves_whose_condition_never_comes_are_not_written(with_waves: Built, tmp_path: Path) -> None:
    result = run(with_waves, tmp_path, "layer:7")
    assert result.passed
    assert not (tmp_path / "waves.fst").exists()
