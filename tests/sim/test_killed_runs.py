"""Runs on the embedded device that are killed at different moments: their reports say what was not played."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.paths import PLANS
from nvdla_tb.report import page
from nvdla_tb.run.cache import MODELS
from nvdla_tb.stimulus.generate.plan import load_plan, plan_of

TB = ["env", "--default-signal=INT,TERM", sys.executable, "-m", "nvdla_tb"]
SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGKILL]
SCENARIOS = sum(e.name.startswith("sdp_") for e in load_plan(plan_of(HwConfig.load("nv_small"), PLANS)))
SLOWLY = ("--jobs", "1", "--isolate")
"""With a simulator for each scenario a run takes many times as long as its report is old."""

PATIENCE_SECONDS = 300


class Suite(NamedTuple):
    """A JUnit file: how many test cases, errors, failures and skips it has, and whether the run as a whole failed."""

    tests: int
    errors: int
    failures: int
    skipped: int
    whole: bool

    @property
    def good(self) -> int:
        """How many test cases look passed."""
        return self.tests - self.errors - self.failures - self.skipped


def suite(path: Path) -> Suite | None:
    """Return what a JUnit file says; it is whole at any moment, or not there."""
    if not path.is_file():
        return None
    root = ElementTree.parse(path).getroot()
    counts = [int(str(root.get(name))) for name in ("tests", "errors", "failures", "skipped")]
    assert len(root.findall("testcase")) == counts[0]
    assert len(list(root.iter("error"))) == counts[1]
    return Suite(*counts, root.find(f"testcase[@name='{page.THE_RUN}']") is not None)


def started(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "NVDLA_CACHE": str(MODELS)}
    return subprocess.Popen([*TB, *words], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ended(folder: Path, *words: str) -> tuple[int, str]:
    """Return the exit code of a command, and what it printed."""
    with started(folder, *words) as process:
        out, _ = process.communicate(timeout=PATIENCE_SECONDS)
    return process.returncode, out.decode()


def killed(folder: Path, path: Path, number: signal.Signals, ready: Callable[[Suite], bool], *words: str) -> None:
    """Kill a command as soon as its report is ``ready``."""
    with started(folder, *words) as process:
        until = time.monotonic() + PATIENCE_SECONDS
        while (found := suite(path)) is None or not ready(found):
            assert process.poll() is None, "it has ended"
            assert time.monotonic() < until, found
            time.sleep(0.01)
        process.send_signal(number)
        process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode in (-number, 128 + number), process.returncode


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the report of a run that has passed."""
    folder = tmp_path_factory.mktemp("passed")
    assert ended(folder, "run", "--only", "sdp_x1_bias*")[0] == 0
    found = suite(folder / "sim_build/runs/nv_small" / page.JUNIT)
    assert found is not None
    assert found.good == found.tests > 0
    return folder


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("good", [0, 3])
def test_a_run_that_is_killed_leaves_an_error_for_each_test_that_was_not_played(
    passed: Path, tmp_path: Path, number: signal.Signals, good: int
) -> None:
    folder = Path(shutil.copytree(passed, tmp_path / "run"))
    path = folder / "sim_build/runs/nv_small" / page.JUNIT
    before = suite(path)

    def ready(found: Suite) -> bool:
        return found.tests == SCENARIOS + 1 and found.good >= good

    killed(folder, path, number, ready, "run", "--only", "sdp_*", *SLOWLY)
    found = suite(path)
    assert found is not None
    assert found != before
    assert (found.tests, found.whole) == (SCENARIOS + 1, True)
    assert found.errors >= 2, "the run, and what it has not played"
    assert (found.failures, found.skipped) == (0, 0)
    html = (path.parent / page.PAGE).read_text(encoding="utf-8")
    assert "not played" in html
    assert "the run has not ended" in html


# A campaign kills regressions by the other signals.
@pytest.mark.parametrize("number", [signal.SIGINT])
def test_a_regression_that_is_killed_and_resumed_is_good_when_all_of_it_was_played(
    tmp_path: Path, number: signal.Signals
) -> None:
    path = tmp_path / "sim_build/regress/0001" / page.JUNIT
    words = ("regress", "plan", "--only", "sdp_*", "--no-waves", *SLOWLY)
    killed(tmp_path, path, number, lambda found: found.good >= 1, *words)
    first = suite(path)
    assert first is not None
    assert first.whole
    assert first.errors >= 2
    killed(tmp_path, path, number, lambda found: found.good > first.good, "regress", "resume", *SLOWLY)
    second = suite(path)
    assert second is not None
    assert second.whole
    assert ended(tmp_path, "regress", "resume", "--jobs", "1")[0] == 0
    last = suite(path)
    assert last is not None
    assert (last.tests, last.good, last.whole) == (first.tests - 1, first.tests - 1, False)


def test_a_gate_whose_time_is_over_has_errors_for_what_it_did_not_play(tmp_path: Path) -> None:
    code, out = ended(tmp_path, "regress", "plan", "--only", "sdp_x1_*", "--jobs", "1", "--time-budget", "0")
    assert code == 1
    found = suite(tmp_path / "sim_build/regress/0001" / page.JUNIT)
    assert found is not None
    assert found.errors == found.tests > 0
    assert f"0 passed, 0 failed, 0 refused, {found.tests} not played\n" in out
