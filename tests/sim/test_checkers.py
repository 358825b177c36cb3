"""Plays the cocotb tests of checkers.py, interfaces.py, stress.py and far_strides.py on agents in Python.

Level L1 plays them on the compiled ones.
"""

from __future__ import annotations

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec, Built
from tests.sim.conftest import InSimulation, coroutines_of

MODULES = tuple(f"nvdla_tb.gate_tests.{name}" for name in ("checkers", "interfaces", "stress", "far_strides"))


@pytest.fixture(scope="module")
def built() -> Built:
    """Return the embedded nv_small with agents in Python."""
    return build(BuildSpec(HwConfig.load("nv_small"), "verilator", backend="coroutine"))


@pytest.mark.parametrize(("module", "name"), [(module, name) for module in MODULES for name in coroutines_of(module)])
def test_in_simulation(built: Built, in_simulation: InSimulation, module: str, name: str) -> None:
    in_simulation(built, module, name)
