"""Plays the cocotb tests of checkers.py, interfaces.py, stress.py and far_strides.py on the compiled agents.

Level L1 plays them on the coroutines.
"""

from __future__ import annotations

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec, Built
from tests.sim.conftest import InSimulation, coroutines_of

MODULES = tuple(f"nvdla_tb.gate_tests.{name}" for name in ("checkers", "interfaces", "stress", "far_strides"))

NEED_COROUTINES = (
    "a_request_right_behind_reset_is_lost",
    "a_non_posted_write_completes_and_a_posted_one_says_nothing",
)
"""They drive CSB themselves, or sample it."""


@pytest.fixture(scope="module")
def native() -> Built:
    """Return the embedded nv_small with compiled agents."""
    return build(BuildSpec(HwConfig.load("nv_small"), "verilator", backend="native"))


@pytest.mark.parametrize(("module", "name"), [(module, name) for module in MODULES for name in coroutines_of(module)])
def test_in_simulation(native: Built, in_simulation: InSimulation, module: str, name: str) -> None:
    if name in NEED_COROUTINES:
        pytest.skip("only the coroutines leave CSB to it")
    in_simulation(native, module, name)
