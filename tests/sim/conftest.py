"""Builds of the embedded DUT, once per simulator, for all tests that simulate."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from models.config import HwConfig
from tb.launch.build import BuildSpec, Built, build

ROOT = Path(__file__).resolve().parents[2]


def simulators() -> list[object]:
    """Both simulators; Icarus is skipped, saying so, where it is not installed."""
    missing = shutil.which("iverilog") is None
    skip = pytest.mark.skipif(missing, reason="Icarus is not installed (apt-get install iverilog)")
    return ["verilator", pytest.param("icarus", marks=skip)]


@pytest.fixture(scope="session", params=simulators())
def built(request: pytest.FixtureRequest) -> Built:
    return build(BuildSpec(HwConfig.load("nv_small"), request.param), ROOT / "sim_build")
