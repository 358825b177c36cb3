"""The fixture of plain pytest tests: what it plays has passed, or the test says that it looks at that itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.plugin import dut as plugin_dut
from nvdla_tb.plugin.dut import PlayedDut
from nvdla_tb.run.compile.build import SILENT
from nvdla_tb.run.jobs import Job, Setup
from nvdla_tb.stimulus.result import Result
from nvdla_tb.stimulus.scenario import Scenario

MINE = Scenario("mine", "nv_small", (), 1)
RIGHT = Verdict(judged_bytes=8, layers=1)


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., PlayedDut]:
    """Return a device on which every scenario ends with a verdict."""

    def device(verdict: Verdict, *words: str) -> PlayedDut:
        def played(job: Job, setup: Setup, *_: object) -> Result:
            return job.result(setup.dut, verdict)

        built: Any = None
        monkeypatch.setattr(plugin_dut, "compiled", lambda *_, **__: built)
        monkeypatch.setattr(plugin_dut, "run_job", played)
        found = PlayedDut(words, SILENT, timeout_seconds=1.0, waves=False, plusargs=())
        found.root = tmp_path
        return found

    return device


@pytest.mark.parametrize(
    ("verdict", "message"),
    [
        (Verdict.of(Check.VALUE, "a wrong byte"), r"^mine\.1: mismatch\na wrong byte$"),
        (Verdict(refused="it has no RUBIK"), r"^mine\.1: refused\nit has no RUBIK$"),
        (Verdict(), r"^mine\.1: nothing compared\nnothing was compared: no layer wrote a byte that was expected$"),
    ],
)
def test_a_scenario_that_does_not_pass_fails_a_test_that_does_not_look(
    ends: Callable[..., PlayedDut], verdict: Verdict, message: str
) -> None:
    with pytest.raises(AssertionError, match=message):
        ends(verdict).play(MINE)
    assert ends(verdict).play(MINE, may_fail=True).ending is not Ending.PASSED


def test_a_scenario_that_passes_returns_its_result(ends: Callable[..., PlayedDut]) -> None:
    assert ends(RIGHT).play(MINE).verdict == RIGHT


def test_a_test_says_how_it_is_played_again_on_the_same_device_whatever_the_project_says(
    ends: Callable[..., PlayedDut], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("nvdla-tb.toml").write_text('top = "MY_TOP"\n', encoding="utf-8")
    test = tmp_path / "mine.py"
    result = ends(RIGHT, "--top", "NV_nvdla", "--backend", "coroutine").play_test(test, "works")
    words = "--nvdla-config nv_small --nvdla-sim verilator --nvdla-top NV_nvdla --nvdla-backend coroutine"
    assert result.rerun == f"pytest mine.py::works {words}"
    assert ends(RIGHT).play_test(test, "works").rerun.endswith("--nvdla-sim verilator --nvdla-top MY_TOP")
