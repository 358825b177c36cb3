"""An interrupt ends a run at once, and the simulations with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tb.places import ROOT

pytestmark = pytest.mark.slow

SIMULATIONS = 2


def pids(folder: Path) -> list[int]:
    """Return the ids of the simulations that have started."""
    return [int(text) for path in folder.rglob("pid") if (text := path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("kind", ["run", "score"])
def test_an_interrupt_ends_a_run_and_its_simulations(tmp_path: Path, kind: str) -> None:
    command = [sys.executable, "-m", "tests.unit.cli.interrupted", str(tmp_path), kind]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        deadline = time.monotonic() + 60
        while len(pids(tmp_path)) < SIMULATIONS and started.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        simulations = pids(tmp_path)
        started.send_signal(signal.SIGINT)
        _, said = started.communicate(timeout=30)
    assert len(simulations) == SIMULATIONS
    assert (started.returncode, said) == (130, "interrupted\n")
    assert pids(tmp_path) == simulations, "no simulation is started after an interrupt"
    for pid in simulations:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
