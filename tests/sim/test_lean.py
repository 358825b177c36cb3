"""Simulator processes of ours start cocotb without pytest."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOAD = """
import sys
import pygpi.entry
from tb.sim import lean

pygpi.entry.load_entry = lambda: __import__("cocotb.regression")
lean.load()
import pytest
"""
STAND_INS = ["_pytest", "_pytest.assertion", "_pytest.config", "pytest"]


def printed(then: str) -> list[str]:
    """Return the words that a process prints which loads cocotb our way, and goes on with ``then``."""
    environment = {**os.environ, "PYGPI_USERS": "tb.sim.lean:load"}
    command = [sys.executable, "-c", LOAD + then]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return ran.stdout.split()


def test_cocotb_loads_with_nothing_of_pytest_but_the_stand_ins() -> None:
    assert printed("print(*sorted(name for name in sys.modules if 'pytest' in name))") == STAND_INS


def test_what_else_is_asked_of_pytest_is_pytests_own() -> None:
    then = "skip = pytest.skip; import pytest as real; print(skip is real.skip, real.__version__)"
    assert printed(then) == ["True", version("pytest")]
