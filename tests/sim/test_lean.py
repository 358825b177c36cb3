"""Simulator processes of ours start cocotb without pytest."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOADED = """
import sys
import pygpi.entry
from tb.sim import lean

pygpi.entry.load_entry = lambda: __import__("cocotb.regression")
lean.load()
print(*sorted(name for name in sys.modules if "pytest" in name))
"""


def test_cocotb_loads_and_nothing_of_pytest_but_the_stand_ins() -> None:
    environment = {**os.environ, "PYGPI_USERS": "tb.sim.lean:load"}
    ran = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["_pytest", "_pytest.assertion", "_pytest.config", "pytest"]
